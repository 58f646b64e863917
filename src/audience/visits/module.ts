import type { Module } from '../../http/module.ts';
import type { LeaveByMail } from '../../sending/inbound/commands.ts';
import { EarlyVisits } from './early-visits.ts';
import { leavingByMail } from './leaving.ts';
import { type TrackingDeps, trackingRoutes } from './routes.ts';

/** The functions of other modules that tracking needs. */
interface TrackingNeeds {
  /**
   * The audience that a recipient of a campaign can leave; null where a filter chooses. @throws
   * UnavailableError
   */
  readonly audienceOf: (campaignId: string) => Promise<string | null>;
}

/** The functions that tracking gives to other modules. */
interface TrackingApi {
  readonly leaveByMail: LeaveByMail;
}

/** The endpoints that links in emails lead to: opens, clicks and unsubscribing. */
export const trackingModule: Module<TrackingDeps, TrackingNeeds, TrackingApi> = {
  name: 'tracking',
  pages: trackingRoutes,
  open: ({ config, database, clock, signer, logger }) => ({
    connect({ engine }, { audienceOf }) {
      const early = new EarlyVisits({ database, engine, clock });
      const { publicUrl } = config;
      return {
        api: { leaveByMail: leavingByMail({ database, engine, signer }, audienceOf, clock.now) },
        deps: { database, engine, signer, early, log: logger, publicUrl },
        duties: [early.duty],
      };
    },
  }),
};
