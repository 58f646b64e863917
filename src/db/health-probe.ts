/** What a try to reach the server over a connection of its own came to. */
export type ProbeResult =
  /** It answered, and named the backends of ours that are at work. */
  | { readonly seen: 'answering'; readonly atWork: readonly number[] }
  /** It said no, or something in its place did: nothing hangs. */
  | { readonly seen: 'refusing' }
  /** It is there, and so full that it cannot be asked. */
  | { readonly seen: 'full' }
  /** Nothing came back in time. */
  | { readonly seen: 'silent' };

/** How it looks, and what is done about what it sees. */
export interface ProbeParts {
  /** Never rejects, and takes less than a second. */
  look(): Promise<ProbeResult>;
  /** The connections are dead: new ones are to take their place. */
  replace(): void;
  readonly monotonic?: () => number;
}

const TICK_MS = 100;
/** A statement that goes unanswered so long is worth a look: the service is to be well within a second of its database. */
const SUSPICIOUS_MS = 400;
/** A look is a connection: a slow database gets no more than one in this time, and a new pool has as long to connect. */
const LOOK_AGAIN_MS = 1_000;
/** Silence on the old connections and on new ones, so long: from here on nobody is made to wait for it. */
const AWAY_MS = 3_000;

/** A statement that was sent and not answered yet. */
export interface Sent {
  readonly since: number;
  /** The backend it went to; null while it has none, undefined where that cannot be known. */
  backend(): number | null | undefined;
}

/**
 * Tells a database that is frozen from one that is slow. A driver waits for ever on a connection that went dead without a
 * word, and a new connection to a frozen server hangs as well; so when an answer is long in coming it looks for itself:
 * - nothing answers: the database is away, and statements are soon refused until it is seen again;
 * - it answers, and whose turn it was is idle: that connection is dead, though the database is well;
 * - it answers and works: it is slow, and its deadlines will do.
 */
export class HealthProbe {
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #monotonic: () => number;
  /** In the order they were sent. */
  readonly #sent = new Set<Sent>();
  readonly #waiting = new Set<(isBack: boolean) => void>();
  #heardAt = 0;
  #looking = false;
  #isAway = false;
  #nextLookAt = 0;

  constructor(private readonly parts: ProbeParts) {
    this.#monotonic = parts.monotonic ?? (() => performance.now());
    this.#timer = setInterval(() => void this.tick(), TICK_MS);
    this.#timer.unref();
  }

  /** Whether a statement would only wait. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Resolves when the database is seen again, or after so long; whether it was. */
  returns(withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const seen = (is: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(seen);
        resolve(is);
      };
      const timer = setTimeout(() => seen(false), withinMs);
      this.#waiting.add(seen);
    });
  }

  /** A statement was sent. */
  sent(backend: Sent['backend']): Sent {
    const since = this.#monotonic();
    if (this.#sent.size === 0) this.#heardAt = since;
    const sent = { since, backend };
    this.#sent.add(sent);
    return sent;
  }

  /** It was answered, whatever the answer; or `unheard`, nobody waits for it any more. */
  answered(sent: Sent, { unheard }: { unheard: boolean }): void {
    this.#sent.delete(sent);
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
    // Answers that lay unread while this process was held up have been read by now.
    if (this.#isSuspicious) this.#conclude(sighting);
  }

  get #isSuspicious(): boolean {
    return this.#isAway || this.#overdue.length > 0;
  }

  get #overdue(): readonly Sent[] {
    const latest = this.#monotonic() - SUSPICIOUS_MS;
    const overdue: Sent[] = [];
    for (const sent of this.#sent) {
      if (sent.since > latest) break;
      overdue.push(sent);
    }
    return overdue;
  }

  #conclude(sighting: ProbeResult): void {
    const now = this.#monotonic();
    if (sighting.seen === 'silent') {
      this.#isAway ||= now - this.#heardAt >= AWAY_MS;
      return;
    }
    if (this.#isAway || this.#showsDeath(sighting)) {
      this.#isAway = false;
      this.#heardAt = now;
      this.parts.replace();
      for (const seen of this.#waiting) seen(true);
    }
    this.#nextLookAt = now + LOOK_AGAIN_MS;
  }

  #showsDeath(sighting: Exclude<ProbeResult, { seen: 'silent' }>): boolean {
    if (sighting.seen !== 'answering') return sighting.seen === 'refusing';
    return this.#overdue.some(({ backend }) => {
      const pid = backend();
      if (pid === undefined) return sighting.atWork.length === 0;
      return pid === null || !sighting.atWork.includes(pid);
    });
  }
}
