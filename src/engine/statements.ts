import type { Parameter } from '../db/database.ts';
import { ACTOR_COLUMNS, definitionColumn } from './actor-columns.ts';
import type { StatementOptions } from './commit.ts';
import { type Column, columnsOf, InputRows } from './input-rows.ts';
import { type ChildSpec, type FactTable, factOf, type Kind } from './kind.ts';
import { type Bounds, birthCtes, boundsOf, turnCtes } from './life-statements.ts';
import { answeredStatus, usedKey, withheldCtes } from './spawn-conditions.ts';
import type { WakeWriting } from './wake-at.ts';

/** What the input carries of every actor: its row, its history, its events for others, and the reply to be stored. */
const INPUT_COLUMNS =
  columnsOf(`id text, state text, context json, timers json, wake_at timestamptz, steps json, outbox json,
  idem_workspace_id text, idem_livemode boolean, idem_key text, idem_item smallint, idem_fingerprint text, idem_status smallint, idem_reply text,
  idem_at timestamptz`);

const CLAIM_COLUMNS =
  'idem_workspace_id, idem_livemode, idem_key, idem_item, idem_fingerprint, idem_status, idem_reply, idem_at';

/** A statement that writes a batch of actors of one kind. */
export interface BatchStatement {
  readonly sql: string;
  /** `templates`: JSON of how the children begin, one for each kind of them. */
  parameters(
    rows: readonly Readonly<Record<string, unknown>>[],
    tag: number,
    templates: readonly string[],
  ): readonly Parameter[];
}

const TAG = '$2::integer';

/**
 * $1 is the machine's version, $2 the commit's tag; then come the rows, the templates of children, and the lowest and the highest id of
 * the batch where the statement asks for them.
 */
function batchStatement(
  kind: Kind,
  columns: readonly Column[],
  write: (input: string, templates: readonly string[], bounds: Bounds) => string,
): BatchStatement {
  const facts = kind.facts.map(({ name }) => ({ name, type: 'json' }));
  const input = new InputRows([...INPUT_COLUMNS, ...kind.derived, ...facts, ...columns], 3);
  const after = input.next + kind.children.length;
  const bounds = { lowest: `$${after}::text`, highest: `$${after + 1}::text` };
  const templates = kind.children.map((_, place) => `$${input.next + place}`);
  const sql = write(input.sql, templates, bounds);
  const isBounded = sql.includes(bounds.lowest);
  return {
    sql,
    parameters: (rows, tag, templates) => [
      ...[kind.version, tag, ...input.parameters(rows), ...templates],
      ...(isBounded ? boundsOf(rows.map(({ id }) => id as string)) : []),
    ],
  };
}

const each = <Item>(items: readonly Item[], write: (item: Item) => string) => items.map(write).join('');

const derivedNames = (kind: Kind): string => each(kind.derived, ({ name }) => `, ${name}`);
const actorColumnsForFacts = (kind: Kind, from: string): string =>
  each(kind.actorColumnsForFacts, (name) => `, ${from}.${name}`);

/**
 * What is written with the actors in `changed`. Everything an actor brings along is in its own row of the input: lists
 * are unfolded from it, since joining them back by id is a nested loop over both for want of statistics (4 ms instead of
 * 0.1 at 64 actors, and quadratic). Those without a list are left out beforehand: unfolding nothing costs a call as well.
 */
const sideEffectCtes = (
  kind: Kind,
  changed: string,
  templates: readonly string[],
  wake: WakeWriting,
  { storesReply = 'idem_key is not null', births = null, isWhole = !kind.life }: SideEffectOptions = {},
): string => `, claimed as (
  insert into idempotency_keys (workspace_id, livemode, key, item, fingerprint, status, reply, created_at)
  select ${CLAIM_COLUMNS} from ${changed} where ${storesReply}
  order by idem_workspace_id, idem_livemode, idem_key, idem_item
), outbox_written as (
  insert into actor_outbox (id, to_kind, to_id, event)
  select m.id, m.to_kind, m.to_id, m.event
  from ${changed} c cross join lateral json_to_recordset(c.outbox) as m(id text, to_kind text, to_id text, event json)
  where c.outbox is not null
)${each(kind.facts, (fact) => {
  const source = factSource(kind, fact, changed, isWhole ? null : fact.readsActor ? births : NOTHING);
  return fact.sql
    ? `, ${fact.name} as (${fact.sql(source)})${fact.followedBy ? `, ${fact.followedBy}` : ''}`
    : '';
})}${each(kind.followers ?? [], ({ fact, name, sql }) => {
  return `, ${name} as (${sql(factSource(kind, factOf(kind, fact), changed, isWhole ? null : births))})`;
})}${kind.children.map((child, place) => childrenOf(child, place, templates[place] as string, wake)).join('')}`;

interface SideEffectOptions {
  readonly storesReply?: string | undefined;
  readonly births?: string | null; // The relation `a` of the actors' births, where `changed` has no columns of theirs.
  readonly isWhole?: boolean; // Whether `changed` has the columns of its actors.
}

