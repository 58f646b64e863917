import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { type Browser, setUpOwner } from './a-browser.ts';
import { BOTH_DATABASES, type RealService, startRealService } from './real-service.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const FROZEN = '2026-12-01T09:00:00.000Z';
/** In a year: the service keeps no run in memory that waits for so long, so a test may change its row. */
const AHEAD = new Date(Date.now() + 365 * DAY).toISOString();
const at = (ms: number, since = FROZEN): string => new Date(Date.parse(since) + ms).toISOString();

describe.each(BOTH_DATABASES)('flows by test clocks on %s', (_, environment) => {
  let service: RealService;
  let owner: Browser;
  let key: string;
  let live: string;
  let templateId: string;
  let made = 0;
  beforeAll(async () => {
    service = await startRealService({ ...environment, WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' });
    owner = await setUpOwner(service);
    key = await service.keyWith('test', ['*']);
    live = await service.keyWith('live', ['*']);
    const template = {
      name: 'Hello',
      subject: 'Hello',
      html: '<p>x</p>',
      from: 'Shop <shop@sender.example>',
    };
    templateId = (await ok('POST', '/v1/templates', template)).id;
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const ask = (method: string, path: string, body?: unknown, clock?: string, by = key) =>
    service.ask({
      method,
      path,
      key: by,
      ...(body === undefined ? {} : { body }),
      ...(clock === undefined ? {} : { headers: { 'x-svc-test-clock': clock } }),
    });
  const ok = async (method: string, path: string, body?: unknown, clock?: string) => {
    const told = await ask(method, path, body, clock);
    if (told.status >= 300) throw new Error(`${method} ${path}: ${told.status} ${told.text}`);
    return told.body?.data;
  };
  const refusal = ({ status, body }: Awaited<ReturnType<typeof ask>>) => [status, body.error?.code];
  const aClock = async (startAt = FROZEN): Promise<string> =>
    (await ok('POST', '/v1/test-clocks', { startAt })).id;
  const advance = async (clock: string, amount: number, unit: string) => {
    const done = await ok('POST', `/v1/test-clocks/${clock}/advance`, { by: { amount, unit } });
    expect(done.status).toBe('ready');
    return done;
  };
  /** A flow of the test environment: a member activates it. */
  const aFlow = async (flow: object): Promise<string> => {
    const { id } = await ok('POST', '/v1/flows', { name: `Flow ${++made}`, ...flow });
    const told = await owner.ask(`/test/flows/${id}/activate`, {});
    expect(told.status).toBe(200);
    return id;
  };
  const aContact = async (clock?: string, more: object = {}): Promise<string> =>
    (await ok('POST', '/v1/contacts', { email: `n${++made}@example.com`, ...more }, clock)).id;
  const runOf = async (flow: string) => {
    const [run] = await ok('GET', `/v1/flows/${flow}/runs`);
    return run && ok('GET', `/v1/flows/runs/${run.id}`);
  };
  const begun = (flow: string) =>
    eventually('a run has begun and waits', async () => {
      const run = await runOf(flow);
      return run && run.status !== 'running' ? run : undefined;
    });
  const log = (run: { log: readonly { step: string; at: string; outcome: string }[] }) =>
    run.log.map(({ step, at: when, outcome }) => [step, when, outcome]);
  const send = (name: string) => ({ key: name, type: 'sendEmail', config: { templateId } });
  const minute = (key: string) => ({ key, type: 'delay', config: { amount: 1, unit: 'minutes' } });
  const inLine = (keys: readonly string[]) =>
    keys.slice(1).map((to, place) => ({ from: keys[place], to, when: 'default' }));

  const MONTH = () => ({
    trigger: { type: 'contactCreated' },
    entry: 'welcome',
    quietHours: { from: '22:00', to: '08:00', timeZone: 'UTC' },
    steps: [
      send('welcome'),
      { key: 'rest', type: 'delay', config: { amount: 13, unit: 'hours' } },
      send('evening'),
      { key: 'paid', type: 'waitForEvent', config: { name: 'paid', timeout: { amount: 9, unit: 'days' } } },
      send('remind'),
      { key: 'noon', type: 'delayUntil', config: { time: '12:00', weekdays: ['mon'], timeZone: 'UTC' } },
      { key: 'weeks', type: 'delay', config: { amount: 2, unit: 'weeks' } },
      send('goodbye'),
    ],
    edges: [
      ...inLine(['welcome', 'rest', 'evening', 'paid']),
      { from: 'paid', to: 'remind', when: 'timeout' },
      { from: 'paid', to: 'noon', when: 'event' },
      ...inLine(['remind', 'noon', 'weeks', 'goodbye']),
    ],
  });

  test('a contact that is made with the header goes through a month at once, with the times of its clock', async () => {
    const flow = await aFlow(MONTH());
    const clock = await aClock();
    await aContact(clock);
    // Acts of the contact are followed before time goes on, also if no instance has seen them yet.
    const told = await advance(clock, 30, 'days');
    const run = await runOf(flow);
    expect(run).toMatchObject({
      status: 'completed',
      startedAt: FROZEN,
      testClockId: clock,
      livemode: false,
    });
    const morning = at(23 * HOUR);
    expect(log(run)).toEqual([
      ['welcome', FROZEN, 'sent'],
      ['rest', at(13 * HOUR), 'waited'],
      // At ten in the evening nothing is sent.
      ['evening', morning, 'sent'],
      ['paid', at(9 * DAY + 23 * HOUR), 'timeout'],
      ['remind', at(9 * DAY + 23 * HOUR), 'sent'],
      ['noon', '2026-12-14T12:00:00.000Z', 'waited'],
      ['weeks', '2026-12-28T12:00:00.000Z', 'waited'],
      ['goodbye', '2026-12-28T12:00:00.000Z', 'sent'],
    ]);
    const sent = run.log.flatMap(({ emailId }: { emailId: string | null }) => emailId ?? []);
    const emails = await Promise.all(sent.map((id: string) => ok('GET', `/v1/emails/${id}`)));
    expect(emails.map(({ status, testClockId, sentAt }) => [status, testClockId, sentAt])).toEqual(
      [FROZEN, morning, at(9 * DAY + 23 * HOUR), '2026-12-28T12:00:00.000Z'].map((when) => [
        'delivered',
        clock,
        when,
      ]),
    );
    expect(told).toMatchObject({ emails: 4, contacts: 1, runs: 1 });
    // Eight steps, and two turns of each email but for the first ones, which happened where the clock stood.
    expect(told.ran).toBeGreaterThanOrEqual(10);
    await owner.ask(`/test/flows/${flow}/pause`, { runs: 'finish' });
  });

  test('a run begins at the time of the clock, without an advance, and gets the events of its contact at that time', async () => {
    const flow = await aFlow(MONTH());
    const clock = await aClock();
    const contact = await aContact(clock);
    const waiting = await begun(flow);
    expect(waiting).toMatchObject({ currentStep: 'rest', wakesAt: at(13 * HOUR), startedAt: FROZEN });
    await advance(clock, 2, 'days');
    expect((await runOf(flow)).currentStep).toBe('paid');
    const event = await ok('POST', `/v1/contacts/${contact}/events`, { name: 'paid' });
    expect(event.occurredAt).toBe(at(2 * DAY));
    await advance(clock, 1, 'minutes');
    const run = await runOf(flow);
    expect(run).toMatchObject({ currentStep: 'noon', wakesAt: '2026-12-07T12:00:00.000Z' });
    expect(log(run).at(-1)).toEqual(['paid', at(2 * DAY), 'event']);
    expect(
      refusal(await ask('POST', `/v1/contacts/${contact}/events`, { name: 'paid', occurredAt: at(3 * DAY) })),
    ).toEqual([422, 'VALIDATION_ERROR']);
    await owner.ask(`/test/flows/${flow}/pause`, { runs: 'cancel' });
    const ended = await eventually('it is cancelled', async () => {
      const found = await runOf(flow);
      return found.status === 'cancelled' ? found : undefined;
    });
    expect(ended.endedAt).toBe(at(2 * DAY + MINUTE));
  });

  test('a run that is begun with the header follows its clock, whatever its contact follows', async () => {
    const flow = await aFlow({
      trigger: { type: 'manual' },
      entry: 'wait',
      steps: [
        {
          key: 'wait',
          type: 'waitForEvent',
          config: { name: 'seen', timeout: { amount: 20, unit: 'days' } },
        },
        { key: 'add', type: 'updateContact', config: { properties: { seen: true } } },
      ],
      edges: [
        { from: 'wait', to: 'add', when: 'event' },
        { from: 'wait', to: 'add', when: 'timeout' },
      ],
    });
    const clock = await aClock();
    const contact = await aContact();
    const run = await ok('POST', `/v1/flows/${flow}/runs`, { contactId: contact }, clock);
    expect(run).toMatchObject({
      startedAt: FROZEN,
      testClockId: clock,
      status: 'waiting',
      wakesAt: at(20 * DAY),
    });
    // Recorded by the real time: the run knows nothing of it.
    await ok('POST', `/v1/contacts/${contact}/events`, { name: 'seen' });
    await advance(clock, 1, 'days');
    await service.service.duties.find(({ name }) => name === 'flowFollower')?.run();
    expect((await runOf(flow)).status).toBe('waiting');
    await ok('POST', `/v1/contacts/${contact}/events`, { name: 'seen' }, clock);
    await advance(clock, 1, 'minutes');
    const done = await runOf(flow);
    expect(log(done)).toEqual([
      ['wait', at(DAY), 'event'],
      ['add', at(DAY), 'updated'],
    ]);
    expect(done).toMatchObject({ status: 'completed', endedAt: at(DAY) });
  });

  test('a custom event with the header begins runs by the clock', async () => {
    const flow = await aFlow({
      trigger: { type: 'event', name: 'trial.began' },
      entry: 'wait',
      steps: [{ key: 'wait', type: 'delay', config: { amount: 14, unit: 'days' } }, send('ends')],
      edges: inLine(['wait', 'ends']),
    });
    const clock = await aClock();
    const contact = await aContact();
    await ok('POST', `/v1/contacts/${contact}/events`, { name: 'trial.began' }, clock);
    expect(await begun(flow)).toMatchObject({ testClockId: clock, wakesAt: at(14 * DAY) });
    await advance(clock, 2, 'weeks');
    expect(log(await runOf(flow))).toEqual([
      ['wait', at(14 * DAY), 'waited'],
      ['ends', at(14 * DAY), 'sent'],
    ]);
  });

  test('webhook steps and the deliveries of events are tried again by the clock', async () => {
    let answers: number[] = [];
    const seen: string[] = [];
    const receiver = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: async (request) => {
        seen.push(new URL(request.url).pathname);
        return new Response(null, { status: answers.shift() ?? 200 });
      },
    });
    try {
      const url = `http://127.0.0.1:${receiver.port}`;
      const clock = await aClock();
      const flow = await aFlow({
        trigger: { type: 'manual' },
        entry: 'post',
        steps: [{ key: 'post', type: 'webhook', config: { url: `${url}/step` } }],
        edges: [],
      });
      answers = [500, 500, 500];
      await ok('POST', `/v1/flows/${flow}/runs`, { contactId: await aContact(clock) });
      await advance(clock, 1, 'days');
      const tried = 5_000 + 30_000 + 300_000;
      expect(log(await runOf(flow))).toEqual([['post', at(tried), 'posted']]);
      expect(seen).toEqual(['/step', '/step', '/step', '/step']);

      const hook = await ok('POST', '/v1/webhooks', { url: `${url}/hook`, events: ['delivered'] });
      answers = [500, 500];
      const email = {
        from: 'a@acme.example',
        to: 'b@example.com',
        subject: 's',
        text: 'x',
        scheduledAt: at(2 * DAY),
      };
      await ok('POST', '/v1/emails', email, clock);
      const { ran } = await advance(clock, 2, 'days');
      const [delivery] = await ok('GET', `/v1/webhooks/${hook.id}/deliveries`);
      expect(delivery).toMatchObject({ status: 'success', retryCount: 2, nextAttemptAt: null });
      const rows = await service.service.database.query<{ at: number }>(
        'select (extract(epoch from attempted_at) * 1000)::float8 as at from webhook_attempts where delivery_id = $1 order by attempt',
        [delivery.id],
      );
      expect(rows.map((row) => row.at - Date.parse(FROZEN) - 2 * DAY)).toEqual([0, 5_000, 35_000]);
      // The email's two turns, and three attempts.
      expect(ran).toBe(5);
      const posts = seen.length;
      await ok('POST', `/v1/webhooks/${hook.id}/deliveries/${delivery.id}/redeliver`);
      await eventually('it was sent again', async () => {
        const [again] = await ok('GET', `/v1/webhooks/${hook.id}/deliveries`);
        return again.status === 'success' && seen.length === posts + 1 ? true : undefined;
      });
      await ok('DELETE', `/v1/webhooks/${hook.id}`);
    } finally {
      await receiver.stop(true);
    }
  });

  test('a deleted clock cancels its runs, and its contacts live by the real time', async () => {
    const flow = await aFlow({
      trigger: { type: 'manual' },
      entry: 'wait',
      steps: [{ key: 'wait', type: 'delay', config: { amount: 2, unit: 'days' } }, send('mail')],
      edges: inLine(['wait', 'mail']),
      reentry: 'afterExit',
    });
    const clock = await aClock();
    const contact = await aContact(clock);
    await ok('POST', `/v1/flows/${flow}/runs`, { contactId: contact });
    await advance(clock, 1, 'days');
    await ok('DELETE', `/v1/test-clocks/${clock}`);
    expect(await runOf(flow)).toMatchObject({ status: 'cancelled', endedAt: at(DAY) });
    const run = await ok('POST', `/v1/flows/${flow}/runs`, { contactId: contact });
    expect(run.testClockId).toBeNull();
  });

  test('a run that its paused flow holds ends with its clock', async () => {
    const flow = await aFlow({
      trigger: { type: 'manual' },
      entry: 'wait',
      steps: [{ key: 'wait', type: 'delay', config: { amount: 1, unit: 'days' } }, send('mail')],
      edges: inLine(['wait', 'mail']),
    });
    const clock = await aClock();
    await ok('POST', `/v1/flows/${flow}/runs`, { contactId: await aContact(clock) });
    await ok('POST', `/v1/flows/${flow}/pause`, { runs: 'hold' });
    await advance(clock, 2, 'days');
    await ok('DELETE', `/v1/test-clocks/${clock}`);
    expect(await runOf(flow)).toMatchObject({ status: 'cancelled' });
  });

  test('a run posts to a webhook within its first two hundred steps', async () => {
    const flow = await aFlow({
      trigger: { type: 'manual' },
      entry: 'wait',
      steps: [minute('wait'), { key: 'post', type: 'webhook', config: { url: `${service.url}/nobody` } }],
      edges: [...inLine(['wait', 'post']), { from: 'post', to: 'wait', when: 'default' }],
    });
    const clock = await aClock(AHEAD);
    const { id } = await ok('POST', `/v1/flows/${flow}/runs`, { contactId: await aContact(clock) });
    await service.service.database.query(
      `update flow_runs set context = (context::jsonb || '{"visit": 200}')::json where id = $1 returning id`,
      [id],
    );
    await advance(clock, 1, 'hours');
    const end = { status: 'exited', reason: 'test_clock_limit', endedAt: at(MINUTE, AHEAD) };
    expect(await runOf(flow)).toMatchObject(end);
  });

  test('a run without end is left off after two thousand steps', async () => {
    const flow = await aFlow({
      trigger: { type: 'manual' },
      entry: 'one',
      steps: [minute('one'), minute('two')],
      edges: [...inLine(['one', 'two']), { from: 'two', to: 'one', when: 'default' }],
    });
    const clock = await aClock(AHEAD);
    const { id } = await ok('POST', `/v1/flows/${flow}/runs`, { contactId: await aContact(clock) });
    // As if it had been going for a while, so that the test does not take so long.
    await service.service.database.query(
      `update flow_runs set context = (context::jsonb || '{"visit": 1990}')::json where id = $1 returning id`,
      [id],
    );
    await advance(clock, 1, 'days');
    const run = await runOf(flow);
    expect(run).toMatchObject({ status: 'exited', reason: 'test_clock_limit' });
    expect(run.endedAt).toBe(at(11 * MINUTE, AHEAD));
  });

  test('who may not, and what is not there, is refused; test keys activate nothing', async () => {
    const clock = await aClock();
    const contact = { email: 'refused@example.com' };
    expect(refusal(await ask('POST', '/v1/contacts', contact, 'no clock'))).toEqual([404, 'NOT_FOUND']);
    expect(refusal(await ask('POST', '/v1/contacts', contact, clock, live))).toEqual([403, 'FORBIDDEN']);
    const { id } = await ok('POST', '/v1/flows', {
      name: 'Draft',
      trigger: { type: 'manual' },
      steps: [],
      edges: [],
    });
    expect(refusal(await ask('POST', `/v1/flows/${id}/activate`))).toEqual([403, 'TEST_MODE_NOT_SUPPORTED']);
    const { query } = service.service.database;
    await query.call(
      service.service.database,
      'update test_clocks set contacts = 999 where id = $1 returning id',
      [clock],
    );
    const batch = (count: number) => ({
      contacts: Array.from({ length: count }, () => ({ email: `n${++made}@example.com` })),
    });
    expect(refusal(await ask('POST', '/v1/contacts/batch', batch(2), clock))).toEqual([409, 'CONFLICT']);
    expect((await ask('POST', '/v1/contacts/batch', batch(1), clock)).status).toBe(200);
    expect(refusal(await ask('POST', '/v1/contacts', contact, clock))).toEqual([409, 'CONFLICT']);
    expect(await ok('GET', `/v1/test-clocks/${clock}`)).toMatchObject({ contacts: 1_000 });
  });
});
