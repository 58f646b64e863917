import { Type } from '@sinclair/typebox';
import { type Route, route } from '../../http/route.ts';
import { EmailEvent } from '../emails/queries.ts';
import { EventQuery } from './model.ts';
import { type EventReader, readLog } from './queries.ts';

/** The event log. */
export const eventRoutes = (deps: EventReader): readonly Route[] => [
  route({
    method: 'GET',
    path: '/v1/events',
    permission: 'emails:read',
    summary: 'Read the event log',
    description:
      "Every event of the key's environment in the order in which they became final, oldest first, without gaps. `nextCursor` is always there: keep it, ask again with it later, and you have missed nothing and see nothing twice. While `hasMore` is true there is more at once.",
    query: EventQuery,
    response: Type.Array(EmailEvent),
    status: 200,
    handle: (call) => readLog(deps, call),
  }),
];
