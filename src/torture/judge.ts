import { auditLedger } from '../audit/audit.ts';
import type { Findings } from '../audit/findings.ts';
import { openSession, type Session } from '../audit/session.ts';
import type { Taken } from './mail-sink.ts';
import { type Acknowledged, ENDS, LIVE_ENDS, type OutsideRecord, type Performed } from './outside-record.ts';

/** What is promised, a sentence each. */
export const PROMISES = {
  lost: 'every acknowledged email is there',
  unfinished: 'every acknowledged email has come to its end',
  wrongEnd: 'and to the end that its recipient makes of it',
  doubled: 'no email is performed again without a lease that ended in between',
  keyTwice: 'one idempotency key is one email',
  cancelledSent: 'what was cancelled is never sent',
  tooEarly: 'nothing scheduled is sent before its time',
  foreignOutcome: 'an outcome is recorded for its own attempt only',
  undelivered: 'every event has reached the receiver of webhooks',
  overdelivered: 'no event more often than it was posted',
  notThere: 'every live email that ended as sent is at the receiving server',
  takenTwice: 'none is there more often than once and once for each doubt on record',
  heldTwice: 'none is there twice where doubts are held',
  strange: 'nothing is there that is not in the database',
  unexplained: 'there are no more emails than were asked for',
  ledger: 'the audit finds the ledger in order',
} as const;

/** The name of a promise. */
export type Promised = keyof typeof PROMISES;

/** What a torture came to. */
export interface Verdict {
  readonly acknowledged: number;
  /** Emails in the database, acknowledged or not. */
  readonly emails: number;
  readonly ends: Readonly<Record<string, number>>;
  /** Performed more than once because an attempt's outcome was lost: the recipient may have got it twice. */
  readonly inDoubt: number;
  readonly lostAttempts: number;
  /** What the receiving server has; null where no live mail was sent. */
  readonly live: LiveMail | null;
  readonly events: number;
  /** Received more than once by the webhooks' receiver, which is told so by the event's id. */
  readonly repeatedEvents: number;
  /** How often each promise was broken. */
  readonly broken: ReadonlyMap<Promised, number>;
  /** The first of them, with ids. */
  readonly examples: readonly string[];
  readonly findings: Findings;
}

/** Live mail, as it arrived. */
export interface LiveMail {
  /** Emails of which the server has at least one copy. */
  taken: number;
  /** Emails of which it has several. */
  twice: number;
  /** Attempts after which nobody knew whether the message was taken. */
  unknown: number;
  /** Emails that failed while the server has them: a doubt that was held to the end. */
  heldToTheEnd: number;
}

interface EmailRow {
  readonly id: string;
  readonly state: string;
  readonly livemode: boolean;
  /** A doubt about it is held, rather than tried again. */
  readonly holds: boolean;
  /** Attempts after which nobody knew whether the message was taken. */
  readonly unknown: number;
  readonly waits: boolean;
  readonly timers: string | null;
  /** Leases that ended without an outcome. */
  readonly lost: number;
  /** Attempts whose outcome was taken. */
  readonly completed: readonly number[] | null;
  /** Attempts that recorded events say they come from. */
  readonly recorded: readonly number[] | null;
}

const BATCH = 500;
const EMAILS = `with batch as materialized (
  select id, state, timers::text as timers, wake_at is not null as waits, livemode,
    (context->>'holdsDoubt')::boolean as holds from emails where id > $1 order by id limit ${BATCH}
), steps as (
  select j.actor_id as id, s->>'event' as event, (s->>'attempt')::integer as attempt
  from batch b join email_journal j on j.actor_id = b.id cross join lateral json_array_elements(j.steps) s
)
select b.id, b.state, b.waits, b.timers, b.livemode, b.holds,
  (select count(distinct a.attempt)::integer from email_attempts a
   where a.email_id = b.id and a.outcome = 'unknown') as unknown,
  (select count(*)::integer from steps s where s.id = b.id and s.event = 'after.lease') as lost,
  (select json_agg(distinct attempt) from steps s where s.id = b.id and s.event = 'attempt.completed') as completed,
  (select json_agg(distinct (e.data->>'attempt')::integer) from email_events e
   where e.email_id = b.id and e.data->>'attempt' is not null) as recorded
from batch b order by b.id`;

