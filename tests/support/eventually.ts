import { Patience } from '../../src/ops/torture/patience.ts';

const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 250;

/**
 * Asks again until there is an answer: `ask` gives undefined, or throws, while there is none. For what
 * happens in another process and can only be looked at; within one process await the event itself instead.
 * The only place that may pause: how long it asks on says nothing but that the rest of the run is worth more,
 * and no test may rest on it. On a busy machine it asks on for longer, as what it waits for takes longer.
 * What takes longer is asked for less often: a question costs milliseconds of the processor, in up to three
 * processes. A test that states how often it asks is asked as often all the time.
 */
export async function eventually<T>(
  what: string,
  ask: () => T | undefined | Promise<T | undefined>,
  { withinMs = 90_000, everyMs }: { withinMs?: number; everyMs?: number } = {},
): Promise<T> {
  let last: unknown;
  const patience = new Patience(withinMs);
  for (let paused = 0; patience.lasts; ) {
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
      last = undefined;
    } catch (error) {
      last = error;
    }
    const pause = everyMs ?? Math.min(Math.max(paused / 10, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
    await patience.pause(pause);
    paused += pause;
  }
  throw new Error(`${what}: not within ${withinMs} ms of an idle machine`, { cause: last });
}

/** The moment at which the wall clock shows that time, or just after it. */
export async function momentOf(time: number): Promise<void> {
  await eventually(
    `the moment ${new Date(time).toISOString()}`,
    () => (Date.now() >= time ? true : undefined),
    {
      everyMs: 1,
    },
  );
}
