/** The sessions of a pool, and the mails that wait for one of them. */
import { isDoneWithin } from '../../../platform/async/deadline.ts';
import type { MonotonicClock } from '../../../platform/time/monotonic.ts';
import { TakenBack } from '../begin.ts';
import type { SiteLimits } from '../limits/site-limits.ts';
import { mayBeLimit, namesLimit } from './refused-session.ts';
import { type Session, SessionFailure } from './session.ts';
import { SilentEnds } from './silent-ends.ts';
import { StandBy } from './stand-by.ts';
import type { Waits } from './waits.ts';

/** The bounds of a pool. */
export interface PoolLimits {
  readonly sessions: number;
  /** Messages after which a session ends, because receivers distrust endless ones. */
  readonly messagesPerSession: number;
  /** An unused session ends after this many ms, before the other side ends it. */
  readonly idleMs: number;
}

/** The surroundings of a pool. */
export interface PoolParts {
  /** The limits that the server has shown. */
  readonly site: SiteLimits;
  readonly monotonic: MonotonicClock;
}

/** A session of the pool. */
export interface PooledSession {
  readonly session: Session;
  /** The mails that it has carried. */
  mails: number;
  /** When it was opened, monotonic. */
  readonly openedAt: number;
  /** When it carried the last one, monotonic. */
  usedAt: number;
  /** True once the server has answered about a mail. */
  isWorking: boolean;
  /** True once this side has ended it. */
  isEnded: boolean;
  /** Ends it while it is idle. */
  timer: Timer | undefined;
}

/**
 * `new`: not one that is open. `others`: one that other mail has, since the server takes no mail over a
 * further one.
 */
export type SessionChoice = 'any' | 'new' | 'others' | PooledSession;

const FULL = new SessionFailure('refused', 'The server takes no mail over a further session');

/**
 * A session that the other side closes so soon after a mail was closed for it; later it was idle for too
 * long.
 */
const SOON_MS = 1_000;
/**
 * A place is free for another connection when this one has ended; a server that does not end it counts it no
 * longer than so.
 */
const END_MS = 1_000;

/** Keeps sessions between mails, and opens them as the server allows. */
export class HeldSessions {
  readonly #idle: PooledSession[] = [];
  readonly #standBy: StandBy<PooledSession>;
  readonly #silentEnds: SilentEnds;
  /** Connections that are made, and those that are open: a closed one counts until its socket is gone. */
  #connecting = 0;
  #open = 0;
  /** Those of them that the server has taken a mail over. */
  #working = 0;
  #closed = false;

  constructor(
    private readonly open: (signal: AbortSignal) => Promise<Session>,
    private readonly limits: PoolLimits,
    private readonly parts: PoolParts,
    /** Called when another number of connections has been learned. */
    private readonly relearned: () => void,
  ) {
    this.#standBy = new StandBy(parts.monotonic, () => this.#open + this.#connecting > 0);
    this.#silentEnds = new SilentEnds(parts.monotonic, (mails) => parts.site.sessionSpent(mails));
  }

  /** True when none is kept. */
  get empty(): boolean {
    return !this.#idle.some(({ session }) => session.alive);
  }

  /** The number of sessions over which the server has taken a mail. */
  get working(): number {
    return this.#working;
  }

  /** The number of other sessions, open or opening. */
  besides({ session }: PooledSession): number {
    return this.#open + this.#connecting - (session.alive ? 1 : 0);
  }

