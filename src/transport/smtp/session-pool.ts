/**
 * Sessions to one endpoint, kept open between messages and bounded in number. nodemailer's pool is not used: it hides which
 * connection a failure came from, sends a message again by itself, and cannot stop waiting for a connection.
 */
import { SharedSessions } from '../shared-sessions.ts';
import { type Progress, type Session, SessionFailure } from './session.ts';

/** The bounds of a pool. */
export interface PoolLimits {
  readonly sessions: number;
  /** Messages after which a session ends, because receivers distrust endless ones. */
  readonly messagesPerSession: number;
  /** An unused session ends after this many ms, before the other side ends it. */
  readonly idleMs: number;
}

type Send = (session: Session) => Promise<readonly Progress[]>;

/** A session that was used, with its number of messages. */
interface Used {
  readonly session: Session;
  readonly progress: readonly Progress[];
  readonly messages: number;
}

/** An idle session, with the timer that ends it. */
interface Kept {
  readonly session: Session;
  readonly messages: number;
  readonly timer: Timer;
}

/** Gives each message a session of its own while it is sent, and opens sessions as needed. */
export class SessionPool {
  readonly #sessions: SharedSessions;
  readonly #idle: Kept[] = [];
  #closed = false;

  constructor(
    private readonly open: (signal: AbortSignal) => Promise<Session>,
    private readonly limits: PoolLimits,
  ) {
    this.#sessions = new SharedSessions(limits.sessions);
  }

  /** True when no session is in use or kept. */
  get empty(): boolean {
    return this.#sessions.idle && !this.#idle.some(({ session }) => session.alive);
  }

  /**
   * Sends over an idle or new session. An idle session that turns out to be closed before its first command is replaced by a new
   * one, once, so that nothing can be sent twice. `begin` is awaited after the wait for a free session, before one is opened or
   * used. Rejects when `begin` does, and with `SessionFailure` when no session could be opened.
   */
  use(
    signal: AbortSignal,
    send: Send,
    begin?: () => Promise<void>,
    /** Of a campaign, which leaves the first place to all others. */
    isBulk = false,
  ): Promise<readonly Progress[]> {
    return new Promise((resolve, reject) => {
      const work = async () => {
        await begin?.();
        if (begin && signal.aborted) throw giveUp();
        const used = (await this.#sendKept(signal, send)) ?? (await this.#sendFresh(signal, send));
        // The outcome is known; the caller does not wait for a reset of the session.
        resolve(used.progress);
        await used.session.settle();
        this.#keep(used.session, used.messages);
      };
      const giveUp = () => new SessionFailure('aborted', 'Gave up before a connection was free');
      this.#sessions.run(work, isBulk, signal, giveUp).catch(reject);
    });
  }

  /** Ends the idle sessions at once and those in use when they are given back; settles after the last. */
  close(): Promise<void> {
    this.#closed = true;
    this.endIdle();
    return this.#sessions.drained();
  }

  /** Sets how many sessions there may be. Those in use end their message first; where there are to be fewer, idle ones end at once. */
  resize(sessions: number): void {
    const isLess = sessions < this.#sessions.units;
    this.#sessions.resize(sessions);
    if (isLess) this.endIdle();
  }

  /** Ends the sessions that nobody uses. */
  endIdle(): void {
    for (let kept = this.#take(); kept; kept = this.#take()) kept.session.quit();
  }

  async #sendKept(signal: AbortSignal, send: Send): Promise<Used | null> {
    const kept = this.#take();
    if (kept === undefined) return null;
    const { session, messages } = kept;
    const progress = await send(session);
    const stale = !session.alive && !signal.aborted && neverBegan(progress);
    return stale ? null : { session, progress, messages: messages + 1 };
  }

  async #sendFresh(signal: AbortSignal, send: Send): Promise<Used> {
    const session = await this.open(signal);
    return { session, progress: await send(session), messages: 1 };
  }

  #take(): Kept | undefined {
    const kept = this.#idle.pop();
    clearTimeout(kept?.timer);
    return kept === undefined || kept.session.alive ? kept : this.#take();
  }

  #keep(session: Session, messages: number): void {
    const spent = this.#closed || messages >= this.limits.messagesPerSession;
    if (spent) session.quit();
    if (spent || !session.alive) return;
    const kept = { session, messages, timer: setTimeout(() => this.#end(kept), this.limits.idleMs) };
    kept.timer.unref();
    this.#idle.push(kept);
  }

  #end(kept: Kept): void {
    this.#idle.splice(this.#idle.indexOf(kept), 1);
    kept.session.quit();
  }
}

// A server that closes an idle session answers the next command with 421 (RFC 5321 3.8).
const neverBegan = (progress: readonly Progress[]): boolean =>
  progress.every(({ step, reply }) =>
    reply === null ? step === 'SESSION' : step === 'MAIL' && reply.startsWith('421'),
  );
