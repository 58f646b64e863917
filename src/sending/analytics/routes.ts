import { type Route, route } from '../../http/request/route.ts';
import { Analytics, AnalyticsQuery, COUNTS_EXAMPLE } from './model.ts';
import { type AnalyticsReader, readAnalytics } from './queries.ts';

/** The endpoint of analytics. */
export const analyticsRoutes = (reader: AnalyticsReader): readonly Route[] => [
  route({
    method: 'GET',
    path: '/v1/analytics',
    name: 'getAnalytics',
    permission: 'emails:read',
    summary: 'Get the numbers of live mail',
    description:
      'Every number counts recipients. The sums equal the event log at every moment, and stay when retention deletes the emails. Simulated mail does not count: with a test key every number is 0.',
    query: AnalyticsQuery,
    response: Analytics,
    status: 200,
    example: {
      response: {
        from: '2026-11-20T23:00:00.000Z',
        to: '2026-11-21T23:00:00.000Z',
        ...{ interval: 'day', timeZone: 'Europe/Vienna', by: 'occurred' },
        series: [
          { start: '2026-11-20T23:00:00.000Z', local: '2026-11-21T00:00', open: false, ...COUNTS_EXAMPLE },
        ],
        totals: COUNTS_EXAMPLE,
        rates: {
          ...{ delivered: 0.9917, opened: 0.3217, clicked: 0.0725, bounced: 0.005, complained: 0 },
          unsubscribed: 0.0017,
        },
      },
    },
    handle: (call) => readAnalytics(reader, call),
  }),
];
