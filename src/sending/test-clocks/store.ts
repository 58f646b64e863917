import type { Database } from '../../platform/db/database.ts';
import { keepReplySql } from '../../platform/db/stored-replies.ts';
import { isoOf } from '../../platform/time/clock.ts';
import type { ClockUsage } from '../emails/commands.ts';

/** A test clock as it is stored; times are epoch milliseconds. */
export interface ClockRow {
  readonly workspace_id: string;
  readonly id: string;
  readonly name: string;
  readonly status: 'ready' | 'advancing';
  readonly now_at: number;
  readonly target_at: number;
  readonly emails: number;
  readonly contacts: number;
  readonly runs: number;
  readonly runs_refused: number;
}

/** The clocks that a workspace may have at once. */
export const MOST_CLOCKS = 20;
/** The emails that a clock may be given in its life. */
export const MOST_EMAILS = 1_000;
/** The contacts that may be made for a clock in its life. */
export const MOST_CONTACTS = 1_000;
/** The runs of flows that may begin by a clock in its life. */
export const MOST_RUNS = 1_000;

/** The columns of a row. */
export const COLUMNS = `workspace_id, id, name, status, (extract(epoch from now_at) * 1000)::float8 as now_at,
  (extract(epoch from target_at) * 1000)::float8 as target_at, emails, contacts, runs, runs_refused`;

/** $1 workspace, $2 id, $3 name, $4 moment, $5 on: the reply's key, $12 the reply. */
export const CREATE = `with made as (
  insert into test_clocks (workspace_id, id, name, status, now_at, target_at)
  select $1, $2, $3, 'ready', $4::timestamptz, $4::timestamptz
  from test_clocks_present($1) present where present < ${MOST_CLOCKS}
  returning id
), kept as (
  ${keepReplySql({ from: 'made', reply: '$12::text', first: 5 })}
)
select id from made`;

/** $1 workspace, $2 id, $3 its time, $4 its target, $5 on: the reply's key, $12 the reply. */
export const ADVANCE = `with moved as (
  update test_clocks set status = 'advancing', target_at = $4::timestamptz
  where workspace_id = $1 and id = $2 and status = 'ready' and now_at = $3::timestamptz
  returning id
), kept as (
  ${keepReplySql({ from: 'moved', reply: '$12::text', first: 5 })}
)
select id from moved`;

/** Returns the deleted clock; its contacts use real time from now on. */
export const DELETE = `with gone as (
  delete from test_clocks where workspace_id = $1 and id = $2 and status = 'ready' returning *
), freed as (
  delete from test_clock_contacts c using gone g where c.test_clock_id = g.id
)
select ${COLUMNS} from gone`;

/**
 * The rows that were written for the emails of a clock, the steps of its runs and the attempts of its
 * deliveries, between two of its moments: $1 workspace, $2 clock, $3 and $4 the moments.
 */
const RAN = `select sum(c.n)::integer as ran from (
  select count(*) as n from emails e join email_turns t on t.email_id = e.id and t.workspace_id = e.workspace_id
  where e.test_clock_id = $2 and e.workspace_id = $1 and not e.livemode and t.at > $3::timestamptz and t.at <= $4::timestamptz
  union all
  select count(*) from flow_runs r join flow_run_log l on l.run_id = r.id
  where r.test_clock_id = $2 and r.workspace_id = $1 and l.at > $3::timestamptz and l.at <= $4::timestamptz
  union all
  select count(*) from webhook_attempts a
  where a.delivery_id in (select id from webhook_deliveries where test_clock_id = $2 and workspace_id = $1)
    and a.attempted_at > $3::timestamptz and a.attempted_at <= $4::timestamptz
) c`;

/**
 * The number of things that happened to the emails of a clock after `from` and until `to`, in epoch
 * milliseconds.
 * @throws UnavailableError
 */
export async function ranBetween(
  database: Database,
  { workspace_id, id }: Pick<ClockRow, 'workspace_id' | 'id'>,
  [from, to]: readonly [from: number, to: number],
): Promise<number> {
  const [row] = await database.query<{ ran: number }>(RAN, [workspace_id, id, isoOf(from), isoOf(to)]);
  return row?.ran ?? 0;
}

const FIND = `select ${COLUMNS} from test_clocks where workspace_id = $1 and id = $2`;

