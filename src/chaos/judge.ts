import type { EmailState } from '../../machines/email.ts';
import { auditLedger } from '../audit/audit.ts';
import type { Findings } from '../audit/findings.ts';
import { openSession, type Session } from '../audit/session.ts';
import { expectedEvents } from './expected-outcome.ts';
import { type Invariant, Violations } from './invariants.ts';
import { deliveryRows, type EmailRow, emailRows, eventRows } from './judged-rows.ts';
import type { Taken } from './mail-sink.ts';
import { type OutsideRecord, recipientsOf, type SentEmail } from './outside-record.ts';
import type { Performed } from './performed.ts';
import { RequestLedger, type Unanswered } from './request-ledger.ts';

/** What a torture came to. */
export interface Verdict {
  readonly acknowledged: number;
  readonly unanswered: Unanswered;
  /** Emails in the database, acknowledged or not. */
  readonly emails: number;
  readonly ends: Readonly<Record<string, number>>;
  /** Emails that came in a batch. */
  readonly inBatches: number;
  /** Emails to two recipients. */
  readonly toTwo: number;
  /** Attempts that were not begun, since every slot was taken. */
  readonly declined: number;
  /** Performed more than once because an attempt's outcome was lost: the recipient may have got it twice. */
  readonly inDoubt: number;
  readonly lostAttempts: number;
  /** What the receiving server has; null where no live mail was sent. */
  readonly live: LiveMail | null;
  readonly events: number;
  /** Received more than once by the webhooks' receiver, which is told so by the event's id. */
  readonly repeatedEvents: number;
  /** How often each promise was broken. */
  readonly broken: ReadonlyMap<Invariant, number>;
  /** The first of them, with ids. */
  readonly examples: readonly string[];
  readonly findings: Findings;
}

/** Live mail, as it arrived: a message for each recipient. */
export interface LiveMail {
  /** Messages of which the server has at least one copy. */
  taken: number;
  /** Messages of which it has several. */
  twice: number;
  /** Attempts after which nobody knew whether some message was taken. */
  unknown: number;
  /** Messages that count as failed while the server has them: a doubt that was held to the end. */
  heldToTheEnd: number;
}

/** What was seen from outside. */
export interface Seen {
  readonly record: OutsideRecord;
  readonly performed: ReadonlyMap<string, Performed>;
  /** How often the receiver of webhooks got each event; null when there is none. */
  readonly received: ReadonlyMap<string, number> | null;
  /** What the receiving server took for each recipient of each live email; null when none was sent. */
  readonly taken: ReadonlyMap<string, Taken> | null;
}

/** A clock of the same machine, read in two processes and rounded. */
const CLOCK_SLACK_MS = 50;

/** Whether what was done to a wish was done to this email: another one of the same wish was neither moved nor cancelled. */
const isAnswered = (wish: SentEmail, { id }: EmailRow): boolean => wish.id === null || wish.id === id;

/** Holds the database against what the client was told and what was performed; both lie outside of it. */
export async function judge(databaseUrl: string, seen: Seen): Promise<Verdict> {
  const session = await openSession({ url: databaseUrl, dataDir: null });
  try {
    return await new Judge(session, seen).verdict();
  } finally {
    await session.close();
  }
}

/** Whether an email in that state may have events: its recipients were, or are to be, served. */
const HAS_EVENTS: Readonly<Record<EmailState, boolean>> = {
  scheduled: true,
  queued: true,
  sending: true,
  deferred: true,
  sent: true,
  delivered: true,
  failed: true,
  cancelled: false,
};

class Judge {
  readonly #breaches = new Violations();
  readonly #ledger: RequestLedger;
  readonly #ends: Record<string, number> = {};
  readonly #counts = { emails: 0, inBatches: 0, toTwo: 0, declined: 0, inDoubt: 0, lostAttempts: 0 };
  #events = 0;
  #repeatedEvents = 0;
  readonly #live: LiveMail = { taken: 0, twice: 0, unknown: 0, heldToTheEnd: 0 };
  /** What the receiving server has and no row has explained yet. */
  readonly #strange: Set<string>;

  constructor(
    private readonly session: Session,
    private readonly seen: Seen,
  ) {
    this.#ledger = new RequestLedger(seen.record, this.#breaches);
    this.#strange = new Set(seen.taken?.keys());
  }

