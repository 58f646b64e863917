import type { Log } from './log.ts';

/** Log entries about refused access in a minute. What comes beyond them is counted: a flood of wrong keys must not fill a disk. */
export const MOST_REFUSALS_A_MINUTE = 60;
const MINUTE_MS = 60_000;

/**
 * Logs who tried what they may not, or with a credential that is none (ASVS 7.2.2). The first entry of a minute says how many of the
 * minute before were left out.
 */
export class Refusals {
  #endsAt = Number.NEGATIVE_INFINITY;
  #logged = 0;
  #unsaid = 0;

  constructor(
    private readonly log: Log,
    private readonly monotonic: () => number,
  ) {}

  note(fields: Readonly<Record<string, unknown>>): void {
    if (this.monotonic() >= this.#endsAt) {
      this.#endsAt = this.monotonic() + MINUTE_MS;
      this.#logged = 0;
    }
    if (this.#logged >= MOST_REFUSALS_A_MINUTE) {
      this.#unsaid += 1;
      return;
    }
    this.#logged += 1;
    this.log.warn(
      { ...fields, ...(this.#unsaid > 0 && { alsoSinceThen: this.#unsaid }) },
      'Access was refused',
    );
    this.#unsaid = 0;
  }
}