/** A clock of the workspace; null where it has none of that id. @throws UnavailableError */
export async function findClock(
  database: Pick<Database, 'query'>,
  workspaceId: string,
  id: string,
): Promise<ClockRow | null> {
  const [row] = await database.query<ClockRow>(FIND, [workspaceId, id]);
  return row ?? null;
}

/** The most of each that a clock takes in its life. */
export const MOST: Readonly<Record<ClockUsage['what'], number>> = {
  emails: MOST_EMAILS,
  contacts: MOST_CONTACTS,
  runs: MOST_RUNS,
};

const more = (
  what: ClockUsage['what'],
) => `update test_clocks set ${what} = ${what} + $3::integer, entered_at = clock_timestamp()
where workspace_id = $1 and id = $2 and ${what} + $3::integer <= ${MOST[what]}`;

/**
 * Gives a clock something more, where it has not had too much; answers whether it has. @throws
 * UnavailableError
 */
export const admitToClock = async (
  database: Database,
  workspaceId: string,
  id: string,
  { what, count }: ClockUsage,
): Promise<boolean> =>
  (await database.query(`${more(what)} returning id`, [workspaceId, id, count])).length > 0;

/**
 * The same, where the clock shows that moment.
 * @throws UnavailableError
 */
export const enterClock = async (
  database: Database,
  workspaceId: string,
  { id, now }: { readonly id: string; readonly now: number },
  { what, count }: ClockUsage,
): Promise<boolean> => {
  const text = `${more(what)} and status = 'ready' and now_at = $4::timestamptz returning id`;
  return (await database.query(text, [workspaceId, id, count, isoOf(now)])).length > 0;
};

/** Counts runs that would have begun by a clock that takes no more of them. @throws UnavailableError */
export const noteRefusedRuns = async (
  database: Database,
  workspaceId: string,
  id: string,
  count: number,
): Promise<void> => {
  const text = `update test_clocks set runs_refused = runs_refused + $3::integer where workspace_id = $1 and id = $2`;
  await database.query(text, [workspaceId, id, count]);
};

/**
 * Takes from its count the actors that were not created.
 * @throws UnavailableError
 */
export const leaveClock = async (
  database: Database,
  workspaceId: string,
  id: string,
  { what, count }: ClockUsage,
): Promise<void> => {
  const text = `update test_clocks set ${what} = greatest(0, ${what} - $3::integer) where workspace_id = $1 and id = $2`;
  await database.query(text, [workspaceId, id, count]);
};

const WAKE =
  'update test_clocks set entered_at = clock_timestamp() where id = any($1) returning workspace_id, id';

/** Notes that something came for these clocks, and answers those that there are. @throws UnavailableError */
export const noteArrivals = (
  database: Database,
  ids: readonly string[],
): Promise<readonly Pick<ClockRow, 'workspace_id' | 'id'>[]> => database.query(WAKE, [ids]);

const OF_CONTACT = `select test_clock_id as id from test_clock_contacts where contact_id = $1`;

/**
 * The id of a contact's clock; null for one in real time.
 * @throws UnavailableError
 */
export async function clockOfContact(database: Database, contactId: string): Promise<string | null> {
  const [row] = await database.query<{ id: string }>(OF_CONTACT, [contactId]);
  return row?.id ?? null;
}

/** The clocks first: where tables are distributed they lie elsewhere than the email. */
const OF_EMAIL = `with c as materialized (select id, status, now_at from test_clocks where workspace_id = $2)
select e.test_clock_id as id, c.status, (extract(epoch from coalesce(c.now_at, e.at)) * 1000)::float8 as now_at
from emails e left join c on c.id = e.test_clock_id
where e.id = $1 and e.workspace_id = $2 and not e.livemode and e.test_clock_id is not null`;

/**
 * The clock of an email; its status is null where it was deleted, and its time then that of the acceptance.
 * @throws UnavailableError
 */
export async function clockOfEmail(
  database: Database,
  workspaceId: string,
  emailId: string,
): Promise<{
  readonly id: string;
  readonly status: ClockRow['status'] | null;
  readonly now_at: number;
} | null> {
  const [row] = await database.query<{ id: string; status: ClockRow['status'] | null; now_at: number }>(
    OF_EMAIL,
    [emailId, workspaceId],
  );
  return row ?? null;
}
