import { fullGC } from 'bun:jsc';

/** The octets of large values that may lie unused before a collection. */
const MOST_LEFT = 67_108_864;
/** The rest after a collection, so that collecting takes a twentieth of the time at most. */
const REST_MS = 1_000;

/**
 * Counts the octets of large values that are through, and collects what they leave behind. The runtime looks
 * through what is old only once it is three times what is in use, so that ten messages of 25 MiB under way
 * left behind as many again twice. Collecting takes some 50 ms, as long as one of them takes in any case.
 */
export class LargeGarbage {
  #left = 0;
  #waits = false;

  constructor(
    private readonly collect: () => void = fullGC,
    private readonly most: number = MOST_LEFT,
  ) {}

  /** Notes that so many octets are in use no more once this turn is over. */
  add(octets: number): void {
    this.#left += octets;
    if (this.#left < this.most || this.#waits) return;
    this.#waits = true;
    setTimeout(() => {
      this.#left = 0;
      this.collect();
      const rested = (): void => {
        this.#waits = false;
        this.add(0);
      };
      setTimeout(rested, REST_MS).unref();
    }, 0);
  }
}