const NOTHING = ''; // No columns of the actors are asked for.

/** The rows of a fact, with the columns of their actors: from `changed` itself (null), from their births, or without. */
function factSource(
  kind: Kind,
  { name, columns }: FactTable,
  changed: string,
  births: string | null,
): string {
  const columnsOfActor = births === NOTHING ? '' : actorColumnsForFacts(kind, births === null ? 'c' : 'a');
  return `(select f.*, c.id as actor, c.workspace_id, c.livemode${columnsOfActor}
    from ${changed} c cross join lateral json_to_recordset(c.${name}) as f(${columns})
    ${births ? `join ${births} ` : ''}where c.${name} is not null)`;
}

const childrenOf = (
  { kind, sql }: ChildSpec,
  place: number,
  template: string,
  wake: WakeWriting,
): string => `, template_${place} as materialized (
  select state, context, timers, ${wake.at('wake_at')} as wake_at, steps, machine_version, ${wake.earliest} as not_before
  from json_to_record(${template}::text::json)
    as s(state text, context json, timers json, wake_at timestamptz, steps json, machine_version smallint)
), children_${place} as (${sql(`template_${place}`)}), children_journaled_${place} as (
  insert into ${kind.journal} (actor_id, revision, commit_tag, steps)
  select b.id, 1, ${TAG}, s.steps from children_${place} b cross join template_${place} s
)`;

/** The children to be performed at once, in the columns of an answer: `child` tells their kinds apart. */
const answeredChildren = ({ children }: Kind, columns: string): string =>
  children
    .map(({ performedAtOnce }, place) =>
      performedAtOnce
        ? `\nunion all select ${columns.replace('child', String(place))} from children_${place}`
        : '',
    )
    .join('');

/**
 * Outbox events that this commit consumes. An actor whose event is gone (another instance has handled it) is left out of
 * `locked`: handling always raises the revision, so a snapshot that still shows the event and a row that still has the
 * revision mean that nobody has.
 */
const unhandled = (kind: Kind): string =>
  kind.receivesEvents
    ? `
  where not exists (
    select from unnest(i.handled) h(id) where not exists (select from actor_outbox m where m.id = h.id))`
    : '';

const handled = (kind: Kind): string =>
  kind.receivesEvents
    ? `, handled as (
  delete from actor_outbox m using changed c cross join lateral unnest(c.handled) h(id) where m.id = h.id
)`
    : '';

/**
 * One commit: actors with their new snapshots and all they bring along. Answers the ids that lost: their revision was no
 * longer the one decided upon (answering the winners took 18 % of the process's time); after them the new children, with
 * their scope; and the tag, without which it is the reply to something else.
 *
 * The rows are locked in id order before anything is written: contending batches that lock in any other order
 * deadlock (measured: 1,374 wins and six deadlocks against 224,447 and none). The join keeps the revision check
 * true after the wait for a lock: PostgreSQL evaluates it again on the row as it is then.
 */
export function commitStatement(
  kind: Kind,
  wake: WakeWriting,
  options: StatementOptions = {},
): BatchStatement {
  const { withoutRevisionCheck = false } = options;
  const copied = ['state', 'context', 'timers', ...kind.derived.map(({ name }) => name)]
    .map((name) => `${name} = l.${name}`)
    .join(', ');
  const assignments = `${copied}, wake_at = ${wake.at('l.wake_at')}`;
  const writtenBesides = [
    'steps',
    'outbox',
    ...(kind.receivesEvents ? ['handled'] : []),
    ...kind.facts.map(({ name }) => name),
  ];
  return batchStatement(
    kind,
    columnsOf(`revision integer, handled text[]${kind.life ? ', workspace_id text, livemode boolean' : ''}`),
    (input, templates, { lowest, highest }) => `with input as materialized (
  ${input}
)${
      kind.life
        ? turnCtes(kind, wake, TAG, options)
        : `, locked as materialized (
  select i.* from input i
  join ${kind.table} a on a.id = i.id${withoutRevisionCheck ? '' : ' and a.revision = i.revision'}${unhandled(kind)}
  order by a.id for update of a
)${wake.cte}, changed as (
  update ${kind.table} a
  set ${assignments}, revision = a.revision + 1, machine_version = $1::smallint
  from locked l where a.id = l.id
  returning a.id, a.revision, a.workspace_id, a.livemode${actorColumnsForFacts(kind, 'a')}${each(writtenBesides, (name) => `, l.${name}`)},
    ${CLAIM_COLUMNS}
), journaled as (
  insert into ${kind.journal} (actor_id, revision, commit_tag, steps)
  select id, revision, ${TAG}, steps from changed${withoutRevisionCheck ? ' on conflict do nothing' : ''}
)`
    }${handled(kind)}${sideEffectCtes(kind, 'changed', templates, wake, {
      births: kind.life
        ? `${kind.life.births} a on a.id = c.id and a.id >= ${lowest} and a.id <= ${highest}`
        : null,
    })}
select i.id, null::integer as child, null::text as workspace_id, null::boolean as livemode
from input i where i.id not in (select id from changed)${answeredChildren(kind, 'id, child, workspace_id, livemode')}
union all select ${TAG}::text, null, null, null`,
  );
}

