import type { Parameter } from '../../../platform/db/database.ts';
import { lookUp, ON_ONE_SERVER, onNodes, type ShardTerms } from '../../../platform/db/distribution/terms.ts';
import type { Kind } from '../../machine/kind.ts';
import type { StatementOptions } from '../commit.ts';
import type { AppendedLife } from './appended-life.ts';
import { contextColumns } from './lean-context.ts';
import { type Part, type PartCheck, single } from './statement-forms.ts';
import type { WakeWriting } from './wake-at.ts';

/**
 * The SQL of kinds whose lives are appended (`Kind.life`), in place of that for a rewritten row. An actor
 * that waits for the clock has a row in the table of due actors, and no other.
 */
const listed = (names: readonly string[], from = ''): string =>
  names.map((name) => `, ${from}${name}`).join('');

const derivedNames = ({ derived }: Kind): readonly string[] => derived.map(({ name }) => name);

/** The life of a kind that has one. */
export function lifeOf({ life, name }: Kind): AppendedLife {
  if (!life) throw new Error(`The life of the kind ${name} is not appended.`);
  return life;
}

interface AwaitedOptions {
  readonly unless?: string;
  readonly whereThere: string;
  /** Further columns, each as SQL over those of the source. */
  readonly further?: Readonly<Record<string, string>>;
}

const awaited = (
  { due }: AppendedLife,
  source: string,
  wake: WakeWriting,
  { unless = '', whereThere, further = {} }: AwaitedOptions,
): string => `, awaited as (
  insert into ${due} (id, workspace_id, livemode, state, wake_at${listed(Object.keys(further))})
  select id, workspace_id, livemode, state, ${wake.at('wake_at')}${listed(Object.values(further))} from ${source} where wake_at is not null${unless}${whereThere}
)`;

/** A turn may find its actor among what is due. Nobody else has the id of a birth, so its row needs no look at what is there. */
const replaced = (shard: ShardTerms, due: string): string => ` order by id
  on conflict (id${shard.key(due)}) do update set state = excluded.state, wake_at = excluded.wake_at`;

/** Turns after which the actor waits for the clock. */
const WAITS: Part = { name: 'waits', columns: ['wake_at'] };
/** Turns after which it does not, while it may have done so before. */
const RESTS: Part = single('rests');

/** The optional parts of a batch of turns. */
export const TURN_PARTS: readonly Part[] = [WAITS, RESTS];

/**
 * New actors, from the relation `admitted`. Those that an instance keeps have no due row, as long as the term
 * that they name is open: the statement locks the term, so that either the closing instance waits for this
 * statement, or this one sees the term closed (kept-births.ts).
 */
export function birthCtes(kind: Kind, wake: WakeWriting, tag: string): string {
  const life = lifeOf(kind);
  const bornOnly = (life.bornOnlyWith ?? []).map(({ name }) => name);
  const own = listed([...life.bornWith, ...bornOnly, ...kind.spawn.insertColumns]);
  const computed = life.computedAtBirth ?? {};
  return `, keeping as materialized (
  select id from instances where open and id = (select max(kept_by) from input) for key share
), spawned as (
  insert into ${life.births}
    (id, workspace_id, livemode, state, context, timers, machine_version, commit_tag, steps, kept_by${own}${listed(Object.keys(computed))})
  select id, workspace_id, livemode, state, context, timers, $1::smallint, ${tag}, steps, kept_by${own}${listed(Object.values(computed))}
  from admitted
)${awaited(life, 'admitted', wake, {
    unless: ' and (kept_by is null or not exists (select from keeping))',
    whereThere: '',
    further: life.dueWith ?? {},
  })}`;
}

/**
 * The next turn of each actor of the relation `input`, whose rows are in the order of their ids: batches that
 * wait for each other in any other order would deadlock. The key of the turns is the check of the revision.
 * The second of two finds the key taken, and the statement fails as a whole: races are rare, and a look
 * before each insert would cost every turn of every life. While races are frequent (`isContended`), the same
 * turns are written so that only losers are left out; `changed` is the relation of those that were written.
 */
