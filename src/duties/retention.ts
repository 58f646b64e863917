/** The days that data is kept: test data from its creation, live data from its sending. */
export const KEPT_DAYS = { test: 7, live: 90 } as const;

/** The number of writes that are kept of an actor without an end: years of daily checks. */
export const KEPT_WRITES = 1_000;

/** The most rows that one statement of a duty removes, which holds locks for a few milliseconds. */
export const RETENTION_BATCH = 1_000;
