import { Batcher } from '../../../platform/async/batcher.ts';
import type { Database } from '../../../platform/db/database.ts';
import { type KeyedRequest, WHOLE_CALL } from '../../../platform/db/stored-replies.ts';
import { UnavailableError } from '../../../platform/errors/unavailable.ts';

/** A custom event of a contact, and the request that tells it. */
export interface EventToRecord {
  readonly contactId: string;
  /** Its entry in the contact's activity. */
  readonly id: string;
  /** When it happened (ISO 8601). */
  readonly at: string;
  readonly name: string;
  readonly properties: object;
  /** The test clock that follows it; that of the contact, or none, where it is null. */
  readonly clockId?: string | null;
  readonly keyed: KeyedRequest;
  /** The reply to be stored with the key of the request. */
  readonly reply: string;
}

interface PendingRecord {
  readonly event: EventToRecord;
  settle(isRecorded: boolean): void;
  fail(error: unknown): void;
}

/** The status that a repeated request is answered with. */
const ACCEPTED = 202;

/**
 * $1: JSON of the events. Contacts are looked for once more, since they may have been forgotten in between,
 * and locked in the order of their ids, as every statement does that locks many. Citus hands on what is
 * locked beside a join only from within another query.
 */
const RECORD = `with asked as materialized (
  select * from json_to_recordset($1::text::json) as a(ord integer, workspace_id text, livemode boolean, contact_id text, id text,
    at timestamptz, name text, data json, clock text, key text, item smallint, fingerprint text, now timestamptz, reply text)
), found as materialized (
  select * from (select a.* from asked a
  join contacts c on c.workspace_id = a.workspace_id and c.livemode = a.livemode and c.id = a.contact_id
  order by c.id for key share of c) l
), recorded as (
  insert into contact_activity (contact_id, id, livemode, type, at, subject, data, test_clock_id, awaits_clock)
  select contact_id, id, livemode, 'event', at, name, data, clock, clock is not null from found order by ord
), kept as (
  insert into idempotency_keys (workspace_id, livemode, key, item, fingerprint, status, created_at, reply)
  select workspace_id, livemode, key, item, fingerprint, ${ACCEPTED}, now, reply from found where key is not null
  order by workspace_id, livemode, key, item
)
select ord from found`;

/** Records custom events, those that come at the same time with one statement. */
export class EventRecorder {
  readonly #batcher: Batcher<PendingRecord>;

  constructor(private readonly database: Database) {
    this.#batcher = new Batcher('custom events', (batch) => this.#work(batch), undefined, 2);
  }

  /**
   * Resolves once the event is durable; false when its contact is gone. @throws UnavailableError, and the
   * violation of a used key
   */
  record(event: EventToRecord): Promise<boolean> {
    const bytes = 400 + event.reply.length + JSON.stringify(event.properties).length;
    return new Promise((settle, fail) => this.#batcher.push({ event, settle, fail }, bytes));
  }

  async #work(batch: readonly PendingRecord[]): Promise<void> {
    try {
      const rows = await this.database.query<{ ord: number }>(RECORD, [JSON.stringify(batch.map(rowOf))]);
      const recorded = new Set(rows.map(({ ord }) => ord));
      batch.forEach(({ settle }, ord) => {
        settle(recorded.has(ord));
      });
    } catch (error) {
      // One of them is at fault, such as a key that was used before: halving shows which, and the others go
      // through.
      const half = batch.length >> 1;
      if (half > 0 && !(error instanceof UnavailableError)) {
        await this.#work(batch.slice(0, half));
        await this.#work(batch.slice(half));
      } else for (const { fail } of batch) fail(error);
    }
  }
}

const rowOf = ({ event }: PendingRecord, ord: number): object => {
  const { contactId, id, at, name, properties, clockId = null, reply, keyed } = event;
  const { scope, claim, now } = keyed;
  return {
    ord,
    workspace_id: scope.workspaceId,
    livemode: scope.livemode,
    contact_id: contactId,
    id,
    at,
    name,
    data: properties,
    clock: clockId,
    key: claim?.key ?? null,
    item: claim?.item ?? WHOLE_CALL,
    fingerprint: claim?.fingerprint ?? null,
    now: new Date(now).toISOString(),
    reply,
  };
};
