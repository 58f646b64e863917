import type { DomainState } from '../../../machines/domain.ts';
import type { DomainContext, DomainEvent } from '../../../machines/domain-context.ts';
import type { Semaphore } from '../../async/semaphore.ts';
import type { Principal } from '../../auth/principal.ts';
import type { Sealer } from '../../crypto/sealer.ts';
import { keepReply, type StoredReply } from '../../db/stored-replies.ts';
import type { Engine } from '../../engine/engine.ts';
import type { ClaimOf, EventResultOf } from '../../engine/result.ts';
import { Failure, invalid, notFound } from '../../http/failure.ts';
import { claimOnce, idempotently, keyedBy } from '../../http/idempotent.ts';
import type { Call, Replay } from '../../http/route.ts';
import type { DomainChange, DomainView } from './model.ts';
import { nextOutcome } from './next-outcome.ts';
import { readProvider } from './provider.ts';
import { type DomainReader, findDomain, readDomain } from './queries.ts';
import { viewOf } from './views.ts';

/**
 * Why this caller may not change or remove a domain, which would be so for live mail: a test key has no say in that. One
 * that is not there is missing for everybody.
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

/** What the commands for domains need. */
export interface DomainCommands extends DomainReader {
  readonly engine: Engine;
  readonly sealer: Sealer;
  /** Lets a few calls through at a time that make keys. */
  readonly keyMaking: Semaphore;
}

/** A look takes one or two seconds; a request may take eight. */
const LOOK_MS = 6_000;

type Named = { readonly id: string };

/** Domains belong to both environments; their actors are live ones. */
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

/** A removed domain still is a row. */
const isGone = (told: EventResultOf<'domain'>): boolean =>
  told.outcome === 'absent' || (told.outcome === 'refused' && told.state === 'removed');

/**
 * Orders a look at the records as DNS has them now, and waits for what it finds. When DNS is slower than a request may be, the answer
 * is what was known before; the outcome arrives all the same.
 */
export const verifyDomain = (
  commands: DomainCommands,
  call: Call<Named>,
): Promise<DomainView | Failure | Replay> =>
  idempotently(commands.database, keyedBy(call), { run: () => look(commands, call), lookFirst: true });

async function look(
  commands: DomainCommands,
  call: Call<Named>,
): Promise<DomainView | Failure | StoredReply> {
  const { caller, params, now } = call;
  const { database, engine } = commands;
  const row = await readDomain(database, caller, params.id);
  if (!row) return notFound('domain');
  const claim = claimOnce(keyedBy(call), 200, (state: DomainState, context: DomainContext) =>
    JSON.stringify(viewOf({ ...row, state, context }, commands.setup)),
  );
  const outcome = nextOutcome(engine, params.id, LOOK_MS);
  try {
    const told = await tell(commands, caller, params.id, { type: 'check.requested', at: now }, claim);
    if (told.outcome === 'replayed') return told;
    if (isGone(told)) return notFound('domain');
    await outcome.settled;
  } finally {
    outcome.forget();
  }
  const view = await findDomain(commands, caller, params.id);
  if (view) await keepReply(database, keyedBy(call), 200, view);
  return view ?? notFound('domain');
}

/** Changes what is tracked where an email does not say, and the way that mail leaves by. */
export async function patchDomain(
  commands: DomainCommands,
  { caller, params, body, now }: Call<Named, unknown, DomainChange>,
): Promise<DomainView | Failure> {
  if (Object.keys(body).length === 0)
    return invalid([
      { path: '/body', message: 'Name what is to change: openTracking, clickTracking or provider.' },
    ]);
  const { provider: wanted, ...settings } = body;
  const provider = wanted === undefined ? undefined : readProvider(wanted, commands.setup.ways);
  if (provider instanceof Failure) return provider;
  const refused = await refusalOf(commands, caller, params.id);
  if (refused) return refused;
  const row = await readDomain(commands.database, caller, params.id);
  if (!row) return notFound('domain');
  const isMoved = provider !== undefined && provider !== row.provider;
  const event = { type: 'settings.changed' as const, at: now, ...settings, ...(isMoved && { provider }) };
  const told = await tell(commands, caller, params.id, event);
  if (told.outcome !== 'changed') return notFound('domain');
  const { state, context } = told;
  return viewOf({ ...row, ...(isMoved && { provider }), state, context }, commands.setup);
}

/** Removes a domain for good; its place is free again in the same commit. */
export async function removeDomain(
  commands: DomainCommands,
  { caller, params, now }: Call<Named>,
): Promise<null | Failure> {
  const refused = await refusalOf(commands, caller, params.id);
  if (refused) return refused;
  const told = await tell(commands, caller, params.id, { type: 'remove.requested', at: now });
  return told.outcome === 'changed' ? null : notFound('domain');
}
