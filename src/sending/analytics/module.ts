import type { Module } from '../../http/module.ts';
import { auditAnalytics } from './audit.ts';
import type { AnalyticsReader } from './queries.ts';
import { analyticsRollUp } from './roll-up.ts';
import { analyticsRoutes } from './routes.ts';

/** Numbers of live mail: how much was accepted, and its results. */
export const analyticsModule: Module<AnalyticsReader> = {
  name: 'analytics',
  tags: [{ segment: 'analytics', name: 'Analytics', description: 'The volume of mail, and its results.' }],
  routes: analyticsRoutes,
  audit: auditAnalytics,
  open: ({ database, reads, shards }) => ({
    connect: () => ({
      api: undefined,
      deps: { reads },
      duties: [analyticsRollUp({ database, isDistributed: shards !== null })],
    }),
  }),
};
