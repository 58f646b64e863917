/**
 * Sessions to one endpoint, kept open between messages and bounded in number. Not nodemailer's pool: that one hides
 * which connection a failure came from, sends a message again by itself, and cannot be told to stop waiting for a
 * place.
 */
import { Gate } from '../../async/gate.ts';
import { type Progress, type Session, SessionFailure } from './session.ts';

/** The bounds of a pool. */
export interface PoolLimits {
  readonly sessions: number;
  /** A session ends after so many messages: receivers distrust endless ones. */
  readonly messagesPerSession: number;
  /** An unused session ends after this many ms, before the other side ends it. */
  readonly idleMs: number;
}

type Send = (session: Session) => Promise<readonly Progress[]>;

/** A session that a message went over, and how many have by now. */
interface Used {
  readonly session: Session;
  readonly progress: readonly Progress[];
  readonly messages: number;
}

/** An idle session, and the timer that will end it. */
interface Kept {
  readonly session: Session;
  readonly messages: number;
  readonly timer: Timer;
}

/** Lends sessions to one message at a time, opening them as needed. */
export class SessionPool {
  readonly #gate: Gate;
  readonly #idle: Kept[] = [];
  #closed = false;

  constructor(
    private readonly open: (signal: AbortSignal) => Promise<Session>,
    private readonly limits: PoolLimits,
  ) {
    this.#gate = new Gate(limits.sessions);
  }

  /** No session is in use or kept. */
  get empty(): boolean {
    return this.#gate.idle && !this.#idle.some(({ session }) => session.alive);
  }

  /**
   * Sends with a session of its own. A kept session that turns out dead before a word was said is replaced by a fresh
   * one, once; nothing can have been sent twice. `begin` is awaited when it is this message's turn, before a session is
   * opened or used. Rejects as `begin` does, and with `SessionFailure` when no session could be had.
   */
  use(signal: AbortSignal, send: Send, begin?: () => Promise<void>): Promise<readonly Progress[]> {
    return new Promise((resolve, reject) => {
      const work = async () => {
        await begin?.();
        if (begin && signal.aborted) throw giveUp();
        const used = (await this.#sendKept(signal, send)) ?? (await this.#sendFresh(signal, send));
        // The outcome is known; that the session may need a reset first is nobody's business but the pool's.
        resolve(used.progress);
        await used.session.settle();
        this.#keep(used.session, used.messages);
      };
      const giveUp = () => new SessionFailure('aborted', 'Gave up before a connection was free');
      this.#gate.pass(work, signal, giveUp).catch(reject);
    });
  }

  /** Ends the idle sessions at once and those in use when they are given back; settles after the last. */
  close(): Promise<void> {
    this.#closed = true;
    for (let kept = this.#take(); kept; kept = this.#take()) kept.session.quit();
    return this.#gate.drained();
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

// A server that closes an idle session as we speak says so with a 421 to whatever we said (RFC 5321 3.8).
const neverBegan = (progress: readonly Progress[]): boolean =>
  progress.every(({ step, reply }) =>
    reply === null ? step === 'SESSION' : step === 'MAIL' && reply.startsWith('421'),
  );
