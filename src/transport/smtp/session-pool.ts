/**
 * Sessions to one endpoint, kept open between messages and bounded in number. nodemailer's pool is not used: it hides which
 * connection a failure came from, sends a message again by itself, and cannot stop waiting for a connection.
 */
import { isDoneWithin } from '../../async/deadline.ts';
import type { SiteLimits } from '../limits/site-limits.ts';
import type { Monotonic } from '../monotonic.ts';
import type { Part } from '../part.ts';
import { SharedSessions } from '../shared-sessions.ts';
import { mayBeLimit, namesLimit, type Refused, refusedBy } from './refused-session.ts';
import { type Progress, type Session, SessionFailure } from './session.ts';
import { StandBy } from './stand-by.ts';

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
  readonly monotonic: Monotonic;
}

type Send = (session: Session) => Promise<readonly Progress[]>;

/** A session of the pool. */
interface Held {
  readonly session: Session;
  /** The mails that it has carried. */
  mails: number;
  /** When it carried the last one, monotonic. */
  usedAt: number;
  /** True once the server has answered about a mail. */
  isWorking: boolean;
  /** True once this side has ended it. */
  isEnded: boolean;
  /** Ends it while it is idle. */
  timer: Timer | undefined;
}

/** A mail over a session, with the outcome. */
interface Carried {
  readonly held: Held;
  readonly progress: readonly Progress[];
}

/** `new`: not one that is open. `others`: one that other mail has, since the server takes no mail over a further one. */
type Wanted = 'any' | 'new' | 'others' | Held;

/** What a mail has met before it was answered. */
interface Seen {
  /** A session that had carried mail refused it, and one that had not. */
  used: boolean;
  fresh: boolean;
  /** What the server has shown if another session takes the mail. */
  readonly shown: (() => void)[];
}

const FULL = new SessionFailure('refused', 'The server takes no mail over a further session');

/** Sessions that one mail is tried over at most. */
const MOST_SESSIONS = 20;
/** A mail waits so long for a server that refuses for its rate: two windows of a minute, and what is left of a third. */
const RATE_PATIENCE_MS = 150_000;
/** A session that the other side closes so soon after a mail was closed for it; later it was idle for too long. */
const SOON_MS = 1_000;
/** A session that is refused a mail later than so after the last one may have been idle for too long. */
const FRESH_MS = 5_000;
/** A place is free for another connection when this one has ended; a server that does not end it counts it no longer than so. */
const END_MS = 1_000;

