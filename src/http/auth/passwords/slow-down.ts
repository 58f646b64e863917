import { LruMap } from '../../../platform/async/lru-map.ts';

/** The number of free wrong attempts. */
const FREE_ATTEMPTS = 10;
/** The wait after the last free attempt; each further one doubles it, up to a quarter of an hour. */
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [1_000, 15 * 60_000];
/** Attempts are forgotten after a day without one. */
const FORGOTTEN_AFTER_MS = 86_400_000;
/**
 * One attempt is forgiven in this time; otherwise the typing errors of an office would accumulate for ever.
 */
const FORGIVEN_EVERY_MS = 3_600_000;
/** The most accounts and addresses that are remembered; a new one replaces the longest idle one. */
const MOST_REMEMBERED = 20_000;

interface Tries {
  count: number;
  lastAt: number;
  freeAt: number;
  /** The time up to which attempts have been forgiven. */
  forgivenAt: number;
}

/**
 * Slows down guessing, by account and by address. An attempt counts from its start until it succeeds, so that
 * parallel attempts are not free. Each process counts separately.
 */
export class SlowDown {
  readonly #tries = new LruMap<string, Tries>({ entries: MOST_REMEMBERED });

  constructor(private readonly monotonic: () => number) {}

  /** Starts an attempt under these names; returns the seconds to wait when one of them must. */
  begin(names: readonly string[]): { readonly waitSeconds: number } {
    const now = this.monotonic();
    const waitMs = Math.max(0, ...names.map((name) => (this.#of(name, now)?.freeAt ?? 0) - now));
    if (waitMs > 0) return { waitSeconds: Math.ceil(waitMs / 1_000) };
    for (const name of names) this.#count(name, now);
    return { waitSeconds: 0 };
  }

  /** Forgets the attempts of a proved name, and takes back one attempt of the others. */
  succeeded(proved: string, others: readonly string[]): void {
    this.#tries.delete(proved);
    this.takeBack(others);
  }

  /** Takes back an attempt that was not wrong, and keeps the earlier ones. */
  takeBack(names: readonly string[]): void {
    for (const name of names) {
      const tries = this.#tries.get(name);
      if (!tries) continue;
      tries.count--;
      tries.freeAt = 0;
      if (tries.count <= 0) this.#tries.delete(name);
    }
  }

  #of(name: string, now: number): Tries | undefined {
    const tries = this.#tries.get(name);
    if (tries && now - tries.lastAt > FORGOTTEN_AFTER_MS) {
      this.#tries.delete(name);
      return undefined;
    }
    return tries;
  }

  #count(name: string, now: number): void {
    const tries = this.#of(name, now) ?? { count: 0, lastAt: now, freeAt: 0, forgivenAt: now };
    const forgiven = Math.floor((now - tries.forgivenAt) / FORGIVEN_EVERY_MS);
    tries.forgivenAt += forgiven * FORGIVEN_EVERY_MS;
    tries.count = Math.max(0, tries.count - forgiven) + 1;
    tries.lastAt = now;
    const beyond = tries.count - FREE_ATTEMPTS;
    if (beyond >= 0)
      tries.freeAt = now + Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(beyond, 20));
    this.#tries.set(name, tries);
  }
}
