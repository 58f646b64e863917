import type { EmailState } from '../../../../machines/email/machine.ts';
import type { Duty } from '../../../engine/duties/duty.ts';
import {
  beginRemoval,
  endOfRemoval,
  RETENTION_BATCH,
  type RetentionDeps,
} from '../../../engine/duties/retention.ts';
import { stateList, statesWhere } from '../../../engine/machine/kind.ts';
import type { Database } from '../../../platform/db/database.ts';
import { lowestIdAt } from '../../../platform/db/ids.ts';
import { partitionedDays, retireDay } from '../../../platform/db/partitions.ts';
import { workspaces } from '../../../platform/db/schema/workspaces.ts';
import { DAY_MS } from '../../../platform/time/clock.ts';

/** True when an email can stay in that state for ever without having been sent. */
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

/** The most emails of one day that are moved. Of a day with more the others are deleted one by one. */
const MOST_KEPT = 10_000;

/**
 * True when an email of the view has expired by $3; of one that was never sent the first comparison is
 * neither true nor false.
 */
const EXPIRED = `coalesce(n.wake_at is null
    and (n.sent_at < $3::timestamptz or n.sent_at is null and n.state in (${UNSENT})), false)`;

/**
 * Looks at the next emails of a day. Each batch begins at $1, the end of the last one. `deleting`: further
 * CTEs.
 */
const batchStatement = (deleting: string, own = ''): string => `with batch as materialized (
  select n.id, ${EXPIRED} as expired
  from emails_now n where n.id > $1 and n.id < $2 and n.livemode${own} order by n.id limit ${RETENTION_BATCH}
)${deleting}
select max(id) as last, count(*)::integer as seen, coalesce(json_agg(id) filter (where not expired), '[]') as kept
from batch`;
const LOOK = batchStatement('');
const PRUNE = batchStatement(`, turns as (
  delete from email_turns t using batch b where b.expired and t.email_id = b.id
), gone as (
  delete from emails e using batch b where b.expired and e.id = b.id
)`);

/** The same of workspace $4, where tables are distributed. */
const PRUNE_OWN = batchStatement(
  `, turns as (
  delete from email_turns t using batch b where b.expired and t.email_id = b.id and t.workspace_id = $4
), gone as (
  delete from emails e using batch b where b.expired and e.id = b.id and e.workspace_id = $4
)`,
  ' and n.workspace_id = $4',
);
const PRUNE_OWN_ORPHANS = `delete from email_turns t
where t.workspace_id = $2 and t.email_id < $1 and not exists (select true from emails e where e.id = t.email_id and e.workspace_id = $2)`;

/**
 * The emails of a day that lie outside its partition: they keep their turns, which may lie in one, until they
 * are deleted themselves.
 */
const OUTSIDE = `select id from emails_default where id >= $1 and id < $2 limit ${MOST_KEPT + 1}`;
const OF_DAY = 'select true as one from emails where id >= $1 and id < $2 limit 1';
const LIVE_OF_DAY = 'select true as one from emails where livemode and id >= $1 and id < $2 limit 1';

/**
 * Deletes emails that were kept when their day was retired and have expired since; the default partition
 * holds these few.
 */
const PRUNE_LEFTOVERS = `with old as materialized (
  select n.id from emails_default m join emails_now n on n.id = m.id
  where m.id < $1 and m.id > $2 and m.livemode and ${EXPIRED}
), turns as (
  delete from email_turns t using old o where t.email_id = o.id
)
delete from emails e using old o where e.id = o.id`;

/** Turns that were written while their email was deleted. */
const PRUNE_ORPHANS = `delete from email_turns_default t
where t.email_id < $1 and not exists (select from emails e where e.id = t.email_id)`;

/**
 * Deletes live data as many days after it was sent as it is kept. Emails and their turns go with the
 * partitions of their day, which gives the disk back at once. The few emails of that day that were sent later
 * (scheduled, or long deferred) are moved out of it first. A day whose test data is kept for longer stays
 * until that has expired as well, and its live data is deleted from it meanwhile.
 */
