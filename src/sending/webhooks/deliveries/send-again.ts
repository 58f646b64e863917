import { eq } from 'drizzle-orm';
import type { WebhookEndpointContext } from '../../../../machines/webhook-endpoint/machine.ts';
import type { Principal } from '../../../http/auth/principal.ts';
import { claimOnce, idempotently, keyedBy } from '../../../http/request/idempotent.ts';
import type { Call, Replay } from '../../../http/request/route.ts';
import { ON_ONE_SERVER } from '../../../platform/db/distribution/terms.ts';
import { mintId, timeOfId } from '../../../platform/db/ids.ts';
import { webhookDeliveries } from '../../../platform/db/schema/webhooks.ts';
import type { StoredReply } from '../../../platform/db/stored-replies.ts';
import { Failure, invalidAt, notFound } from '../../../platform/errors/failure.ts';
import type { StandingClock } from '../../emails/commands.ts';
import { NO_ENDPOINT, type WebhookCommands } from '../commands.ts';
import type { DeliveryView, ReplayBody, WebhookView } from '../model.ts';
import { findDelivery, findWebhook } from '../queries.ts';
import { LEASE_MS } from './kind.ts';
import { eventsInScope, scopeColumns } from './replay.ts';

// Deliveries that a client orders: a test, one event again, or a range of events again.

type EndpointCall = Call<{ readonly id: string }>;
type RedeliverCall = Call<{ readonly id: string; readonly deliveryId: string }>;
type ReplayCall = Call<{ readonly id: string }, unknown, ReplayBody>;
type ReplayReply = { queued: number; continueFrom: string | null };

const DISABLED = new Failure('CONFLICT', 'This webhook endpoint is disabled, so it receives no events.', {
  suggestion: 'Enable it by rotating its secret, or by PATCH with status active.',
});

/** Reads an endpoint, and refuses when nothing can be sent to it. */
async function activeWebhook(
  commands: WebhookCommands,
  caller: Principal,
  id: string,
): Promise<WebhookView | Failure> {
  const webhook = await findWebhook(commands, caller, id);
  if (!webhook) return NO_ENDPOINT;
  return webhook.status === 'active' ? webhook : DISABLED;
}

/** A repeated request gets its stored reply, even when the endpoint was disabled or deleted since. */
const once = <Data>(
  { database }: WebhookCommands,
  call: Pick<Call, 'caller' | 'claim' | 'now'>,
  run: () => Promise<Data | Failure | StoredReply>,
): Promise<Data | Failure | Replay> => idempotently(database, keyedBy(call), { run, lookFirst: true });

const plainClaim = (call: Pick<Call, 'caller' | 'claim' | 'now'>, reply: unknown) =>
  claimOnce(keyedBy(call), 200, () => JSON.stringify(reply));

/**
 * Queues a `delivered` event that is marked as a test. It is in no log, and is sent whatever the endpoint
 * subscribes to.
 */
export const testWebhook = (
  commands: WebhookCommands,
  call: EndpointCall,
): Promise<{ queued: true } | Failure | Replay> => once(commands, call, () => queueTest(commands, call));

async function queueTest(
  commands: WebhookCommands,
  call: EndpointCall,
): Promise<{ queued: true } | Failure | StoredReply> {
  const { caller, params, now } = call;
  const webhook = await activeWebhook(commands, caller, params.id);
  if (webhook instanceof Failure) return webhook;
  const event = {
    id: mintId('evt', now),
    type: 'delivered' as const,
    emailId: mintId('em', now),
    recipient: `delivered@${commands.simulatorDomain}`,
    occurredAt: new Date(now).toISOString(),
    data: { remoteMta: null, response: 'A test event: this email does not exist.', isTest: true },
    livemode: false,
  };
  const spawned = await commands.engine.spawn('webhookDelivery', {
    workspaceId: caller.workspaceId,
    livemode: caller.livemode,
    input: { at: now, leaseMs: LEASE_MS, turnAt: null },
    columns: {
      webhook_id: webhook.id,
      event_id: event.id,
      event_type: event.type,
      email_id: event.emailId,
      event,
    },
    claim: plainClaim(call, { queued: true }),
  });
  return spawned.outcome === 'replayed' ? spawned : { queued: true };
}

/** Sends one event again, with all its retries, whatever the result of the delivery was. */
export const redeliver = (
  commands: WebhookCommands,
  call: RedeliverCall,
): Promise<DeliveryView | Failure | Replay> => once(commands, call, () => sendAgain(commands, call));

const CLOCK_GONE = new Failure('CONFLICT', 'The test clock of this delivery was deleted.', {
  suggestion: 'Replay the event instead, which sends it in real time.',
});

