import { expect, test } from 'bun:test';
import { inPieces, PIECE_MS } from '../../../src/web/dashboard/web/application/ui/display/in-pieces.ts';

/** Steps of that many milliseconds each, on a clock that only they move. */
function scene(steps: number, stepMs: number) {
  let clock = 0;
  let since = 0;
  const pieces: number[] = [];
  let done = 0;
  function* work() {
    for (let step = 0; step < steps; step++) {
      clock += stepMs;
      done++;
      yield;
    }
  }
  return {
    run: (isWanted = () => true) =>
      inPieces(work(), {
        isWanted,
        now: () => clock,
        pause: async () => {
          pieces.push(clock - since);
          since = clock;
        },
      }),
    pieces,
    done: () => done,
  };
}

test('no piece is longer than its time and one step, and all steps are done', async () => {
  const { run, pieces, done } = scene(100, 1.5);
  await run();
  expect(done()).toBe(100);
  expect(pieces.length).toBeGreaterThan(20);
  expect(Math.max(...pieces)).toBeLessThan(PIECE_MS + 1.5);
});

test('short work is one piece', async () => {
  const { run, pieces, done } = scene(3, 1);
  await run();
  expect([pieces.length, done()]).toEqual([0, 3]);
});

test('work that is not wanted any more ends with its piece', async () => {
  const { run, pieces, done } = scene(100, 1);
  await run(() => pieces.length < 2);
  expect(done()).toBe(2 * PIECE_MS);
});

test('other tasks run between the pieces', async () => {
  let hasRun = false;
  const channel = new MessageChannel();
  channel.port1.onmessage = () => {
    hasRun = true;
  };
  channel.port2.postMessage(null);
  function* untilRun() {
    for (let step = 0; step < 100_000 && !hasRun; step++) yield;
  }
  let clock = 0;
  await inPieces(untilRun(), { isWanted: () => true, now: () => clock++ });
  channel.port1.close();
  expect(hasRun).toBe(true);
});
