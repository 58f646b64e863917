import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { MOST_EDGES, MOST_FLOWS, MOST_STEPS } from '../../src/automation/flows/definition/model.ts';
import { LARGEST_DEFINITION, readDefinition } from '../../src/automation/flows/definition/read-definition.ts';
import { LONGEST_DAYS, MOST_BRANCHES } from '../../src/automation/flows/definition/step-configs.ts';
import { MOST_EVENTS } from '../../src/automation/flows/simulation/simulation-model.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';

// Each limit of flows, at its boundary: what is just within is taken, what is just beyond is refused with the
// place in the body.

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on what is really there.
type Any = any;

let service: LiveService;
beforeAll(async () => {
  service = await startLiveService();
});
afterAll(() => service[Symbol.asyncDispose]());

const post = (path: string, body: object = {}): Promise<{ status: number; body: Any }> =>
  service.live.post(path, body);
const pathsOf = ({ status, body }: { status: number; body: Any }): readonly unknown[] => [
  status,
  ...(body.error?.details ?? []).map(({ path }: Any) => path),
];

const delays = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    key: `step${index}`,
    type: 'delay',
    config: { amount: 1, unit: 'minutes' },
  }));
const chain = (count: number) =>
  Array.from({ length: count - 1 }, (_, index) => ({ from: `step${index}`, to: `step${index + 1}` }));
const waiting = (amount: number, unit: string) => ({
  key: 'wait',
  type: 'waitForEvent',
  config: { name: 'go', timeout: { amount, unit } },
});
const resting = (amount: number, unit: string) => ({ key: 'rest', type: 'delay', config: { amount, unit } });
const branching = (count: number) => ({
  key: 'ask',
  type: 'branch',
  config: {
    branches: Array.from({ length: count }, (_, index) => ({
      key: `way${index}`,
      filter: { field: 'properties.plan', operator: 'eq', value: index },
    })),
  },
});
const leaving = (reason: string) => ({ key: 'leave', type: 'exit', config: { reason } });
const mailing = (more: object) => ({
  key: 'mail',
  type: 'sendEmail',
  config: { templateId: 'hello', ...more },
});
const dated = (more: object) => ({
  trigger: { type: 'dateProperty', property: 'born', offsetDays: 0, time: '09:00', repeat: 'once', ...more },
});
/** A flow that has so many characters as JSON. */
const filled = (characters: number) => {
  const holding = (text: string) => [mailing({ variables: { text } })];
  const { definition } = readDefinition({ steps: holding('') as never });
  return { steps: holding('x'.repeat(characters - JSON.stringify(definition).length)) };
};
const step = '/body/steps/0/config';

describe('what is written of a flow', () => {
  test.each([
    ['steps', { steps: delays(MOST_STEPS) }, { steps: delays(MOST_STEPS + 1) }, '/body/steps'],
    ['edges', { edges: chain(MOST_EDGES + 1) }, { edges: chain(MOST_EDGES + 2) }, '/body/edges'],
    [
      'branches',
      { steps: [branching(MOST_BRANCHES)] },
      { steps: [branching(MOST_BRANCHES + 1)] },
      `${step}/branches`,
    ],
    [
      'days of a delay',
      { steps: [resting(LONGEST_DAYS, 'days')] },
      { steps: [resting(LONGEST_DAYS + 1, 'days')] },
      `${step}/amount`,
    ],
    [
      'minutes of a delay',
      { steps: [resting(LONGEST_DAYS * 1_440, 'minutes')] },
      { steps: [resting(LONGEST_DAYS * 1_440 + 1, 'minutes')] },
      `${step}/amount`,
    ],
    [
      'weeks of a timeout',
      { steps: [waiting(Math.floor(LONGEST_DAYS / 7), 'weeks')] },
      { steps: [waiting(Math.ceil(LONGEST_DAYS / 7), 'weeks')] },
      `${step}/timeout/amount`,
    ],
    [
      'a moment',
      { steps: [{ key: 'until', type: 'delayUntil', config: { at: '2099-12-31T23:59:59Z' } }] },
      { steps: [{ key: 'until', type: 'delayUntil', config: { at: '2100-01-01T00:00:00Z' } }] },
      `${step}/at`,
    ],
    [
      'no time at all',
      { steps: [resting(1, 'minutes')] },
      { steps: [resting(0, 'minutes')] },
      `${step}/amount`,
    ],
    [
      'a reason',
      { steps: [leaving('x'.repeat(200))] },
      { steps: [leaving('x'.repeat(201))] },
      `${step}/reason`,
    ],
    [
      'a subject',
      { steps: [mailing({ subject: 'x'.repeat(998) })] },
      { steps: [mailing({ subject: 'x'.repeat(999) })] },
      `${step}/subject`,
    ],
    [
      'a key',
      { steps: [{ ...resting(1, 'days'), key: 'k'.repeat(64) }] },
      { steps: [{ ...resting(1, 'days'), key: 'k'.repeat(65) }] },
      '/body/steps/0/key',
    ],
    [
      'days before a date',
      dated({ offsetDays: -365 }),
      dated({ offsetDays: -366 }),
      '/body/trigger/offsetDays',
    ],
    ['days after a date', dated({ offsetDays: 365 }), dated({ offsetDays: 366 }), '/body/trigger/offsetDays'],
    ['characters of it all', filled(LARGEST_DEFINITION), filled(LARGEST_DEFINITION + 1), '/body'],
    ['a time of the day', dated({ time: '23:59' }), dated({ time: '24:00' }), '/body/trigger/time'],
  ])('%s', async (_, within, beyond, path) => {
    expect((await post('/v1/flows', { name: 'Within', ...within })).status).toBe(201);
    expect(pathsOf(await post('/v1/flows', { name: 'Beyond', ...beyond }))).toEqual([422, path]);
  });

  test('the names of states that every run has are refused, and those that objects have are not', async () => {
    for (const key of ['held', 'completed', 'begun'])
      expect(
        pathsOf(await post('/v1/flows', { name: 'Odd', steps: [{ ...resting(1, 'days'), key }] })),
      ).toEqual([422, '/body/steps/0/key']);
    const keys = ['constructor', 'toString', 'hasOwnProperty', 'valueOf'];
    const { status, body } = await post('/v1/flows', {
      name: 'Prototype',
      steps: keys.map((key) => ({ ...resting(1, 'minutes'), key })),
      edges: keys.slice(1).map((to, index) => ({ from: keys[index], to })),
    });
    expect(status).toBe(201);
    const { path, endedAs } = (
      await post(`/v1/flows/${body.data.id}/simulate`, { contact: { email: 'somebody@example.com' } })
    ).body.data;
    expect([endedAs, ...path.map((one: Any) => one.step)]).toEqual(['completed', ...keys]);
  });
});

