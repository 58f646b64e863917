import type { EmailState } from '../../../../machines/email/machine.ts';
import type { Findings } from '../../../engine/audit/findings.ts';
import { openSession, type Session } from '../../../engine/audit/session.ts';
import type { DatabaseLocation } from '../../../platform/db/open.ts';
import { auditLedger } from '../../audit/audit.ts';
import { RequestLedger, type UnansweredEmails } from '../load/request-ledger.ts';
import type { ReceivedCopies } from '../mail-sink.ts';
import type { CampaignRecord } from './campaign-record.ts';
import { type ExpectedOutcome, expectedEvents } from './expected-outcome.ts';
import { addressOf, type FlowMail, type FlowRecord, flowMailIn } from './flow-record.ts';
import { type Invariant, Violations } from './invariants.ts';
import { CampaignJudge, type CampaignsSeen } from './judge-campaigns.ts';
import { FlowJudge } from './judge-flows.ts';
import { judgeMail, type MailSeen } from './judge-mail.ts';
import { deliveryRows, type EmailRow, emailRows, eventRows } from './judged-rows.ts';
import type { MailRecord } from './mail-record.ts';
import { type OutsideRecord, recipientsOf, type SentEmail } from './outside-record.ts';
import type { PerformedAttempts } from './performed.ts';

/** The result of a chaos run. */
export interface Verdict {
  readonly acknowledged: number;
  readonly unanswered: UnansweredEmails;
  /** Emails in the database, acknowledged or not. */
  readonly emails: number;
  readonly ends: Readonly<Record<string, number>>;
  /** Emails that came in a batch. */
  readonly inBatches: number;
  /** Emails to two recipients. */
  readonly toTwo: number;
  readonly runs: number;
  /** Null without them. */
  readonly campaigns: CampaignsSeen | null;
  /** Null without received mail. */
  readonly mail: MailSeen | null;
  /** Attempts that did not begin because every slot was taken. */
  readonly declined: number;
  /**
   * Emails that were performed more than once because an attempt's outcome was lost: a recipient may have two
   * copies.
   */
  readonly inDoubt: number;
  readonly lostAttempts: number;
  /** Counts of live mail; null when none was sent. */
  readonly live: LiveMail | null;
  readonly events: number;
  /** Events that the webhook receiver got more than once; the event's id shows it. */
  readonly repeatedEvents: number;
  /** The number of violations of each invariant. */
  readonly violated: ReadonlyMap<Invariant, number>;
  /** The first violations, with ids. */
  readonly examples: readonly string[];
  readonly findings: Findings;
}

/** Counts of live messages; there is one for each recipient. */
export interface LiveMail {
  /** Messages that the mail server has at least once. */
  taken: number;
  /** Messages that the mail server has more than once. */
  twice: number;
  /** Attempts after which it was unknown whether some message was accepted. */
  unknown: number;
  /**
   * Messages that the mail server has although they count as failed: their unknown result was held until they
   * expired.
   */
  heldToTheEnd: number;
}

/** Everything that was recorded outside the database. */
export interface OutsideObservations {
  readonly record: OutsideRecord;
  /** The contacts that begin runs. */
  readonly flowRecord: FlowRecord;
  /** The record of campaigns; null without them. */
  readonly campaignRecord: CampaignRecord | null;
  /** The record of received mail, and its domain; null without it. */
  readonly handed: { readonly record: MailRecord; readonly domain: string } | null;
  readonly performed: ReadonlyMap<string, PerformedAttempts>;
  /** Receptions of each event by the webhook receiver; null without webhooks. */
  readonly received: ReadonlyMap<string, number> | null;
  /** Messages that the mail server accepted, by email and recipient; null without live mail. */
  readonly taken: ReadonlyMap<string, ReceivedCopies> | null;
}

/** Tolerance between two processes that read the same clock, and round. */
const CLOCK_SLACK_MS = 50;

/**
 * True for the stored email that the client knows: a second copy of the same request was neither moved nor
 * cancelled.
 */
const isAnswered = (email: SentEmail, { id }: EmailRow): boolean => email.id === null || email.id === id;

/** Compares the database with the records of the client and of the performers, which lie outside of it. */
export async function judge(where: DatabaseLocation, seen: OutsideObservations): Promise<Verdict> {
  const session = await openSession(where);
  try {
    return await new Judge(session, seen).verdict();
  } finally {
    await session.close();
  }
}

/** The states in which an email may have events. */
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

