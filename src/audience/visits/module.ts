import type { Module } from '../../http/module.ts';
import { EarlyVisits } from './early-visits.ts';
import { type TrackingDeps, trackingRoutes } from './routes.ts';

/** The endpoints that links in emails lead to: opens, clicks and unsubscribing. */
export const trackingModule: Module<TrackingDeps> = {
  name: 'tracking',
  pages: trackingRoutes,
  open: ({ config, database, clock, signer, logger }) => ({
    connect({ engine }) {
      const early = new EarlyVisits({ database, engine, clock });
      const { publicUrl } = config;
      return {
        api: undefined,
        deps: { database, engine, signer, early, log: logger, publicUrl },
        duties: [early.duty],
      };
    },
  }),
};
