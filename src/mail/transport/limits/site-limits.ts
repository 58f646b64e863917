import type { MonotonicClock } from '../../../platform/time/monotonic.ts';
import { connectionsOf, messagesOf, type Part, WHOLE } from '../part.ts';
import {
  type EndedLimit,
  HOLDS,
  inForce,
  isDue,
  type LearnedLimit,
  type LearnedLimits,
  LIMIT_NAMES,
  type LimitName,
  type LimitRecord,
  newer,
  shown,
} from './learned.ts';
import { LEAST_PER_MINUTE, Pace } from './pace.ts';

/** A rate beyond this is none that would have to be kept to. */
const MOST_PER_MINUTE = 6_000;
/** The margin below a rate that was found: a server counts by its own windows. */
const CLOSE_TO = 0.95;

/** The clocks that limits age by. */
export interface LimitClocks {
  /** Epoch milliseconds, which outlive the process. */
  readonly now: () => number;
  readonly monotonic: MonotonicClock;
}

/**
 * The limits that a server has shown. They hold for all processes together; each of them keeps to its part.
 */
export class SiteLimits {
  readonly pace: Pace;
  #record: LimitRecord = {};
  #known: LearnedLimits = {};
  #part: Part = WHOLE;

  constructor(
    private readonly clocks: LimitClocks,
    private readonly changed: () => void = () => {},
    /** False where the size that it announces is not remembered. */
    private readonly remembersSize = true,
  ) {
    this.pace = new Pace(clocks.monotonic, (perMinute) => this.#learnRate(perMinute));
  }

  /** The limits that hold. */
  get known(): LearnedLimits {
    return this.#known;
  }

  /** All that was found out, also of limits that are over. */
  get record(): LimitRecord {
    return this.#record;
  }

  /** Takes over what another process has found out, or this one before it was started again. */
  adopt(record: LimitRecord): void {
    const merged = LIMIT_NAMES.flatMap((name) => {
      const found = newer(this.#record[name], record[name]);
      return found === undefined ? [] : [[name, found] as const];
    });
    this.#note(Object.fromEntries(merged));
    this.#keepPace();
  }

  keepTo(part: Part): void {
    this.#part = part;
    this.#keepPace();
  }

  /**
   * The number of connections that this process may have at once: one more than the limit when it is time to
   * try more.
   */
  connectionsOf(all: number): number {
    const known = this.#known.connections;
    const limit = known === undefined ? all : known.value + (isDue(known, this.clocks.now()) ? 1 : 0);
    return connectionsOf(Math.min(all, limit), this.#part);
  }

  /** The server has taken a connection, the last of so many of this process. */
  connected(open: number, all: number): void {
    const known = this.#known.connections;
    if (known === undefined || open <= connectionsOf(known.value, this.#part)) return;
    const { of, rank } = this.#part;
    const value = (open - 1) * of + rank + 1;
    if (value >= all) this.#forget('connections');
    else this.#set('connections', shown('connections', undefined, value, this.clocks.now()));
  }

  /** The server has refused a connection while so many others of this process were open. */
  refusedConnection(open: number): void {
    const known = this.#known.connections;
    const { of, rank } = this.#part;
    const value = Math.max(1, open) * of + rank;
    // Several connections are refused at the same moment; one of them is news.
    if (known !== undefined && known.value <= value && !isDue(known, this.clocks.now())) return;
    this.#show('connections', known === undefined ? value : Math.min(known.value, value));
  }

  /**
   * The number of mails that a session may carry; `most` while no limit is known, or it is time to try more.
   */
  mailsPerSession(most: number): number {
    return Math.min(most, this.#current('mailsPerSession') ?? most);
  }

  /** A session has carried so many mails, and the server takes none over it any more. */
  sessionSpent(mails: number): void {
    this.#show('mailsPerSession', mails);
  }

  /** The server took a mail after so many others of the session. */
  carriedAfter(mails: number): void {
    const known = this.#known.mailsPerSession;
    if (known !== undefined && mails >= known.value) this.#forget('mailsPerSession');
  }

  /**
   * The number of recipients that a mail may have; null while no limit is known, or it is time to try more.
   */
  get recipientsPerMail(): number | null {
    return this.#current('recipientsPerMail');
  }

  /** The server took so many of the recipients of a mail, and wants no more in it. */
  refusedRecipient(taken: number): void {
    this.#show('recipientsPerMail', Math.max(1, taken));
  }

  /** The server took a mail with so many recipients. */
  tookRecipients(recipients: number): void {
    const known = this.#known.recipientsPerMail;
    if (known !== undefined && recipients > known.value) this.#forget('recipientsPerMail');
  }

  /** The size that the server announces (RFC 1870); 0 or null for none. */
  announcedSize(octets: number | null): void {
    const known = this.#known.octetsPerMail?.value ?? 0;
    if (known === (octets ?? 0) || !this.remembersSize) return;
    if (!octets) this.#forget('octetsPerMail');
    else this.#show('octetsPerMail', octets);
  }

  /**
   * True when a refusal for the rate is waited out: the server has taken mail, or is known to have such a
   * limit. One that takes none at all does not get better within minutes.
   */
  get mayPace(): boolean {
    return this.pace.hasTaken || this.#known.mailsPerMinute !== undefined;
  }

  /** Tries twice the rate when it was kept to for long enough. Called before each mail. */
  mayGoFaster(): void {
    const known = this.#known.mailsPerMinute;
    if (known === undefined || this.pace.isResting || !isDue(known, this.clocks.now())) return;
    const value = known.value * 2;
    if (value > MOST_PER_MINUTE) this.#forget('mailsPerMinute');
    else this.#set('mailsPerMinute', { value, at: this.clocks.now(), holdMs: known.holdMs, isTrial: true });
    this.#keepPace();
  }

  /**
   * The server takes mail again after it refused for its rate, which was so many mails a minute; null where
   * too few went to know.
   */
  #learnRate(perMinute: number | null): void {
    const known = this.#known.mailsPerMinute;
    // A trial has failed. What it went up from was taken for long enough.
    const least = known?.isTrial ? known.value / 2 : LEAST_PER_MINUTE;
    if (perMinute === null && known?.isTrial !== true) return;
    const all = Math.max(least, Math.floor((perMinute ?? 0) * CLOSE_TO * this.#part.of));
    if (all > MOST_PER_MINUTE) return;
    const { firstMs, longestMs } = HOLDS.mailsPerMinute;
    const holdMs = known?.isTrial ? Math.min(2 * known.holdMs, longestMs) : (known?.holdMs ?? firstMs);
    const value = Math.min(known?.value ?? all, all);
    this.#set('mailsPerMinute', { value, at: this.clocks.now(), holdMs });
    this.#keepPace();
  }

  #keepPace(): void {
    const known = this.#known.mailsPerMinute;
    this.pace.keepTo(known === undefined ? null : messagesOf(known.value, this.#part));
  }

  #current(name: LimitName): number | null {
    const known = this.#known[name];
    return known === undefined || isDue(known, this.clocks.now()) ? null : known.value;
  }

  #show(name: LimitName, value: number): void {
    this.#set(name, shown(name, this.#known[name], value, this.clocks.now()));
  }

  #set(name: LimitName, found: LearnedLimit | EndedLimit): void {
    // The clock of another process may be ahead; what is found out here comes after what it knew.
    const at = Math.max(found.at, (this.#record[name]?.at ?? 0) + 1);
    this.#note({ ...this.#record, [name]: { ...found, at } });
    this.changed();
  }

  #forget(name: LimitName): void {
    this.#set(name, { value: null, at: this.clocks.now() });
  }

  #note(record: LimitRecord): void {
    this.#record = record;
    this.#known = inForce(record);
  }
}
