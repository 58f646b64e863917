import { expect, test } from 'bun:test';
import { clockedRuns } from '../../src/automation/flows/clocked/clocked-runs.ts';
import type { TakeStep } from '../../src/automation/flows/runs/take-step.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { FairQueue } from '../../src/platform/async/fair-slots.ts';
import type { Database } from '../../src/platform/db/database.ts';

const AT = Date.UTC(2026, 11, 1);
const CLOCK = { id: 'clk_1', workspaceId: 'ws_1' };
const DEFINITION = `flw_${'0'.repeat(24)}:1`;
const LIMITS = { total: 8, perKey: 1, backlog: 8 };

/** Runs of one clock, each at a webhook step; what they were told is kept. */
function world({ runs, posts, takeStep }: { runs: number; posts: FairQueue; takeStep: TakeStep }) {
  const told: unknown[] = [];
  const ids = Array.from({ length: runs }, (_, index) => ({ id: `run_${index}` }));
  const context = { status: 'running', step: 'post', visit: 1, attempt: 1, at: AT, testClockId: CLOCK.id };
  const actor = {
    workspace_id: CLOCK.workspaceId,
    livemode: false,
    definition_id: DEFINITION,
    state: 'post',
    context,
    revision: 1,
    timers: null,
  };
  const definition = { steps: [{ key: 'post', type: 'webhook', config: { url: 'https://a.example/' } }] };
  const query = async (text: string) => {
    if (text.includes('test_clock_id = $1')) return ids;
    if (text.includes('flow_versions')) return [{ definition }];
    return ids.map(({ id }) => ({ ...actor, id }));
  };
  const database = { query } as unknown as Database;
  const engine = {
    tell: async (_: string, id: string, event: unknown) => void told.push([id, event]),
  } as unknown as Engine;
  const work = clockedRuns({ database, engine, takeStep, posts }).open(CLOCK);
  return { told, work };
}

test('a webhook step by a clock gets no event when the service stops before its turn', async () => {
  const posts = new FairQueue(LIMITS);
  const done = Promise.withResolvers<void>();
  let begun = 0;
  const takeStep: TakeStep = async () => {
    begun += 1;
    posts.close();
    await done.promise;
    return [];
  };
  const { told, work } = world({ runs: 3, posts, takeStep });
  await work.next();
  const moved = work.move(AT);
  done.resolve();
  await expect(moved).rejects.toThrow('The service is stopping.');
  expect([begun, told]).toEqual([1, []]);
});

test('a webhook step by a clock that finds no place is put off, as by the real time', async () => {
  const { told, work } = world({
    runs: 1,
    posts: new FairQueue({ ...LIMITS, backlog: 0 }),
    takeStep: async () => [],
  });
  await work.next();
  await work.move(AT);
  const until = AT + 300_000;
  expect(told).toEqual([['run_0', { type: 'step.postponed', at: AT, visit: 1, until, isUntried: true }]]);
});

test('webhook steps of one workspace take turns by a clock too', async () => {
  let underWay = 0;
  let most = 0;
  let begun = 0;
  const takeStep: TakeStep = async () => {
    begun += 1;
    underWay += 1;
    most = Math.max(most, underWay);
    // Every other one has its chance to begin.
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    underWay -= 1;
    return [];
  };
  const { work } = world({ runs: 4, posts: new FairQueue(LIMITS), takeStep });
  await work.next();
  await work.move(AT);
  expect([begun, most]).toEqual([4, 1]);
});
