/**
 * Asks again until there is an answer: `ask` gives undefined, or throws, while there is none. For what happens in another
 * process and can only be looked at; within one process await the event itself instead. The only place that may pause: how
 * long it asks on says nothing but that the rest of the run is worth more, and no test may rest on it. It counts how often it has
 * asked: on a busy machine that takes as much longer as what it waits for.
 */
export async function eventually<T>(
  what: string,
  ask: () => T | undefined | Promise<T | undefined>,
  { withinMs = 90_000, everyMs = 20 } = {},
): Promise<T> {
  let last: unknown;
  for (let round = 0; round * everyMs < withinMs; round++) {
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
      last = undefined;
    } catch (error) {
      last = error;
    }
    await Bun.sleep(everyMs);
  }
  throw new Error(`${what}: not within ${withinMs} ms of its own`, { cause: last });
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
