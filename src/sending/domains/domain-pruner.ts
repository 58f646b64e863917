import { and, eq, lt } from 'drizzle-orm';
import { untilDone } from '../../engine/duties/batches.ts';
import type { Duty, DutyDeps } from '../../engine/duties/duty.ts';
import { RETENTION_BATCH } from '../../engine/duties/retention.ts';
import { domainKeys, warmUpDays } from '../../platform/db/schema/domains.ts';
import { DAY_MS } from '../../platform/time/clock.ts';

/**
 * A live email may name a removed domain for this long: it waits at most 33 days, and its row is kept for 90.
 */
const REMOVED_KEPT_MS = 90 * DAY_MS;
/**
 * The DNS records of retired keys may be deleted after a week; the list shows the keys until this time has
 * passed.
 */
const RETIRED_KEPT_MS = 90 * DAY_MS;

/** The removal is the last write of a domain, so `at` in its context is the time of the removal. */
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

/** A schedule has 90 days at most, and no statement reads a day that is over. */
const DAYS_KEPT_MS = 7 * DAY_MS;

/** Deletes removed domains, retired keys, and days of warm-ups that are over. */
export const domainPruner = ({ database, clock }: DutyDeps): Duty => ({
  name: 'domainPruner',
  pattern: '20 57 * * * *',
  goesByAge: true,
  async run(stop) {
    await untilDone(database, BURY, [clock.now() - REMOVED_KEPT_MS], RETENTION_BATCH, stop);
    if (stop?.aborted) return;
    const { stage, since } = domainKeys;
    const retiredBefore = new Date(clock.now() - RETIRED_KEPT_MS);
    await database.read((orm) =>
      orm.delete(domainKeys).where(and(eq(stage, 'retired'), lt(since, retiredBefore))),
    );
    const firstDay = new Date(clock.now() - DAYS_KEPT_MS).toISOString().slice(0, 10);
    await database.read((orm) => orm.delete(warmUpDays).where(lt(warmUpDays.day, firstDay)));
  },
});
