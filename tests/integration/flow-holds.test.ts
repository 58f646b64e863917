import { expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { inEachWorld } from '../support/flow-world.ts';

// Waitings while a flow holds its runs, and steps that lead to themselves, by a service as it runs.

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const delay = (key: string) => ({ key, type: 'delay', config: { amount: 1, unit: 'days' } });
const wait = (key: string, name: string) => ({
  key,
  type: 'waitForEvent',
  config: { name, timeout: { amount: 1, unit: 'days' } },
});
const LEAVE = { key: 'leave', type: 'exit' };

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on what is really there.
type Any = any;
const outcomesOf = ({ log }: Any): string[] => log.map(({ step, outcome }: Any) => `${step} ${outcome}`);

inEachWorld('waitings', (world) => {
  const begin = async (flow: string): Promise<{ id: string; contactId: string }> => {
    const { service, ok, aContact } = world();
    const contactId = await aContact();
    return { id: ok(await service.live.post(`/v1/flows/${flow}/runs`, { contactId })).id, contactId };
  };
  const isHeld = (id: string, before: () => Promise<unknown> | undefined = async () => {}) =>
    eventually(`${id} is held`, async () => {
      await before();
      const sql = 'select state from flow_runs where id = $1';
      const [row] = await world().service.service.database.query<{ state: string }>(sql, [id]);
      return row?.state === 'held' || undefined;
    });
  const pause = async (flow: string) =>
    world().ok(await world().service.live.post(`/v1/flows/${flow}/pause`, { runs: 'hold' }));
  const activate = async (flow: string) =>
    world().ok(await world().service.live.post(`/v1/flows/${flow}/activate`));

  test('that run out while the flow is held lead on when it is activated, and not before', async () => {
    const { service, aFlow, runOf, until } = world();
    const flows = [
      await aFlow({ steps: [delay('it'), LEAVE], edges: [{ from: 'it', to: 'leave' }] }),
      await aFlow({
        steps: [wait('it', 'never'), LEAVE],
        edges: [
          { from: 'it', to: 'leave', when: 'event' },
          { from: 'it', to: 'leave', when: 'timeout' },
        ],
      }),
    ];
    const runs = await Promise.all(flows.map(begin));
    for (const flow of flows) await pause(flow);
    await service.pass(DAY + HOUR);
    for (const { id } of runs) {
      await isHeld(id);
      expect(await runOf(id)).toMatchObject({ status: 'waiting', currentStep: 'it', wakesAt: null, log: [] });
    }
    await service.pass(DAY);
    const activated = service.today();
    for (const flow of flows) await activate(flow);
    for (const [index, { id }] of runs.entries()) {
      const run = await until('the end', id, ({ status }) => status === 'exited');
      expect(outcomesOf(run)).toEqual([index === 0 ? 'it waited' : 'it timeout', 'leave exited']);
      // Without the hold it would have been more than a day before.
      expect(Date.parse(run.log[0].at)).toBeGreaterThan(Date.parse(activated) - HOUR);
    }
  });

  test('for events go from one to the next while the flow is held, and no run ends before it goes on', async () => {
    const { service, ok, aFlow, runOf, follow, until } = world();
    const flow = await aFlow({
      steps: [wait('one', 'first'), wait('two', 'second'), LEAVE],
      edges: [
        { from: 'one', to: 'two', when: 'event' },
        { from: 'two', to: 'leave', when: 'event' },
      ],
    });
    const { id, contactId } = await begin(flow);
    await pause(flow);
    for (const name of ['first', 'second'])
      ok(await service.live.post(`/v1/contacts/${contactId}/events`, { name }));
    await isHeld(id, follow);
    expect(await runOf(id)).toMatchObject({ status: 'waiting', currentStep: 'two', wakesAt: null });
    await service.pass(2 * DAY);
    expect((await runOf(id)).endedAt).toBeNull();
    await activate(flow);
    const run = await until('the end', id, ({ status }) => status === 'exited');
    expect(outcomesOf(run)).toEqual(['one event', 'two event', 'leave exited']);
  });

  test('that lead to themselves begin again each time, as in a simulation', async () => {
    const { service, ok, aFlow, until } = world();
    const flows = [
      await aFlow({ steps: [delay('it')], edges: [{ from: 'it', to: 'it' }] }),
      await aFlow({ steps: [wait('it', 'never')], edges: [{ from: 'it', to: 'it', when: 'timeout' }] }),
    ];
    const runs = await Promise.all(flows.map(begin));
    for (let turn = 1; turn <= 3; turn++) {
      await service.pass(DAY);
      for (const { id } of runs) {
        const run = await until(`turn ${turn}`, id, ({ log }) => log.length === turn);
        expect(run).toMatchObject({ status: 'waiting', currentStep: 'it' });
        expect(Date.parse(run.wakesAt) - Date.parse(run.log.at(-1).at)).toBe(DAY);
      }
    }
    const ring = await aFlow({
      steps: [delay('it'), delay('other')],
      edges: [
        { from: 'it', to: 'other' },
        { from: 'other', to: 'it' },
      ],
    });
    const startAt = '2026-11-22T12:00:00.000Z';
    for (const flow of [...flows, ring]) {
      const body = { contact: { email: 'somebody@example.com' }, startAt };
      const { path } = ok(await service.live.post(`/v1/flows/${flow}/simulate`, body));
      // A walk may be left off by the time that it takes.
      expect(path.length).toBeGreaterThan(0);
      const times = path.map(({ at }: Any) => Date.parse(at));
      expect(times).toEqual(times.map((_: number, turn: number) => Date.parse(startAt) + (turn + 1) * DAY));
    }
    for (const flow of flows) ok(await service.live.post(`/v1/flows/${flow}/pause`, { runs: 'cancel' }));
  });
});
