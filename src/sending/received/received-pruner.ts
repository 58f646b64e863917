import { untilDone } from '../../engine/duties/batches.ts';
import type { Duty } from '../../engine/duties/duty.ts';
import { beginRemoval, type RetentionDeps } from '../../engine/duties/retention.ts';
import { lowestIdAt } from '../../platform/db/ids.ts';
import { remainsOf, UNUSED } from './contents.ts';

/** Rows of one statement. */
const BATCH = 500;

const WORKSPACES = 'select id from workspaces order by id';

/** Workspaces that have messages and are no more. Each step finds the next one by the index. */
const ERASED = `with recursive owners as (
  select min(workspace_id) as id from received
  union all
  select (select min(r.workspace_id) from received r where r.workspace_id > o.id) from owners o where o.id is not null
)
select id from owners o where id is not null and not exists (select from workspaces w where w.id = o.id)`;

const PRUNE = `with old as materialized (
  select id, content_id from received where workspace_id = $1 and livemode = $2::boolean and id < $3 order by id desc limit ${BATCH}
), ${remainsOf('old')}
delete from received r using old o where r.id = o.id returning 1 as one`;

/** Contents between two ids that no message has. They are looked through in order: most have one. */
const SWEEP = `with page as materialized (
  select id from received_contents where id > $1 and id < $2 order by id limit ${BATCH}
), gone as (
  delete from received_contents c using page p where c.id = p.id and ${UNUSED}
)
select max(id) as last, count(*)::integer as looked from page`;

const HOUR_MS = 3_600_000;
/** A content is stored before the message that has it, which takes seconds. */
const UNUSED_AFTER_MS = HOUR_MS;
/** Ids are made by the clocks of all instances. */
const SKEW_MS = 24 * HOUR_MS;

/**
 * Deletes received mail as many days after it came as live email is kept after its sending, or test data; and
 * contents that no message has, because a crash came between the two, or two of its messages were deleted at
 * once; and all of a workspace that was erased while a message came.
 */
export const receivedPruner = (deps: RetentionDeps): Duty => ({
  name: 'receivedPruner',
  pattern: '0 52 * * * *',
  goesByAge: true,
  async run(stop) {
    const { database, clock } = deps;
    const removed = { live: await beginRemoval(deps, true), test: await beginRemoval(deps, false) };
    for (const { id } of await database.query<{ id: string }>(WORKSPACES))
      for (const livemode of [true, false]) {
        const before = lowestIdAt('rcv', livemode ? removed.live : removed.test);
        await untilDone(database, PRUNE, [id, livemode, before], BATCH, stop);
      }
    const now = clock.now();
    for (const { id } of await database.query<{ id: string }>(ERASED))
      for (const livemode of [true, false])
        await untilDone(database, PRUNE, [id, livemode, lowestIdAt('rcv', now + SKEW_MS)], BATCH, stop);
    await sweep(deps, lowestIdAt('rcc', now - UNUSED_AFTER_MS), stop);
  },
});

async function sweep({ database }: RetentionDeps, to: string, stop: AbortSignal | undefined): Promise<void> {
  for (let after = ''; !stop?.aborted; ) {
    const [page] = await database.query<{ last: string | null; looked: number }>(SWEEP, [after, to]);
    if (!page?.last || page.looked < BATCH) return;
    after = page.last;
  }
}