  async verdict(): Promise<Verdict> {
    const { record, received, taken } = this.seen;
    for await (const row of emailRows(this.session)) this.#look(row);
    const unanswered = this.#ledger.close();
    for (const key of this.#strange) this.#break('strange', key);
    if (received) {
      await this.#lookAtEvents(received);
      await this.#lookAtDeliveries(received);
    }
    const findings = await auditLedger(this.session, Date.now());
    for (const { check, id, what } of findings.named) this.#break('ledger', `${check}: ${id} ${what}`);
    return {
      acknowledged: record.acknowledged.size,
      unanswered,
      ...this.#counts,
      ends: this.#ends,
      live: taken ? this.#live : null,
      events: this.#events,
      repeatedEvents: this.#repeatedEvents,
      broken: this.#breaches.counts,
      examples: this.#breaches.examples,
      findings,
    };
  }

  #look(row: EmailRow): void {
    const { id, state, waits, timers, lost, declined, completed, recorded } = row;
    this.#counts.emails++;
    this.#counts.lostAttempts += lost;
    this.#counts.declined += declined;
    this.#ends[state] = (this.#ends[state] ?? 0) + 1;
    const done = this.seen.performed.get(id);
    // Not every recipient is in it: `reduce` passes over those that are not.
    const accepted = done?.accepted.reduce((most, times) => Math.max(most, times), 0) ?? 0;
    if (accepted > 1) this.#counts.inDoubt++;
    if (accepted > 1 + lost)
      this.#break('doubled', `${id} was taken ${accepted} times for one, with ${lost} lost attempts`);
    for (const attempt of recorded ?? [])
      if (!completed?.includes(attempt))
        this.#break(
          'foreignOutcome',
          `${id} has an event of attempt ${attempt}, completed were ${completed}`,
        );
    if (state === 'cancelled' && done) this.#break('cancelledSent', `${id} is cancelled, and was performed`);
    if (waits) this.#break('unfinished', `${id} is still ${state}, with the timers ${timers}`);
    const wish = this.#ledger.wishOf(row);
    if (!wish) return;
    if (wish.inBatch) this.#counts.inBatches++;
    if (wish.fates.length > 1) this.#counts.toTwo++;
    this.#lookAtEnd(wish, row);
    if (row.livemode) this.#lookAtLive(wish, row);
    if (isAnswered(wish, row)) this.#keepPromises(wish, row, done);
  }

  /** What its recipients should have made of it, against its state and its events. */
  #lookAtEnd(wish: SentEmail, row: EmailRow): void {
    const { id, state, waits } = row;
    const events = row.events ?? [];
    if (!HAS_EVENTS[state]) {
      for (const [, type] of events) this.#break('strangeEvent', `${id} is cancelled, and has ${type}`);
    } else if (!waits) {
      const { end, lacking, strange } = expectedEvents(recipientsOf(wish), events, row);
      if (state !== end) this.#break('wrongEnd', `${id} to ${wish.fates.join(' and ')} is ${state}`);
      for (const what of lacking) this.#break('lostEvent', `${id} lacks ${what}`);
      for (const what of strange) this.#break('strangeEvent', `${id} has ${what}`);
    }
  }

  /** What the receiving server has, against what the database says of it. */
  #lookAtLive(wish: SentEmail, row: EmailRow): void {
    const { id, state, lost, unknown, holds, events } = row;
    this.#live.unknown += unknown;
    for (const { address } of recipientsOf(wish)) {
      const key = `${id} ${address}`;
      const taken = this.seen.taken?.get(key);
      const copies = taken?.copies ?? 0;
      this.#strange.delete(key);
      const isSent = events?.some(([recipient, type]) => recipient === address && type === 'sent') ?? false;
      if (copies > 0) this.#live.taken++;
      if (copies > 1) this.#live.twice++;
      if (copies > 0 && !isSent) this.#live.heldToTheEnd++;
      if (isSent && copies === 0) this.#break('notThere', `${key} is sent, and is not there`);
      if (state === 'cancelled' && copies > 0)
        this.#break('cancelledSent', `${key} is cancelled, and is there`);
      if (holds && copies > 1) this.#break('heldTwice', `${key} is there ${copies} times`);
      if (copies > 1 + lost + unknown)
        this.#break(
          'takenTwice',
          `${key} is there ${copies} times, with ${lost} lost and ${unknown} unknown`,
        );
      if (taken && isAnswered(wish, row)) this.#beginsInTime(wish, key, taken.firstAt);
    }
  }

  /** What was told to the client about this email. */
  #keepPromises(wish: SentEmail, { id, state }: EmailRow, done: Performed | undefined): void {
    const { cancelled } = wish;
    if (cancelled === 'acknowledged' && state !== 'cancelled')
      this.#break('cancelledSent', `${id} was cancelled, and is ${state}`);
    if (cancelled !== 'unknown' && cancelled !== 'acknowledged' && state === 'cancelled')
      this.#break('wrongEnd', `${id} is cancelled, and nobody was told so`);
    if (done) this.#beginsInTime(wish, id, done.firstBegun);
  }

  #beginsInTime({ notBefore }: SentEmail, what: string, begun: number): void {
    if (notBefore !== null && begun < notBefore - CLOCK_SLACK_MS)
      this.#break('tooEarly', `${what} began ${notBefore - begun} ms too early`);
  }

  async #lookAtEvents(received: ReadonlyMap<string, number>): Promise<void> {
    for await (const { email_id, id } of eventRows(this.session)) {
      this.#events++;
      const times = received.get(id) ?? 0;
      if (times === 0) this.#break('undelivered', `${id} of ${email_id}`);
      if (times > 1) this.#repeatedEvents++;
    }
  }

  async #lookAtDeliveries(received: ReadonlyMap<string, number>): Promise<void> {
    for await (const { id, event, attempt } of deliveryRows(this.session)) {
      const times = received.get(event) ?? 0;
      if (times > attempt) this.#break('overdelivered', `${id} came ${times} times in ${attempt} attempts`);
    }
  }

  #break(promise: Invariant, example: string): void {
    this.#breaches.add(promise, example);
  }
}
