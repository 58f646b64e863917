import type { Module } from '../../http/module.ts';
import type { InboundRoutesApi } from './api.ts';
import type { RouteCommands } from './commands.ts';
import { receivingRoutes } from './receiving-routes.ts';
import { replyDomains } from './reply-domains.ts';
import { inboundRouteRoutes } from './routes.ts';

/** The routes of received mail: which addresses take mail, and what is done with it. */
export const inboundRoutesModule: Module<
  RouteCommands,
  Pick<RouteCommands, 'posting' | 'mayForward'>,
  InboundRoutesApi
> = {
  name: 'inboundRoutes',
  tags: [
    {
      segment: 'inbound-routes',
      name: 'Inbound routes',
      description: 'Choose which addresses of your domains receive mail, and what is done with it.',
    },
  ],
  routes: inboundRouteRoutes,
  open: ({ config, database, sealer, clock }) => ({
    connect({ engine }, { posting, mayForward }) {
      const routes = receivingRoutes(database, engine, clock.monotonic);
      const replies = replyDomains(database, engine, clock.monotonic);
      const changed = (): void => {
        routes.clear();
        replies.clear();
      };
      return {
        api: { receivingRoutes: routes, findReplyDomain: replies.of },
        deps: {
          database,
          sealer,
          posting,
          mayForward,
          changed,
          isFiltered:
            config.rspamdUrl !== null || config.spamassassinUrl !== null || config.sesInboundTopics !== null,
        },
      };
    },
  }),
};
