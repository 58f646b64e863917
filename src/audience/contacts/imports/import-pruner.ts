import { untilDone } from '../../../engine/duties/batches.ts';
import type { Duty } from '../../../engine/duties/duty.ts';
import { beginRemoval, type RetentionDeps } from '../../../engine/duties/retention.ts';
import { lowestIdAt } from '../../../platform/db/ids.ts';

/** Imports that one statement removes: each may have a row of mistakes for every commit. */
const BATCH = 20;

/** A file whose request has died before its import began. It is stored for minutes at the most. */
const ABANDONED_MS = 3_600_000;

const ENDED = `state in ('completed', 'failed', 'cancelled')`;

/** By the creation of an import; one that is still under way stays. */
const BURY = `with old as materialized (
  select id from contact_imports where livemode = $1::boolean and id < $2 and ${ENDED} order by id limit ${BATCH}
), journal as (
  delete from contact_import_journal j using old o where j.actor_id = o.id
), counts as (
  delete from contact_import_counts t using old o where t.import_id = o.id
), faults as (
  delete from contact_import_faults f using old o where f.import_id = o.id
)
delete from contact_imports i using old o where i.id = o.id returning 1 as one`;

/** What was stored for imports that never came to be, or have ended. */
const FORGET = [
  `delete from contact_import_chunks k where k.import_id < $1 and not exists (
    select from contact_imports i where i.id = k.import_id and not ${ENDED})`,
  `delete from contact_import_seen s where exists (select from contact_imports i where i.id = s.import_id and ${ENDED})`,
];

/** Removes old imports, and what was left of files. */
export const importPruner = (deps: RetentionDeps): Duty => ({
  name: 'importPruner',
  pattern: '40 */10 * * * *',
  goesByAge: true,
  async run(stop) {
    const { database, clock } = deps;
    for (const livemode of [false, true]) {
      const before = lowestIdAt('imp', await beginRemoval(deps, livemode));
      await untilDone(database, BURY, [livemode, before], BATCH, stop);
    }
    const [abandoned = '', ended = ''] = FORGET;
    await database.query(abandoned, [lowestIdAt('imp', clock.now() - ABANDONED_MS)]);
    await database.query(ended);
  },
});
