import type { ClockedActors, ClockedWork, OwnClock } from '../../engine/runtime/clocked.ts';

/** The distance that a test clock has to go. Times are epoch milliseconds. */
export interface Passage {
  readonly from: number;
  readonly to: number;
  /**
   * Called at each moment before its work, and between the parts of a large one: false ends the passage
   * there.
   */
  reached(at: number): Promise<boolean>;
}

/**
 * Does all due work of a clock until then, in the order of its times; at one moment in the order of the list.
 * Answers true when it has reached the end.
 * @throws UnavailableError
 */
export async function pass(
  clocked: readonly ClockedActors[],
  clock: OwnClock,
  { from, to, reached }: Passage,
): Promise<boolean> {
  const works: readonly ClockedWork[] = clocked.map((one) => one.open(clock));
  let at = from;
  for (;;) {
    const nexts: number[] = [];
    for (const work of works) nexts.push(await work.next());
    const next = Math.min(...nexts);
    if (next > to) return true;
    at = Math.max(at, next);
    if (!(await reached(at))) return false;
    // Work that was ordered before has to be done before time goes on.
    const first = next <= at ? nexts.indexOf(next) : -1;
    await works[first]?.move(at);
  }
}
