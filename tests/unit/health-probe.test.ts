import { beforeEach, describe, expect, test } from 'bun:test';
import { HealthProbe, type ProbeResult } from '../../src/platform/db/server/health-probe.ts';

let now = 0;
let result: ProbeResult = { seen: 'silent' };
let looks = 0;
let replaced = 0;
let watch: HealthProbe;

beforeEach(() => {
  now = 0;
  looks = 0;
  replaced = 0;
  watch = new HealthProbe({
    probe: async () => {
      looks++;
      return result;
    },
    replace: () => {
      replaced++;
    },
    monotonic: () => now,
  });
  // The test ticks.
  watch.stop();
});

const at = async (moment: number, seen: ProbeResult): Promise<void> => {
  now = moment;
  result = seen;
  await watch.tick();
};
const SILENT: ProbeResult = { seen: 'silent' };
const REFUSING: ProbeResult = { seen: 'refusing' };
const FULL: ProbeResult = { seen: 'full' };
const answering = (...atWork: number[]): ProbeResult => ({ seen: 'answering', atWork });
const to = (backend: number | null | undefined) => watch.sent(() => backend);

test('the database watch probes only after a statement went unanswered for a while', async () => {
  await at(60_000, SILENT);
  const first = to(1);
  now = 60_500;
  to(2);
  watch.answered(first, { unheard: false });
  await at(60_899, SILENT);
  expect(looks).toBe(0);
  await at(60_900, SILENT);
  expect(looks).toBe(1);
});

describe('a database silent on old and new connections', () => {
  beforeEach(async () => {
    const given = to(1);
    to(2);
    await at(1_000, SILENT);
    // An answer that no caller awaits any more is no sign of life.
    watch.answered(given, { unheard: true });
    await at(2_999, SILENT);
    expect(watch.isAway).toBe(false);
    await at(3_000, SILENT);
    expect(watch.isAway).toBe(true);
    expect(replaced).toBe(0);
  });

  test.each([answering(), answering(2), REFUSING, FULL])(
    'ends with the first sign of life: %p',
    async (sign) => {
      const back = watch.returns(60_000);
      await at(3_250, sign);
      expect([watch.isAway, replaced]).toEqual([false, 1]);
      expect(await back).toBe(true);
    },
  );
});

test('waiting for the database ends at the given deadline', async () => {
  expect(await watch.returns(1)).toBe(false);
});

test('the database watch reports no outage while other statements are answered', async () => {
  to(1);
  const other = to(2);
  now = 2_500;
  watch.answered(other, { unheard: false });
  await at(4_000, SILENT);
  expect(watch.isAway).toBe(false);
});

test.each([
  ['its backend is idle', 1, answering(2)],
  ['newcomers are refused', 1, REFUSING],
] as const)('a dead connection is left for new ones: %s', async (_, backend, sign) => {
  to(backend);
  await at(400, sign);
  await at(500, sign);
  expect([watch.isAway, replaced]).toEqual([false, 1]);
  await at(1_399, sign);
  expect(replaced).toBe(1);
});

test('an idle backend whose answer may lie unread is looked at once more, at once', async () => {
  const answered = to(1);
  await at(400, answering());
  expect([looks, replaced]).toEqual([1, 0]);
  watch.answered(answered, { unheard: false });
  to(2);
  await at(800, answering());
  expect([looks, replaced]).toEqual([2, 0]);
  await at(900, answering());
  expect([looks, replaced]).toEqual([3, 1]);
});

test.each([
  ['it has no backend', null, answering(2)],
  ['its backend is unknown, and all are idle', undefined, answering()],
] as const)('a connection that may still be opened has time for that: %s', async (_, backend, sign) => {
  to(backend);
  await at(400, sign);
  expect([looks, replaced]).toEqual([1, 0]);
  await at(1_299, sign);
  expect(replaced).toBe(0);
  await at(1_400, sign);
  expect([watch.isAway, replaced]).toEqual([false, 0]);
  await at(1_500, sign);
  expect([watch.isAway, replaced]).toEqual([false, 1]);
});

