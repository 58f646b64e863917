import { defineModule, offered } from '../module.ts';
import { journalsOf, workspaceEraser } from './erase.ts';
import { logoPages, type WorkspaceDeps, workspaceRoutes } from './routes.ts';

/** The workspace: its plan, its limits, its settings and its brand. */
export const workspaceModule = defineModule<WorkspaceDeps>({
  name: 'workspace',
  tags: [{ segment: 'workspace', name: 'Workspace', description: 'The plan, its limits and the settings.' }],
  routes: workspaceRoutes,
  pages: logoPages,
  open: ({ config, database, logger }) => ({
    connect: ({ offers, kinds }) => ({
      duties: [
        workspaceEraser({ database, logger }, journalsOf(kinds), (id) =>
          offered(offers, 'endSubscriptions')(id),
        ),
      ],
      deps: {
        database,
        publicUrl: config.publicUrl,
        findSendingDomain: offered(offers, 'findSendingDomain'),
      },
    }),
  }),
});
