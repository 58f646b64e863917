import { setTimeout as pause } from 'node:timers/promises';
import { UnavailableError } from '../../platform/errors/unavailable.ts';

/** A thread or a statement is free again soon; a database that is away takes longer. */
const MOST_TRIES = 4;
const PAUSE_MS = 1_000;

/**
 * Does it once more, a second later, while something is unavailable for a moment. @throws what the last try
 * throws
 */
export async function retried<Result>(
  act: () => Promise<Result>,
  stop: AbortSignal,
  pauseMs = PAUSE_MS,
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (tries === MOST_TRIES || stop.aborted || !(error instanceof UnavailableError)) throw error;
      await pause(pauseMs, undefined, { signal: stop }).catch(() => {});
    }
  }
}
