import { expect, test } from 'bun:test';
import type { CommitListener } from '../../src/engine/engine.ts';
import { domainKind } from '../../src/sending/domains/kind.ts';
import { nextOutcome } from '../../src/sending/domains/records/next-outcome.ts';

/** Waits for outcomes of `dom_1` beside commits that the test makes. */
function awaited() {
  let listener: CommitListener = () => {};
  const engine = {
    listen(given: CommitListener) {
      listener = given;
      return () => {};
    },
  };
  const outcome = nextOutcome(engine, 'dom_1', 10_000);
  const commit = (id: string, attempt: number, checkingSince: number | null) =>
    listener(domainKind, [{ after: { id, snapshot: { context: { attempt, checkingSince } } } }] as never);
  const isOver = async (attempt: number): Promise<boolean> => {
    let over = false;
    void outcome.of(attempt).then(() => {
      over = true;
    });
    await new Promise(setImmediate);
    return over;
  };
  return { outcome, commit, isOver };
}

test('the outcome of an earlier check is not taken for that of the one which was ordered after it', async () => {
  const { outcome, commit, isOver } = awaited();
  commit('dom_1', 1, null);
  commit('dom_1', 2, 1_000);
  expect(await isOver(2)).toBe(false);
  commit('dom_2', 2, null);
  expect(await isOver(2)).toBe(false);
  commit('dom_1', 2, null);
  expect(await isOver(2)).toBe(true);
  outcome.cancel();
});

test('an outcome that came before it was asked for counts, and so does that of a later check', async () => {
  const { outcome, commit, isOver } = awaited();
  commit('dom_1', 3, null);
  expect(await isOver(3)).toBe(true);
  expect(await isOver(2)).toBe(true);
  outcome.cancel();
});