test.each([
  ['its backend is at work', 1, answering(1)],
  ['its backend is unknown, and one is at work', undefined, answering(2)],
  ['newcomers find no place', 1, FULL],
] as const)('a slow database is left alone, and looked at once a second: %s', async (_, backend, sign) => {
  to(backend);
  await at(1_000, sign);
  await at(1_999, sign);
  expect([looks, replaced, watch.isAway]).toEqual([1, 0, false]);
  await at(2_000, sign);
  expect([looks, replaced, watch.isAway]).toEqual([2, 0, false]);
});

test('an idle backend proves nothing on a busy machine, where the look itself took long', async () => {
  to(1);
  now = 400;
  result = answering(2);
  const slow = watch.tick();
  now = 600;
  await slow;
  expect([looks, replaced]).toEqual([1, 0]);
  await at(1_600, answering(2));
  await at(1_700, answering(2));
  expect([looks, replaced]).toEqual([3, 1]);
});

test('a connection that was being opened while the server was slow has its time from then on', async () => {
  to(null);
  now = 400;
  result = answering();
  const slow = watch.tick();
  now = 1_200;
  await slow;
  await at(2_200, answering());
  await at(2_300, answering());
  expect([looks, replaced]).toEqual([2, 0]);
  await at(3_200, answering());
  await at(3_300, answering());
  expect([looks, replaced]).toEqual([4, 1]);
});

test('the database watch counts answers read during its probe', async () => {
  const late = to(1);
  now = 5_000;
  result = answering();
  const tick = watch.tick();
  watch.answered(late, { unheard: false });
  await tick;
  expect(replaced).toBe(0);
});

test('one of several servers has taken over: a statement that failed is reason enough to look, and no caller waits for long', async () => {
  await at(10_000, { seen: 'elsewhere' });
  expect([looks, replaced]).toEqual([0, 0]);
  watch.suspect();
  await at(10_100, { seen: 'leaderless' });
  expect([watch.isAway, looks, replaced]).toEqual([true, 1, 0]);
  await at(10_349, { seen: 'elsewhere' });
  expect(looks).toBe(1);
  await at(10_350, { seen: 'elsewhere' });
  expect([watch.isAway, looks, replaced]).toEqual([false, 2, 1]);
  await at(20_000, { seen: 'elsewhere' });
  expect(looks).toBe(2);
});

test('a server that thaws and answers, while another has taken over, is left all the same', async () => {
  const frozen = to(1);
  now = 400;
  result = { seen: 'elsewhere' };
  const look = watch.tick();
  watch.answered(frozen, { unheard: false });
  await look;
  expect(replaced).toBe(1);
});

test('what is suspected while the probe looks is looked at as well', async () => {
  watch.suspect();
  now = 400;
  result = answering();
  const look = watch.tick();
  watch.suspect();
  await look;
  await at(1_400, answering());
  expect(looks).toBe(2);
});

test('a statement without a connection may wait behind one that the server works on', async () => {
  to(1);
  to(null);
  await at(500, answering(1));
  await at(1_600, answering(1));
  expect(replaced).toBe(0);
  await at(2_700, answering());
  await at(2_800, answering());
  expect(replaced).toBe(1);
});

test('behind a pooler a statement counts as lost only when nothing was answered either, since it may wait its turn', async () => {
  const first = watch.sent(() => 'hidden');
  watch.sent(() => 'hidden');
  now = 1_000;
  watch.answered(first, { unheard: false });
  await at(1_500, answering());
  await at(2_299, answering());
  expect(replaced).toBe(0);
  // A backend at work explains it as well.
  await at(4_000, answering(7));
  await at(5_000, answering());
  expect(replaced).toBe(0);
  await at(5_000, answering());
  expect(replaced).toBe(1);
});