/** Gives each message a session of its own while it is sent, and opens sessions as needed and as the server allows. */
export class SessionPool {
  readonly #places: SharedSessions;
  readonly #idle: Held[] = [];
  readonly #standBy: StandBy<Held>;
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
  ) {
    this.#places = new SharedSessions(limits.sessions);
    this.#standBy = new StandBy(parts.monotonic);
  }

  /** True when no session is in use or kept. */
  get empty(): boolean {
    return this.#places.idle && !this.#idle.some(({ session }) => session.alive);
  }

  /**
   * Sends over an idle or new session. One that takes no more mails, or turns out to be closed, is replaced before the server has read the mail, so
   * that nothing can be sent twice. `begin` is awaited after all waiting that can come before it, and before a session is opened or
   * used. Rejects when `begin` does, and with `SessionFailure` when no session could be opened.
   */
  use(
    signal: AbortSignal,
    send: Send,
    begin?: () => Promise<void>,
    /** Of a campaign, which leaves the first place to all others. */
    isBulk = false,
  ): Promise<readonly Progress[]> {
    const { site } = this.parts;
    return new Promise((resolve, reject) => {
      const work = async () => {
        site.mayGoFaster();
        if (!(await site.pace.turn(signal))) throw giveUp();
        await begin?.();
        if (begin && signal.aborted) throw giveUp();
        const { held, progress } = await this.#carry(signal, send, isBulk);
        // The outcome is known; the caller does not wait for a reset of the session.
        resolve(progress);
        await held.session.settle();
        await this.#giveBack(held);
      };
      const giveUp = () => new SessionFailure('aborted', 'Gave up before a connection was free');
      this.#fit();
      this.#places.run(work, isBulk, signal, giveUp).catch(reject);
    });
  }

  /** Ends the idle sessions at once and those in use when they are given back; settles after the last. */
  close(): Promise<void> {
    this.#closed = true;
    this.endIdle();
    return this.#places.drained();
  }

  /** Keeps to this part of the sessions. Those in use end their message first; where there are to be fewer, idle ones end at once. */
  keepTo(part: Part): void {
    const before = this.#places.units;
    this.parts.site.keepTo(part);
    this.#fit();
    if (this.#places.units < before) this.endIdle();
  }

  /** Ends the sessions that nobody uses. */
  endIdle(): void {
    for (let held = this.#take(); held; held = this.#take()) this.#end(held);
  }

  /** Sends over one session after another until the server has answered about the mail. */
  async #carry(signal: AbortSignal, send: Send, isBulk: boolean): Promise<Carried> {
    const since = this.parts.monotonic();
    const seen: Seen = { used: false, fresh: false, shown: [] };
    let wants: Wanted = 'any';
    let refusal: Carried | null = null;
    for (let tried = 1; ; tried++) {
      let held: Held;
      try {
        held = await this.#session(signal, since, isBulk, wants);
      } catch (error) {
        if (refusal === null || !(error instanceof SessionFailure)) throw error;
        return this.#answered(refusal, { ...seen, shown: [] });
      }
      const progress = await send(held.session);
      const refused = signal.aborted || tried === MOST_SESSIONS ? null : refusedBy(progress, held.mails);
      const next = refused && (await this.#after(refused, held, since, signal, seen));
      if (refused === null || next === null) return this.#answered({ held, progress }, seen);
      // A session that was closed in silence says nothing of the mail.
      refusal = refused.what === 'ended' ? null : { held, progress };
      wants = next;
    }
  }

  /** The session that a mail wants after one refused it; null where the refusal is the answer. */
  async #after(
    refused: Refused,
    held: Held,
    since: number,
    signal: AbortSignal,
    seen: Seen,
  ): Promise<Wanted | null> {
    const { site, monotonic } = this.parts;
    const { mails } = held;
    const met = mails > 0 ? 'used' : 'fresh';
    // Refused over either, it is not about sessions.
    const isBySession = !(seen.used && seen.fresh) && refused.what !== 'rate';
    seen[met] = true;
    if (isBySession && met === 'used') {
      const isSoon = monotonic() - held.usedAt < FRESH_MS;
      if (refused.what === 'full' && !refused.isIdle && (refused.inWords || isSoon))
        seen.shown.push(() => site.sessionSpent(mails));
      this.#end(held);
      return 'new';
    }
    const others = this.#open + this.#connecting - (held.session.alive ? 1 : 0);
    if (isBySession && others > 0) {
      seen.shown.push(() => site.refusedConnection(this.#working));
      this.#end(held);
      return 'others';
    }
    if (!refused.inWords || monotonic() - since > RATE_PATIENCE_MS) return null;
    site.pace.refused();
    await held.session.settle();
    const late = AbortSignal.any([signal, AbortSignal.timeout(RATE_PATIENCE_MS)]);
    return (await site.pace.turn(late)) ? held : null;
  }

  #answered({ held, progress }: Carried, seen: Seen): Carried {
    const { site, monotonic } = this.parts;
    const isAccepted = progress.some(({ step, reply }) => step === 'DOT' && reply?.startsWith('2'));
    if (progress.some(({ step }) => step !== 'MAIL' && step !== 'SESSION')) {
      this.#standBy.worked();
      if (!held.isWorking && held.session.alive) {
        held.isWorking = true;
        this.#working += 1;
        site.connected(this.#working, this.limits.sessions);
      }
      for (const show of seen.shown) show();
      this.#fit();
    }
    if (isAccepted) site.pace.accepted();
    if (isAccepted) site.carriedAfter(held.mails);
    held.mails += 1;
    held.usedAt = monotonic();
    return { held, progress };
  }

  /** An idle session or a new one, or, where the server gives no more, the next that is free. Rejects with `SessionFailure`. */
  async #session(signal: AbortSignal, since: number, isBulk: boolean, wants: Wanted): Promise<Held> {
    if (typeof wants === 'object' && wants.session.alive) return wants;
    let failure = wants === 'others' ? FULL : null;
    for (let mustBeNew = wants === 'new'; ; mustBeNew = false) {
      if (failure !== null) {
        const isNamed = namesLimit(failure);
        if (!isNamed && this.#open + this.#connecting === 0) throw failure;
        const given = await this.#standBy.wait(failure, since, isBulk, !isNamed, signal);
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

  async #connect(signal: AbortSignal): Promise<Held> {
    const { site, monotonic } = this.parts;
    this.#connecting += 1;
    try {
      const session = await this.open(signal);
      this.#open += 1;
      const held: Held = {
        ...{ session, mails: 0, usedAt: monotonic(), isEnded: false, isWorking: false },
        timer: undefined,
      };
      void session.ended.then(() => this.#ended(held));
      site.announcedSize(session.announcedSize);
      return held;
    } catch (error) {
      if (error instanceof SessionFailure && mayBeLimit(error) && this.#open > 0) {
        site.refusedConnection(this.#working);
        this.#fit();
      }
      throw error;
    } finally {
      this.#connecting -= 1;
      this.#lookForOthers();
    }
  }

  /** Mails that wait for a session wait in vain when there is none, and none is coming. */
  #lookForOthers(): void {
    if (this.#open + this.#connecting === 0) this.#standBy.alone();
  }

  #ended(held: Held): void {
    this.#open -= 1;
    if (held.isWorking) this.#working -= 1;
    const { site, monotonic } = this.parts;
    if (!held.isEnded && held.mails > 0 && monotonic() - held.usedAt < SOON_MS) site.closedAfter(held.mails);
    this.#lookForOthers();
    // One that the server took no mail over leaves no place.
    if (held.isWorking) this.#standBy.place();
  }

  #take(): Held | undefined {
    const held = this.#idle.pop();
    clearTimeout(held?.timer);
    return held === undefined || held.session.alive ? held : this.#take();
  }

  /** Keeps a session for the next mail, or ends it. Where connections are counted, it has ended before its place is free. */
  async #giveBack(held: Held): Promise<void> {
    const { site } = this.parts;
    const { session } = held;
    const most = site.mailsPerSession(this.limits.messagesPerSession);
    if (this.#closed || held.mails >= most) this.#end(held);
    if (held.isEnded || !session.alive) {
      if (site.known.connections !== undefined) await isDoneWithin(END_MS, session.ended);
      return;
    }
    if (this.#standBy.give(held)) return;
    held.timer = setTimeout(() => {
      this.#idle.splice(this.#idle.indexOf(held), 1);
      this.#end(held);
    }, this.limits.idleMs);
    held.timer.unref();
    this.#idle.push(held);
  }

  #end(held: Held): void {
    held.isEnded = true;
    held.session.quit();
  }

  /** Lets as many mails in as the server is known to give connections to, or one more when it is time to try that. */
  #fit(): void {
    const units = this.parts.site.connectionsOf(this.limits.sessions);
    if (units !== this.#places.units) this.#places.resize(units);
  }
}