interface Recipient {
  readonly address: string;
  readonly outcome: ExpectedOutcome;
}

class Judge {
  readonly #violations = new Violations();
  readonly #ledger: RequestLedger;
  readonly #flows: FlowJudge;
  readonly #campaigns: CampaignJudge | null;
  readonly #ends: Record<string, number> = {};
  readonly #counts = { emails: 0, inBatches: 0, toTwo: 0, declined: 0, inDoubt: 0, lostAttempts: 0 };
  #events = 0;
  #repeatedEvents = 0;
  readonly #live: LiveMail = { taken: 0, twice: 0, unknown: 0, heldToTheEnd: 0 };
  /** Messages at the mail server that no row has explained yet. */
  readonly #unexplained: Set<string>;

  constructor(
    private readonly session: Session,
    private readonly seen: OutsideObservations,
  ) {
    this.#ledger = new RequestLedger(seen.record, this.#violations);
    this.#flows = new FlowJudge(seen.flowRecord, this.#violations);
    this.#campaigns = seen.campaignRecord && new CampaignJudge(seen.campaignRecord, this.#violations);
    this.#unexplained = new Set(seen.taken?.keys());
  }

  async verdict(): Promise<Verdict> {
    const { record, received, taken } = this.seen;
    for await (const row of emailRows(this.session)) this.#checkEmail(row);
    const unanswered = this.#ledger.close();
    const runs = await this.#flows.close(this.session);
    const campaigns = (await this.#campaigns?.close(this.session)) ?? null;
    const { handed } = this.seen;
    const mail = handed && (await judgeMail(this.session, handed.record, handed.domain, this.#violations));
    for (const key of this.#unexplained) this.#violate('unknownMessage', key);
    if (received) {
      await this.#checkEvents(received);
      await this.#checkDeliveries(received);
    }
    const findings = await auditLedger(this.session, Date.now());
    for (const { check, id, what } of findings.named) this.#violate('ledger', `${check}: ${id} ${what}`);
    return {
      acknowledged: record.acknowledged.size,
      unanswered,
      ...this.#counts,
      runs,
      campaigns,
      mail,
      ends: this.#ends,
      live: taken ? this.#live : null,
      events: this.#events,
      repeatedEvents: this.#repeatedEvents,
      violated: this.#violations.counts,
      examples: this.#violations.examples,
      findings,
    };
  }

  #checkEmail(row: EmailRow): void {
    const { id, state, waits, timers, lost, declined, completed, recorded } = row;
    this.#counts.emails++;
    this.#counts.lostAttempts += lost;
    this.#counts.declined += declined;
    this.#ends[state] = (this.#ends[state] ?? 0) + 1;
    const done = this.seen.performed.get(id);
    // The array is sparse, and `reduce` skips its holes.
    const accepted = done?.accepted.reduce((most, times) => Math.max(most, times), 0) ?? 0;
    if (accepted > 1) this.#counts.inDoubt++;
    if (accepted > 1 + lost)
      this.#violate(
        'doubled',
        `${id} was accepted ${accepted} times for one recipient, with ${lost} lost attempts`,
      );
    for (const attempt of recorded ?? [])
      if (!completed?.includes(attempt))
        this.#violate(
          'foreignOutcome',
          `${id} has an event of attempt ${attempt}, completed were ${completed}`,
        );
    if (state === 'cancelled' && done)
      this.#violate('cancelledSent', `${id} is cancelled, and was performed`);
    if (waits) this.#violate('unfinished', `${id} is still ${state}, with the timers ${timers}`);
    if (row.campaign !== null && this.#campaigns) {
      this.#campaigns.note(row.campaign, row.address, id);
      return this.#checkMailTo(row.address, row);
    }
    const flowMail = flowMailIn(row.subject);
    if (flowMail) return this.#checkFlowMail(flowMail, row);
    const email = this.#ledger.sentEmailOf(row);
    if (!email) return;
    if (email.inBatch) this.#counts.inBatches++;
    if (email.outcomes.length > 1) this.#counts.toTwo++;
    this.#checkEnd(recipientsOf(email), row);
    if (row.livemode) this.#checkLive(email, row);
    if (isAnswered(email, row)) this.#checkAnswers(email, row, done);
  }

  /** Compares the mail of a step with the email that was sent for it. */
  #checkFlowMail(mail: FlowMail, row: EmailRow): void {
    this.#flows.note(mail, row.id);
    this.#checkMailTo(addressOf(mail), row);
  }