describe('what is simulated', () => {
  const contact = { email: 'somebody@example.com' };

  test('a hundred events are taken, and one more is refused', async () => {
    const { id } = (await post('/v1/flows', { name: 'Told', steps: [waiting(1, 'days')] })).body.data;
    const events = (count: number) =>
      Array.from({ length: count }, () => ({ name: 'seen', after: { amount: 1, unit: 'minutes' } }));
    const simulate = (count: number) => post(`/v1/flows/${id}/simulate`, { contact, events: events(count) });
    expect((await simulate(MOST_EVENTS)).status).toBe(200);
    expect(pathsOf(await simulate(MOST_EVENTS + 1))).toEqual([422, '/body/events']);
  });

  test('a flow of the test environment is simulated by its key, and never activated', async () => {
    const { id } = (await service.test.post('/v1/flows', { name: 'Tried', steps: delays(1) })).body.data;
    const walked = await service.test.post(`/v1/flows/${id}/simulate`, { contact });
    expect(walked.body.data).toMatchObject({ endedAs: 'completed', path: [{ outcome: 'waited' }] });
    const refused = await service.test.post(`/v1/flows/${id}/activate`);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'TEST_MODE_NOT_SUPPORTED']);
  });
});

test('changes of one flow at the same moment all hold', async () => {
  const made = await service.live.post('/v1/flows', { name: 'Together' });
  const path = `/v1/flows/${made.body.data.id}`;
  const changes = [
    { name: 'Changed' },
    { trigger: { type: 'event', name: 'order.placed' } },
    { reentry: 'afterExit' },
    { entry: 'end' },
    { steps: [{ key: 'end', type: 'exit', config: {} }] },
    { quietHours: { from: '22:00', to: '07:00', timeZone: 'UTC' } },
  ];
  const told = await Promise.all(changes.map((body) => service.live.patch(path, body)));
  expect(told.map(({ status }) => status)).toEqual(told.map(() => 200));
  expect((await service.live.get(path)).body.data).toMatchObject(Object.assign({}, ...changes));
});

test('an environment has five hundred flows, and one more only once another is gone', async () => {
  const { database } = service.service;
  const fill = `insert into flows (workspace_id, livemode, id, name, status, version, created_at, updated_at)
    select w.id, true, 'flw_' || lpad(n::text, 24, '0'), 'Filled', 'draft', 1, now(), now()
    from workspaces w cross join generate_series(1, $1::integer - (select count(*)::integer from flows where livemode)) n`;
  await database.query(fill, [MOST_FLOWS - 1]);
  const last = await post('/v1/flows', { name: 'Last' });
  expect(last.status).toBe(201);
  const beyond = await post('/v1/flows', { name: 'Beyond' });
  expect([beyond.status, beyond.body.error.code]).toEqual([409, 'CONFLICT']);
  expect((await service.test.post('/v1/flows', { name: 'Elsewhere' })).status).toBe(201);
  expect((await service.live.delete(`/v1/flows/${last.body.data.id}`)).status).toBe(204);
  expect((await post('/v1/flows', { name: 'Again' })).status).toBe(201);
});
