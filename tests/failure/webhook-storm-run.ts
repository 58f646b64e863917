import { BACKOFF_MS } from '../../machines/webhook-delivery/machine.ts';
import { eventually, momentOf } from '../support/eventually.ts';
import { openStormReceivers, type StormReceivers } from './webhook-storm-receivers.ts';
import { openStormWorld, type StormWorld, type Tenant } from './webhook-storm-world.ts';

/** The weight of a storm. */
export interface Storm {
  readonly tenants: number;
  /** Of each tenant. The first tenant's first two are the dead and the flaky one. */
  readonly endpoints: number;
  /** Two events each. */
  readonly emails: number;
  readonly emailsPerSecond: number;
  /** The number of kills with -9 during the storm. */
  readonly kills: number;
  /** The most refusals of the flaky endpoint for an event. */
  readonly refusals: 1 | 2;
  say?(text: string): void;
}

/** The result of a storm. */
export interface StormReport {
  readonly events: number;
  /** Pairs of an event and an endpoint that is not dead. */
  readonly expected: number;
  readonly missing: number;
  readonly twice: number;
  /**
   * From the moment in the event, which lies before its commit, to its first arrival at a healthy endpoint
   * (ms).
   */
  readonly p50: number;
  readonly p99: number;
  /** Attempts at the dead endpoint, and how often it was disabled. */
  readonly deadAttempts: number;
  readonly disabled: number;
  /**
   * Between the arrivals at the flaky endpoint, less the wait that the schedule states: never negative (ms).
   */
  readonly earliestRetry: number;
  readonly latestRetry: number;
  readonly retries: number;
  /**
   * Deliveries that neither ended nor are due at any time, nor are kept by an instance of which the others
   * know.
   */
  readonly stuck: number;
}

/** Leases of half a minute, and a second attempt that is lost as well. */
const PATIENCE = { withinMs: 120_000, everyMs: 250 };

interface Hook {
  readonly tenant: Tenant;
  readonly path: string;
  readonly events: readonly string[];
}

/**
 * Runs a storm to its end: until every event has reached every endpoint that is not dead, or no more can be
 * hoped for.
 */
export async function runStorm(storm: Storm): Promise<StormReport> {
  await using world = await openStormWorld(storm.tenants);
  await using receivers = await openStormReceivers(storm.refusals);
  const { refusals } = receivers;
  const { hooks, deadId } = await registerAll(world, receivers, storm);
  const say = storm.say ?? (() => {});
  const over = new AbortController();
  const nursing = keepDying(world.tenants[0] as Tenant, deadId, over.signal);
  const killing = killOften(world, storm, say);
  await sendAll(world.tenants, storm);
  await killing;
  say('Everything is sent.');
  await eventually(
    'the end of every email',
    async () => {
      const [row] = await world.sql<{ n: number }[]>`select count(*)::int as n from email_events`;
      return row?.n === 2 * storm.emails ? true : undefined;
    },
    PATIENCE,
  );
  const events = await world.sql<{ id: string; type: string; workspace_id: string; at: number }[]>`
    select id, type, workspace_id, (extract(epoch from occurred_at) * 1000)::float8 as at from email_events`;
  const pairs = events.flatMap((event) =>
    hooks
      .filter(
        ({ tenant, events: types }) =>
          tenant.workspaceId === event.workspace_id && types.includes(event.type),
      )
      .map(({ path }) => ({ key: `${path} ${event.id}`, path, event })),
  );
  const missing = () =>
    pairs.filter(({ key, path, event }) => {
      const needed = path === '/flaky' ? refusals(event.id) + 1 : 1;
      return (receivers.arrivals.get(key)?.length ?? 0) < needed;
    }).length;
  await eventually('every event', async () => (missing() === 0 ? true : undefined), PATIENCE).catch(() => {});
  over.abort();
  const disabled = await nursing;

  const healthy = pairs.filter(({ path }) => path !== '/flaky');
  const latencies = healthy
    .flatMap(({ key, event }) => {
      const [first] = receivers.arrivals.get(key) ?? [];
      return first === undefined ? [] : [first - event.at];
    })
    .sort((a, b) => a - b);
  const waits = retryWaits(receivers);
  const [dead] = await world.sql<{ n: number }[]>`select count(*)::int as n from webhook_attempts a
    join webhook_deliveries d on d.id = a.delivery_id where d.webhook_id = ${deadId}`;
  const [stuck] = await world.sql<{ n: number }[]>`select count(*)::int as n from webhook_deliveries d
    where state in ('queued', 'posting', 'scheduled') and wake_at is null and not (revision = 1 and exists (
      select from instances i where i.id = d.kept_by and i.kind = 'webhookDelivery' and d.id >= i.low_water))`;
  return {
    events: events.length,
    expected: pairs.length,
    missing: missing(),
    twice: healthy.filter(({ key }) => (receivers.arrivals.get(key)?.length ?? 0) > 1).length,
    p50: latencies[Math.floor(latencies.length * 0.5)] ?? Number.NaN,
    p99: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
    deadAttempts: dead?.n ?? 0,
    disabled,
    earliestRetry: Math.min(...waits),
    latestRetry: Math.max(...waits),
    retries: waits.length,
    stuck: stuck?.n ?? 0,
  };
}

