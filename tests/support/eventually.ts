/**
 * Asks again until there is an answer: `ask` gives undefined, or throws, while there is none. For what happens in another
 * process and can only be looked at; within one process await the event itself instead.
 */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  { withinMs = 10_000, everyMs = 20 } = {},
): Promise<T> {
  const deadline = performance.now() + withinMs;
  let last: unknown;
  do {
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
      last = undefined;
    } catch (error) {
      last = error;
    }
    await Bun.sleep(everyMs);
  } while (performance.now() < deadline);
  throw new Error(`${what}: not within ${withinMs} ms`, { cause: last });
}
