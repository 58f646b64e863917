import { Type } from '@sinclair/typebox';
import { type Route, route } from '../../http/request/route.ts';
import {
  advanceTestClock,
  createTestClock,
  deleteTestClock,
  LONGEST_ADVANCE_MS,
  type TestClockCommands,
} from './commands.ts';
import { AdvancedTestClock, AdvanceTestClock, NewTestClock, TestClock, TestClockQuery } from './model.ts';
import { getTestClock, listTestClocks } from './queries.ts';
import { MOST_CLOCKS, MOST_EMAILS } from './store.ts';

const CLOCK_ID = { prefix: 'clk', resource: 'test clock' } as const;

const EXAMPLE: TestClock = {
  id: 'clk_01m7xj1rx757g9bp0f4tggst',
  name: 'A month of reminders',
  status: 'ready',
  now: '2026-12-01T09:00:00.000Z',
  advancingTo: null,
  emails: 0,
  contacts: 0,
  runs: 0,
  runsRefused: 0,
  createdAt: '2026-11-20T22:43:19.079Z',
};

export const testClockRoutes = (deps: TestClockCommands): readonly Route[] => [
  route('POST /v1/test-clocks', {
    name: 'createTestClock',
    permission: 'emails:send',
    summary: 'Create a test clock',
    description: `It stays at its time until you advance it. A test email that is sent with the header \`x-svc-test-clock\` (or, in a batch, with its own \`testClockId\`) uses it for its schedule and for its waits between attempts, which are those of live mail; so do the webhook deliveries of its events. A contact that is created with the header uses the clock too, with its runs of flows, and so does a run that is begun with it, by a request or by a custom event. ${MOST_CLOCKS} clocks per workspace at once; ${MOST_EMAILS.toLocaleString('en')} emails, as many contacts and as many runs for each in its life. For test keys only.`,
    body: NewTestClock,
    response: TestClock,
    status: 201,
    failures: ['FORBIDDEN', 'CONFLICT'],
    example: { body: { name: EXAMPLE.name }, response: EXAMPLE },
    handle: (call) => createTestClock(deps, call),
  }),
  route('GET /v1/test-clocks', {
    name: 'listTestClocks',
    permission: 'emails:read',
    summary: 'List test clocks',
    description: 'Newest first. For test keys only.',
    query: TestClockQuery,
    response: Type.Array(TestClock),
    failures: ['FORBIDDEN'],
    example: { response: [EXAMPLE] },
    handle: (call) => listTestClocks(deps, call),
  }),
  route('GET /v1/test-clocks/:id', {
    name: 'getTestClock',
    permission: 'emails:read',
    summary: 'Get a test clock',
    description: 'While it advances, `now` is the time that it has reached.',
    params: { id: CLOCK_ID },
    response: TestClock,
    failures: ['FORBIDDEN'],
    example: { response: EXAMPLE },
    handle: (call) => getTestClock(deps, call),
  }),
  route('POST /v1/test-clocks/:id/advance', {
    name: 'advanceTestClock',
    permission: 'emails:send',
    summary: 'Advance a test clock',
    description:
      'Everything that is due up to that time happens now: emails, runs of flows, webhook deliveries, in the order of its times, as in real time. The reply comes once all is done, or after 60 seconds with the clock still `advancing`; the same request with the same Idempotency-Key then continues to wait, and gets the result. Meanwhile the clock takes no emails, and its emails cannot be moved or cancelled (409). One advance covers at most 731 days, and a clock at most ten years from the present.',
    params: { id: CLOCK_ID },
    body: AdvanceTestClock,
    response: AdvancedTestClock,
    waitsMs: LONGEST_ADVANCE_MS,
    failures: ['FORBIDDEN', 'CONFLICT'],
    example: {
      body: { by: { amount: 30, unit: 'days' } },
      response: { ...EXAMPLE, now: '2026-12-31T09:00:00.000Z', emails: 1, ran: 4 },
    },
    handle: (call) => advanceTestClock(deps, call),
  }),
  route('DELETE /v1/test-clocks/:id', {
    name: 'deleteTestClock',
    permission: 'emails:send',
    summary: 'Delete a test clock',
    description:
      'Its scheduled emails and its runs are cancelled, deliveries that wait for another attempt end, and its contacts return to real time. An email that waits for another attempt stays as it is, until it is deleted with other test data.',
    params: { id: CLOCK_ID },
    failures: ['FORBIDDEN', 'CONFLICT'],
    handle: (call) => deleteTestClock(deps, call),
  }),
];
