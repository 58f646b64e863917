import type { ShardTerms } from '../../../platform/db/distribution/terms.ts';
import type { Kind } from '../../machine/kind.ts';
import { ACTOR_COLUMNS, definitionColumn } from '../actor-columns.ts';
import type { StatementOptions } from '../commit.ts';
import { answeredStatus, usedKey, withheldCtes } from '../spawn-conditions.ts';
import { columnsOf } from './input-rows.ts';
import { type Bounds, birthCtes, TURN_PARTS, type TurnOptions, turnCtes } from './life-statements.ts';
import { type Part, type PartCheck, single } from './statement-forms.ts';
import {
  actorColumnsForFacts,
  answeredChildren,
  type BatchStatement,
  batchStatement,
  CLAIM,
  derivedNames,
  each,
  partsOf,
  partsWithout,
  sideEffectCtes,
  TAG,
} from './statement-parts.ts';
import { HEARD, hearingOf, type ListenerQuery, SLOW, SLOW_MS } from './topics.ts';
import type { WakeWriting } from './wake-at.ts';

const HANDLED: Part = single('handled');

/**
 * Outbox events that this commit consumes. An actor whose event is gone (another instance has handled it) is
 * left out of `locked`: handling always raises the revision, so a snapshot that still shows the event and a
 * row that still has the revision mean that no instance has handled it.
 */
const unhandled = (has: PartCheck): string =>
  has(HANDLED.name)
    ? `
  where not exists (
    select from unnest(i.handled) h(id) where not exists (select from actor_outbox m where m.id = h.id))`
    : '';

const handled = (has: PartCheck): string =>
  has(HANDLED.name)
    ? `, handled as (
  delete from actor_outbox m using changed c cross join lateral unnest(c.handled) h(id) where m.id = h.id
)`
    : '';

/**
 * One commit: actors with their new snapshots and all they bring along. Returns the ids that lost: their
 * revision was no longer the one decided upon (returning the winners took 18 % of the process's time); after
 * them the new children, with their scope; and the tag, without which it is the reply to something else.
 *
 * The rows are locked in id order before anything is written: contending batches that lock in any other order
 * deadlock (measured: 1,374 wins and six deadlocks against 224,447 and none). The join keeps the revision
 * check true after the wait for a lock: PostgreSQL evaluates it again on the row as it is then.
 *
 * The variant without listeners (`isUnheard`) writes no rows where there is a listener, and returns the
 * topics heard (`topics.ts`).
 */
export function commitStatement(kind: Kind, wake: WakeWriting, options: TurnOptions = {}): BatchStatement {
  const { withoutRevisionCheck = false, isContended = false, isUnheard = false, isDistributed } = options;
  const hearing = isUnheard ? hearingOf(kind) : null;
  const mayLose = !kind.life || isContended;
  const copied = ['state', 'context', 'timers', ...kind.derived.map(({ name }) => name)]
    .map((name) => `${name} = l.${name}`)
    .join(', ');
  const assignments = `${copied}, wake_at = ${wake.at('l.wake_at')}`;
  return batchStatement(
    kind,
    [
      ...(hearing ? partsWithout(kind, hearing.fact) : partsOf(kind)),
      ...[HANDLED, ...(kind.life ? TURN_PARTS : [])],
    ],
    columnsOf(
      `revision integer, handled text[]${kind.life ? ', workspace_id text, livemode boolean, rests boolean' : ''}`,
    ),
    ({ input, has, reads, topics, templates, bounds: { lowest, highest }, shard }) => {
      const carried = [
        'steps',
        ...['outbox', HANDLED.name, ...kind.facts.map(({ name }) => name)].filter(has),
        ...(has(CLAIM.name) ? CLAIM.columns : []),
      ];
      return `with ${topics && listeningCtes(hearing, topics)}input as materialized (
  ${input}${topics && ' and not (select is_heard from asked)'}
)${
        kind.life
          ? turnCtes(kind, wake, TAG, { has, shard }, options)
          : `${lockedCtes(kind, shard, `a.id = i.id${withoutRevisionCheck ? '' : ' and a.revision = i.revision'}${unhandled(has)}`)}${wake.cte}, changed as (
  update ${kind.table} a
  set ${assignments}, revision = a.revision + 1, machine_version = $1::smallint
  from locked l where a.id = l.id${shard.within(kind.table, 'a')}
  returning a.id, a.revision, a.workspace_id, a.livemode${actorColumnsForFacts(kind, 'a')}${each(carried, (name) => `, l.${name}`)}
), journaled as (
  insert into ${kind.journal} (actor_id, revision, commit_tag, steps${shard.column(kind.journal)})
  select id, revision, ${TAG}, steps${shard.value(kind.journal, 'changed')} from changed${withoutRevisionCheck ? ' on conflict do nothing' : ''}
)`
      }${handled(has)}${sideEffectCtes(kind, 'changed', { has: reads, templates, shard }, wake, {
        births: kind.life ? birthsOf(kind, kind.life.births, { lowest, highest }, shard) : null,
      })}
select i.id, null::integer as child, null::text as workspace_id, null::boolean as livemode, null::text as brought
from input i where ${mayLose ? 'i.id not in (select id from changed)' : 'false'}${answeredChildren(kind, reads, 'id, child, workspace_id, livemode, brought')}${
        topics &&
        `
union all select about, ${HEARD}, workspace_id, livemode, null from listening
union all select null, ${SLOW}, null, null, null from asked where ended - began > interval '${SLOW_MS} milliseconds'`
      }
union all select ${TAG}::text, null, null, null, null`;
    },
    { isDistributed, unheard: hearing?.fact ?? null },
  );
}

