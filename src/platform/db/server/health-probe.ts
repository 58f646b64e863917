/** The result of a try to reach the server over a separate connection. */
export type ProbeResult =
  /** The server answered, and named the backends of ours that are at work. */
  | { readonly seen: 'answering'; readonly atWork: readonly number[] }
  /** The server said no, or something in its place did: nothing hangs. */
  | { readonly seen: 'refusing' }
  /** The server is there, and so full that it cannot be asked. */
  | { readonly seen: 'full' }
  /** Nothing came back in time. */
  | { readonly seen: 'silent' }
  /** Another of several servers takes the writes now. */
  | { readonly seen: 'elsewhere' }
  /** None of several servers takes writes: one will soon, or an operator has to act. */
  | { readonly seen: 'leaderless' };

export interface ProbeParts {
  /** Tries to reach the server. It never rejects, and takes less than a second. */
  probe(): Promise<ProbeResult>;
  /** Replaces the connections, which are dead. */
  replace(): void;
  readonly monotonic?: () => number;
}

const TICK_MS = 100;
/**
 * A statement that goes unanswered for this time is worth a look: the service recovers within a second of its
 * database.
 */
const SUSPICIOUS_MS = 400;
/**
 * A look that takes this long shows that the machine is busy: a backend that has not read its statement yet
 * looks idle as well.
 */
const BUSY_MS = 200;
/**
 * The time that a statement without a known backend has before it counts as lost: it may wait for its
 * connection to be opened, which takes a second on a busy machine. The second look, at 1.4 s, is the first
 * that counts. A server that was seen to be slow has as long again from then on: a pool was replaced under
 * healthy connections where the processor had been taken away for a second.
 */
const CONNECT_MS = 1_300;
/**
 * A look is a connection: a slow database gets no more than one in this time, and a new pool has as long to
 * connect.
 */
const LOOK_AGAIN_MS = 1_000;
/**
 * The silence, on the old connections and on new ones, after which no caller waits for the database any more.
 */
const AWAY_MS = 3_000;
/** The rest between two looks for a server that has taken over: each is a connection to every server. */
const LEADERLESS_MS = 250;

/** The results that show that the old connections lead nowhere, for any statement sent over them. */
const REFUSALS: ReadonlySet<ProbeResult['seen']> = new Set(['refusing', 'elsewhere']);

/** A statement that was sent and not answered yet. */
export interface OpenStatement {
  readonly since: number;
  /**
   * The backend that the statement went to; null while it has none, undefined where that cannot be known, and
   * `hidden` behind a pooler, where a statement also waits its turn for a connection.
   */
  backend(): number | null | undefined | 'hidden';
}

/**
 * Tells a database that is frozen from one that is slow. A driver waits for ever on a connection that went
 * dead without a word, and a new connection to a frozen server hangs as well. So the probe looks for itself
 * when an answer is long in coming:
 * - nothing answers: the database is away, and statements are soon refused until it is seen again;
 * - the server answers at once, and the backend of the statement is idle, twice: that connection is dead,
 *   though the database is well;
 * - the server answers and works, or takes its time: it is slow, and deadlines will do.
 */
export class HealthProbe {
  /** Runs while a statement is open or the database is away: an idle service wakes for nothing. */
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #monotonic: () => number;
  /** The statements under way, in the order in which they were sent. */
  readonly #sent = new Set<OpenStatement>();
  readonly #waiting = new Set<(isBack: boolean) => void>();
  #heardAt = 0;
  #looking = false;
  #isStopped = false;
  #isSuspected = false;
  #isAway = false;
  /**
   * The statements that the last look showed dead. One look alone proves nothing: the answer may lie unread,
   * and the statement that this process sends next would be given up with the connections.
   */
  #doubted: ReadonlySet<OpenStatement> = new Set();
  #nextLookAt = 0;
  /**
   * When a look last took long, or showed nothing: connections that were being opened meanwhile came no
   * further either.
   */
  #slowUntil = Number.NEGATIVE_INFINITY;

  constructor(private readonly parts: ProbeParts) {
    this.#monotonic = parts.monotonic ?? (() => performance.now());
  }

  /** True when a statement would only wait. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Resolves when the database is seen again, or after `withinMs`, with whether it was seen. */
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

