import type { InsertRule } from '../../../http/module.ts';
import { NUMBERED_TIME } from '../../../platform/db/numbered-time.ts';

const HAS_BODIES = 'body_keys is not null';

/**
 * An email whose content is in the bucket is accepted in time, or not at all: later its bodies may have been
 * collected, since no email referred to them. The time is read once the transaction has its number: when all
 * transactions with numbers below a later one have ended, every email that was accepted in time is visible
 * (src/engine/bodies/collector.ts).
 */
export const bodyInsertRule: InsertRule = {
  of: 'email',
  columns: 'body_keys text[], body_until timestamptz',
  conditions: [
    {
      name: 'bodies_kept',
      judged: HAS_BODIES,
      sql: (input) => `select ord from ${input}
  where ${HAS_BODIES} and body_until > ${NUMBERED_TIME}`,
    },
  ],
  writes: [
    (admitted) => `insert into email_bodies (workspace_id, key, email_id)
  select a.workspace_id, b.key, a.id from ${admitted} a cross join lateral unnest(a.body_keys) b(key) where a.${HAS_BODIES}`,
  ],
};
