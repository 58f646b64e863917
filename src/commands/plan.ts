import type { Config } from '../config.ts';
import { migrate } from '../db/migrate.ts';
import type { Plan } from '../http/route.ts';
import { setPlan } from '../modules/workspace/commands.ts';
import type { Terminal } from './terminal.ts';
import { withDatabase } from './with-database.ts';

/** The plans, for the help. */
export const PLANS = ['free', 'starter', 'growth'] as const satisfies readonly Plan[];

/** `posthorn plan set <workspace> <plan>`: what a payment does elsewhere, the operator does by hand. */
export function changePlan(
  config: Config,
  workspace: string,
  plan: Plan,
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