async function registerAll(world: StormWorld, receivers: StormReceivers, { endpoints }: Storm) {
  const hooks: Hook[] = [];
  let deadId = '';
  for (const [t, tenant] of world.tenants.entries())
    for (let i = 0; i < endpoints; i += 1) {
      const role = t === 0 ? (['dead', 'flaky'][i] ?? 'healthy') : 'healthy';
      const path = role === 'flaky' ? '/flaky' : `/${t}/${i}`;
      const events =
        role !== 'healthy' || i % 4 === 0 ? ['sent', 'delivered'] : [i % 2 ? 'sent' : 'delivered'];
      const url = role === 'dead' ? receivers.deadUrl : receivers.url + path;
      const { status, body } = await tenant.client.post('/v1/webhooks', { url, events });
      if (status !== 201) throw new Error(JSON.stringify(body));
      if (role === 'dead') deadId = body.data.id;
      else hooks.push({ tenant, path, events });
    }
  return { hooks, deadId };
}

/** Enables the dead endpoint as often as it gets disabled, so that it is dying all the time. */
async function keepDying({ client }: Tenant, id: string, over: AbortSignal): Promise<number> {
  let disabled = 0;
  const look = async (): Promise<true | undefined> => {
    if (over.aborted) return true;
    const shown = await client.get(`/v1/webhooks/${id}`);
    if (shown.body?.data?.status !== 'disabled') return undefined;
    const rotated = await client.post(`/v1/webhooks/${id}/rotate-secret`);
    if (rotated.status === 200) disabled += 1;
    return undefined;
  };
  await eventually('the end of the storm', look, { withinMs: Number.POSITIVE_INFINITY, everyMs: 250 });
  return disabled;
}

async function killOften(world: StormWorld, storm: Storm, say: (text: string) => void): Promise<void> {
  const lastsMs = (storm.emails / storm.emailsPerSecond) * 1_000;
  for (let kill = 1; kill <= storm.kills; kill += 1) {
    await momentOf(Date.now() + (lastsMs / (storm.kills + 1)) * (0.5 + Math.random()));
    await world.crash();
    say(`Killed ${kill} times.`);
  }
}

/** Sends at the stated rate; whatever is not acknowledged is sent again with the same key. */
async function sendAll(tenants: readonly Tenant[], { emails, emailsPerSecond }: Storm): Promise<void> {
  const begin = Date.now();
  const sending: Promise<void>[] = [];
  for (let n = 0; n < emails; n += 1) {
    await momentOf(begin + (n * 1_000) / emailsPerSecond);
    sending.push(send(tenants[n % tenants.length] as Tenant, n));
  }
  await Promise.all(sending);
}

async function send({ client }: Tenant, n: number): Promise<void> {
  const key = { 'idempotency-key': `storm-${n}` };
  const email = {
    from: 'a@acme.example',
    to: 'delivered@simulator.svc.test',
    subject: `${n}`,
    text: 'Hello',
  };
  await eventually(
    `email ${n}`,
    async () => ((await client.post('/v1/emails', email, key)).status === 202 ? true : undefined),
    { everyMs: 50 },
  );
}

/** The delay of each retry at the flaky endpoint behind its schedule. */
function retryWaits({ arrivals, refusals }: StormReceivers): readonly number[] {
  return [...arrivals].flatMap(([key, times]) => {
    const [path, id = ''] = key.split(' ');
    if (path !== '/flaky') return [];
    return times
      .slice(0, refusals(id) + 1)
      .flatMap((at, n) => (n === 0 ? [] : [at - (times[n - 1] ?? 0) - (BACKOFF_MS[n - 1] ?? 0)]));
  });
}
