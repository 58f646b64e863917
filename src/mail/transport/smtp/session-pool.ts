/**
 * Sessions to one endpoint, kept open between messages and bounded in number. nodemailer's pool is not used:
 * it hides which connection a failure came from, sends a message again by itself, and cannot stop waiting for
 * a connection.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Beginning, TakenBack } from '../begin.ts';
import { RateEvidence } from '../limits/rate-evidence.ts';
import type { Part } from '../part.ts';
import { SharedSessions } from '../shared-sessions.ts';
import {
  HeldSessions,
  type PooledSession,
  type PoolLimits,
  type PoolParts,
  type SessionChoice,
} from './held-sessions.ts';
import { refusedBy, type SessionRefusal } from './refused-session.ts';
import { type Progress, type Session, SessionFailure } from './session.ts';
import { Waits } from './waits.ts';

type Send = (session: Session) => Promise<readonly Progress[]>;

/** A mail over a session, with the outcome. */
interface CarriedMail {
  readonly held: PooledSession;
  readonly progress: readonly Progress[];
  /** When it was sent, monotonic. */
  readonly begunAt: number;
  /** True when the server refused it, and that may be about more than the mail. */
  readonly isRefused: boolean;
}

/** The events of a mail before its reply. */
interface SendHistory {
  /** A session that had carried mail refused it, and one that had not. */
  used: boolean;
  fresh: boolean;
  /** True once it was tried again after a refusal that may be of its recipient alone. */
  isTriedAgain: boolean;
  /** The finding about the server if another session takes the mail. */
  readonly shown: (() => void)[];
}

/** Sessions that one mail is tried over at most. */
const MOST_SESSIONS = 20;
/** A session that is refused a mail later than so after the last one may have been idle for too long. */
const FRESH_MS = 5_000;
/**
 * A mail that may be refused for its recipient alone is tried once more after so long, in which other mails
 * show whether they are refused too.
 */
const AGAIN_MS = 250;

const REFUSING = ['aborted', 'The server has refused all mail for its rate for minutes'] as const;

/**
 * Gives each message a separate session while it is sent, and opens sessions as needed and as the server
 * allows.
 */
export class SessionPool {
  readonly #places: SharedSessions;
  readonly #held: HeldSessions;
  readonly #evidence = new RateEvidence();

  constructor(
    open: (signal: AbortSignal) => Promise<Session>,
    private readonly limits: PoolLimits,
    private readonly parts: PoolParts,
  ) {
    this.#places = new SharedSessions(limits.sessions);
    this.#held = new HeldSessions(open, limits, parts, () => this.#fit());
  }

  /** True when no session is in use or kept. */
  get empty(): boolean {
    return this.#places.idle && this.#held.empty;
  }

  /**
   * Sends over an idle or new session. One that takes no more mails, or turns out to be closed, is replaced
   * before the server has read the mail, so that nothing can be sent twice. `begin` is awaited after all
   * waiting that can come before it, and before a session is opened or used; a mail that has begun and would
   * have to wait longer is taken back. Rejects when `begin` does, with `TakenBack`, and with `SessionFailure`
   * when no session could be opened.
   */
  use(
    signal: AbortSignal,
    send: Send,
    { begin, mayTakeBack }: Beginning,
    /** Of a campaign, which leaves the first place to all others. */
    isBulk = false,
  ): Promise<readonly Progress[]> {
    const { site } = this.parts;
    return new Promise((resolve, reject) => {
      const work = async () => {
        site.mayGoFaster();
        if (!(await site.pace.turn(signal)))
          throw signal.aborted ? giveUp() : new SessionFailure(...REFUSING);
        await begin();
        if (signal.aborted) throw giveUp();
        const waits = new Waits(this.parts.monotonic(), signal, mayTakeBack);
        const { held, progress } = await this.#carry(signal, send, isBulk, waits);
        // The outcome is known; the caller does not wait for a reset of the session.
        resolve(progress);
        await held.session.settle();
        await this.#held.giveBack(held);
      };
      const giveUp = () => new SessionFailure('aborted', 'Gave up before a connection was free');
      this.#fit();
      this.#places.run(work, isBulk, signal, giveUp).catch(reject);
    });
  }

  /** Ends the idle sessions at once and those in use when they are given back; settles after the last. */
  close(): Promise<void> {
    this.#held.close();
    return this.#places.drained();
  }

