/** Where time comes from; injected everywhere, so that tests own it. */
export interface Clock {
  /** Wall time, epoch milliseconds: what is stored and compared between instances. */
  now(): number;
  /** Milliseconds that never jump: limits, leases of this process, durations. */
  monotonic(): number;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
