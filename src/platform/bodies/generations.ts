import { mintId } from '../db/ids.ts';
import { generationEnd } from './body-key.ts';

/** The bodies that one generation has at most: what is known of them stays in memory, 200 octets each. */
const MOST_BODIES = 10_000;

/**
 * The bodies that this process has written lately, which further emails may share. A generation belongs to
 * one process for an hour, and its name is never used again: so a removal of its bodies, however late, hits
 * none that an email refers to afterwards, and no two writes meet at one key.
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
