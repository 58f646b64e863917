/** Data is kept for so long: test data from its creation, live data from its sending. */
export const KEPT_DAYS = { test: 7, live: 90 } as const;

/** Writes of an actor's history that are kept, where the actor has no end: years of daily checks, or of failures counted. */
export const KEPT_WRITES = 1_000;

/** Rows that one statement of a duty removes: a few milliseconds of locks, and of somebody's wait at the most. */
export const RETENTION_BATCH = 1_000;
