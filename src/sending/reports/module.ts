import type { Module } from '../../http/module.ts';
import type { Database } from '../../platform/db/database.ts';
import type { ReportsApi } from './api.ts';
import { takeReport, takesReports } from './commands.ts';
import { reportPruner } from './report-pruner.ts';
import { reportRoutes } from './routes.ts';

/** DMARC and TLS reports about the sending domains. */
export const reportsModule: Module<{ readonly database: Database }, object, ReportsApi> = {
  name: 'reports',
  routes: reportRoutes,
  open: ({ database, clock, config, mailReader, senderChecks }) => ({
    connect: () => {
      const taker = { database, mailReader, senderChecks, now: () => clock.now() };
      return {
        api: {
          takesReports: (address) => takesReports(taker, address),
          takeReport: (mail) => takeReport(taker, mail),
        },
        deps: { database },
        duties: [reportPruner({ database, clock, config })],
      };
    },
  }),
};
