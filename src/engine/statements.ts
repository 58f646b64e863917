import type { Kind } from './kind.ts';

/** The columns every actor table has, as the JSON input carries them. */
const MACHINE_COLUMNS = 'id text, state text, context json, timers json, wake_at timestamptz, steps json';

const derivedColumns = (kind: Kind): string =>
  kind.derived.map(({ name, type }) => `, ${name} ${type}`).join('');
const derivedNames = (kind: Kind): string => kind.derived.map(({ name }) => `, ${name}`).join('');

const carried = (kind: Kind, from: string): string =>
  kind.carried.map((name) => `, ${from}.${name}`).join('');

const facts = (kind: Kind, changed: string, firstParameter: number): string =>
  kind.facts
    .map((table, index) => {
      const rows = `json_to_recordset($${firstParameter + index}::text::json) as f(actor text, ${table.columns})`;
      const source = `(select f.*, c.workspace_id, c.livemode${carried(kind, 'c')} from ${rows} join ${changed} c on c.id = f.actor)`;
      return `,\n${table.name} as (${table.sql(source)})`;
    })
    .join('');

/** Mail that the changed actors send; `changed` is the relation of those that really did. */
const sentMail = (changed: string, parameter: number): string => `,
mailed as (
  insert into mail (id, to_kind, to_id, event)
  select m.id, m.to_kind, m.to_id, m.event
  from json_to_recordset($${parameter}::text::json) as m(actor text, id text, to_kind text, to_id text, event json)
  join ${changed} c on c.id = m.actor
)`;

/**
 * Mail that this commit consumes. An actor whose mail is gone (another instance has handled it) is left out of
 * `locked`: handling always raises the revision, so a snapshot that still shows the mail and a row that still has the
 * revision mean that nobody has.
 */
const unhandled = (kind: Kind): string =>
  kind.receivesMail
    ? `
  where not exists (
    select from json_to_recordset($6::text::json) as r(actor text, id text)
    where r.actor = i.id and not exists (select from mail m where m.id = r.id))`
    : '';

const received = (kind: Kind): string =>
  kind.receivesMail
    ? `,
handled as (
  delete from mail m using json_to_recordset($6::text::json) as r(actor text, id text), changed c
  where m.id = r.id and c.id = r.actor
)`
    : '';

/**
 * One commit: $1 actors with their new snapshots and steps, $2 machine version, $3 commit tag, $4 idempotency keys,
 * $5 mail sent, $6 mail consumed (only a kind that receives any), then a JSON list for each fact table. Answers the ids
 * that lost: their revision was no longer the one decided upon (answering the winners took 18 % of the process's time).
 *
 * The rows are locked in id order before anything is written: contending batches that lock in any other order
 * deadlock (hazards.md: 1,374 wins and six deadlocks against 224,447 and none). The join keeps the revision check
 * true after the wait for a lock: PostgreSQL evaluates it again on the row as it is then.
 */
export function commitStatement(kind: Kind): string {
  const assignments = ['state', 'context', 'timers', 'wake_at', ...kind.derived.map(({ name }) => name)]
    .map((name) => `${name} = l.${name}`)
    .join(', ');
  return `with input as materialized (
  select * from json_to_recordset($1::text::json) as i(${MACHINE_COLUMNS}, revision integer${derivedColumns(kind)})
), locked as materialized (
  select i.* from input i
  join ${kind.table} a on a.id = i.id and a.revision = i.revision${unhandled(kind)}
  order by a.id for update of a
), changed as (
  update ${kind.table} a
  set ${assignments}, revision = a.revision + 1, machine_version = $2::smallint
  from locked l where a.id = l.id
  returning a.id, a.workspace_id, a.livemode${carried(kind, 'a')}
), claimed as (
  insert into idempotency_keys (workspace_id, livemode, key, fingerprint, status, reply, created_at)
  select k.workspace_id, k.livemode, k.key, k.fingerprint, k.status, k.reply, k.at
  from json_to_recordset($4::text::json)
    as k(actor text, workspace_id text, livemode boolean, key text, fingerprint text, status smallint, reply text, at timestamptz)
  join changed c on c.id = k.actor
  order by k.workspace_id, k.livemode, k.key
), journaled as (
  insert into ${kind.journal} (actor_id, revision, commit_tag, steps)
  select l.id, l.revision + 1, $3::integer, l.steps from locked l join changed c on c.id = l.id
)${sentMail('changed', 5)}${received(kind)}${facts(kind, 'changed', kind.receivesMail ? 7 : 6)}
select i.id from input i left join changed c on c.id = i.id where c.id is null`;
}

/**
 * One acceptance: $1 new actors in the order of their calls, $2 machine version, $3 commit tag, $4 mail sent,
 * $5… the fact tables.
 * Quota, idempotency key, actor and payload stand or fall together, without a round trip in between.
 * - `fresh`: calls whose idempotency key nobody has used.
 * - `metered`: takes units of each period as far as its ceiling allows, and says how many. A call over the
 *   ceiling is simply not admitted; nothing of it is written, its key stays free.
 * - `claimed`: a plain insert. Should another instance take the same key between our snapshot and here, the
 *   unique violation rolls the whole statement back, and the next try sees the key.
 * Answers only the calls that were not admitted, each with the stored reply of its key, if there is one.
 */
