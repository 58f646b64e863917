/**
 * Sessions to one endpoint, kept open between messages and bounded in number. Not nodemailer's pool: that one hides which
 * connection a failure came from, sends a message again by itself, and cannot be told to stop waiting for a place.
 */
import type { Progress, Session } from './session.ts';
import { SessionFailure } from './session.ts';

/** The bounds of a pool. */
export interface PoolLimits {
  readonly sessions: number;
  /** A session ends after so many messages: receivers distrust endless ones. */
  readonly messagesPerSession: number;
  /** An unused session ends after this many ms, before the other side ends it. */
  readonly idleMs: number;
}

interface Kept {
  readonly session: Session;
  messages: number;
  timer: Timer | null;
}

/** Lends sessions to one message at a time, opening them as needed. */
export class SessionPool {
  readonly #idle: Kept[] = [];
  readonly #waiting: (() => void)[] = [];
  #busy = 0;
  #closed: (() => void) | null = null;

  constructor(
    private readonly open: (signal: AbortSignal) => Promise<Session>,
    private readonly limits: PoolLimits,
  ) {}

  /** No session is in use or kept. */
  get empty(): boolean {
    return this.#busy === 0 && !this.#idle.some(({ session }) => session.alive);
  }

  /**
   * Sends with a session of its own until it settles. A kept session that turns out dead before a word was said is replaced
   * by a fresh one, once; nothing can have been sent twice. Rejects with `SessionFailure` when no session could be had.
   */
  async use(
    signal: AbortSignal,
    send: (session: Session) => Promise<readonly Progress[]>,
  ): Promise<readonly Progress[]> {
    await this.#place(signal);
    let kept: Kept | undefined;
    try {
      const old = this.#takeIdle();
      if (old) {
        kept = old;
        const progress = await send(old.session);
        if (old.session.alive || signal.aborted || !neverBegan(progress)) return progress;
      }
      kept = undefined;
      kept = { session: await this.open(signal), messages: 0, timer: null };
      return await send(kept.session);
    } finally {
      void this.#giveBack(kept);
    }
  }

  /** Ends the idle sessions at once and those in use when they are given back; settles after the last. */
  close(): Promise<void> {
    for (let kept = this.#takeIdle(); kept; kept = this.#takeIdle()) kept.session.quit();
    return new Promise((resolve) => {
      this.#closed = resolve;
      if (this.#busy === 0) resolve();
    });
  }

  async #place(signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new SessionFailure('aborted', 'Gave up before a connection was free');
    if (this.#busy < this.limits.sessions) {
      this.#busy += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const take = () => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(take), 1);
        reject(new SessionFailure('aborted', 'Gave up before a connection was free'));
      };
      this.#waiting.push(take);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  #takeIdle(): Kept | undefined {
    const kept = this.#idle.pop();
    if (kept?.timer) clearTimeout(kept.timer);
    return kept === undefined || kept.session.alive ? kept : this.#takeIdle();
  }

  async #giveBack(kept: Kept | undefined): Promise<void> {
    if (kept) {
      kept.messages += 1;
      await kept.session.settle();
      if (this.#closed || kept.messages >= this.limits.messagesPerSession) kept.session.quit();
      else if (kept.session.alive) this.#keep(kept);
    }
    const next = this.#waiting.shift();
    if (next) return next();
    this.#busy -= 1;
    if (this.#busy === 0) this.#closed?.();
  }

  #keep(kept: Kept): void {
    kept.timer = setTimeout(() => {
      this.#idle.splice(this.#idle.indexOf(kept), 1);
      kept.session.quit();
    }, this.limits.idleMs);
    kept.timer.unref();
    this.#idle.push(kept);
  }
}

// A server that closes an idle session as we speak says so with a 421 to whatever we said (RFC 5321 3.8).
const neverBegan = (progress: readonly Progress[]): boolean =>
  progress.every(({ step, reply }) =>
    reply === null ? step === 'SESSION' : step === 'MAIL' && reply.startsWith('421'),
  );
