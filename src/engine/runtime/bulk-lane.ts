import { Batcher, type BatchLimits, COMMIT_LIMITS } from '../../platform/async/batcher.ts';

/** Of a statement with more, whoever needs the same rows or the same disk waits too long. */
const LIMITS: BatchLimits = { ...COMMIT_LIMITS, batchItems: 64 };
/** For so long after the last of the others it is likely that more of them come. */
const ABOUT_MS = 1_000;
/** The longest rest: a disk that takes seconds for a commit is no fault of the batch. */
const LONGEST_REST_MS = 250;

/** True while more of the others are likely, the last of whom came so long ago. */
export const areAbout = (othersAgoMs: number): boolean => othersAgoMs < ABOUT_MS;

/** How long this lane rests after a batch that took so long, when the last of the others came so long ago. */
export const restAfter = (tookMs: number, othersAgoMs: number): number =>
  areAbout(othersAgoMs) ? Math.min(LONGEST_REST_MS, Math.ceil(tookMs)) : 0;

/**
 * The lane of what nobody waits for (the emails of campaigns), beside the one of what somebody waits for. In one lane a password reset
 * waited for the whole commit of a campaign's batch at each of its steps. While others are about, this lane rests after each batch
 * for as long as the batch took: where commits wait for the disk, at least half of it is theirs, and what comes meanwhile shares the
 * next commit.
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