  /**
   * Keeps to this part of the sessions. Those in use end their message first; where there are to be fewer,
   * idle ones end at once.
   */
  keepTo(part: Part): void {
    const before = this.#places.units;
    this.parts.site.keepTo(part);
    this.#fit();
    if (this.#places.units < before) this.endIdle();
  }

  /** Ends unused sessions. */
  endIdle(): void {
    this.#held.endIdle();
  }

  /** Sends over one session after another until the server has answered about the mail. */
  async #carry(signal: AbortSignal, send: Send, isBulk: boolean, waits: Waits): Promise<CarriedMail> {
    const seen: SendHistory = { used: false, fresh: false, isTriedAgain: false, shown: [] };
    let wants: SessionChoice = 'any';
    let refusal: CarriedMail | null = null;
    for (let tried = 1; ; tried++) {
      let held: PooledSession;
      try {
        held = await this.#held.next(signal, waits, isBulk, wants);
      } catch (error) {
        // It comes back, and is not to begin again before there is a session for it.
        if (error instanceof TakenBack && wants === 'others') this.#isFull();
        if (refusal === null || !(error instanceof SessionFailure)) throw error;
        return this.#answered(refusal, seen);
      }
      const begunAt = this.parts.monotonic();
      const progress = await send(held.session);
      const refused = refusedBy(progress, held.mails);
      const carried = { held, progress, begunAt, isRefused: refused !== null };
      const isLast = signal.aborted || tried === MOST_SESSIONS;
      const next = refused === null || isLast ? null : await this.#after(refused, held, waits, seen);
      if (refused === null || next === null) return this.#answered(carried, seen);
      // A session that was closed in silence says nothing of the mail.
      refusal = refused.what === 'ended' ? null : carried;
      wants = next;
    }
  }

  /** The session that a mail wants after one refused it; null where the refusal is the answer. */
  async #after(
    refused: SessionRefusal,
    held: PooledSession,
    waits: Waits,
    seen: SendHistory,
  ): Promise<SessionChoice | null> {
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
      this.#held.end(held);
      return 'new';
    }
    // Neither the session nor what went before is the reason: it is about the recipient or the mail.
    if (refused.what === 'full' && !refused.mayBeConnections) return null;
    if (isBySession && this.#held.besides(held) > 0) {
      seen.shown.push(() => site.refusedConnection(this.#held.working));
      this.#held.end(held);
      return 'others';
    }
    // Of a burst some are refused before the first has been taken.
    const isTaking = site.pace.isHopeful && (site.mayPace || this.#held.besides(held) > 0);
    if (!refused.inWords || !isTaking) return null;
    const isOfAll =
      refused.recipient === null ||
      this.#evidence.refused(refused.recipient, monotonic()) ||
      site.pace.isResting;
    // Connections that are too many for a used session and for a fresh one are no reason for one mail alone.
    if (!isOfAll && (seen.isTriedAgain || refused.what === 'full')) return null;
    if (isOfAll) site.pace.refused();
    await held.session.settle();
    if (!isOfAll) {
      seen.isTriedAgain = true;
      await pause(AGAIN_MS, undefined, { signal: waits.signal }).catch(() => {});
    }
    if (await site.pace.turn(waits.signal)) return held;
    if (!waits.isOver) return null;
    await this.#held.giveBack(held);
    throw new TakenBack();
  }

  #answered(carried: CarriedMail, seen: SendHistory): CarriedMail {
    const { held, progress, begunAt, isRefused } = carried;
    const { site, monotonic } = this.parts;
    const isAccepted = progress.some(({ step, reply }) => step === 'DOT' && reply?.startsWith('2'));
    if (!isRefused && progress.some(({ step }) => step !== 'MAIL' && step !== 'SESSION')) {
      this.#held.answered(held);
      for (const show of seen.shown) show();
      this.#fit();
    }
    if (isAccepted) this.#evidence.accepted(begunAt);
    if (isAccepted) site.pace.accepted();
    if (isAccepted) this.#held.accepted(held);
    held.mails += 1;
    held.usedAt = monotonic();
    return carried;
  }

  /** The server takes no mail over more sessions than those that work. */
  #isFull(): void {
    this.parts.site.refusedConnection(this.#held.working);
    this.#fit();
  }

  /**
   * Lets as many mails in as the server is known to give connections to, or one more when it is time to try
   * that.
   */
  #fit(): void {
    const units = this.parts.site.connectionsOf(this.limits.sessions);
    if (units !== this.#places.units) this.#places.resize(units);
  }
}