/** The test clock of a delivery; null for real time. */
async function clockOf(
  { database, testClocks }: WebhookCommands,
  { workspaceId, livemode }: Principal,
  id: string,
): Promise<StandingClock | Failure | null> {
  if (livemode) return null;
  const [row] = await database.read((orm) =>
    orm
      .select({ clock: webhookDeliveries.testClockId })
      .from(webhookDeliveries)
      .where(eq(webhookDeliveries.id, id)),
  );
  const found = row?.clock ? await testClocks?.()?.find(workspaceId, row.clock) : null;
  return found instanceof Failure && found.code === 'NOT_FOUND' ? CLOCK_GONE : (found ?? null);
}

async function sendAgain(
  commands: WebhookCommands,
  call: RedeliverCall,
): Promise<DeliveryView | Failure | StoredReply> {
  const { caller, params, now } = call;
  const webhook = await activeWebhook(commands, caller, params.id);
  if (webhook instanceof Failure) return webhook;
  const before = await findDelivery(commands, caller, webhook.id, params.deliveryId);
  if (!before) return notFound('webhook delivery');
  const view = {
    ...before,
    status: 'scheduled' as const,
    retryCount: 0,
    error: before.httpStatus === 0 ? before.error : null,
    nextAttemptAt: null,
  };
  const clock = await clockOf(commands, caller, before.id);
  if (clock instanceof Failure) return clock;
  const event = { type: 'redeliver.requested', at: clock?.now ?? now } as const;
  const result = await commands.engine.tell('webhookDelivery', before.id, event, {
    scope: caller,
    claim: plainClaim(call, view),
  });
  if (result.outcome === 'replayed') return result;
  if (result.outcome === 'absent') return notFound('webhook delivery');
  // The test clock carries out the orders of this commit.
  if (clock) commands.testClocks?.()?.entered(caller.workspaceId, clock);
  // A refusal means that an attempt is under way at this moment, as the client asked.
  return result.outcome === 'refused' ? before : view;
}

/** Most events that one call sends again. */
const MOST_REPLAYED = 10_000;

const COUNT = `select count(*)::integer as found, max(e.id) as last from (
  select $1::text as actor, $2::text as workspace_id, $3::boolean as livemode, $4::text as low, $5::text as high,
    $6::text[] as types, $7::boolean as only_failed, $8::integer as most,
    $9::text::timestamptz as low_at, $10::text as high_email
) r cross join lateral (${eventsInScope(ON_ONE_SERVER)}) e`;

const replayUnderWay = ({ replayUntil }: Pick<WebhookEndpointContext, 'replayUntil'>, now: number): Failure =>
  new Failure('CONFLICT', 'A replay of this webhook endpoint is already under way.', {
    suggestion: 'Wait until its last event has been sent, then repeat the request.',
    retryAfterSeconds: Math.max(1, Math.ceil((replayUntil - now) / 1_000)),
  });

/** Sends past events again, oldest first, one after the other. An endpoint has one replay at a time. */
export const replayEvents = (
  commands: WebhookCommands,
  call: ReplayCall,
): Promise<ReplayReply | Failure | Replay> => once(commands, call, () => queueReplay(commands, call));

async function queueReplay(
  commands: WebhookCommands,
  call: ReplayCall,
): Promise<ReplayReply | Failure | StoredReply> {
  const { caller, params, body, now } = call;
  const from = Date.parse(body.from);
  const to = Math.min(Date.parse(body.to), now);
  if (from > Date.parse(body.to)) return invalidAt('/body/to', 'Must not be earlier than `from`.');
  const webhook = await activeWebhook(commands, caller, params.id);
  if (webhook instanceof Failure) return webhook;
  const scope = {
    from,
    to,
    types: body.types ?? webhook.events,
    onlyFailed: body.onlyFailed ?? false,
    most: MOST_REPLAYED,
  };
  const { low, high, low_at, high_email, types, only_failed } = scopeColumns(scope);
  const [row] = await commands.database.query<{ found: number; last: string | null }>(COUNT, [
    webhook.id,
    caller.workspaceId,
    caller.livemode,
    low,
    high,
    types,
    only_failed,
    MOST_REPLAYED + 1,
    low_at,
    high_email,
  ]);
  const { found, last } = row as { found: number; last: string | null };
  const queued = Math.min(found, MOST_REPLAYED);
  const continueFrom = found > MOST_REPLAYED && last !== null ? new Date(timeOfId(last)).toISOString() : null;
  const result = await commands.engine.tell(
    'webhookEndpoint',
    webhook.id,
    { type: 'replay.requested', at: now, ...scope, most: queued },
    { scope: caller, claim: plainClaim(call, { queued, continueFrom }) },
  );
  if (result.outcome === 'replayed') return result;
  if (result.outcome === 'absent') return NO_ENDPOINT;
  if (result.outcome === 'changed') return { queued, continueFrom };
  return result.state === 'active' ? replayUnderWay(result.context, now) : DISABLED;
}
