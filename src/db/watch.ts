/** What a try to reach the server over a connection of its own came to. */
export type Sighting =
  /** It answered; so many statements of ours it is working on. */
  | { readonly seen: 'answering'; readonly atWork: number }
  /** It said no, or something in its place did: nothing hangs. */
  | { readonly seen: 'refusing' }
  /** It is there, and so full that it cannot be asked. */
  | { readonly seen: 'full' }
  /** Nothing came back in time. */
  | { readonly seen: 'silent' };

/** How it looks, and what is done about what it sees. */
export interface WatchParts {
  /** Never rejects, and takes less than a second. */
  look(): Promise<Sighting>;
  /** The connections are dead: new ones are to take their place. */
  replace(): void;
  readonly monotonic?: () => number;
}

const TICK_MS = 250;
/** Statements that go unanswered so long, all of them, are worth a look. A sync of the disk may well take that. */
const SUSPICIOUS_MS = 1_000;
/** Silence on the old connections and on new ones, so long: from here on nobody is made to wait for it. */
const AWAY_MS = 3_000;

/**
 * Tells a database that is frozen from one that is slow. A driver waits for ever on a connection that went dead without a
 * word, and a new connection to a frozen server hangs as well; so while everything is silent it looks for itself:
 * - nothing answers: the database is away, and statements are refused at once until it is seen again;
 * - it answers and works on none of our statements: the connections are dead, though the database is well;
 * - it answers and works: it is slow, and its deadlines will do.
 */
export class Watch {
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #monotonic: () => number;
  #asked = 0;
  #heardAt = 0;
  #looking = false;
  #isAway = false;
  #nextLookAt = 0;

  constructor(private readonly parts: WatchParts) {
    this.#monotonic = parts.monotonic ?? (() => performance.now());
    this.#timer = setInterval(() => void this.tick(), TICK_MS);
    this.#timer.unref();
  }

  /** Whether to refuse at once what would only wait. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** A statement was sent. */
  asked(): void {
    if (this.#asked++ === 0) this.#heardAt = this.#monotonic();
  }

  /** It was answered, whatever the answer; or `unheard`, nobody waits for it any more. */
  answered({ unheard }: { unheard: boolean }): void {
    this.#asked--;
    if (!unheard) this.#heardAt = this.#monotonic();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Looks, if there is a reason to. The timer calls it. */
  async tick(): Promise<void> {
    if (this.#looking || !this.#isSuspicious || this.#monotonic() < this.#nextLookAt) return;
    this.#looking = true;
    const sighting = await this.parts.look();
    this.#looking = false;
    // Replies that lay unread while this process was held up have been read by now.
    if (this.#isSuspicious) this.#conclude(sighting);
  }

  get #isSuspicious(): boolean {
    return this.#isAway || (this.#asked > 0 && this.#silence >= SUSPICIOUS_MS);
  }

  get #silence(): number {
    return this.#monotonic() - this.#heardAt;
  }

  #conclude(sighting: Sighting): void {
    if (sighting.seen === 'silent') {
      this.#isAway ||= this.#silence >= AWAY_MS;
      return;
    }
    const isSlow = sighting.seen === 'full' || (sighting.seen === 'answering' && sighting.atWork > 0);
    if (this.#isAway || !isSlow) {
      this.#isAway = false;
      this.#heardAt = this.#monotonic();
      this.parts.replace();
    } else this.#nextLookAt = this.#monotonic() + SUSPICIOUS_MS;
  }
}
