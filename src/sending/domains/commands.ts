import type { DomainContext, DomainEvent } from '../../../machines/domain/context.ts';
import type { DomainState } from '../../../machines/domain/machine.ts';
import type { Engine } from '../../engine/engine.ts';
import type { ClaimOf, EventResultOf } from '../../engine/machine/result.ts';
import type { Principal } from '../../http/auth/principal.ts';
import { changedSince, isOutdated } from '../../http/if-updated-at.ts';
import { claimOnce, idempotently, keyedBy } from '../../http/request/idempotent.ts';
import type { Call, Replay } from '../../http/request/route.ts';
import type { Semaphore } from '../../platform/async/semaphore.ts';
import type { Sealer } from '../../platform/crypto/sealer.ts';
import { keepReply, type StoredReply } from '../../platform/db/stored-replies.ts';
import { Failure, invalidAt, notFound } from '../../platform/errors/failure.ts';
import type { DomainChange, DomainView } from './model.ts';
import { type DomainReader, findDomain, readDomain } from './queries.ts';
import { nextOutcome } from './records/next-outcome.ts';
import { readFallbacks, readProvider, readWarmUps } from './records/setup.ts';
import { changedAtOf, viewOf } from './views.ts';

/**
 * Refuses test keys: a domain serves live mail, so they may not change or remove it. A domain that does not
 * exist is a 404 for every caller.
 */
export async function refusalOf(
  { database }: Pick<DomainReader, 'database'>,
  caller: Principal,
  id: string,
): Promise<Failure | null> {
  if (caller.livemode) return null;
  return (await readDomain(database, caller, id)) ? NOT_FOR_TEST_KEYS : notFound('domain');
}

const NOT_FOR_TEST_KEYS = new Failure(
  'FORBIDDEN',
  'Both environments share the domains of a workspace: a test key may add, read and verify one, but only a live key may change or remove it.',
  { suggestion: 'Use a live key with the permission domains:write.' },
);

export interface DomainCommands extends DomainReader {
  readonly engine: Engine;
  readonly sealer: Sealer;
  /** Bounds the calls that make keys at the same time. */
  readonly keyMaking: Semaphore;
  /** Has live emails of the domain that wait for its warm-up ask again now. */
  readonly releaseWaiting: (domain: { readonly id: string; readonly workspaceId: string }) => Promise<void>;
}

/** Longest wait for a check, which usually takes one or two seconds; a request may take eight. */
const CHECK_MS = 6_000;

type DomainCall = { readonly id: string };

/** Both environments share domains; their actors count as live. */
const tell = (
  { engine }: DomainCommands,
  { workspaceId }: Principal,
  id: string,
  event: DomainEvent,
  claim?: ClaimOf<'domain'>,
): Promise<EventResultOf<'domain'>> =>
  engine.tell('domain', id, event, {
    scope: { workspaceId, livemode: true },
    ...(claim && { claim }),
  });

/**
 * Orders a check of the records in DNS and waits for its outcome. When DNS is slower than a request may be,
 * the answer is the previous state; the check goes on and is stored later.
 */
export const verifyDomain = (
  commands: DomainCommands,
  call: Call<DomainCall>,
): Promise<DomainView | Failure | Replay> =>
  idempotently(commands.database, keyedBy(call), { run: () => check(commands, call), lookFirst: true });

async function check(
  commands: DomainCommands,
  call: Call<DomainCall>,
): Promise<DomainView | Failure | StoredReply> {
  const { caller, params, now } = call;
  const { database, engine } = commands;
  const row = await readDomain(database, caller, params.id);
  if (!row) return notFound('domain');
  const claim = claimOnce(keyedBy(call), 200, (state: DomainState, context: DomainContext) =>
    JSON.stringify(viewOf({ ...row, state, context }, commands.setup)),
  );
  const outcome = nextOutcome(engine, params.id, CHECK_MS);
  try {
    const result = await tell(commands, caller, params.id, { type: 'check.requested', at: now }, claim);
    if (result.outcome === 'replayed') return result;
    // A removed domain still has a row.
    if (result.outcome === 'absent' || result.state === 'removed') return notFound('domain');
    await outcome.of(result.context.attempt);
  } finally {
    outcome.cancel();
  }
  const view = await findDomain(commands, caller, params.id);
  if (view) await keepReply(database, keyedBy(call), 200, view);
  return view ?? notFound('domain');
}

const CHANGED = changedSince('domain');

/** Changes the default tracking of emails, the transport of a domain, and how its mail is warmed up. */
export async function patchDomain(
  commands: DomainCommands,
  { caller, params, body, now }: Call<DomainCall, unknown, DomainChange>,
): Promise<DomainView | Failure> {
  if (Object.keys(body).length === 0)
    return invalidAt(
      '/body',
      'Set at least one of openTracking, clickTracking, provider, fallbacks and warmUps.',
    );
  const { provider: wanted, fallbacks: others, warmUps: asked, ifUpdatedAt, ...settings } = body;
  const provider = wanted === undefined ? undefined : readProvider(wanted, commands.setup.transports);
  if (provider instanceof Failure) return provider;
  const refused = await refusalOf(commands, caller, params.id);
  if (refused) return refused;
  const row = await readDomain(commands.database, caller, params.id);
  if (!row) return notFound('domain');
  if (isOutdated({ ifUpdatedAt }, changedAtOf(row))) return CHANGED;
  const { transports } = commands.setup;
  const first = (provider === undefined ? row.provider : provider) ?? transports[0];
  const fallbacks = others && readFallbacks(others, first, transports);
  if (fallbacks instanceof Failure) return fallbacks;
  const warmUps = asked && readWarmUps(asked, row.warmUps, transports, now);
  if (warmUps instanceof Failure) return warmUps;
  const moved = {
    ...(provider !== undefined && provider !== row.provider && { provider }),
    ...(fallbacks !== undefined && fallbacks.join() !== row.fallbacks.join() && { fallbacks }),
    ...(warmUps !== undefined && { warmUps }),
  };
  const seen = ifUpdatedAt === undefined ? {} : { seenAt: row.context.changedAt ?? null };
  const event = { type: 'settings.changed' as const, at: now, ...settings, ...moved, ...seen };
  const result = await tell(commands, caller, params.id, event);
  if (result.outcome === 'refused' && result.state !== 'removed') return CHANGED;
  if (result.outcome !== 'changed') return notFound('domain');
  const { state, context } = result;
  const hasNewLimits = warmUps !== undefined && !Bun.deepEquals(warmUps, row.warmUps);
  if (hasNewLimits || moved.provider !== undefined)
    await commands.releaseWaiting({ id: params.id, workspaceId: caller.workspaceId });
  return viewOf({ ...row, ...moved, state, context }, commands.setup);
}

/** Removes a domain for good. The same commit takes it off the number of domains that the plan limits. */
export async function removeDomain(
  commands: DomainCommands,
  { caller, params, now }: Call<DomainCall>,
): Promise<null | Failure> {
  const refused = await refusalOf(commands, caller, params.id);
  if (refused) return refused;
  const result = await tell(commands, caller, params.id, { type: 'remove.requested', at: now });
  return result.outcome === 'changed' ? null : notFound('domain');
}
