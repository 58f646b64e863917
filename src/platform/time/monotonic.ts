/**
 * A clock for intervals: milliseconds from an arbitrary point, which never run backwards. It is injected, so
 * that tests can move it.
 */
export type MonotonicClock = () => number;