export const liveDataPruner = (deps: RetentionDeps): Duty => ({
  name: 'liveDataPruner',
  pattern: '0 27 * * * *',
  goesByAge: true,
  async run(stop) {
    const { database } = deps;
    const cutoff = await beginRemoval(deps, true);
    if (deps.isDistributed) return pruneOnNodes(database, cutoff, stop);
    const testCutoff = endOfRemoval(deps, false);
    for (const day of await partitionedDays(database)) {
      if (day + DAY_MS > cutoff) break;
      if (day + DAY_MS <= testCutoff) {
        const kept = await look(database, day, cutoff, { deletes: false, stop });
        if (kept === null) return;
        const outside = await database.query<{ id: string }>(OUTSIDE, idsOf(day));
        const ids = new Set([...kept, ...outside.map(({ id }) => id)]);
        if (ids.size <= MOST_KEPT) {
          await retireDay(database, day, [...ids], stop);
          continue;
        }
      }
      // A day that waits for its test data has no live data left after the first time.
      if ((await database.query(LIVE_OF_DAY, idsOf(day))).length === 0) continue;
      if ((await look(database, day, cutoff, { deletes: true, stop })) === null) return;
    }
    if (stop?.aborted) return;
    const oldest = lowestIdAt('em', cutoff);
    await database.query(PRUNE_LEFTOVERS, [oldest, '', new Date(cutoff).toISOString()]);
    if (!stop?.aborted) await database.query(PRUNE_ORPHANS, [oldest]);
  },
});

const idsOf = (day: number): readonly [low: string, high: string] => [
  lowestIdAt('em', day),
  lowestIdAt('em', day + DAY_MS),
];

/**
 * Workspace by workspace, since no statement chooses emails by their latest turns on several nodes at once.
 * Of the partitions those go that are empty then.
 */
async function pruneOnNodes(
  database: Database,
  cutoff: number,
  stop: AbortSignal | undefined,
): Promise<void> {
  const oldest = lowestIdAt('em', cutoff);
  const owners = await database.read((orm) =>
    orm.select({ id: workspaces.id }).from(workspaces).orderBy(workspaces.id),
  );
  for (const { id } of owners) {
    for (let from = ''; !stop?.aborted; ) {
      const parameters = [from, oldest, new Date(cutoff).toISOString(), id];
      const [batch] = await database.query<{ last: string | null; seen: number }>(PRUNE_OWN, parameters);
      if (!batch?.last || batch.seen < RETENTION_BATCH) break;
      from = batch.last;
    }
    if (stop?.aborted) return;
    await database.query(PRUNE_OWN_ORPHANS, [oldest, id]);
  }
  for (const day of await partitionedDays(database)) {
    if (day + DAY_MS > cutoff || stop?.aborted) return;
    // By the ids, since one of the two tables may have no partition for a day.
    const rows = await database.query(OF_DAY, idsOf(day));
    if (rows.length === 0) await retireDay(database, day, [], stop);
  }
}

/**
 * Answers the ids of the emails of a day that stay, as far as they can be moved; null when it was stopped
 * before the day's end.
 */
async function look(
  database: Database,
  day: number,
  cutoff: number,
  { deletes, stop }: { readonly deletes: boolean; readonly stop: AbortSignal | undefined },
): Promise<string[] | null> {
  const [low, high] = idsOf(day);
  const kept: string[] = [];
  // Sorts before the lowest id itself, which is in the range.
  let from = low.slice(0, -1);
  while (!stop?.aborted) {
    const [batch] = await database.query<{ last: string | null; seen: number; kept: string[] }>(
      deletes ? PRUNE : LOOK,
      [from, high, new Date(cutoff).toISOString()],
    );
    if (!batch?.last) return kept;
    kept.push(...batch.kept);
    if (batch.seen < RETENTION_BATCH || (kept.length > MOST_KEPT && !deletes)) return kept;
    if (deletes) kept.length = 0;
    from = batch.last;
  }
  return null;
}