const EVENTS = `select email_id, id from email_events where (email_id, id) > ($1, $2) order by email_id, id limit 2000`;
const DELIVERIES = `select id, event_id as event, (context->>'attempt')::integer as attempt
from webhook_deliveries where id > $1 order by id limit 2000`;

/** What was seen from outside. */
export interface Seen {
  readonly record: OutsideRecord;
  readonly performed: ReadonlyMap<string, Performed>;
  /** How often the receiver of webhooks got each event; null when there is none. */
  readonly received: ReadonlyMap<string, number> | null;
  /** What the receiving server took of each live email; null when none was sent. */
  readonly taken: ReadonlyMap<string, Taken> | null;
}

/** A doubt that is held ends as a failure once patience has run out: whether the email is there nobody can say. */
const mayEndAs = ({ fate }: Acknowledged, { state, holds, lost, unknown }: EmailRow): boolean =>
  state === { ...ENDS, ...LIVE_ENDS }[fate] || (state === 'failed' && holds && lost + unknown > 0);

/** A clock of the same machine, read in two processes and rounded. */
const CLOCK_SLACK_MS = 50;
const EXAMPLES = 12;

/** Holds the database against what the client was told and what was performed; both lie outside of it. */
export async function judge(databaseUrl: string, seen: Seen): Promise<Verdict> {
  const session = await openSession({ url: databaseUrl, dataDir: null });
  try {
    return await new Judge(session, seen).verdict();
  } finally {
    await session.close();
  }
}

class Judge {
  readonly #broken = new Map<Promised, number>();
  readonly #examples: string[] = [];
  readonly #ends: Record<string, number> = {};
  #emails = 0;
  #inDoubt = 0;
  #lostAttempts = 0;
  #events = 0;
  #repeatedEvents = 0;
  readonly #live: LiveMail = { taken: 0, twice: 0, unknown: 0, heldToTheEnd: 0 };
  /** What the receiving server has and no row has explained yet. */
  readonly #strange: Set<string>;

  constructor(
    private readonly session: Session,
    private readonly seen: Seen,
  ) {
    this.#strange = new Set(seen.taken?.keys());
  }

