import { logPageOf, positionOf } from '../../http/lists/pagination.ts';
import type { Call, Page } from '../../http/request/route.ts';
import type { Database } from '../../platform/db/database.ts';
import { Failure, invalidAt } from '../../platform/errors/failure.ts';
import { type EmailEvent, EVENTS_OF_TURN, eventOf, readRecipients } from '../emails/queries.ts';
import type { EventQuery } from './model.ts';
import { HORIZON } from './positions.ts';

export { HORIZON };

/** The services that reading the log calls. */
export interface EventReader {
  readonly database: Database;
}

/** The events of the turns `t`, as a page shows them. */
const EVENT = `t.position::text as position, e.id, t.email_id, t.livemode, e.type, e.recipient,
    (extract(epoch from e.occurred_at) * 1000)::float8 as occurred_at, e.data`;

/**
 * The log after ($3, $4), in the order of `position`, the transaction that wrote an event. Transactions do
 * not end in the order in which they begin, so one that is still open may yet put events before those that
 * can be seen. Hence nothing is shown from `horizon` on, the oldest transaction still open: everything before
 * it has ended, and no reader that goes on from there can have missed anything. The horizon comes from the
 * same snapshot as the rows.
 *
 * The horizon is no place for a cursor. A server that crashes forgets the transactions that have written
 * nothing, or have been rolled back, and gives their ids out again: an event may come to lie before a horizon
 * that was told. It never comes to lie before an event, which is durable when it is seen. `seen` is the last
 * event before the horizon, whatever its type, so that a reader of rare types need not look at all others
 * again; a reader of all types has it in the rows.
 *
 * Events lie in turns, and one commit writes many turns: the log is read turn by turn in the order of their
 * index, to the end of the last commit that a page needs. Each day is opened once for that, which is most of
 * what a page costs.
 */
const LOG = `with horizon as materialized (${HORIZON})
select $3::bigint >= h.next as is_ahead, null as seen_position, null as seen_id, e.* from horizon h left join lateral (
  select ${EVENT}
  from email_turns t cross join lateral ${EVENTS_OF_TURN}
  where t.workspace_id = $1 and t.livemode = $2::boolean and t.position >= $3::bigint and t.position < h.at
    and (t.position, e.id) > ($3::bigint, $4::text)
  order by t.position, e.id limit $5::integer
) e on true`;

/** The last event before the horizon, whatever its type; no row where there is none. */
const END = `with horizon as materialized (${HORIZON})
select l.position::text as position, coalesce(max(e.id collate "C"), '') as id from horizon h cross join lateral (
  select position from email_turns
  where workspace_id = $1 and livemode = $2::boolean and position < h.at order by position desc limit 1
) l join email_turns t on t.workspace_id = $1 and t.livemode = $2::boolean and t.position = l.position
left join lateral ${EVENTS_OF_TURN} on true group by l.position`;

/** True when a turn recorded an event of the wanted types. */
const IS_ASKED = `exists (select from json_to_recordset(recorded) as a(type text) where a.type = any($6::text[]))`;

/**
 * The same for the types in $6. Turns are chosen first, so that a turn without such an event is not unfolded.
 */
const LOG_OF_TYPES = `with horizon as materialized (${HORIZON}), seen as materialized (
  select t.position::text as position, max(e.id collate "C") as id from horizon h cross join lateral (
    select position from email_turns
    where workspace_id = $1 and livemode = $2::boolean and position >= $3::bigint and position < h.at
    order by position desc limit 1
  ) l join email_turns t on t.workspace_id = $1 and t.livemode = $2::boolean and t.position = l.position
  cross join lateral ${EVENTS_OF_TURN}
  where (t.position, e.id) > ($3::bigint, $4::text) group by t.position
), turns as materialized (
  select t.* from horizon h cross join lateral (
    select position, email_id, livemode, recorded from email_turns
    where workspace_id = $1 and livemode = $2::boolean and position = $3::bigint and position < h.at and ${IS_ASKED}
  ) t
  union all
  select t.* from horizon h cross join lateral (
    select position, email_id, livemode, recorded from email_turns
    where workspace_id = $1 and livemode = $2::boolean and position > $3::bigint and position < h.at and ${IS_ASKED}
    order by position fetch first ($5::integer) rows with ties
  ) t
)
select $3::bigint >= h.next as is_ahead, s.position as seen_position, s.id as seen_id, e.* from horizon h left join seen s on true left join lateral (
  select ${EVENT}
  from turns t cross join lateral ${EVENTS_OF_TURN}
  where (t.position, e.id) > ($3::bigint, $4::text) and e.type = any($6::text[])
  order by t.position, e.id limit $5::integer
) e on true`;

