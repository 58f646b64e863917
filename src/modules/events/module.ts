import type { Module } from '../../http/module.ts';
import { logAligner } from './commands.ts';
import type { EventReader } from './queries.ts';
import { eventRoutes } from './routes.ts';

/** The event log of emails. */
export const eventsModule: Module<EventReader> = {
  name: 'events',
  tags: [
    {
      segment: 'events',
      name: 'Events',
      description: 'Everything that happened, in order and without gaps.',
    },
  ],
  routes: eventRoutes,
  open: ({ database, logger }) => ({
    connect: () => ({ api: undefined, deps: { database }, duties: [logAligner({ database, logger })] }),
  }),
};