  async verdict(): Promise<Verdict> {
    const missing = new Set(this.seen.record.acknowledged.keys());
    for (let last = ''; ; ) {
      const rows = await this.session.query<EmailRow>(EMAILS, [last]);
      for (const row of rows) {
        missing.delete(row.id);
        this.#look(row);
      }
      const end = rows.at(-1);
      if (!end || rows.length < BATCH) break;
      last = end.id;
    }
    for (const id of missing) this.#break('lost', `${id} was acknowledged and is not there`);
    for (const id of this.#strange) this.#break('strange', id);
    for (const ids of this.seen.record.contradictions) this.#break('keyTwice', ids);
    const surplus = this.#emails - this.seen.record.acknowledged.size - this.seen.record.unanswered;
    if (surplus > 0) this.#break('unexplained', `${surplus} emails`);
    if (this.seen.received) {
      await this.#lookAtEvents(this.seen.received);
      await this.#lookAtDeliveries(this.seen.received);
    }
    const findings = await auditLedger(this.session, Date.now());
    for (const { check, id, what } of findings.named) this.#break('ledger', `${check}: ${id} ${what}`);
    return {
      acknowledged: this.seen.record.acknowledged.size,
      emails: this.#emails,
      ends: this.#ends,
      inDoubt: this.#inDoubt,
      lostAttempts: this.#lostAttempts,
      live: this.seen.taken ? this.#live : null,
      events: this.#events,
      repeatedEvents: this.#repeatedEvents,
      broken: this.#broken,
      examples: this.#examples,
      findings,
    };
  }

  #look(row: EmailRow): void {
    const { id, state, waits, timers, lost, completed, recorded } = row;
    this.#emails++;
    this.#ends[state] = (this.#ends[state] ?? 0) + 1;
    this.#lostAttempts += lost;
    const done = this.seen.performed.get(id);
    const accepted = done?.accepted ?? 0;
    if (accepted > 1) this.#inDoubt++;
    if (accepted > 1 + lost)
      this.#break('doubled', `${id} was taken ${accepted} times, with ${lost} lost attempts`);
    for (const attempt of recorded ?? [])
      if (!completed?.includes(attempt))
        this.#break(
          'foreignOutcome',
          `${id} has an event of attempt ${attempt}, completed were ${completed}`,
        );
    if (state === 'cancelled' && done) this.#break('cancelledSent', `${id} is cancelled, and was performed`);
    if (waits) this.#break('unfinished', `${id} is still ${state}, with the timers ${timers}`);
    if (row.livemode) this.#lookAtLive(row);
    this.#keepPromises(row, done);
  }

  /** What the receiving server has, against what the database says of it. */
  #lookAtLive({ id, state, lost, unknown, holds }: EmailRow): void {
    const taken = this.seen.taken?.get(id);
    const copies = taken?.copies ?? 0;
    this.#strange.delete(id);
    this.#live.unknown += unknown;
    if (copies > 0) this.#live.taken++;
    if (copies > 1) this.#live.twice++;
    if (copies > 0 && state === 'failed') this.#live.heldToTheEnd++;
    if (state === 'sent' && copies === 0) this.#break('notThere', `${id} is sent, and is not there`);
    if (state === 'cancelled' && copies > 0) this.#break('cancelledSent', `${id} is cancelled, and is there`);
    if (holds && copies > 1) this.#break('heldTwice', `${id} is there ${copies} times`);
    if (copies > 1 + lost + unknown)
      this.#break('takenTwice', `${id} is there ${copies} times, with ${lost} lost and ${unknown} unknown`);
    const notBefore = this.seen.record.acknowledged.get(id)?.notBefore ?? null;
    if (notBefore !== null && taken && taken.firstAt < notBefore - CLOCK_SLACK_MS)
      this.#break('tooEarly', `${id} came ${notBefore - taken.firstAt} ms too early`);
  }

  /** What was told to the client about this email. */
  #keepPromises(row: EmailRow, done: Performed | undefined): void {
    const { id, state, waits } = row;
    const told = this.seen.record.acknowledged.get(id);
    if (!told) return;
    const { cancelled, fate, notBefore } = told;
    if (cancelled === 'acknowledged' && state !== 'cancelled')
      this.#break('cancelledSent', `${id} was cancelled, and is ${state}`);
    if (cancelled !== 'unknown' && cancelled !== 'acknowledged' && state === 'cancelled')
      this.#break('wrongEnd', `${id} is cancelled, and nobody was told so`);
    if (!waits && state !== 'cancelled' && !mayEndAs(told, row))
      this.#break('wrongEnd', `${id} to ${fate} is ${state}`);
    if (notBefore !== null && done && done.firstBegun < notBefore - CLOCK_SLACK_MS)
      this.#break('tooEarly', `${id} began ${notBefore - done.firstBegun} ms too early`);
  }

  async #lookAtEvents(received: ReadonlyMap<string, number>): Promise<void> {
    for (let last = { email_id: '', id: '' }; ; ) {
      const rows = await this.session.query<{ email_id: string; id: string }>(EVENTS, [
        last.email_id,
        last.id,
      ]);
      this.#events += rows.length;
      for (const { email_id, id } of rows) {
        const times = received.get(id) ?? 0;
        if (times === 0) this.#break('undelivered', `${id} of ${email_id}`);
        if (times > 1) this.#repeatedEvents++;
      }
      const end = rows.at(-1);
      if (!end) return;
      last = end;
    }
  }

  async #lookAtDeliveries(received: ReadonlyMap<string, number>): Promise<void> {
    for (let last = ''; ; ) {
      const rows = await this.session.query<{ id: string; event: string; attempt: number }>(DELIVERIES, [
        last,
      ]);
      for (const { id, event, attempt } of rows) {
        const times = received.get(event) ?? 0;
        if (times > attempt) this.#break('overdelivered', `${id} came ${times} times in ${attempt} attempts`);
      }
      const end = rows.at(-1);
      if (!end) return;
      last = end.id;
    }
  }

  #break(promise: Promised, example: string): void {
    const before = this.#broken.get(promise) ?? 0;
    this.#broken.set(promise, before + 1);
    if (before < 3 && this.#examples.length < EXAMPLES) this.#examples.push(`${promise}: ${example}`);
  }
}
