import type { Module } from '../../http/module.ts';
import type { Database } from '../../platform/db/database.ts';
import type { ReportsApi } from './api.ts';
import { addressesFor, type ReportTaker, takeReport, takesReports } from './commands.ts';
import { reportPruner } from './report-pruner.ts';
import { reportRoutes } from './routes.ts';

/** DMARC and TLS reports about the sending domains. */
export const reportsModule: Module<{ readonly database: Database }, object, ReportsApi> = {
  name: 'reports',
  routes: reportRoutes,
  open: ({ database, clock, config, mailReader, senderChecks, metrics }) => ({
    connect: () => {
      const taker: ReportTaker = {
        database,
        mailReader,
        senderChecks,
        now: () => clock.now(),
        count: (end) => metrics?.aggregateReport(end),
      };
      return {
        api: {
          takesReports: (address) => takesReports(taker, address),
          addressesFor: (recipients) => addressesFor(taker, recipients),
          takeReport: (mail) => takeReport(taker, mail),
        },
        deps: { database },
        duties: [reportPruner({ database, clock, config })],
      };
    },
  }),
};
