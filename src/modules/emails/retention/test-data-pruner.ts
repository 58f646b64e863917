import { lowestIdAt } from '../../../db/ids.ts';
import { untilDone } from '../../../duties/batches.ts';
import type { Duty, DutyDeps } from '../../../duties/duty.ts';
import { KEPT_DAYS, RETENTION_BATCH } from '../../../duties/retention.ts';

const WORKSPACES = 'select id from workspaces order by id';

/** Each statement removes one batch from every table, so that no email is left in parts. The index of the list finds them. */
const PRUNE = `with old as materialized (
  select id from emails where workspace_id = $1 and not livemode and id < $2 order by id desc limit ${RETENTION_BATCH}
), waiting as (
  delete from email_due d using old o where d.id = o.id
), turns as (
  delete from email_turns t using old o where t.email_id = o.id
)
delete from emails e using old o where e.id = o.id returning 1 as one`;

/** Deletes test data seven days after its creation, whatever its state. */
export const testDataPruner = ({ database, clock }: DutyDeps): Duty => ({
  name: 'testDataPruner',
  pattern: '0 17 * * * *',
  goesByAge: true,
  async run(stop) {
    const before = lowestIdAt('em', clock.now() - KEPT_DAYS.test * 86_400_000);
    for (const { id } of await database.query<{ id: string }>(WORKSPACES))
      await untilDone(database, PRUNE, [id, before], RETENTION_BATCH, stop);
  },
});
