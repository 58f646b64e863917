import type { WebhookDeliveryContext } from '../../../../machines/webhook-delivery/context.ts';
import { type ActorBatch, type Audit, auditActors } from '../../../engine/audit/actors.ts';
import { lowestIdAt } from '../../../platform/db/ids.ts';
import { webhookDeliveryKind } from './kind.ts';

/**
 * The clocks of instances differ, so an event this close to a change of its endpoint may belong to either
 * side of it.
 */
const MARGIN_MS = 60_000;
const NAMED = 20;

/** Reads the active endpoints with the time of their last change of subscriptions. */
const ENDPOINTS = `select w.id, w.livemode, (
  select max((s->>'at')::float8) from webhook_endpoint_journal j cross join lateral json_array_elements(j.steps) s
  where j.actor_id = w.id and s->>'event' in ('spawned', 'settings.changed', 'secret.rotated')
) as since from webhook_endpoints w where w.state = 'active' order by w.id`;

/**
 * Finds events without a delivery. Both sides are read once and compared as sets: `not exists` was planned as
 * a look at every delivery for every event, and took over a minute for 45,000 events.
 */
const MISSING = `select count(*) over ()::integer as total, m.id from (
  select e.id from webhook_endpoints w
  join email_events e on e.workspace_id = w.workspace_id and e.livemode = w.livemode and e.type = any(w.events)
  where w.id = $1 and e.id > $2 and e.written_at >= $3::timestamptz
  except select d.event_id from webhook_deliveries d where d.webhook_id = $1
) m order by m.id limit ${NAMED}`;

const ATTEMPTS = `select delivery_id as id, max(attempt) as last,
  count(*) filter (where http_status between 200 and 299)::integer as taken
from webhook_attempts where delivery_id > $1 and delivery_id <= $2 group by delivery_id`;

interface AttemptsRow {
  readonly id: string;
  readonly last: number;
  readonly taken: number;
}

/** Checks deliveries as actors, their attempts, and that every event has its deliveries. */
export async function auditDeliveries(audit: Audit): Promise<void> {
  await auditActors(audit, webhookDeliveryKind, lowestIdAt('dlv', audit.since), (batch) =>
    checkAttempts(audit, batch),
  );
  const endpoints = await audit.session.query<{ id: string; livemode: boolean; since: number | null }>(
    ENDPOINTS,
  );
  for (const { id, livemode, since } of endpoints) {
    const removed = audit.removed[livemode ? 'live' : 'test'];
    const from = Math.max(Math.max(since ?? audit.now, removed) + MARGIN_MS, audit.since);
    const missing = await audit.session.query<{ total: number; id: string }>(MISSING, [
      id,
      lowestIdAt('evt', from),
      new Date(from).toISOString(),
    ]);
    audit.findings.look('deliveries', 1);
    for (const event of missing) audit.findings.wrong('deliveries', event.id, `has no delivery for ${id}`);
    const unnamed = (missing[0]?.total ?? 0) - missing.length;
    if (unnamed > 0) audit.findings.wrong('deliveries', id, `lacks deliveries of ${unnamed} more events`);
  }
}

async function checkAttempts({ session, findings }: Audit, { actors, after, to }: ActorBatch): Promise<void> {
  const rows = await session.query<AttemptsRow>(ATTEMPTS, [after, to]);
  const attempts = new Map(rows.map((row) => [row.id, row]));
  findings.look('attempts', actors.length);
  for (const { id, state, context } of actors) {
    const { attempt } = context as WebhookDeliveryContext;
    const made = attempts.get(id);
    if (state === 'success' && !made?.taken)
      findings.wrong('attempts', id, 'succeeded without an attempt that did');
    if (made && made.last > attempt)
      findings.wrong('attempts', id, `is at attempt ${attempt}, and has an outcome of ${made.last}`);
  }
}
