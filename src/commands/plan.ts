import type { PlanName } from '../auth/plans.ts';
import type { Config } from '../config/config.ts';
import { migrate } from '../db/migrate.ts';
import { setPlan } from '../modules/workspace/commands.ts';
import type { Terminal } from './terminal.ts';
import { withDatabase } from './with-database.ts';

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
