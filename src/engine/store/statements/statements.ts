import type { ShardTerms } from '../../../platform/db/distribution/terms.ts';
import type { Kind } from '../../machine/kind.ts';
import type { PartCheck, SpawnCondition } from '../../machine/storage.ts';
import { definitionColumn } from '../actor-columns.ts';
import type { StatementOptions } from '../commit.ts';
import { columnsOf } from './input-rows.ts';
import { type Part, single } from './statement-forms.ts';
import {
  answeredChildren,
  type BatchStatement,
  type Bounds,
  batchStatement,
  CLAIM,
  each,
  partsOf,
  partsWithout,
  sideEffectCtes,
  TAG,
} from './statement-parts.ts';
import { HEARD, type ListenerQuery, SLOW, SLOW_MS } from './topics.ts';
import type { WakeWriting } from './wake-at.ts';

export type InsertOptions = StatementOptions;

export interface CommitOptions extends StatementOptions {
  /** Leaves out actors that another commit has changed, where the statement would fail otherwise. */
  readonly isContended?: boolean;
  /**
   * Leaves out the rows of a fact without listeners; where there is a listener, it writes nothing and returns
   * the topics heard.
   */
  readonly isUnheard?: boolean;
}

/** The parts of a commit's statement that depend on the store. */
export interface CommitParts {
  readonly parts: readonly Part[];
  /** Further columns of the input, each behind a comma. */
  readonly columns: string;
  readonly listeners: ListenerQuery | null;
  /** True when some actors may be left out; false when the statement fails as a whole. */
  readonly mayLose: boolean;
  /**
   * CTEs from the relation `input` to `changed`, the actors that were written. `carried`: the columns of the
   * input that it needs.
   */
  changed(form: {
    readonly has: PartCheck;
    readonly shard: ShardTerms;
    readonly carried: readonly string[];
  }): string;
  /** Joins the actors `a` of the relation `changed`; null where it has their columns. */
  actorsOf(bounds: Bounds, shard: ShardTerms): string | null;
}

/** The parts of an insert's statement that depend on the store. */
export interface InsertParts {
  readonly derived: Kind['derived'];
  /** Further columns of the input, each behind a comma. */
  readonly columns: string;
  /** CTEs that write the relation `admitted`. */
  inserted(shard: ShardTerms): string;
  /** SQL: 1 where the term that keeps the new actors is open. */
  readonly isTermOpen: string;
}

const HANDLED: Part = single('handled');

/**
 * Outbox events that this commit consumes. An actor whose event is gone (another instance has handled it) is
 * left out of `locked`: handling always raises the revision, so a snapshot that still shows the event and a
 * row that still has the revision mean that no instance has handled it.
 */
export const unhandled = (has: PartCheck): string =>
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
 * The variant without listeners (`isUnheard`) writes no rows where there is a listener, and returns the
 * topics heard (`topics.ts`).
 */
export function commitStatement(
  kind: Kind,
  wake: WakeWriting,
  { isUnheard = false, isDistributed }: CommitOptions,
  { parts, columns, listeners, mayLose, changed, actorsOf }: CommitParts,
): BatchStatement {
  const asked = isUnheard ? listeners : null;
  return batchStatement(
    kind,
    [...(asked ? partsWithout(kind, asked.fact) : partsOf(kind)), HANDLED, ...parts],
    columnsOf(`revision integer, handled text[]${columns}`),
    ({ input, has, reads, topics, templates, bounds, shard }) => {
      const carried = [
        'steps',
        ...['outbox', HANDLED.name, ...kind.facts.map(({ name }) => name)].filter(has),
        ...(has(CLAIM.name) ? CLAIM.columns : []),
      ];
      return `with ${topics && listeningCtes(asked, topics)}input as materialized (
  ${input}${topics && ' and not (select is_heard from asked)'}
)${changed({ has, shard, carried })}${handled(has)}${sideEffectCtes(
        kind,
        'changed',
        { has: reads, templates, shard },
        wake,
        { actors: actorsOf(bounds, shard) },
      )}
select i.id, null::integer as child, null::text as workspace_id, null::boolean as livemode, null::text as brought
from input i where ${mayLose ? 'i.id not in (select id from changed)' : 'false'}${answeredChildren(kind, reads, 'id, child, workspace_id, livemode, brought')}${
        topics &&
        `
union all select about, ${HEARD}, workspace_id, livemode, null from listening
union all select null, ${SLOW}, null, null, null from asked where ended - began > interval '${SLOW_MS} milliseconds'`
      }
union all select ${TAG}::text, null, null, null, null`;
    },
    { isDistributed, unheard: asked?.fact ?? null },
  );
}

