import type { EmailState } from '../../../../machines/email.ts';
import type { Database } from '../../../db/database.ts';
import { lowestIdAt } from '../../../db/ids.ts';
import { PARTITIONED, partitionedDays, retireDay } from '../../../db/partitions.ts';
import type { Duty, DutyDeps } from '../../../duties/duty.ts';
import { KEPT_DAYS, RETENTION_BATCH } from '../../../duties/retention.ts';
import { stateList, statesWhere } from '../../../engine/kind.ts';
import { DAY_MS } from '../../../time/clock.ts';

/** Whether an email can stay in that state for ever without having been sent. */
const ENDS_UNSENT: Readonly<Record<EmailState, boolean>> = {
  scheduled: false,
  queued: false,
  sending: false,
  deferred: false,
  sent: false,
  delivered: false,
  failed: true,
  cancelled: true,
};
const UNSENT = stateList(statesWhere(ENDS_UNSENT));

/** The most emails of one day that are moved. A day with more is left as it is until fewer remain. */
const MOST_KEPT = 10_000;

/**
 * Deletes those of the next actors that were sent before $3, or ended without being sent. Each batch begins at $1, the end of
 * the last one: walking again over deleted rows would take ever longer (at ten million rows more than the six seconds
 * that a statement has).
 */
const PRUNE = `with batch as materialized (
  select id, wake_at is null
    and (sent_at < $3::timestamptz or sent_at is null and state in (${UNSENT})) as expired
  from emails where id > $1 and id < $2 and livemode order by id limit ${RETENTION_BATCH}
), gone as (
  delete from emails e using batch b where b.expired and e.id = b.id
)
select max(id) as last, count(*)::integer as seen, coalesce(json_agg(id) filter (where not expired), '[]') as kept
from batch`;

/**
 * Deletes emails that were kept when their day was retired and have expired since. The default partition names these few; walking
 * through the actors themselves would meet every index entry that the retired days have left behind.
 */
const PRUNE_LEFTOVERS = `delete from emails e using email_messages_default m
where m.id < $1 and e.id = m.id and e.livemode and e.wake_at is null
  and (e.sent_at < $2::timestamptz or e.sent_at is null and e.state in (${UNSENT}))`;

const PRUNE_ORPHANS = PARTITIONED.map(
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
  goesByAge: true,
  async run(stop) {
    const cutoff = clock.now() - KEPT_DAYS.live * DAY_MS;
    for (const day of await partitionedDays(database)) {
      if (day + DAY_MS > cutoff) break;
      const kept = await pruneActors(database, day, cutoff, stop);
      if (kept === null) return;
      if (kept.length <= MOST_KEPT) await retireDay(database, day, kept, stop);
    }
    if (stop?.aborted) return;
    const oldest = lowestIdAt('em', cutoff);
    await database.query(PRUNE_LEFTOVERS, [oldest, new Date(cutoff).toISOString()]);
    for (const statement of PRUNE_ORPHANS) if (!stop?.aborted) await database.query(statement, [oldest]);
  },
});

/** Deletes the expired emails of a day and answers the ids that stay; null when it was stopped before the day's end. */
async function pruneActors(
  database: Database,
  day: number,
  cutoff: number,
  stop?: AbortSignal,
): Promise<string[] | null> {
  const [low, high] = [lowestIdAt('em', day), lowestIdAt('em', day + DAY_MS)];
  const kept: string[] = [];
  // Sorts before the lowest id itself, which is in the range.
  let from = low.slice(0, -1);
  while (!stop?.aborted) {
    const [batch] = await database.query<{ last: string | null; seen: number; kept: string[] }>(PRUNE, [
      from,
      high,
      new Date(cutoff).toISOString(),
    ]);
    if (!batch?.last) return kept;
    if (kept.length <= MOST_KEPT) kept.push(...batch.kept);
    if (batch.seen < RETENTION_BATCH) return kept;
    from = batch.last;
  }
  return null;
}
