import type { Module } from '../../http/module.ts';
import type { InboundRoutesApi } from './api.ts';
import type { RouteCommands } from './commands.ts';
import { receivingRoutes } from './receiving-routes.ts';
import { inboundRouteRoutes } from './routes.ts';

/** The routes of received mail: which addresses take mail, and what is done with it. */
export const inboundRoutesModule: Module<RouteCommands, Pick<RouteCommands, 'posting'>, InboundRoutesApi> = {
  name: 'inboundRoutes',
  tags: [
    {
      segment: 'inbound-routes',
      name: 'Inbound routes',
      description: 'Choose which addresses of your domains receive mail, and what is done with it.',
    },
  ],
  routes: inboundRouteRoutes,
  open: ({ database, sealer, clock }) => ({
    connect({ engine }, { posting }) {
      const routes = receivingRoutes(database, engine, clock.monotonic);
      return {
        api: { receivingRoutes: routes },
        deps: { database, sealer, posting, changed: () => routes.clear() },
      };
    },
  }),
};
