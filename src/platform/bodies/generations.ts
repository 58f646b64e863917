import { mintId, timeOfId } from '../db/ids.ts';
import { generationEnd, KEPT_SHELF } from './body-key.ts';

/** The bodies that one generation has at most: what is known of them stays in memory, 200 octets each. */
const MOST_BODIES = 10_000;

/** The age (ms) from which the loss of another one's body ends a generation. */
const SPARED_MS = 60_000;

/**
 * The bodies that this process has written lately, which further rows may share. A generation belongs to
 * one process for an hour, and its name is never used again: so a removal of its bodies, however late, hits
 * none that a row refers to afterwards, and no two writes meet at one key.
 */
export class Generations {
  #id = '';
  #known = new Map<string, Promise<void>>();

  constructor(private readonly now: () => number) {}

  /** The generation of bodies that are written now. */
  get current(): string {
    if (this.#id === '' || this.now() >= generationEnd(this.#id) || this.#known.size >= MOST_BODIES) {
      this.#id = mintId('gen', this.now());
      this.#known = new Map();
    }
    return this.#id;
  }

  /**
   * Ends the current one after the loss of a body, because its own may be gone as well: it gives them to no
   * further row. The loss of a body that another generation wrote ends one at most once a minute, and that of
   * an image never: anyone may ask for a lost image.
   */
  endAfterLoss(key: string): void {
    if (this.#id === '') return;
    const isForeign = !key.startsWith(`${KEPT_SHELF}/`) && this.now() >= timeOfId(this.#id) + SPARED_MS;
    if (this.#known.has(key) || isForeign) this.#id = '';
  }

  /**
   * Writes a body of the current generation, unless that was done or is under way. After a failure it is
   * unknown what the server has of it, or will have: later bodies belong to another generation.
   */
  once(key: string, write: () => Promise<void>): Promise<void> {
    const known = this.#known;
    const there = known.get(key);
    if (there) return there;
    const written = write().catch((error: unknown) => {
      if (this.#known === known) this.#id = '';
      throw error;
    });
    known.set(key, written);
    return written;
  }
}
