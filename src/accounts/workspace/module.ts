import type { Module } from '../../http/module.ts';
import type { BillingApi } from '../billing/api.ts';
import { journalsOf, workspaceEraser } from './erase.ts';
import { logoPages, type WorkspaceDeps, workspaceRoutes } from './routes.ts';

type WorkspaceNeeds = Pick<WorkspaceDeps, 'findSendingDomain'> & Pick<BillingApi, 'endSubscriptions'>;

/** The workspace: its plan, its limits, its settings and its brand. */
export const workspaceModule: Module<WorkspaceDeps, WorkspaceNeeds> = {
  name: 'workspace',
  tags: [{ segment: 'workspace', name: 'Workspace', description: 'The plan, its limits and the settings.' }],
  routes: workspaceRoutes,
  pages: logoPages,
  open: ({ config, database, logger }) => ({
    connect: ({ kinds }, { endSubscriptions, findSendingDomain }) => ({
      api: undefined,
      duties: [workspaceEraser({ database, logger }, journalsOf(kinds), endSubscriptions)],
      deps: {
        database,
        publicUrl: config.publicUrl,
        findSendingDomain,
      },
    }),
  }),
};