/**
 * One acceptance: new actors in the order of their calls with all they bring along. Quota, idempotency key, actor and
 * payload stand or fall together, without a round trip in between.
 * - `withheld`: calls for which a condition of the kind does not hold; there are none where it has no conditions.
 * - `used`: calls whose idempotency key somebody has used.
 * - `metered`: takes units of each period as far as its quota allows, and says how many. A call over the
 *   quota is simply not admitted; nothing of it is written, its key stays free.
 * - `entered`: units that have no quota are only written down, so that no batch waits for another's row.
 * - `refused`: the numbers of those who are not admitted. Only numbers are sorted and counted; the rows, bodies and all,
 *   are copied once (three times more took 4 of 45 µs an email).
 * - `claimed`: a plain insert. Should another instance take the same key between our snapshot and here, the
 *   unique violation rolls the whole statement back, and the next try sees the key.
 * Answers only the calls that were not admitted, each with the stored reply of its key, if there is one; the children to
 * be performed at once; and, as the reply of a call -1, the tag, without which it is the reply to something else.
 */
export function spawnStatement(
  kind: Kind,
  wake: WakeWriting,
  { withoutStoredReplies = false }: StatementOptions = {},
): BatchStatement {
  const own = each([...kind.spawn.insertColumns, ...definitionColumn(kind)], (name) => `, ${name}`);
  const withheld = withheldCtes(kind.spawn.conditions ?? []);
  const also = kind.spawn.insertInto.map((sql, index) => `, also_${index} as (${sql('admitted')})`).join('');
  const columns = columnsOf(
    `ord integer, workspace_id text, livemode boolean, period text, quota integer${kind.life ? ', kept_by integer' : ''}${each(definitionColumn(kind), (name) => `, ${name} text`)}, ${kind.spawn.columns}`,
  );
  return batchStatement(
    kind,
    columns,
    (input, templates) => `with input as materialized (
  ${input}
)${withheld}, used as materialized (
  select i.ord from input i ${usedKey('true as is_used')} where k.is_used${withheld && ' union select ord from withheld'}
), metered as (
  insert into usage as u (workspace_id, livemode, period, used, wanted, granted, quota)
  select workspace_id, livemode, period, least(count(*), max(quota)), count(*), least(count(*), max(quota)), max(quota)
  from input where quota is not null and ord not in (select ord from used)
  group by workspace_id, livemode, period order by workspace_id, livemode, period
  on conflict (workspace_id, livemode, period) do update set
    used = u.used + least(excluded.wanted, greatest(0, excluded.quota - u.used)),
    granted = least(excluded.wanted, greatest(0, excluded.quota - u.used)),
    wanted = excluded.wanted, quota = excluded.quota
  returning u.workspace_id, u.livemode, u.period, u.granted
), entered as (
  insert into usage_entries (workspace_id, livemode, period, units)
  select workspace_id, livemode, period, count(*) from input
  where period is not null and quota is null and ord not in (select ord from used)
  group by workspace_id, livemode, period
), refused as materialized (
  select ord from used
  union all select w.ord from (
    select ord, workspace_id, livemode, period,
      row_number() over (partition by workspace_id, livemode, period order by ord) as place
    from input where quota is not null and ord not in (select ord from used)
  ) w join metered m on m.workspace_id = w.workspace_id and m.livemode = w.livemode and m.period = w.period
  where w.place > m.granted
), admitted as not materialized (
  select * from input where ord not in (select ord from refused)
)${wake.cte}${
      kind.life
        ? birthCtes(kind, wake, TAG)
        : `, spawned as (
  insert into ${kind.table}
    (${ACTOR_COLUMNS.join(', ')}${derivedNames(kind)}${own})
  select id, workspace_id, livemode, state, context, timers, ${wake.at('wake_at')}, 1, $1::smallint${derivedNames(kind)}${own}
  from admitted
), journaled as (
  insert into ${kind.journal} (actor_id, revision, commit_tag, steps) select id, 1, ${TAG}, steps from admitted
)`
    }${also}${sideEffectCtes(kind, 'admitted', templates, wake, {
      storesReply: withoutStoredReplies ? 'false' : undefined,
      isWhole: true,
    })}
select i.ord, k.fingerprint, ${answeredStatus(withheld)}, k.reply, (extract(epoch from k.created_at) * 1000)::float8 as stored_at,
  null::integer as child, null::text as id, null::text as workspace_id, null::boolean as livemode
from input i ${usedKey('*')} where i.ord in (select ord from refused)${answeredChildren(
      kind,
      'null, null, null, null, null, child, id, workspace_id, livemode',
    )}
union all select -1, null, null, ${TAG}::text, null, null, null, null, null`,
  );
}