  /** Notes that the server has answered about a mail over it. */
  answered(held: PooledSession): void {
    this.#standBy.worked();
    if (held.isWorking || !held.session.alive) return;
    held.isWorking = true;
    this.#working += 1;
    this.parts.site.connected(this.#working, this.limits.sessions);
    // A server that gives connections beyond its limit, and refuses the mail over them, is not asked again at
    // once.
    this.#standBy.place();
  }

  /** Notes that the server has taken a mail over it. */
  accepted(held: PooledSession): void {
    this.#silentEnds.outlivedBy(held);
    this.parts.site.carriedAfter(held.mails);
  }

  /** Ends the idle sessions at once and those in use when they are given back. */
  close(): void {
    this.#closed = true;
    this.endIdle();
  }

  /** Ends unused sessions. */
  endIdle(): void {
    for (let held = this.#take(); held; held = this.#take()) this.end(held);
  }

  /**
   * An idle session or a new one, or, where the server gives no more, the next that is free. Rejects with
   * `SessionFailure`, and with `TakenBack`.
   */
  async next(
    signal: AbortSignal,
    waits: Waits,
    isBulk: boolean,
    wants: SessionChoice,
  ): Promise<PooledSession> {
    if (typeof wants === 'object' && wants.session.alive) return wants;
    let failure = wants === 'others' ? FULL : null;
    for (let mustBeNew = wants === 'new'; ; mustBeNew = false) {
      if (failure !== null) {
        const idle = this.#take();
        if (idle) return idle;
        const isNamed = namesLimit(failure);
        if (!isNamed && !this.#standBy.isHopeful) throw failure;
        const given = await this.#standBy.wait(failure, waits, isBulk, !isNamed).catch((error) => {
          throw waits.isOver ? new TakenBack() : error;
        });
        if (given) return given;
      }
      const kept = mustBeNew ? undefined : this.#take();
      if (kept) return kept;
      try {
        return await this.#connect(signal);
      } catch (error) {
        if (!(error instanceof SessionFailure) || !mayBeLimit(error)) throw error;
        failure = error;
      }
    }
  }

  async #connect(signal: AbortSignal): Promise<PooledSession> {
    const { site, monotonic } = this.parts;
    this.#connecting += 1;
    try {
      const session = await this.open(signal);
      this.#open += 1;
      const openedAt = monotonic();
      const held: PooledSession = {
        session,
        mails: 0,
        openedAt,
        usedAt: openedAt,
        isEnded: false,
        isWorking: false,
        timer: undefined,
      };
      void session.ended.then(() => this.#ended(held));
      site.announcedSize(session.announcedSize);
      return held;
    } catch (error) {
      if (error instanceof SessionFailure && mayBeLimit(error) && this.#open > 0) {
        site.refusedConnection(this.#working);
        this.relearned();
      }
      throw error;
    } finally {
      this.#connecting -= 1;
      this.#standBy.look();
    }
  }

  #ended(held: PooledSession): void {
    this.#open -= 1;
    if (held.isWorking) this.#working -= 1;
    const isSoon = this.parts.monotonic() - held.usedAt < SOON_MS;
    if (!held.isEnded && held.mails > 0 && isSoon) this.#silentEnds.ended(held.mails, held.openedAt);
    this.#standBy.look();
    // One that the server took no mail over leaves no place.
    if (held.isWorking) this.#standBy.place();
  }

  #take(): PooledSession | undefined {
    const held = this.#idle.pop();
    clearTimeout(held?.timer);
    return held === undefined || held.session.alive ? held : this.#take();
  }

  /**
   * Keeps a session for the next mail, or ends it. Where connections are counted, it has ended before its
   * place is free.
   */
  async giveBack(held: PooledSession): Promise<void> {
    const { site } = this.parts;
    const { session } = held;
    const most = site.mailsPerSession(this.limits.messagesPerSession);
    if (this.#closed || held.mails >= most) this.end(held);
    if (held.isEnded || !session.alive) {
      if (site.known.connections !== undefined) await isDoneWithin(END_MS, session.ended);
      return;
    }
    if (this.#standBy.give(held)) return;
    held.timer = setTimeout(() => {
      this.#idle.splice(this.#idle.indexOf(held), 1);
      this.end(held);
    }, this.limits.idleMs);
    held.timer.unref();
    this.#idle.push(held);
  }

  /** Ends it with QUIT. */
  end(held: PooledSession): void {
    held.isEnded = true;
    held.session.quit();
  }
}
