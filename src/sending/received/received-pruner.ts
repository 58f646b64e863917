import { untilDone } from '../../engine/duties/batches.ts';
import type { Duty } from '../../engine/duties/duty.ts';
import { beginRemoval, type RetentionDeps } from '../../engine/duties/retention.ts';
import { lowestIdAt } from '../../platform/db/ids.ts';
import { UNUSED } from './contents.ts';

/** Rows of one statement. */
const BATCH = 500;

const WORKSPACES = 'select id from workspaces order by id';

const PRUNE = `with old as materialized (
  select id, content_id from received where workspace_id = $1 and livemode = $2::boolean and id < $3 order by id desc limit ${BATCH}
), attempts as (
  delete from received_attempts a using old o where a.received_id = o.id
), journal as (
  delete from received_journal j using old o where j.actor_id = o.id
), contents as (
  delete from received_contents c using old o where c.id = o.content_id
    and not exists (select from received r where r.content_id = c.id and r.id not in (select id from old))
)
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
/** So far back contents are looked for that a crash has left without a message: the duty runs each hour. */
const LEFT_MS = 26 * HOUR_MS;

/**
 * Deletes received mail as many days after it came as live email is kept after its sending, or test data; and contents that no message
 * has, because a crash came between the two.
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
    await sweep(deps, lowestIdAt('rcc', now - LEFT_MS), lowestIdAt('rcc', now - UNUSED_AFTER_MS), stop);
  },
});

async function sweep(
  { database }: RetentionDeps,
  from: string,
  to: string,
  stop: AbortSignal | undefined,
): Promise<void> {
  for (let after = from; !stop?.aborted; ) {
    const [page] = await database.query<{ last: string | null; looked: number }>(SWEEP, [after, to]);
    if (!page?.last || page.looked < BATCH) return;
    after = page.last;
  }
}
