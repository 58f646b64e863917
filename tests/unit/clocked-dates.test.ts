import { expect, test } from 'bun:test';
import { clockedDates } from '../../src/automation/flows/clocked/clocked-dates.ts';
import type { EnrolTime, Occurrence } from '../../src/automation/flows/triggers/enrol.ts';
import type { Listener } from '../../src/automation/flows/triggers/wake.ts';
import type { Database } from '../../src/platform/db/database.ts';

const TODAY = Date.UTC(2026, 10, 1, 8);
const BIRTHDAY = Date.UTC(2026, 10, 3, 9);
const CLOCK = { id: 'clk_1', workspaceId: 'ws_1' };
const TRIGGER = {
  type: 'dateProperty',
  property: 'birthday',
  time: '09:00',
  repeat: 'yearly',
  offsetDays: 0,
};

/**
 * Two flows that begin on the birthday of the one contact of a clock. The test sets for how long each asks
 * its filter.
 */
function world(filterMs: number) {
  const read: { readonly text: string; readonly parameters: readonly unknown[] }[] = [];
  const began: string[] = [];
  let monotonic = 0;
  const query = async (text: string, parameters: readonly unknown[] = []) => {
    read.push({ text, parameters });
    if (text.includes('from test_clock_contacts'))
      return [{ id: 'con_1', zone: 'UTC', properties: { birthday: '1990-11-03' } }];
    if (text.includes('from test_clocks')) return [{ now: TODAY }];
    if (text.includes('from flow_versions')) return [{ definition: { trigger: TRIGGER, steps: [] } }];
    return ['1', '2'].map((letter) => ({ flowId: `flw_${letter.repeat(24)}`, version: 1, livemode: false }));
  };
  const enrol = async ({ flowId }: Listener, _: readonly Occurrence[], { filters }: EnrolTime) => {
    const holds = await filters?.ask(CLOCK.workspaceId, async () => {
      monotonic += filterMs;
      return true;
    });
    if (holds) began.push(flowId);
  };
  const deps = {
    database: { query } as unknown as Database,
    clock: { now: () => TODAY, monotonic: () => monotonic },
    logger: { error: (told: object) => expect(told).toBeNull() },
    enrol,
    testClocks: () => undefined,
  } as unknown as Parameters<typeof clockedDates>[0];
  return { read, began, work: clockedDates(deps).open(CLOCK) };
}

test('the flows of a moment share the time that filters have', async () => {
  const quick = world(1_000);
  expect(await quick.work.next()).toBe(BIRTHDAY);
  await quick.work.move(BIRTHDAY);
  expect(quick.began).toHaveLength(2);
  const slow = world(60_000);
  await slow.work.next();
  await slow.work.move(BIRTHDAY);
  expect(slow.began).toHaveLength(1);
});

test('flows are read of the own workspace alone, and contacts with what the flows go by', async () => {
  const { read, work } = world(0);
  await work.next();
  const parametersOf = (part: string) => read.find(({ text }) => text.includes(part))?.parameters;
  expect(parametersOf('from flows f')).toEqual([CLOCK.workspaceId]);
  expect(parametersOf('from test_clock_contacts')).toEqual([
    CLOCK.workspaceId,
    CLOCK.id,
    ['timeZone', 'birthday'],
  ]);
});
