import { sharedFact } from '../../engine/kind.ts';

/** What the column defaults to, but found once a statement and not once a row. */
const POSITION = '(select event_position())';

/**
 * The event log, which webhooks build upon in the commit that writes it. `recipient` arrives as an index: addresses are no
 * part of a machine's context.
 */
export const recorded = sharedFact('recorded', ['id', 'email_id', 'workspace_id', 'livemode', 'type'], {
  columns: 'id text, type text, recipient integer, occurred_at timestamptz, data json',
  sql: (source, returning) => `insert into email_events
      (email_id, id, workspace_id, livemode, type, recipient, occurred_at, data, position)
    select actor, id, workspace_id, livemode, type, recipients[recipient + 1], occurred_at, data,
      ${POSITION} from ${source} s
    returning ${returning}`,
});
