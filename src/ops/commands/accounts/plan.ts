import { setPlan } from '../../../accounts/workspace/commands.ts';
import type { Config } from '../../../platform/config/config.ts';
import type { PlanName } from '../../../platform/config/plans.ts';
import { migrate } from '../../../platform/db/migrate.ts';
import { withDatabase } from '../database/with-database.ts';
import type { Terminal } from '../terminal.ts';

/** `posthorn plan set <workspace> <plan>` puts a workspace on a plan without a payment. */
export function changePlan(
  config: Config,
  workspace: string,
  plan: PlanName,
  terminal: Terminal,
): Promise<number> {
  return withDatabase(config, async (database) => {
    await migrate(database);
    if (await setPlan(database, workspace, plan)) {
      terminal.out(`${workspace} is on the plan ${plan}.\n`);
      return 0;
    }
    terminal.error(`There is no workspace ${workspace}.\n`);
    return 1;
  });
}
