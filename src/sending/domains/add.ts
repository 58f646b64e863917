import type { DomainContext } from '../../../machines/domain/context.ts';
import type { DomainState } from '../../../machines/domain/machine.ts';
import { DOMAINS_PERIOD } from '../../accounts/usage/queries.ts';
import { claimOnce, idempotently, keyedBy } from '../../http/request/idempotent.ts';
import type { Call, Replay } from '../../http/request/route.ts';
import type { WarmUp } from '../../mail/transport/warm-up.ts';
import { PLANS } from '../../platform/config/plans.ts';
import { mintId } from '../../platform/db/ids.ts';
import { isDuplicate } from '../../platform/db/sqlstate.ts';
import type { StoredReply } from '../../platform/db/stored-replies.ts';
import { Failure, invalidAt } from '../../platform/errors/failure.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import type { DomainCommands } from './commands.ts';
import { keyColumns } from './kind.ts';
import type { DomainView, NewDomain } from './model.ts';
import { isExempt } from './records/check.ts';
import { makeKeys, selectorFrom } from './records/keys.ts';
import { fits, readDomainName } from './records/name.ts';
import { type DnsSetup, exemptStatuses, keyNames, type RecordSource, recordsOf } from './records/records.ts';
import { readFallbacks, readProvider, readWarmUps } from './records/setup.ts';
import { viewOf } from './views.ts';

/** Longest wait for a free slot: less than a request may take. */
const LONGEST_WAIT_MS = 6_000;

const TAKEN = new Failure('CONFLICT', 'This domain is in the workspace already.', {
  suggestion: 'Look it up with GET /v1/domains.',
});
const FULL = new Failure('QUOTA_EXCEEDED', 'The workspace has as many domains as its plan allows.', {
  suggestion: 'Remove a domain or upgrade the plan.',
});

type AddCall = Call<unknown, unknown, NewDomain>;

/** Adds a domain with its own keys, and orders the first check of its records. */
export async function addDomain(
  commands: DomainCommands,
  call: AddCall,
): Promise<DomainView | Failure | Replay> {
  const keyed = keyedBy(call);
  const source = readSource(call, commands.setup);
  // The enabled transports may have changed since the first attempt, whose stored reply takes precedence.
  if (source instanceof Failure)
    return idempotently(commands.database, keyed, { run: () => Promise.resolve(source) });
  const id = mintId('dom', call.now);
  const run = async () => (await precheck(commands, call, source.name)) ?? admit(commands, call, id, source);
  // Making keys costs two hundred times as much as everything else here. With two calls at a time the threads
  // stay free for other work, and a call that had to wait makes no keys when the limit is reached or the name
  // taken meanwhile.
  return commands.keyMaking.run(
    () => idempotently(commands.database, keyed, { run, lookFirst: true }),
    AbortSignal.timeout(LONGEST_WAIT_MS),
    () => new UnavailableError('Too many domains are being added at once.'),
  );
}

type Names = Omit<RecordSource, 'keySets' | 'receives'> & {
  readonly dkimSelector: string | null;
  readonly warmUps: readonly WarmUp[];
};

function readSource({ body, now }: AddCall, { transports }: DnsSetup): Names | Failure {
  const name = readDomainName(body.name);
  if (typeof name !== 'string') return invalidAt('/body/name', name.problem);
  const {
    returnPathSubdomain = 'send',
    trackingSubdomain,
    dkimSelector = null,
    provider = null,
    fallbacks = [],
    warmUps: asked = [],
  } = body;
  const transport = readProvider(provider, transports);
  if (transport instanceof Failure) return transport;
  const others = readFallbacks(fallbacks, transport ?? transports[0], transports);
  if (others instanceof Failure) return others;
  const warmUps = readWarmUps(asked, [], transports, now);
  if (warmUps instanceof Failure) return warmUps;
  if (returnPathSubdomain === trackingSubdomain)
    return invalidAt('/body/trackingSubdomain', 'Choose another label than the one of the return path.');
  const returnPath = `${returnPathSubdomain}.${name}`;
  const trackingDomain = trackingSubdomain === undefined ? null : `${trackingSubdomain}.${name}`;
  // A rotation chooses its selectors itself, so the longest one has to fit as well.
  const selectors = [dkimSelector ?? '', selectorFrom('000000')];
  const longest = [returnPath, trackingDomain ?? '', ...selectors.flatMap((one) => keyNames(name, one))];
  if (!longest.every(fits))
    return invalidAt(
      '/body/name',
      'Use a shorter name: the names of its DNS records would be longer than DNS allows.',
    );
  return { name, returnPath, trackingDomain, dkimSelector, provider: transport, fallbacks: others, warmUps };
}

/** Finds the refusals that need no keys: a name that is taken, a limit that is reached. */
async function precheck(
  { database }: DomainCommands,
  { caller }: AddCall,
  name: string,
): Promise<Failure | null> {
  const [row] = await database.query<{ taken: boolean; used: number }>(PRECHECK, [caller.workspaceId, name]);
  if (row?.taken) return TAKEN;
  const quota = PLANS[caller.plan].domains;
  return quota !== null && (row?.used ?? 0) >= quota ? FULL : null;
}

const PRECHECK = `select
  exists (select true from domains where workspace_id = $1 and name = $2 and state <> 'removed') as taken,
  coalesce((select used from usage_totals where workspace_id = $1 and livemode and period = '${DOMAINS_PERIOD}'), 0) as used`;

async function admit(
  { engine, sealer, setup }: DomainCommands,
  call: AddCall,
  id: string,
  names: Names,
): Promise<DomainView | Failure | StoredReply> {
  const { caller, now } = call;
  const { dkimSelector, warmUps, ...rest } = names;
  const keys = { selector: dkimSelector ?? selectorFrom(id), ...(await makeKeys(id, sealer)) };
  const { selector, rsaValue, ed25519Value } = keys;
  const active = { selector, stage: 'active', since: now, rsaValue, ed25519Value } as const;
  const source: RecordSource = { ...rest, keySets: [active], receives: false };
  const warmUpDay = { date: new Date(now).toISOString().slice(0, 10), claimed: {} };
  const exempt = isExempt(setup, source);
  const records = exempt ? exemptStatuses(recordsOf(source, setup)) : [];
  const view = (state: DomainState, context: DomainContext): DomainView =>
    viewOf({ id, state, context, ...source, warmUps, warmUpDay }, setup);
  try {
    const spawned = await engine.spawn('domain', {
      id,
      workspaceId: caller.workspaceId,
      livemode: true,
      input: { at: now, exempt, records, openTracking: false, clickTracking: false },
      columns: {
        name: source.name,
        return_path: source.returnPath,
        tracking_domain: source.trackingDomain,
        provider: source.provider,
        fallbacks: source.fallbacks,
        warm_ups: warmUps,
        ...keyColumns(keys, now),
      },
      meter: { period: DOMAINS_PERIOD, quota: PLANS[caller.plan].domains },
      claim: claimOnce(keyedBy(call), 201, (state: DomainState, context: DomainContext) =>
        JSON.stringify(view(state, context)),
      ),
      bytes: 8_192,
    });
    if (spawned.outcome === 'overQuota' || spawned.outcome === 'withheld') return FULL;
    return spawned.outcome === 'replayed' ? spawned : view(spawned.state, spawned.context);
  } catch (error) {
    // Another request has added it since the precheck.
    if (isDuplicate(error, 'domains_by_name')) return TAKEN;
    throw error;
  }
}
