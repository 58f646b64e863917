import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { type Browser, setUpOwner } from './a-browser.ts';
import { BOTH_DATABASES, type RealService, startRealService } from './real-service.ts';

// Waits of flows by test clocks: while their flow holds them, and where they lead to themselves.

const DAY = 86_400_000;
const FROZEN = '2026-12-01T09:00:00.000Z';
const at = (ms: number): string => new Date(Date.parse(FROZEN) + ms).toISOString();

describe.each(BOTH_DATABASES)('waits of flows by test clocks on %s', (_, environment) => {
  let service: RealService;
  let owner: Browser;
  let key: string;
  let templateId: string;
  let made = 0;
  beforeAll(async () => {
    service = await startRealService(environment);
    owner = await setUpOwner(service);
    key = await service.keyWith('test', ['*']);
    const template = {
      name: 'Hello',
      subject: 'Hello',
      html: '<p>x</p>',
      from: 'Shop <shop@sender.example>',
    };
    templateId = (await ok('POST', '/v1/templates', template)).id;
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const ok = async (method: string, path: string, body?: unknown, clock?: string) => {
    const told = await service.ask({
      method,
      path,
      key,
      ...(body === undefined ? {} : { body }),
      ...(clock === undefined ? {} : { headers: { 'x-svc-test-clock': clock } }),
    });
    if (told.status >= 300) throw new Error(`${method} ${path}: ${told.status} ${told.text}`);
    return told.body?.data;
  };
  const aClock = async (): Promise<string> => (await ok('POST', '/v1/test-clocks', { startAt: FROZEN })).id;
  const advance = async (clock: string, amount: number, unit: string) => {
    const done = await ok('POST', `/v1/test-clocks/${clock}/advance`, { by: { amount, unit } });
    expect(done.status).toBe('ready');
  };
  /** A flow of the test environment: a member activates it. */
  const aFlow = async (flow: object): Promise<string> => {
    const { id } = await ok('POST', '/v1/flows', { name: `Flow ${++made}`, ...flow });
    expect((await owner.ask(`/test/flows/${id}/activate`, {})).status).toBe(200);
    return id;
  };
  const aContact = async (clock: string): Promise<string> =>
    (await ok('POST', '/v1/contacts', { email: `n${++made}@example.com` }, clock)).id;
  const runOf = async (flow: string) => {
    const [run] = await ok('GET', `/v1/flows/${flow}/runs`);
    return ok('GET', `/v1/flows/runs/${run.id}`);
  };
  const log = (run: { log: readonly { step: string; at: string; outcome: string }[] }) =>
    run.log.map(({ step, at: when, outcome }) => [step, when, outcome]);

  test('a flow that is held keeps its runs until it goes on, whatever time the clock shows', async () => {
    const flow = await aFlow({
      trigger: { type: 'manual' },
      entry: 'wait',
      steps: [
        { key: 'wait', type: 'delay', config: { amount: 2, unit: 'days' } },
        { key: 'mail', type: 'sendEmail', config: { templateId } },
      ],
      edges: [{ from: 'wait', to: 'mail', when: 'default' }],
    });
    const clock = await aClock();
    await ok('POST', `/v1/flows/${flow}/runs`, { contactId: await aContact(clock) });
    await owner.ask(`/test/flows/${flow}/pause`, { runs: 'hold' });
    await advance(clock, 5, 'days');
    expect(await runOf(flow)).toMatchObject({
      status: 'waiting',
      currentStep: 'wait',
      wakesAt: null,
      log: [],
    });
    await owner.ask(`/test/flows/${flow}/activate`, {});
    const done = await eventually('it has gone on', async () => {
      const run = await runOf(flow);
      return run.status === 'completed' ? run : undefined;
    });
    expect(log(done)).toEqual([
      ['wait', at(5 * DAY), 'waited'],
      ['mail', at(5 * DAY), 'sent'],
    ]);
  });

  test('waitings for events run out when a held flow goes on, unless the event has come meanwhile', async () => {
    const flow = await aFlow({
      trigger: { type: 'manual' },
      entry: 'wait',
      steps: [
        { key: 'wait', type: 'waitForEvent', config: { name: 'paid', timeout: { amount: 2, unit: 'days' } } },
        { key: 'leave', type: 'exit' },
      ],
      edges: ['event', 'timeout'].map((when) => ({ from: 'wait', to: 'leave', when })),
    });
    const clock = await aClock();
    const [silent, paying] = [await aContact(clock), await aContact(clock)];
    const start = async (contactId: string): Promise<string> =>
      (await ok('POST', `/v1/flows/${flow}/runs`, { contactId })).id;
    const runs = [await start(silent), await start(paying)];
    await owner.ask(`/test/flows/${flow}/pause`, { runs: 'hold' });
    await advance(clock, 3, 'days');
    await ok('POST', `/v1/contacts/${paying}/events`, { name: 'paid' });
    await advance(clock, 1, 'days');
    for (const id of runs)
      expect(await ok('GET', `/v1/flows/runs/${id}`)).toMatchObject({
        status: 'waiting',
        currentStep: 'wait',
        wakesAt: null,
        log: [],
      });
    await owner.ask(`/test/flows/${flow}/activate`, {});
    const logs = runs.map((id) =>
      eventually('it has gone on', async () => {
        const run = await ok('GET', `/v1/flows/runs/${id}`);
        return run.status === 'exited' ? log(run)[0] : undefined;
      }),
    );
    expect(await Promise.all(logs)).toEqual([
      ['wait', at(4 * DAY), 'timeout'],
      ['wait', at(4 * DAY), 'event'],
    ]);
  });

  test('a step that leads to itself waits again each time', async () => {
    const flow = await aFlow({
      trigger: { type: 'manual' },
      entry: 'wait',
      steps: [{ key: 'wait', type: 'delay', config: { amount: 1, unit: 'days' } }],
      edges: [{ from: 'wait', to: 'wait', when: 'default' }],
    });
    const clock = await aClock();
    await ok('POST', `/v1/flows/${flow}/runs`, { contactId: await aContact(clock) });
    await advance(clock, 3, 'days');
    const run = await runOf(flow);
    expect(run).toMatchObject({ status: 'waiting', wakesAt: at(4 * DAY) });
    expect(log(run)).toEqual([1, 2, 3].map((day) => ['wait', at(day * DAY), 'waited']));
    await owner.ask(`/test/flows/${flow}/pause`, { runs: 'cancel' });
  });
});
