import { untilDone } from '../../../engine/duties/batches.ts';
import type { Duty } from '../../../engine/duties/duty.ts';
import { beginRemoval, RETENTION_BATCH, type RetentionDeps } from '../../../engine/duties/retention.ts';
import { lowestIdAt } from '../../../platform/db/ids.ts';

const WORKSPACES = 'select id from workspaces order by id';

/**
 * Each statement removes one batch from every table, so that no email is left in parts. The index of the list
 * finds them.
 */
const PRUNE = `with old as materialized (
  select id from emails where workspace_id = $1 and not livemode and id < $2 order by id desc limit ${RETENTION_BATCH}
), waiting as (
  delete from email_due d using old o where d.id = o.id and d.workspace_id = $1
), turns as (
  delete from email_turns t using old o where t.email_id = o.id and t.workspace_id = $1
)
delete from emails e using old o where e.id = o.id and e.workspace_id = $1 returning 1 as one`;

/** Deletes test data as many days after its creation as it is kept, whatever its state. */
export const testDataPruner = (deps: RetentionDeps): Duty => ({
  name: 'testDataPruner',
  pattern: '0 17 * * * *',
  goesByAge: true,
  async run(stop) {
    const before = lowestIdAt('em', await beginRemoval(deps, false));
    for (const { id } of await deps.database.query<{ id: string }>(WORKSPACES))
      await untilDone(deps.database, PRUNE, [id, before], RETENTION_BATCH, stop);
  },
});
