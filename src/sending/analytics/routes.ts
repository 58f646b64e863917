import { csvOfList } from '../../http/lists/list-csv.ts';
import { type Call, Page, type Route, route } from '../../http/request/route.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { Analytics, AnalyticsQuery, COUNTS_EXAMPLE } from './model.ts';
import { type AnalyticsReader, readAnalytics } from './queries.ts';

const EXAMPLE: Analytics = {
  from: '2026-11-20T23:00:00.000Z',
  to: '2026-11-21T23:00:00.000Z',
  interval: 'day',
  timeZone: 'Europe/Vienna',
  by: 'occurred',
  series: [{ start: '2026-11-20T23:00:00.000Z', local: '2026-11-21T00:00', open: false, ...COUNTS_EXAMPLE }],
  totals: COUNTS_EXAMPLE,
  rates: {
    delivered: 0.9917,
    opened: 0.3217,
    clicked: 0.0725,
    bounced: 0.005,
    complained: 0,
    unsubscribed: 0.0017,
  },
};

export const analyticsRoutes = (reader: AnalyticsReader): readonly Route[] => {
  const numbers = route('GET /v1/analytics', {
    name: 'getAnalytics',
    permission: 'emails:read',
    summary: 'Get the numbers of live mail',
    description:
      'Every number counts recipients. The sums equal the event log at every moment, and stay when retention deletes the emails. Simulated mail does not count: with a test key every number is 0.',
    query: AnalyticsQuery,
    response: Analytics,
    example: { response: EXAMPLE },
    handle: (call) => readAnalytics(reader, call),
  });
  const series: Route = {
    ...numbers,
    response: Analytics.properties.series,
    example: { response: EXAMPLE.series },
    handle: async (call) => {
      const found = await readAnalytics(reader, call as Call<unknown, AnalyticsQuery>);
      return found instanceof Failure ? found : new Page(found.series, { hasMore: false, nextCursor: null });
    },
  };
  const names = {
    name: 'exportAnalytics',
    file: 'analytics.csv',
    summary: 'Download the numbers of live mail as CSV',
  };
  return [numbers, csvOfList(series, names)];
};
