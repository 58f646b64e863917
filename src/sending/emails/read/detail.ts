import { hasTraitSql } from '../../../../machines/email/event-traits.ts';
import type { Database } from '../../../platform/db/database.ts';
import { Values } from '../../../platform/db/wire/values.ts';
import { packedContent } from '../accept/packed-content.ts';
import type { EmailEvent } from './event-model.ts';
import { ITEM, latestTurn, type Owner, putSpan, spanOf } from './item-statements.ts';
import { EVENTS_OF_TURN, HAS_EVENTS } from './recorded-events.ts';
import { type EmailRow, eventOf } from './views.ts';

interface DetailRow extends EmailRow {
  readonly content: string;
  readonly recipient_keys: readonly string[];
  readonly events: readonly EmailEvent[];
}

/**
 * Nearly every email has fewer events; a hundred recipients can have opened and clicked two hundred times
 * each.
 */
const MOST_EVENTS = 1_000;

/**
 * The events of the turns `t` that `of` names. The oldest opens and clicks are left out first, so that the
 * outcome is always shown.
 */
const newestOf = (
  of: string,
): string => `select t.position, e.* from email_turns t cross join lateral ${EVENTS_OF_TURN}
  where ${of} and ${HAS_EVENTS}
  order by ${hasTraitSql('e.type', 'isVisit')}, e.occurred_at desc, t.position desc, e.id desc limit ${MOST_EVENTS}`;
/** Ids of one millisecond are in no order between commits; an email's commits are, by their transactions. */
const ORDER = 'order by k.occurred_at, k.position, k.id';
const OCCURRED = '(extract(epoch from k.occurred_at) * 1000)::float8';

/**
 * The email of an owner with its content and its events, of one moment: an email that is shown as sent has
 * the event that says so. Everything outside does not exist for the caller. @throws UnavailableError
 */
export async function readDetail(
  database: Pick<Database, 'query'>,
  owner: Owner,
  id: string,
): Promise<DetailRow | null> {
  const { livemode } = owner;
  const { put, list } = new Values();
  const bounds = putSpan(put, spanOf(id), owner);
  const [row] = await database.query<Omit<DetailRow, 'events'> & DetailEvents>(
    `select ${ITEM}, ${packedContent('e')} as content, e.recipient_keys, e.recipients, (
    select json_agg(json_build_object('id', k.id, 'type', k.type, 'recipient', k.recipient, 'at', ${OCCURRED}, 'data', k.data) ${ORDER})
    from (${newestOf(`t.email_id = ${bounds.from} and t.workspace_id = ${bounds.workspace}`)}) k
  ) as events,
  case when t.context is null then e.context else (e.context::jsonb || t.context::jsonb)::json end as context
from emails e ${latestTurn(bounds)}
where e.id = ${bounds.from} and e.workspace_id = ${bounds.workspace} and e.livemode = ${put(livemode)}::boolean`,
    list,
  );
  if (!row) return null;
  const { events, recipients, ...rest } = row;
  return {
    ...rest,
    events: (events ?? []).map(({ recipient, at, ...event }) =>
      eventOf({
        ...event,
        emailId: id,
        livemode,
        recipient: recipients[recipient] ?? '',
        occurredAt: new Date(at),
      }),
    ),
  };
}

/** The events beside their email, each with the place of its recipient. */
interface DetailEvents {
  readonly recipients: readonly string[];
  readonly events:
    | readonly {
        readonly id: string;
        readonly type: string;
        readonly recipient: number;
        readonly at: number;
        readonly data: unknown;
      }[]
    | null;
}

interface Row {
  readonly email_id: string;
  /** Null for an email without events. */
  readonly id: string | null;
  readonly livemode: boolean;
  readonly type: string;
  readonly recipient: string;
  readonly occurred_at: number;
  readonly data: unknown;
}

/**
 * The events of an email of that owner, oldest first; null where it does not exist. @throws UnavailableError
 */
export async function readEventsOf(
  database: Pick<Database, 'query'>,
  owner: Owner,
  id: string,
): Promise<readonly EmailEvent[] | null> {
  const { put, list } = new Values();
  const { livemode } = owner;
  const { from, below, workspace } = putSpan(put, spanOf(id), owner);
  const rows = await database.query<Row>(
    `select b.id as email_id, b.livemode, k.id, k.type, b.recipients[k.recipient + 1] as recipient,
  ${OCCURRED} as occurred_at, k.data
from emails b left join lateral (
  ${newestOf(`t.email_id = b.id and t.email_id >= ${from} and t.email_id < ${below} and t.workspace_id = ${workspace}`)}
) k on true
where b.id = ${from} and b.workspace_id = ${workspace} and b.livemode = ${put(livemode)}::boolean
${ORDER}`,
    list,
  );
  if (rows.length === 0) return null;
  return rows.flatMap(({ id: eventId, email_id, occurred_at, ...row }) =>
    eventId === null
      ? []
      : [eventOf({ ...row, id: eventId, emailId: email_id, occurredAt: new Date(occurred_at) })],
  );
}