/** The batch's topics that have a listener, and the time that it took to find out. */
const listeningCtes = (query: ListenerQuery | null, topics: string): string =>
  query
    ? `listening as materialized (
  ${query.listening(topics)}
), asked as materialized (
  select b.at as began, exists (select from listening) as is_heard, clock_timestamp() as ended
  from (select clock_timestamp() as at offset 0) b
), `
    : '';

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
 * something else. Its status is 1 where the term that holds new actors was open.
 */
export function insertStatement(
  kind: Kind,
  wake: WakeWriting,
  { withoutStoredReplies = false, isDistributed }: InsertOptions,
  { derived, columns: further, inserted, isTermOpen }: InsertParts,
): BatchStatement {
  const rules = (kind.spawn.rules ?? []).map((rule, index) => ({ ...rule, name: `rule_${index}` }));
  const parts = rules.map(({ name, columns }) => ({
    name,
    columns: columnsOf(columns).map((one) => one.name),
  }));
  const columns = columnsOf(
    [
      `ord integer, workspace_id text, livemode boolean, period text, quota integer${further}${each(definitionColumn(kind), (name) => `, ${name} text`)}`,
      kind.spawn.columns,
      ...rules.map((rule) => rule.columns),
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
      }${wake.cte}${inserted(shard)}${also}${sideEffectCtes(
        kind,
        'admitted',
        { has, templates, shard },
        wake,
        {
          storesReply: withoutStoredReplies ? 'false' : undefined,
        },
      )}
select null::integer as ord, null::text as fingerprint, null::integer as status, null::text as reply, null::float8 as stored_at,
  null::integer as child, null::text as id, null::text as workspace_id, null::boolean as livemode, null::text as brought
where false${
        refused.length > 0
          ? `
union all select i.ord, ${storedReply(isClaiming, withheld)}, null, null, null, null, null
from input i ${isClaiming ? usedKey('*', shard) : ''} where i.ord in (select ord from refused)`
          : ''
      }${answeredChildren(kind, has, 'null, null, null, null, null, child, id, workspace_id, livemode, brought')}
union all select -1, null, ${isTermOpen}, ${TAG}::text, null, null, null, null, null, null`;
    },
    { derived, isDistributed },
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

/** The status of a call that a rule has withheld, in place of a stored reply's. */
export const WITHHELD = -1;

/**
 * CTEs over the relation `input`: each condition, and the relation `withheld` of those for whom one does not
 * hold. Empty without any.
 */
const withheldCtes = (conditions: readonly SpawnCondition[]): string =>
  conditions.length === 0
    ? ''
    : `${conditions.map(({ name, sql }) => `, ${name} as materialized (${sql('input')})`).join('')}, withheld as materialized (
  ${conditions
    .map(
      ({ name, judged }) => `select ord from input where ${judged} and ord not in (select ord from ${name})`,
    )
    .join(' union all ')}
)`;

/**
 * The status that is answered of a call that was not admitted: that of the stored reply, unless it was
 * withheld.
 */
const answeredStatus = (ctes: string, stored: string): string =>
  ctes === '' ? stored : `case when i.ord in (select ord from withheld) then ${WITHHELD} else ${stored} end`;

/**
 * The row of an idempotency key. Lateral, so that it is looked up by its index, never by hashing the whole
 * table.
 */
const usedKey = (columns: string, shard: ShardTerms): string => `left join lateral (
    select ${columns} from idempotency_keys
    where workspace_id = i.idem_workspace_id and livemode = i.idem_livemode and key = i.idem_key
      and item = i.idem_item${shard.within('idempotency_keys', 'idempotency_keys')} limit 1
  ) k on i.idem_key is not null`;