interface LogRow {
  /** True when the cursor lies beyond the last event. */
  readonly is_ahead: boolean;
  /** null: no event of any type lies between the cursor and the horizon, or all types were requested. */
  readonly seen_position: string | null;
  readonly seen_id: string | null;
  readonly position: string;
  /** Null when no event lies between the cursor and the horizon. */
  readonly id: string | null;
  readonly email_id: string;
  readonly livemode: boolean;
  readonly type: string;
  /** Its place among the recipients of its email. */
  readonly recipient: number;
  readonly occurred_at: number;
  readonly data: unknown;
}

const CURSOR = /^(\d{1,19}) ((?:evt_[0-9a-z]{24})?)$/;
/** The largest bigint. */
const LAST_POSITION = 2n ** 63n - 1n;

const AHEAD = invalidAt(
  '/query/after',
  'This cursor is beyond the end of the log: the database was restored to an earlier moment. Read the log from the beginning, without `after`, and skip the events whose ids you have.',
);

const TWO_PLACES = invalidAt(
  '/query/from',
  'Must not be given with `after`: the cursor already has a position.',
);

const isPosition = (text: string): boolean => {
  const [, position] = CURSOR.exec(text) ?? [];
  return position !== undefined && BigInt(position) <= LAST_POSITION;
};

/** One page of the log of the caller's environment, oldest first. */
export async function readLog(
  { database }: EventReader,
  { caller, query: { from, ...query } }: Call<unknown, EventQuery>,
): Promise<Page<EmailEvent> | Failure> {
  if (from && query.after !== undefined) return TWO_PLACES;
  const request = { list: 'events', caller, isPosition, query };
  if (from) {
    const [last] = await database.query<{ position: string; id: string }>(END, [
      caller.workspaceId,
      caller.livemode,
    ]);
    return logPageOf(request, [], placeOf, viewWith(new Map()), last ? `${last.position} ${last.id}` : '0 ');
  }
  const after = positionOf(request);
  if (after instanceof Failure) return after;
  const [, position = '0', id = ''] = CURSOR.exec(after ?? '') ?? [];
  const types = query.types?.split(',');
  const place = [caller.workspaceId, caller.livemode, position, id, query.limit + 1];
  const rows = await database.query<LogRow>(types ? LOG_OF_TYPES : LOG, types ? [...place, types] : place);
  const events = rows.filter((row) => row.id !== null);
  const [first] = rows;
  if (first?.is_ahead) return AHEAD;
  const last = events.at(-1);
  const end =
    first?.seen_position != null
      ? `${first.seen_position} ${first.seen_id}`
      : last
        ? placeOf(last)
        : `${position} ${id}`;
  const recipients = await readRecipients(
    database,
    caller.workspaceId,
    events.map(({ email_id }) => email_id),
  );
  return logPageOf(request, events, placeOf, viewWith(recipients), end);
}

const placeOf = (row: LogRow): string => `${row.position} ${row.id}`;

/** `recipients`: the addresses of each email. */
const viewWith =
  (recipients: ReadonlyMap<string, readonly string[]>) =>
  (row: LogRow): EmailEvent =>
    eventOf({
      id: row.id as string,
      emailId: row.email_id,
      livemode: row.livemode,
      type: row.type,
      recipient: recipients.get(row.email_id)?.[row.recipient] ?? '',
      occurredAt: new Date(row.occurred_at),
      data: row.data,
    });

/**
 * The age in seconds of the oldest transaction that writes, in whichever database of the cluster: the log
 * shows nothing that began after it. Other users' sessions tell that only to a member of pg_read_all_stats.
 */
export async function readLogLag(database: Database): Promise<number> {
  if (database.kind === 'embedded') return 0;
  const [row] = await database.query<{ seconds: number }>(
    `select coalesce(extract(epoch from clock_timestamp() - least(
       (select min(xact_start) from pg_stat_activity where backend_xid is not null and pid <> pg_backend_pid()),
       (select min(prepared) from pg_prepared_xacts)))::float8, 0) as seconds`,
    [],
    { deadlineMs: 3_000 },
  );
  return Math.max(row?.seconds ?? 0, 0);
}
