import { defineModule } from '../module.ts';
import { type TrackingDeps, trackingRoutes } from './routes.ts';

/** The endpoints that links in emails lead to: opens, clicks and unsubscribing. */
export const trackingModule = defineModule<TrackingDeps>({
  name: 'tracking',
  pages: trackingRoutes,
  open: ({ config, database, signer, logger }) => ({
    connect: ({ engine }) => ({
      deps: { database, engine, signer, log: logger, publicUrl: config.publicUrl },
    }),
  }),
});
