import { untilDone } from '../../duties/batches.ts';
import type { Duty, DutyDeps } from '../../duties/duty.ts';
import { RETENTION_BATCH } from '../../duties/retention.ts';
import { DAY_MS } from '../../time/clock.ts';

/** As long as a live email may still name it: it waits at most 30 days and three more, and is kept for 90. */
const REMOVED_KEPT_MS = 90 * DAY_MS;
/** The records of retired keys may go after a week; who has not noticed by then will not. */
const RETIRED_KEPT_MS = 90 * DAY_MS;

/** A removed domain was last written when it was removed. */
const BURY = `with old as materialized (
  select id from domains where state = 'removed' and (context->>'at')::float8 < $1::float8 order by id limit ${RETENTION_BATCH}
), journal as (
  delete from domain_journal j using old o where j.actor_id = o.id
), choices as (
  delete from domain_transports t using old o where t.domain_id = o.id
), keys as (
  delete from domain_keys k using old o where k.domain_id = o.id
)
delete from domains d using old o where d.id = o.id returning 1 as one`;

const FORGET = `delete from domain_keys where stage = 'retired' and since < $1::timestamptz`;

/** Deletes what is left of removed domains and retired keys. */
export const domainPruner = ({ database, clock }: DutyDeps): Duty => ({
  name: 'domainPruner',
  pattern: '20 57 * * * *',
  goesByAge: true,
  async run(stop) {
    await untilDone(database, BURY, [clock.now() - REMOVED_KEPT_MS], RETENTION_BATCH, stop);
    if (stop?.aborted) return;
    await database.query(FORGET, [new Date(clock.now() - RETIRED_KEPT_MS).toISOString()]);
  },
});