/** The batch's topics that have a listener, and the time that it took to find out. */
const listeningCtes = (hearing: ListenerQuery | null, topics: string): string =>
  hearing
    ? `listening as materialized (
  ${hearing.listening(topics)}
), asked as materialized (
  select b.at as began, exists (select from listening) as is_heard, clock_timestamp() as ended
  from (select clock_timestamp() as at offset 0) b
), `
    : '';

/**
 * The rows of the input whose actors are locked, in id order, and as they were decided upon. Where tables are
 * distributed the lock is a query of one table: Citus reads the result of a lock beside a join in another
 * form than it wrote.
 */
const lockedCtes = (kind: Kind, shard: ShardTerms, condition: string): string =>
  shard.isDistributed
    ? `, held as materialized (
  select a.id, a.revision from ${kind.table} a where a.id = any(array(select id from input))${shard.within(kind.table, 'a')}
  order by a.id for update
), locked as materialized (
  select i.* from input i join held a on ${condition}
)`
    : `, locked as materialized (
  select i.* from input i
  join ${kind.table} a on ${condition}
  order by a.id for update of a
)`;

/**
 * Joins the births `a` of the actors `c`, each looked up by its id. As a plain join the planner reads all that lie between the lowest and
 * the highest and compares each with each, quadratic in the batch: 6 of 11 ms at 250 actors.
 */
function birthsOf(kind: Kind, births: string, { lowest, highest }: Bounds, shard: ShardTerms): string {
  const within = `a.id = c.id and a.id >= ${lowest} and a.id <= ${highest}`;
  if (shard.isDistributed) return `join ${births} a on ${within}${sameWorkspace(shard, births)}`;
  const columns = kind.actorColumnsForFacts.map((name) => `a.${name}`).join(', ');
  return `left join lateral (select ${columns} from ${births} a where ${within} limit 1) a on true`;
}

const sameWorkspace = (shard: ShardTerms, table: string): string =>
  shard.isDistributed ? ` and a.workspace_id = c.workspace_id${shard.within(table, 'a')}` : '';

/**
 * One acceptance: new actors in the order of their calls with all they bring along. Quota, idempotency key,
 * actor and payload are stored together or not at all, without a round trip in between.
 * - `withheld`: calls for which a condition of the kind does not hold; there are none where it has no
 *   conditions.
 * - `used`: calls whose idempotency key is already used.
 * - `metered`: takes units of each period as far as its quota allows, and says how many. A call over the
 *   quota is simply not admitted; nothing of it is written, its key stays free.
 * - `entered`: units that have no quota are only written down, so that no batch waits for another's row.
 * - `refused`: the numbers of the calls that are not admitted. Only numbers are sorted and counted; the rows,
 *   bodies and all, are copied once (three times more took 4 of 45 µs an email).
 * - `claimed`: a plain insert. Should another instance take the same key between our snapshot and here, the
 *   unique violation rolls the whole statement back, and the next try sees the key.
 * Returns only the calls that were not admitted, each with the stored reply of its key, if there is one; the
 * children to be performed at once; and, as the reply of a call -1, the tag, without which it is the reply to
 * something else. Its status is 1 where the term that keeps births was open.
 */
