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

/** The endpoints of test clocks. */
export const testClockRoutes = (deps: TestClockCommands): readonly Route[] => [
  route({
    method: 'POST',
    path: '/v1/test-clocks',
    name: 'createTestClock',
    permission: 'emails:send',
    summary: 'Make a test clock',
    description: `It stands still until it is advanced. A test email that is sent with the header \`x-svc-test-clock\` (or, in a batch, with its own \`testClockId\`) waits by it: its schedule and its waits between attempts, which are those of live mail; and so do the webhook deliveries of its events. A contact that is made with the header, and the runs of flows of it, live by the clock too, as does a run that is begun, or that a custom event begins, with it. ${MOST_CLOCKS} clocks a workspace at once; ${MOST_EMAILS.toLocaleString('en')} emails, as many contacts and as many runs for each in its life. For test keys alone.`,
    body: NewTestClock,
    response: TestClock,
    status: 201,
    failures: ['FORBIDDEN', 'CONFLICT'],
    example: { body: { name: EXAMPLE.name }, response: EXAMPLE },
    handle: (call) => createTestClock(deps, call),
  }),
  route({
    method: 'GET',
    path: '/v1/test-clocks',
    name: 'listTestClocks',
    permission: 'emails:read',
    summary: 'List test clocks',
    description: 'Newest first. For test keys alone.',
    query: TestClockQuery,
    response: Type.Array(TestClock),
    status: 200,
    failures: ['FORBIDDEN'],
    example: { response: [EXAMPLE] },
    handle: (call) => listTestClocks(deps, call),
  }),
  route({
    method: 'GET',
    path: '/v1/test-clocks/:id',
    name: 'getTestClock',
    permission: 'emails:read',
    summary: 'Get a test clock',
    description: 'While it advances, `now` says how far it has come.',
    params: { id: CLOCK_ID },
    response: TestClock,
    status: 200,
    failures: ['FORBIDDEN'],
    example: { response: EXAMPLE },
    handle: (call) => getTestClock(deps, call),
  }),
  route({
    method: 'POST',
    path: '/v1/test-clocks/:id/advance',
    name: 'advanceTestClock',
    permission: 'emails:send',
    summary: 'Advance a test clock',
    description:
      'All that is due by it up to that time happens now: emails, runs of flows, webhook deliveries, in the order of its times, as it would in real time. The answer comes once all is done, or after 60 seconds with the clock still `advancing`; the same request with the same Idempotency-Key then waits on, and is told how it ended. Meanwhile it takes no emails, and its emails cannot be moved or cancelled (409). One advance leads at most 731 days ahead, and a clock at most ten years from the present.',
    params: { id: CLOCK_ID },
    body: AdvanceTestClock,
    response: AdvancedTestClock,
    status: 200,
    waitsMs: LONGEST_ADVANCE_MS,
    failures: ['FORBIDDEN', 'CONFLICT'],
    example: {
      body: { by: { amount: 30, unit: 'days' } },
      response: { ...EXAMPLE, now: '2026-12-31T09:00:00.000Z', emails: 1, ran: 4 },
    },
    handle: (call) => advanceTestClock(deps, call),
  }),
  route({
    method: 'DELETE',
    path: '/v1/test-clocks/:id',
    name: 'deleteTestClock',
    permission: 'emails:send',
    summary: 'Delete a test clock',
    description:
      'Its scheduled emails and its runs are cancelled, deliveries that wait for another attempt end, and its contacts live by the real time. An email that waits for another attempt stays as it is, until it is removed with other test data.',
    params: { id: CLOCK_ID },
    response: Type.Null(),
    status: 204,
    failures: ['FORBIDDEN', 'CONFLICT'],
    handle: (call) => deleteTestClock(deps, call),
  }),
];