export function spawnStatement(kind: Kind): string {
  const own = kind.spawn.own.map((name) => `, ${name}`).join('');
  const also = kind.spawn.also.map((sql, index) => `,\nalso_${index} as (${sql('admitted')})`).join('');
  return `with input as materialized (
  select * from json_to_recordset($1::text::json) as i(
    ord integer, ${MACHINE_COLUMNS}, workspace_id text, livemode boolean${derivedColumns(kind)},
    period text, ceiling integer,
    idem_key text, idem_livemode boolean, idem_fingerprint text, idem_status smallint, idem_reply text, idem_at timestamptz,
    ${kind.spawn.columns})
), fresh as materialized (
  select i.* from input i where i.idem_key is null or not exists (
    select from idempotency_keys k
    where k.workspace_id = i.workspace_id and k.livemode = i.idem_livemode and k.key = i.idem_key)
), metered as (
  insert into usage as u (workspace_id, livemode, period, used, wanted, granted, ceiling)
  select workspace_id, livemode, period, least(count(*), max(ceiling)), count(*), least(count(*), max(ceiling)), max(ceiling)
  from fresh where period is not null
  group by workspace_id, livemode, period order by workspace_id, livemode, period
  on conflict (workspace_id, livemode, period) do update set
    used = u.used + least(excluded.wanted, greatest(0, excluded.ceiling - u.used)),
    granted = least(excluded.wanted, greatest(0, excluded.ceiling - u.used)),
    wanted = excluded.wanted, ceiling = excluded.ceiling
  returning u.workspace_id, u.livemode, u.period, u.granted
), admitted as materialized (
  select f.* from (
    select fresh.*, row_number() over (partition by workspace_id, livemode, period order by ord) as place from fresh
  ) f left join metered m on m.workspace_id = f.workspace_id and m.livemode = f.livemode and m.period = f.period
  where f.period is null or f.place <= m.granted
), claimed as (
  insert into idempotency_keys (workspace_id, livemode, key, fingerprint, status, reply, created_at)
  select workspace_id, idem_livemode, idem_key, idem_fingerprint, idem_status, idem_reply, idem_at
  from admitted where idem_key is not null
  order by workspace_id, idem_livemode, idem_key
), spawned as (
  insert into ${kind.table}
    (id, workspace_id, livemode, state, context, timers, wake_at, revision, machine_version${derivedNames(kind)}${own})
  select id, workspace_id, livemode, state, context, timers, wake_at, 1, $2::smallint${derivedNames(kind)}${own}
  from admitted
), journaled as (
  insert into ${kind.journal} (actor_id, revision, commit_tag, steps) select id, 1, $3::integer, steps from admitted
)${also}${sentMail('admitted', 4)}${facts(kind, 'admitted', 5)}
select i.ord, k.fingerprint, k.status, k.reply, (extract(epoch from k.created_at) * 1000)::float8 as stored_at
from input i left join admitted a on a.ord = i.ord
left join idempotency_keys k
  on k.workspace_id = i.workspace_id and k.livemode = i.idem_livemode and k.key = i.idem_key
where a.ord is null`;
}

/** The rows of the ids in $1. */
export function loadStatement(kind: Kind): string {
  return `select a.id, a.workspace_id, a.livemode, a.state, a.context, a.timers, a.revision, a.machine_version
from unnest($1::text[]) i(id) join ${kind.table} a on a.id = i.id`;
}

/**
 * Whose commits made the revisions in $1: what became of one whose reply was lost. The journal knows, however far the
 * actor has moved on since.
 */
export function readBackStatement(kind: Kind): string {
  return `select j.actor_id as id, j.commit_tag as tag
from json_to_recordset($1::text::json) as i(id text, revision integer)
join ${kind.journal} j on j.actor_id = i.id and j.revision = i.revision`;
}

/**
 * Claims actors whose wake_at has come ($1), at most $2, by moving it to $3: another instance passes over them
 * (SKIP LOCKED now, the new wake_at afterwards), and a claimer that dies loses nothing. The CTE is a fence: without
 * it the planner may repeat the LIMIT inside a nested loop.
 */
export function claimDueStatement(kind: Kind): string {
  return `with due as materialized (
  select id from ${kind.table} where wake_at <= $1::timestamptz order by wake_at limit $2::integer
  for update skip locked
)
update ${kind.table} a set wake_at = $3::timestamptz from due where a.id = due.id
returning a.id, a.workspace_id, a.livemode, a.state, a.context, a.timers, a.revision, a.machine_version`;
}

/** The earliest wake_at of all, as epoch milliseconds. */
export function nextWakeStatement(kind: Kind): string {
  return `select (extract(epoch from min(wake_at)) * 1000)::float8 as at from ${kind.table} where wake_at is not null`;
}
