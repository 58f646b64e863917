import type { EmailState } from '../../../../machines/email/machine.ts';
import type { Session } from '../../../engine/audit/session.ts';
import type { Attempts, EventCount } from './expected-outcome.ts';

/** One email in the database, with its journal and its events. */
export interface EmailRow extends Attempts {
  readonly id: string;
  readonly subject: string | null;
  readonly state: EmailState;
  readonly livemode: boolean;
  /** The campaign that it is of, and its first recipient's address. */
  readonly campaign: string | null;
  readonly address: string;
  readonly waits: boolean;
  readonly timers: string | null;
  /** Attempts that did not begin because every slot was taken. */
  readonly declined: number;
  /** The events of its life with their attempts, for the report of a violation. */
  readonly steps: string | null;
  /** Attempts whose outcome the machine accepted. */
  readonly completed: readonly number[] | null;
  /** Attempts that are named in recorded events. */
  readonly recorded: readonly number[] | null;
  readonly events: readonly EventCount[] | null;
}

/** One recorded event. */
export interface EventRow {
  readonly email_id: string;
  readonly id: string;
}

/** One webhook delivery. */
export interface DeliveryRow {
  readonly id: string;
  readonly event: string;
  readonly attempt: number;
}

const BATCH = 500;
const EMAILS = `with batch as materialized (
  select e.id, e.subject, e.state, e.timers::text as timers, e.timers is not null as waits, e.livemode,
    e.campaign_id as campaign, e.recipients[1] as address,
    coalesce((e.context->>'holdsDoubt')::boolean, false) as holds
  from emails_now e where e.id > $1 order by e.id limit ${BATCH}
), steps as (
  select j.actor_id as id, s->>'event' as event, (s->>'attempt')::integer as attempt
  from batch b join email_journal j on j.actor_id = b.id cross join lateral json_array_elements(j.steps) s
)
select b.id, b.subject, b.state, b.waits, b.timers, b.livemode, b.campaign, b.address, b.holds,
  (select count(distinct a.attempt)::integer from email_attempts a
   where a.email_id = b.id and a.outcome = 'unknown') as unknown,
  (select count(*)::integer from steps s where s.id = b.id and s.event = 'after.lease') as lost,
  (select count(*)::integer from steps s where s.id = b.id and s.event = 'attempt.declined') as declined,
  (select json_agg(distinct attempt) from steps s where s.id = b.id and s.event = 'attempt.completed') as completed,
  (select string_agg(concat_ws(' ', s.event, s.attempt), ', ') from steps s where s.id = b.id) as steps,
  (select json_agg(distinct (e.data->>'attempt')::integer) from email_events e
   where e.email_id = b.id and e.data->>'attempt' is not null) as recorded,
  (select json_agg(json_build_array(r.recipient, r.type, r.times)) from (
    select e.recipient, e.type, count(*)::integer as times from email_events e
    where e.email_id = b.id group by e.recipient, e.type) r) as events
from batch b order by b.id`;

const EVENTS = `select email_id, id from email_events where (email_id, id) > ($1, $2) order by email_id, id limit 2000`;
const DELIVERIES = `select id, event_id as event, (context->>'attempt')::integer as attempt
from webhook_deliveries where id > $1 order by id limit 2000`;

/** Yields every email, with one page in memory at a time. */
export async function* emailRows(session: Session): AsyncGenerator<EmailRow> {
  for (let last: string | undefined = ''; last !== undefined; ) {
    const rows: EmailRow[] = await session.query<EmailRow>(EMAILS, [last]);
    yield* rows;
    last = rows.at(-1)?.id;
  }
}

/** Yields every event, with one page in memory at a time. */
export async function* eventRows(session: Session): AsyncGenerator<EventRow> {
  for (let last: EventRow | undefined = { email_id: '', id: '' }; last; ) {
    const rows: EventRow[] = await session.query<EventRow>(EVENTS, [last.email_id, last.id]);
    yield* rows;
    last = rows.at(-1);
  }
}

/** Yields every delivery, with one page in memory at a time. */
export async function* deliveryRows(session: Session): AsyncGenerator<DeliveryRow> {
  for (let last: string | undefined = ''; last !== undefined; ) {
    const rows: DeliveryRow[] = await session.query<DeliveryRow>(DELIVERIES, [last]);
    yield* rows;
    last = rows.at(-1)?.id;
  }
}
