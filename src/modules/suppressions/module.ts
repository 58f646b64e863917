import { defineModule } from '../module.ts';
import type { SuppressionCommands } from './commands.ts';
import { suppressionRoutes } from './routes.ts';

/** Addresses that get no more mail. */
export const suppressionsModule = defineModule<SuppressionCommands>({
  name: 'suppressions',
  tags: [{ segment: 'suppressions', name: 'Suppressions', description: 'Addresses that get no mail.' }],
  routes: suppressionRoutes,
  open: ({ database, signer }) => ({ connect: () => ({ deps: { database, signer } }) }),
});