  /** Notes a statement that was sent. */
  sent(backend: OpenStatement['backend']): OpenStatement {
    const since = this.#monotonic();
    if (this.#sent.size === 0) this.#heardAt = since;
    const sent = { since, backend };
    this.#sent.add(sent);
    this.#watch();
    return sent;
  }

  /**
   * Notes that a statement was answered, whatever the answer, or that its caller has stopped waiting
   * (`unheard`).
   */
  answered(sent: OpenStatement, { unheard }: { unheard: boolean }): void {
    this.#sent.delete(sent);
    if (!unheard) this.#heardAt = this.#monotonic();
  }

  /**
   * Makes the probe look although no statement is overdue: one failed as it would where another server has
   * taken over.
   */
  suspect(): void {
    this.#isSuspected = true;
    this.#watch();
  }

  stop(): void {
    this.#isStopped = true;
    this.#rest();
  }

  #watch(): void {
    if (this.#timer !== undefined || this.#isStopped) return;
    this.#timer = setInterval(() => {
      if (this.#sent.size === 0 && !this.#isSuspicious && !this.#looking) this.#rest();
      else void this.tick();
    }, TICK_MS);
    this.#timer.unref();
  }

  #rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Looks if there is a reason to; the timer calls it. */
  async tick(): Promise<void> {
    if (this.#looking || !this.#isSuspicious || this.#monotonic() < this.#nextLookAt) return;
    this.#looking = true;
    const wasSuspected = this.#isSuspected;
    this.#isSuspected = false;
    const begun = this.#monotonic();
    const result = await this.parts.probe();
    this.#looking = false;
    // Answers that lay unread while this process was held up have been read by now. They excuse no server
    // that must not take writes any more: one that resumes answers as well, and would continue to take them.
    if (result.seen === 'elsewhere' || wasSuspected || this.#isSuspicious)
      this.#conclude(result, this.#monotonic() - begun);
  }

  get #isSuspicious(): boolean {
    return this.#isSuspected || this.#isAway || this.#overdue.length > 0;
  }

  get #overdue(): readonly OpenStatement[] {
    const latest = this.#monotonic() - SUSPICIOUS_MS;
    const overdue: OpenStatement[] = [];
    for (const sent of this.#sent) {
      if (sent.since > latest) break;
      overdue.push(sent);
    }
    return overdue;
  }

  #conclude(result: ProbeResult, tookMs: number): void {
    const now = this.#monotonic();
    if (tookMs >= BUSY_MS) this.#slowUntil = now;
    if (result.seen === 'silent') {
      this.#isAway ||= now - this.#heardAt >= AWAY_MS;
      return;
    }
    if (result.seen === 'leaderless') {
      this.#isAway = true;
      this.#nextLookAt = now + LEADERLESS_MS;
      return;
    }
    const dead = result.seen === 'answering' ? this.#dead(result.atWork, tookMs) : [];
    const isSure = this.#isAway || REFUSALS.has(result.seen) || dead.some((sent) => this.#doubted.has(sent));
    this.#doubted = new Set(dead);
    this.#nextLookAt = dead.length > 0 && !isSure ? now : now + LOOK_AGAIN_MS;
    if (!isSure) return;
    this.#isAway = false;
    this.#heardAt = now;
    this.parts.replace();
    for (const seen of this.#waiting) seen(true);
  }

  /** The overdue statements without a working backend, by this look. */
  #dead(atWork: readonly number[], tookMs: number): readonly OpenStatement[] {
    if (tookMs >= BUSY_MS) return [];
    const patientSince = this.#monotonic() - CONNECT_MS;
    const overdue = this.#overdue.map((sent) => ({ sent, pid: sent.backend() }));
    const isAtWork = (pid: ReturnType<OpenStatement['backend']>) =>
      typeof pid === 'number' && atWork.includes(pid);
    // Behind statements that the server works on, or that wait there for a lock, another may wait long for a
    // free connection.
    const isExplained = overdue.some(({ pid }) => isAtWork(pid));
    return overdue.flatMap(({ sent, pid }) => {
      if (typeof pid === 'number') return isAtWork(pid) ? [] : [sent];
      if (Math.max(sent.since, this.#slowUntil) > patientSince || isExplained) return [];
      if (pid === 'hidden') return this.#heardAt > patientSince || atWork.length > 0 ? [] : [sent];
      return pid === null || atWork.length === 0 ? [sent] : [];
    });
  }
}