export function spawnStatement(
  kind: Kind,
  wake: WakeWriting,
  { withoutStoredReplies = false, isDistributed }: StatementOptions = {},
): BatchStatement {
  const own = each([...kind.spawn.insertColumns, ...definitionColumn(kind)], (name) => `, ${name}`);
  const rules = (kind.spawn.rules ?? []).map((rule, index) => ({ ...rule, name: `rule_${index}` }));
  const parts = rules.map(({ name, columns }) => ({
    name,
    columns: columnsOf(columns).map((one) => one.name),
  }));
  const columns = columnsOf(
    [
      `ord integer, workspace_id text, livemode boolean, period text, quota integer${kind.life ? ', kept_by integer' : ''}${each(definitionColumn(kind), (name) => `, ${name} text`)}`,
      ...[kind.spawn.columns, ...rules.map((rule) => rule.columns)],
    ].join(', '),
  );
  return batchStatement(
    kind,
    [...partsOf(kind), QUOTA, ...parts],
    columns,
    ({ input, has, templates, shard }) => {
      const ruled = rules.filter(({ name }) => has(name));
      const withheld = withheldCtes(ruled.flatMap(({ conditions }) => conditions));
      const also = [...kind.spawn.insertInto, ...ruled.flatMap(({ writes }) => writes)]
        .map((sql, index) => `, also_${index} as (${sql('admitted')})`)
        .join('');
      const [isClaiming, isMetered] = [has(CLAIM.name), has(QUOTA.name)];
      const used = isClaiming
        ? `select i.ord from input i ${usedKey('true as is_used', shard)} where k.is_used${withheld && ' union select ord from withheld'}`
        : withheld && 'select ord from withheld';
      const unused = used && ' and ord not in (select ord from used)';
      const refused = [used && 'select ord from used', isMetered && overQuota(unused)].filter(Boolean);
      return `with input as materialized (
  ${input}
)${withheld}${used && `, used as materialized (${used})`}${isMetered ? meteredCte(unused) : ''}, entered as (
  insert into usage_entries (workspace_id, livemode, period, units)
  select workspace_id, livemode, period, count(*) from input
  where period is not null${isMetered ? ' and quota is null' : ''}${unused}
  group by workspace_id, livemode, period
)${
        refused.length > 0
          ? `, refused as materialized (
  ${refused.join(`
  union all `)}
), admitted as not materialized (
  select * from input where ord not in (select ord from refused)
)`
          : ', admitted as not materialized (select * from input)'
      }${wake.cte}${
        kind.life
          ? birthCtes(kind, wake, TAG)
          : `, spawned as (
  insert into ${kind.table}
    (${ACTOR_COLUMNS.join(', ')}${derivedNames(kind)}${own})
  select id, workspace_id, livemode, state, context, timers, ${wake.at('wake_at')}, 1, $1::smallint${derivedNames(kind)}${own}
  from admitted
), journaled as (
  insert into ${kind.journal} (actor_id, revision, commit_tag, steps${shard.column(kind.journal)}) select id, 1, ${TAG}, steps${shard.value(kind.journal, 'admitted')} from admitted
)`
      }${also}${sideEffectCtes(kind, 'admitted', { has, templates, shard }, wake, {
        storesReply: withoutStoredReplies ? 'false' : undefined,
        isWhole: true,
      })}
select null::integer as ord, null::text as fingerprint, null::integer as status, null::text as reply, null::float8 as stored_at,
  null::integer as child, null::text as id, null::text as workspace_id, null::boolean as livemode, null::text as brought
where false${
        refused.length > 0
          ? `
union all select i.ord, ${storedReply(isClaiming, withheld)}, null, null, null, null, null
from input i ${isClaiming ? usedKey('*', shard) : ''} where i.ord in (select ord from refused)`
          : ''
      }${answeredChildren(kind, has, 'null, null, null, null, null, child, id, workspace_id, livemode, brought')}
union all select -1, null, ${kind.life ? '(select 1 from keeping)' : 'null'}, ${TAG}::text, null, null, null, null, null, null`;
    },
    {
      derived: kind.life
        ? [
            ...kind.derived.filter(({ name }) => kind.life?.bornWith.includes(name)),
            ...(kind.life.bornOnlyWith ?? []),
          ]
        : kind.derived,
      isDistributed,
    },
  );
}

const QUOTA: Part = single('quota');

const meteredCte = (unused: string): string => `, metered as (
  insert into usage as u (workspace_id, livemode, period, used, wanted, granted, quota)
  select workspace_id, livemode, period, least(count(*), max(quota)), count(*), least(count(*), max(quota)), max(quota)
  from input where quota is not null${unused}
  group by workspace_id, livemode, period order by workspace_id, livemode, period
  on conflict (workspace_id, livemode, period) do update set
    used = u.used + least(excluded.wanted, greatest(0, excluded.quota - u.used)),
    granted = least(excluded.wanted, greatest(0, excluded.quota - u.used)),
    wanted = excluded.wanted, quota = excluded.quota
  returning u.workspace_id, u.livemode, u.period, u.granted
)`;

const overQuota = (unused: string): string => `select w.ord from (
    select ord, workspace_id, livemode, period,
      row_number() over (partition by workspace_id, livemode, period order by ord) as place
    from input where quota is not null${unused}
  ) w join metered m on m.workspace_id = w.workspace_id and m.livemode = w.livemode and m.period = w.period
  where w.place > m.granted`;

/** Fingerprint, status, reply and moment of the stored reply `k` of a call that was not admitted. */
const storedReply = (isClaiming: boolean, withheld: string): string =>
  isClaiming
    ? `k.fingerprint, ${answeredStatus(withheld, 'k.status')}, k.reply, (extract(epoch from k.created_at) * 1000)::float8`
    : `null, ${answeredStatus(withheld, 'null::integer')}, null, null`;
