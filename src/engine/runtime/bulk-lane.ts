import { Batcher, type BatchLimits, COMMIT_LIMITS } from '../../platform/async/batcher.ts';

/** A larger statement makes others wait too long for the same rows or the same disk. */
const LIMITS: BatchLimits = { ...COMMIT_LIMITS, batchItems: 64 };
/** For this time after the last other work, more of it is likely. */
const ABOUT_MS = 1_000;
/** The longest rest: a disk that takes seconds for a commit is no fault of the batch. */
const LONGEST_REST_MS = 250;

/** True while more other work is likely, by the time since the last of it. */
export const areAbout = (othersAgoMs: number): boolean => othersAgoMs < ABOUT_MS;

/**
 * The rest of this lane after a batch of that duration, when the last of the other work came that long ago.
 * Milliseconds.
 */
export const restAfter = (tookMs: number, othersAgoMs: number): number =>
  areAbout(othersAgoMs) ? Math.min(LONGEST_REST_MS, Math.ceil(tookMs)) : 0;

/**
 * The lane of work that no caller waits for (the emails of campaigns), beside the lane of work with waiting
 * callers. In one lane a password reset waited for the whole commit of a campaign's batch at each of its
 * steps. While other work arrives, this lane rests after each batch for as long as the batch took: where
 * commits wait for the disk, at least half of it is left to the other lane, and work that arrives meanwhile
 * shares the next commit.
 */
export class BulkLane<T> extends Batcher<T> {
  constructor(
    name: string,
    work: (batch: readonly T[]) => Promise<void>,
    monotonic: () => number,
    /** Monotonic moment at which something came that is not bulk. */
    othersAt: () => number,
    isOneWith?: (before: T, item: T) => boolean,
  ) {
    let tookMs = 0;
    super(
      name,
      async (batch) => {
        const begun = monotonic();
        await work(batch);
        tookMs = monotonic() - begun;
      },
      LIMITS,
      1,
      isOneWith,
      () => restAfter(tookMs, monotonic() - othersAt()),
    );
  }
}