export function turnCtes(
  kind: Kind,
  wake: WakeWriting,
  tag: string,
  { has, shard }: { readonly has: PartCheck; readonly shard: ShardTerms },
  { withoutRevisionCheck = false, isContended = false }: TurnOptions,
): string {
  const life = lifeOf(kind);
  if (kind.receivesEvents)
    throw new Error(`No statement deletes the outbox events that ${kind.name} has handled.`);
  const kept = listed([...derivedNames(kind), ...life.kept.filter(has)]);
  const computed = Object.fromEntries(
    Object.entries(life.computed).map(([name, { of, sql }]) => [name, has(of) ? sql : 'null']),
  );
  const next = withoutRevisionCheck
    ? `(select max(o.revision) from ${life.turns} o where o.email_id = i.id)`
    : 'i.revision';
  return `${wake.cte}, turned as (
  insert into ${life.turns} (email_id, revision, workspace_id, livemode, state, context, timers, machine_version, commit_tag,
    steps${kept}${listed(Object.keys(computed))})
  select id, coalesce(${next}, 1) + 1, workspace_id, livemode, state, context, timers, $1::smallint, ${tag},
    steps${kept}${listed(Object.values(computed))}
  from input i${
    isContended
      ? `
  on conflict do nothing
  returning email_id as id
), changed as materialized (
  select * from input where (id in (select id from turned)) is true
)`
      : `
), changed as not materialized (select * from input)`
  }${has(WAITS.name) ? awaited(life, 'changed', wake, { whereThere: replaced(shard, life.due) }) : ''}${
    has(RESTS.name)
      ? `, ended as (
  delete from ${life.due} d using changed c where d.id = c.id and c.rests${shard.within(life.due, 'd')}
)`
      : ''
  }`;
}

export interface TurnOptions extends StatementOptions {
  /** Leaves out whose place is taken, instead of failing. */
  readonly isContended?: boolean;
  /**
   * Leaves out the rows of a fact without listeners; where there is a listener, it writes nothing and returns
   * the topics heard.
   */
  readonly isUnheard?: boolean;
}

/**
 * SQL: a turn took a step. One that fired the timers of an actor which had ended meanwhile took none, so that
 * two turns of it have the final state: without this condition, a search for actors by the turn that led to a
 * state counts it twice.
 */
export const TOOK_STEP = `steps::text <> '[]'`;

/**
 * Claims actors as `claimDueStatement` does; answers their ids alone. They are read by `readLivesStatement`, which knows by then in
 * which partitions they lie.
 */
export function claimLivesStatement(kind: Kind, wake: WakeWriting, where?: string): string {
  const { due } = lifeOf(kind);
  return `with due as materialized (
  select id, wake_at from ${due} where wake_at >= $4::timestamptz and wake_at <= $1::timestamptz${where === undefined ? '' : ` and ${where}`}
  order by wake_at limit $2::integer
  for update skip locked
)${wake.cte}
update ${due} a set wake_at = ${wake.at('$3::timestamptz')} from due where a.id = due.id
returning a.id, (extract(epoch from due.wake_at) * 1000)::float8 as due_at`;
}

/**
 * Forgets those of the ids in $1 that wait for the clock though there is no such actor: an outcome was
 * reported for an email that was being removed with its workspace.
 */
export function forgetStrayStatement(kind: Kind): string {
  const { due, births } = lifeOf(kind);
  return `delete from ${due} d where d.id = any($1::text[]) and not exists (select from ${births} b where b.id = d.id)`;
}

/**
 * The actors of the ids in $1, of which $2 is the lowest and $3 the highest, with the parts of their contexts (`wholeContext`). The bounds leave out the partitions of other days before
 * they are opened: with ninety days, opening all of them took 2 ms. Where tables are distributed $4 are the workspaces.
 */
export function readLivesStatement(kind: Kind, isDistributed = false): string {
  const shard = isDistributed ? onNodes('$4::text[]') : ON_ONE_SERVER;
  const life = lifeOf(kind);
  const { births, turns } = life;
  return `select b.id, b.workspace_id, b.livemode, coalesce(t.state, b.state) as state,
  ${contextColumns(life)}, case when t.revision is null then b.timers else t.timers end as timers,
  coalesce(t.revision, 1) as revision, coalesce(t.machine_version, b.machine_version) as machine_version
from unnest($1::text[]) i(id) ${lookUp(false, births, 'b', `b.id = i.id and b.id >= $2 and b.id <= $3${shard.within(births, 'b')}`)}
left join lateral (
  select * from ${turns} l where l.email_id = b.id and l.email_id >= $2 and l.email_id <= $3${shard.within(turns, 'l')}
  order by l.revision desc limit 1
) t on true`;
}

export const readLivesParameters = (ids: readonly string[]): readonly Parameter[] => [ids, ...boundsOf(ids)];

/** The parameters of a statement that hold the lowest and the highest id of a batch. */
export interface Bounds {
  readonly lowest: string;
  readonly highest: string;
}

/** The lowest and the highest of ids. */
export function boundsOf(ids: readonly string[]): readonly [lowest: string, highest: string] {
  let [lowest = '', highest = ''] = [ids[0], ids[0]];
  for (const id of ids) {
    if (id < lowest) lowest = id;
    if (id > highest) highest = id;
  }
  return [lowest, highest];
}
