import type { FactTable } from '../../engine/kind.ts';

/**
 * Deliveries stop with their endpoint, in its own commit: before a client hears that it is deleted, nothing waits any
 * more. One statement instead of a letter to each, since there may be a hundred thousand; it takes the transition
 * `endpoint.stopped` of their machine, which a test holds it to. Locked in id order, as their own commits lock them.
 */
const stopped: FactTable = {
  name: 'stopped',
  columns: 'reason text, at bigint',
  sql: (source) => `update webhook_deliveries d
    set state = 'failed', timers = null, wake_at = null, revision = d.revision + 1,
      context = (d.context::jsonb || jsonb_build_object('at', p.at, 'stoppedBy', p.reason))::json
    from (
      select w.id, w.state, s.reason, s.at from ${source} s
      join webhook_deliveries w on w.webhook_id = s.actor and w.wake_at is not null
      order by w.id for update of w
    ) p where d.id = p.id
    returning d.id, d.revision, p.state as was, p.at, (d.context->>'attempt')::integer as attempt`,
};

/** Their journals say so. It has no rows of its own, but reads what `stopped` returns. */
const stopsJournaled: FactTable = {
  name: 'stops_journaled',
  columns: 'nothing text',
  sql: (_, tag) => `insert into webhook_delivery_journal (actor_id, revision, commit_tag, steps)
    select id, revision, ${tag}, json_build_array(json_build_object(
      'event', 'endpoint.stopped', 'from', was, 'at', at, 'to', 'failed', 'attempt', attempt, 'effects', '[]'::json))
    from stopped`,
};

/** The tables that stopping writes, in order. */
export const stopFacts: readonly FactTable[] = [stopped, stopsJournaled];
