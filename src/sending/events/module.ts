import type { Module } from '../../http/module.ts';
import type { EventsApi } from './api.ts';
import { logAligner } from './commands.ts';
import type { EventReader } from './queries.ts';
import { readLogLag } from './queries.ts';
import { eventRoutes } from './routes.ts';

/** The event log of emails. */
export const eventsModule: Module<EventReader, object, EventsApi> = {
  name: 'events',
  tags: [
    {
      segment: 'events',
      name: 'Events',
      description: 'All events, in order and without gaps.',
    },
  ],
  routes: eventRoutes,
  open: ({ database, logger }) => ({
    connect: () => ({
      api: { readLogLag: () => readLogLag(database) },
      deps: { database },
      duties: [logAligner({ database, logger })],
    }),
  }),
};