  /** Compares live mail for one recipient at the mail server with its email's outcome. */
  #checkMailTo(address: string, row: EmailRow): void {
    this.#live.unknown += row.unknown;
    this.#checkEnd([{ address, outcome: 'taken' }], row);
    this.#checkCopies(address, row);
  }

  /** Compares state and events with the outcomes of the recipients. */
  #checkEnd(recipients: readonly Recipient[], row: EmailRow): void {
    const { id, state, waits } = row;
    const events = row.events ?? [];
    if (!HAS_EVENTS[state]) {
      for (const [, type] of events) this.#violate('unexpectedEvent', `${id} is cancelled, and has ${type}`);
    } else if (!waits) {
      const { end, missing, unexpected } = expectedEvents(recipients, events, row);
      if (state !== end)
        this.#violate(
          'wrongEnd',
          `${id} to ${recipients.map(({ outcome }) => outcome).join(' and ')} is ${state}`,
        );
      for (const what of missing) this.#violate('lostEvent', `${id} lacks ${what}`);
      for (const what of unexpected) this.#violate('unexpectedEvent', `${id} has ${what}`);
    }
  }

  /** Compares the messages at the mail server with the database. */
  #checkLive(email: SentEmail, row: EmailRow): void {
    this.#live.unknown += row.unknown;
    for (const { address } of recipientsOf(email)) {
      const taken = this.#checkCopies(address, row);
      if (taken && isAnswered(email, row)) this.#checkBeginning(email, `${row.id} ${address}`, taken.firstAt);
    }
  }

  /** Compares the messages for one recipient with its email; answers what the mail server has of it. */
  #checkCopies(address: string, row: EmailRow): ReceivedCopies | undefined {
    const { id, state, lost, unknown, holds, events, steps } = row;
    const key = `${id} ${address}`;
    const taken = this.seen.taken?.get(key);
    const copies = taken?.copies ?? 0;
    this.#unexplained.delete(key);
    const isSent = events?.some(([recipient, type]) => recipient === address && type === 'sent') ?? false;
    if (copies > 0) this.#live.taken++;
    if (copies > 1) this.#live.twice++;
    if (copies > 0 && !isSent) this.#live.heldToTheEnd++;
    if (isSent && copies === 0) this.#violate('missingMessage', `${key} is sent, and is not there`);
    if (state === 'cancelled' && copies > 0)
      this.#violate('cancelledSent', `${key} is cancelled, and is there`);
    if (holds && copies > 1) this.#violate('heldTwice', `${key} is there ${copies} times`);
    // A waiting email, which is a violation by itself, may have an attempt under way whose copy has arrived
    // already.
    if (!row.waits && copies > 1 + lost + unknown)
      this.#violate(
        'takenTwice',
        `${key} is there ${copies} times, with ${lost} lost and ${unknown} unknown; ${state} after ${steps}`,
      );
    return taken;
  }

  /** Compares the row with the answers that the client got. */
  #checkAnswers(email: SentEmail, { id, state }: EmailRow, done: PerformedAttempts | undefined): void {
    const { cancelled } = email;
    if (cancelled === 'acknowledged' && state !== 'cancelled')
      this.#violate('cancelledSent', `${id} was cancelled, and is ${state}`);
    if (cancelled !== 'unknown' && cancelled !== 'acknowledged' && state === 'cancelled')
      this.#violate('wrongEnd', `${id} is cancelled, and the client was never told`);
    if (done) this.#checkBeginning(email, id, done.firstBegun);
  }

  #checkBeginning({ notBefore }: SentEmail, what: string, begun: number): void {
    if (notBefore !== null && begun < notBefore - CLOCK_SLACK_MS)
      this.#violate('tooEarly', `${what} began ${notBefore - begun} ms too early`);
  }

  async #checkEvents(received: ReadonlyMap<string, number>): Promise<void> {
    for await (const { email_id, id } of eventRows(this.session)) {
      this.#events++;
      const times = received.get(id) ?? 0;
      if (times === 0) this.#violate('undelivered', `${id} of ${email_id}`);
      if (times > 1) this.#repeatedEvents++;
    }
  }

  async #checkDeliveries(received: ReadonlyMap<string, number>): Promise<void> {
    for await (const { id, event, attempt } of deliveryRows(this.session)) {
      const times = received.get(event) ?? 0;
      if (times > attempt) this.#violate('overdelivered', `${id} came ${times} times in ${attempt} attempts`);
    }
  }

  #violate(invariant: Invariant, example: string): void {
    this.#violations.add(invariant, example);
  }
}
