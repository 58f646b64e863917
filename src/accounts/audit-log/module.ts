import type { Module } from '../../http/module.ts';
import { auditLogPruner } from './commands.ts';
import { type AuditLogDeps, auditLogRoutes } from './routes.ts';

/** The audit log: who did what. The HTTP layer writes the acts that routes name. */
export const auditLogModule: Module<AuditLogDeps> = {
  name: 'audit-log',
  tags: [{ segment: 'audit-log', name: 'Audit log', description: 'The log of actions and their actors.' }],
  routes: auditLogRoutes,
  open: ({ database, reads, clock }) => ({
    connect: () => ({ api: undefined, deps: { reads }, duties: [auditLogPruner({ database, clock })] }),
  }),
};
