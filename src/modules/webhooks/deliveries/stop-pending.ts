import type { StopReason, WebhookEndpointState } from '../../../../machines/webhook-endpoint.ts';
import type { Database } from '../../../db/database.ts';
import type { Clock } from '../../../time/clock.ts';

// An endpoint stops in a commit of its own row; what waits for it stops afterwards. That it is inactive is all there is to
// remember: nothing is posted to it, and whatever still waits for it, after a crash or not, is to be stopped.

/** Why the deliveries of an endpoint in that state stop; null: they do not. */
export const STOPS_IN: Readonly<Record<WebhookEndpointState, StopReason | null>> = {
  active: null,
  disabled: 'endpoint_disabled',
  deleted: 'endpoint_deleted',
};

/** Deliveries that one statement reads, and stops, at the most: a tenth of a second of locks. */
export const STOP_BATCH = 5_000;

/** A commit's tag is never negative: nobody takes these writes for those of a commit whose reply was lost. */
const TAG = -1;

/**
 * Stops what waits for inactive endpoints among the next deliveries of the clock's index, from ($1, $2) on; $3 is now. It
 * takes the transition `endpoint.stopped` of their machine, which a test holds it to. Locked in id order, as their own
 * commits lock them, and only at the revision that was read: one that was sent again since, its endpoint being active
 * again, is not meant.
 */
const STOP = `with piece as materialized (
  select id, webhook_id, wake_at, revision from webhook_deliveries
  where wake_at is not null and (wake_at, webhook_id) >= ($1::text::timestamptz, $2)
  order by wake_at, webhook_id limit ${STOP_BATCH}
), chosen as materialized (
  select d.id, d.state as was,
    case w.state when 'disabled' then 'endpoint_disabled' else 'endpoint_deleted' end as reason
  from piece p
  join webhook_endpoints w on w.id = p.webhook_id and w.state <> 'active'
  join webhook_deliveries d on d.id = p.id and d.revision = p.revision
  order by d.id for update of d
), stopped as (
  update webhook_deliveries d
  set state = 'failed', timers = null, wake_at = null, revision = d.revision + 1,
    context = (d.context::jsonb || jsonb_build_object('at', $3::bigint, 'stoppedBy', c.reason))::json
  from chosen c where d.id = c.id
  returning d.id, d.revision, c.was, (d.context->>'attempt')::integer as attempt
), journaled as (
  insert into webhook_delivery_journal (actor_id, revision, commit_tag, steps)
  select id, revision, ${TAG}, json_build_array(json_build_object(
    'event', 'endpoint.stopped', 'from', was, 'at', $3::bigint, 'to', 'failed', 'attempt', attempt, 'effects', '[]'::json))
  from stopped
)
select p.wake_at::text as at, p.webhook_id as webhook, (select count(*)::integer from piece) as seen,
  (select count(*)::integer from stopped) as stopped
from piece p order by p.wake_at desc, p.webhook_id desc limit 1`;

interface Piece {
  readonly at: string;
  readonly webhook: string;
  readonly seen: number;
  readonly stopped: number;
}

/** Before any moment, and after every id that begins alike. */
const EVER = new Date(0).toISOString();
const PAST = '~';

/** What stopping is done with. */
export interface StoppingWork {
  readonly database: Database;
  readonly clock: Clock;
}

/**
 * Stops what waits for endpoints that were inactive when this began, a batch at a time: there may be a hundred thousand of
 * one endpoint, and one statement over all of them misses the server's time limit. It walks through whatever waits, in the
 * order of the clock's index, since that of an endpoint's deliveries holds all that ever ended as well. What an attempt
 * under way puts behind it comes due by itself, and is refused then.
 */
export async function stopDeliveries({ database, clock }: StoppingWork, stop?: AbortSignal): Promise<void> {
  let [at, webhook] = [EVER, ''];
  while (!stop?.aborted) {
    const [piece] = await database.query<Piece>(STOP, [at, webhook, clock.now()]);
    if (!piece || piece.seen < STOP_BATCH) return;
    at = piece.at;
    // Of one moment and one endpoint there may be more than a batch. Where none was stopped, none of them is to be.
    webhook = piece.stopped > 0 ? piece.webhook : piece.webhook + PAST;
  }
}
