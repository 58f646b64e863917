import { Type } from '@sinclair/typebox';
import { withCsv } from '../../http/lists/list-csv.ts';
import { type Route, route } from '../../http/request/route.ts';
import { EmailEvent } from '../emails/queries.ts';
import { EventQuery } from './model.ts';
import { type EventReader, readLog } from './queries.ts';

const EXAMPLE = {
  id: 'evt_01m7xj1rx757g9bp0f4tggst',
  type: 'delivered' as const,
  emailId: 'em_01m7xj1rwzprnwr10308attx',
  recipient: 'delivered@simulator.svc.test',
  occurredAt: '2026-11-20T22:43:19.079Z',
  data: { remoteMta: 'mx.simulator.svc.test', response: '250 2.0.0 Accepted by the simulator' },
  livemode: false,
};

/** The event log. */
export const eventRoutes = (deps: EventReader): readonly Route[] => [
  ...withCsv(
    {
      name: 'exportEvents',
      file: 'events.csv',
      summary: 'Download the event log as CSV',
      action: 'events.exported',
    },
    route('GET /v1/events', {
      name: 'listEvents',
      permission: 'emails:read',
      summary: 'Read the event log',
      description:
        "All events of the key's environment in the order in which they became final, oldest first, without gaps. Every reply has a `nextCursor`: store it, and continue with it later, and you miss no event and get none twice. While `hasMore` is true, more events are available at once.",
      query: EventQuery,
      response: Type.Array(EmailEvent),
      example: { response: [EXAMPLE] },
      handle: (call) => readLog(deps, call),
    }),
  ),
];
