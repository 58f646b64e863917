import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Browser, setUpOwner } from './a-browser.ts';
import { BOTH_DATABASES, type RealService, startRealService } from './real-service.ts';

// The ways to begin runs by a test clock; tests/contract/clocked-flows.test.ts looks at how they go on.

const FROZEN = '2026-12-01T09:00:00.000Z';

describe.each(BOTH_DATABASES)('beginnings of runs by test clocks on %s', (_, environment) => {
  let service: RealService;
  let owner: Browser;
  let key: string;
  let made = 0;
  beforeAll(async () => {
    service = await startRealService(environment);
    owner = await setUpOwner(service);
    key = await service.keyWith('test', ['*']);
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
  const advance = (clock: string, amount: number, unit: string) =>
    ok('POST', `/v1/test-clocks/${clock}/advance`, { by: { amount, unit } });
  const aContact = async (clock: string, more: object = {}): Promise<string> =>
    (await ok('POST', '/v1/contacts', { email: `n${++made}@example.com`, ...more }, clock)).id;
  /** A flow of the test environment, which a member activates. */
  const aFlow = async (flow: object): Promise<string> => {
    const { id } = await ok('POST', '/v1/flows', {
      name: `Flow ${++made}`,
      entry: 'hello',
      edges: [],
      steps: [{ key: 'hello', type: 'updateContact', config: { properties: { greeted: true } } }],
      ...flow,
    });
    expect((await owner.ask(`/test/flows/${id}/activate`, {})).status).toBe(200);
    return id;
  };

  test('dates begin runs by the clock of their contact, year after year and each once', async () => {
    const flow = await aFlow({
      trigger: {
        type: 'dateProperty',
        property: 'born',
        offsetDays: 0,
        time: '09:00',
        repeat: 'yearly',
      },
      reentry: 'afterExit',
    });
    const clock = await aClock();
    const contact = await aContact(clock, { properties: { born: '1990-12-24', timeZone: 'Europe/Berlin' } });
    await aContact(clock, { properties: { born: 'no date' } });
    await advance(clock, 22, 'days');
    expect(await ok('GET', `/v1/flows/${flow}/runs`)).toEqual([]);
    // To the very moment, and on from it.
    await ok('POST', `/v1/test-clocks/${clock}/advance`, { to: '2026-12-24T08:00:00.000Z' });
    await advance(clock, 1, 'minutes');
    await advance(clock, 53, 'weeks');
    const runs = await ok('GET', `/v1/flows/${flow}/runs`);
    const begun = runs.map((run: { startedAt: string; contactId: string; testClockId: string }) => [
      run.startedAt,
      run.contactId,
      run.testClockId,
    ]);
    expect(begun).toEqual([
      ['2027-12-24T08:00:00.000Z', contact, clock],
      ['2026-12-24T08:00:00.000Z', contact, clock],
    ]);
    await owner.ask(`/test/flows/${flow}/pause`, { runs: 'cancel' });
  });

  test('a clock that has begun a thousand runs tells how many it refuses', async () => {
    const flow = await aFlow({
      trigger: { type: 'event', name: 'counted' },
    });
    const clock = await aClock();
    const { query } = service.service.database;
    await query.call(
      service.service.database,
      'update test_clocks set runs = 999 where id = $1 returning id',
      [clock],
    );
    for (let count = 0; count < 3; count++) {
      await ok('POST', `/v1/contacts/${await aContact(clock)}/events`, { name: 'counted' });
      expect(await advance(clock, 1, 'minutes')).toMatchObject({ runs: 1_000, runsRefused: count });
    }
    expect(await ok('GET', `/v1/test-clocks/${clock}`)).toMatchObject({ runsRefused: 2 });
    expect(await ok('GET', `/v1/flows/${flow}/runs`)).toHaveLength(1);
  });
});
