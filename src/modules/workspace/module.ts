import { defineModule } from '../module.ts';
import { type WorkspaceDeps, workspaceRoutes } from './routes.ts';

/** The workspace: its plan, its limits and its settings. */
export const workspaceModule = defineModule<WorkspaceDeps>({
  name: 'workspace',
  tags: [{ segment: 'workspace', name: 'Workspace', description: 'The plan, its limits and the settings.' }],
  routes: workspaceRoutes,
  open: ({ database }) => ({ connect: () => ({ deps: { database } }) }),
});
