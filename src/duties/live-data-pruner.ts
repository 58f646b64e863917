import type { Database } from '../db/database.ts';
import { lowestIdAt } from '../db/ids.ts';
import { PARTITIONED, partitionedDays, retireDay } from '../db/partitions.ts';
import { KEPT_DAYS, RETENTION_BATCH } from './retention.ts';
import type { Duty, DutyDeps } from './schedule.ts';

const DAY_MS = 86_400_000;

/**
 * The actors of a range of ids that were sent before $3, or ended without being sent. From $1 on: each batch starts
 * where the last one ended, since walking again over what was just deleted would take ever longer.
 */
const PRUNE = `with old as materialized (
  select id from emails where id >= $1 and id < $2 and livemode and wake_at is null
    and (sent_at < $3::timestamptz or sent_at is null and state in ('failed', 'cancelled'))
  order by id limit ${RETENTION_BATCH}
), gone as (
  delete from emails e using old o where e.id = o.id
)
select max(id) as last, count(*)::integer as removed from old`;

/** What was kept of a retired day, once its time has come too. */
const PRUNE_LEFTOVERS = PARTITIONED.map(
  ({ table, column }) =>
    `delete from ${table}_default p where ${column} < $1 and not exists (select from emails e where e.id = p.${column})`,
);

/**
 * Deletes live data 90 days after it was sent. The actors go in small batches; bodies, events and journal, which are
 * nearly all of the bytes, go with the partition of their day, which gives the disk back at once. The few emails of
 * that day that were sent later (scheduled, or long deferred) are moved out of it first.
 */
export const liveDataPruner = ({ database, clock }: DutyDeps): Duty => ({
  name: 'liveDataPruner',
  pattern: '0 27 * * * *',
  async run() {
    const cutoff = clock.now() - KEPT_DAYS.live * DAY_MS;
    for (const day of await partitionedDays(database)) {
      if (day + DAY_MS > cutoff) break;
      await pruneActors(database, lowestIdAt('em', day), lowestIdAt('em', day + DAY_MS), cutoff);
      await retireDay(database, day);
    }
    const oldest = lowestIdAt('em', cutoff);
    await pruneActors(database, lowestIdAt('em', 0), oldest, cutoff);
    for (const statement of PRUNE_LEFTOVERS) await database.query(statement, [oldest]);
  },
});

async function pruneActors(database: Database, low: string, high: string, cutoff: number): Promise<void> {
  let from = low;
  for (;;) {
    const [batch] = await database.query<{ last: string | null; removed: number }>(PRUNE, [
      from,
      high,
      new Date(cutoff).toISOString(),
    ]);
    if (!batch?.last || batch.removed < RETENTION_BATCH) return;
    from = batch.last;
  }
}
