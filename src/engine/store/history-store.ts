import type { Parameter } from '../../platform/db/database.ts';
import { lookUp, ON_ONE_SERVER, onNodes, type ShardTerms } from '../../platform/db/distribution/terms.ts';
import { type Draft, isOnOwnTime } from '../machine/draft.ts';
import { type Kind, stateOf } from '../machine/kind.ts';
import type { ActorRow, HistoryTables, PartCheck } from '../machine/storage.ts';
import { ActorStore, type InputRow, type StateRelation, type StateSearch } from './actor-store.ts';
import { isUnchanged, lowestMarkSql, newestKeptSql } from './local-leases-sql.ts';
import { contextColumns, leanContext, type StoredContext, wholeContext } from './statements/lean-context.ts';
import { type Part, single } from './statements/statement-forms.ts';
import {
  type BatchStatement,
  type BoundStatement,
  type Bounds,
  boundsOf,
  derivedNames,
  TAG,
} from './statements/statement-parts.ts';
import {
  type CommitOptions,
  commitStatement,
  type InsertOptions,
  insertStatement,
} from './statements/statements.ts';
import { type ListenerQuery, listenerQueryOf } from './statements/topics.ts';
import type { WakeWriting } from './statements/wake-at.ts';

/** An actor as `load` answers it. */
type StoredRow = Omit<ActorRow, 'context'> & StoredContext;

/** Turns after which the actor waits for the clock. */
const WAITS: Part = { name: 'waits', columns: ['wake_at', 'held_by'] };
/** Turns after which it does not, while it may have done so before. */
const RESTS: Part = single('rests');

/**
 * SQL: a turn took a step. One that fired the timers of an actor which had ended meanwhile took none, so that
 * two turns of it have the final state: without this condition, a search for actors by the turn that led to a
 * state counts it twice.
 */
export const TOOK_STEP = `steps::text <> '[]'`;

/**
 * Actors whose rows are appended and never rewritten: a row for the insert, a row for each write after it,
 * and a due row while they wait for the clock. The key of a write, actor and revision, is the check of the
 * revision.
 */
export class HistoryStore extends ActorStore {
  readonly actorTable: string;
  protected readonly dueTable: string;
  // A claim answers the ids alone: by then `load` knows in which partitions the actors lie.
  protected readonly dueColumns = { found: 'a.id, a.workspace_id', claimed: 'a.id' };
  readonly keepsLeases = true;
  readonly holds = true;
  readonly isLookedForOften = true;
  readonly revisionKeyIn: string;
  readonly forgetStray: string;
  readonly listeners: ListenerQuery | null;
  readonly tablesByState: readonly string[];
  // Each row's state has to be looked up.
  readonly examinedAtOnce = 5_000;

  constructor(
    kind: Kind,
    private readonly tables: HistoryTables,
  ) {
    super(kind);
    const { inserts, revisions, due, kept } = tables;
    this.actorTable = inserts;
    this.dueTable = due;
    this.revisionKeyIn = revisions;
    this.tablesByState = [revisions, due];
    this.listeners = listenerQueryOf(kind, kept);
    // An outcome may be reported for an email that is being removed with its workspace.
    this.forgetStray = `delete from ${due} d where d.id = any($1::text[]) and not exists (select from ${inserts} b where b.id = d.id)`;
  }

  /**
   * New actors that an instance keeps have no due row, as long as the term that they name is open: the
   * statement locks the term, so that either the closing instance waits for this statement, or this one sees
   * the term closed (local-leases.ts).
   */
  insert(wake: WakeWriting, options: InsertOptions = {}): BatchStatement {
    const { kind, tables } = this;
    const { insertedWith, insertedOnlyWith = [], computedAtInsert = {}, dueWith = {} } = tables;
    const own = listed([
      ...insertedWith,
      ...insertedOnlyWith.map(({ name }) => name),
      ...kind.spawn.insertColumns,
    ]);
    return insertStatement(kind, wake, options, {
      derived: [...kind.derived.filter(({ name }) => insertedWith.includes(name)), ...insertedOnlyWith],
      columns: ', kept_by integer, held_by integer',
      inserted: () => `, keeping as materialized (
  select id from instances where open and id = (select max(kept_by) from input) for key share
), spawned as (
  insert into ${tables.inserts}
    (id, workspace_id, livemode, state, context, timers, machine_version, commit_tag, steps, kept_by${own}${listed(Object.keys(computedAtInsert))})
  select id, workspace_id, livemode, state, context, timers, $1::smallint, ${TAG}, steps, kept_by${own}${listed(Object.values(computedAtInsert))}
  from admitted
)${this.#awaited('admitted', wake, {
        unless: ' and (kept_by is null or not exists (select from keeping))',
        whereThere: '',
        further: dueWith,
      })}`,
      isTermOpen: '(select 1 from keeping)',
    });
  }

  /**
   * The next turn of each actor of the relation `input`, whose rows are in the order of their ids: batches
   * that wait for each other in any other order would deadlock. The second of two turns of one revision finds
   * the key taken, and the statement fails as a whole: races are rare, and a look before each insert would
   * cost every turn. While races are frequent (`isContended`), the same turns are written so that only losers
   * are left out; `changed` is the relation of those written.
   */
  commit(wake: WakeWriting, options: CommitOptions = {}): BatchStatement {
    const { kind, tables } = this;
    const { withoutRevisionCheck = false, isContended = false } = options;
    if (kind.receivesEvents)
      throw new Error(`No statement deletes the outbox events that ${kind.name} has handled.`);
    const next = withoutRevisionCheck
      ? `(select max(o.revision) from ${tables.revisions} o where o.email_id = i.id)`
      : 'i.revision';
    return commitStatement(kind, wake, options, {
      parts: [WAITS, RESTS],
      columns: ', workspace_id text, livemode boolean, rests boolean, held_by integer',
      listeners: this.listeners,
      mayLose: isContended,
      changed: ({ has, shard }) => {
        const kept = `${derivedNames(kind)}${listed(tables.kept.filter(has))}`;
        const computed = Object.entries(tables.computed);
        const values = computed.map(([, { of, sql }]) => (has(of) ? sql : 'null'));
        return `${wake.cte}, turned as (
  insert into ${tables.revisions} (email_id, revision, workspace_id, livemode, state, context, timers, machine_version, commit_tag,
    steps${kept}${listed(computed.map(([name]) => name))})
  select id, coalesce(${next}, 1) + 1, workspace_id, livemode, state, context, timers, $1::smallint, ${TAG},
    steps${kept}${listed(values)}
  from input i${isContended ? LEAVING_OUT_LOSERS : ALL_CHANGED}${this.#timed(has, shard, wake)}`;
      },
      actorsOf: (bounds, shard) => this.#actorsOf(bounds, shard),
    });
  }

  /** The due rows of actors that wait for the clock after their turn, and of those that do so no longer. */
  #timed(has: PartCheck, shard: ShardTerms, wake: WakeWriting): string {
    const { due } = this.tables;
    // A turn may find its actor among what is due.
    const replaced = ` order by id
  on conflict (id${shard.key(due)}) do update set state = excluded.state, wake_at = excluded.wake_at, held_by = excluded.held_by`;
    return `${has(WAITS.name) ? this.#awaited('changed', wake, { whereThere: replaced }) : ''}${
      has(RESTS.name)
        ? `, ended as (
  delete from ${due} d using changed c where d.id = c.id and c.rests${shard.within(due, 'd')}
)`
        : ''
    }`;
  }

  #awaited(source: string, wake: WakeWriting, { unless = '', whereThere, further = {} }: DueOptions): string {
    return `, awaited as (
  insert into ${this.tables.due} (id, workspace_id, livemode, state, wake_at, held_by${listed(Object.keys(further))})
  select id, workspace_id, livemode, state, ${wake.at('wake_at')}, held_by${listed(Object.values(further))} from ${source} where wake_at is not null${unless}${whereThere}
)`;
  }

  /**
   * Joins the inserted rows `a` of the actors `c`, each looked up by its id. As a plain join the planner
   * reads all that lie between the lowest and the highest and compares each with each, quadratic in the
   * batch: 6 of 11 ms at 250 actors.
   */
  #actorsOf({ lowest, highest }: Bounds, shard: ShardTerms): string {
    const { inserts } = this.tables;
    const within = `a.id = c.id and a.id >= ${lowest} and a.id <= ${highest}`;
    if (shard.isDistributed)
      return `join ${inserts} a on ${within} and a.workspace_id = c.workspace_id${shard.within(inserts, 'a')}`;
    const columns = this.kind.actorColumnsForFacts.map((name) => `a.${name}`).join(', ');
    return `left join lateral (select ${columns} from ${inserts} a where ${within} limit 1) a on true`;
  }

  protected packed(draft: Draft) {
    // In the order of the view that shows a step by name (`life_steps`): the names were half of a journal's
    // size.
    const steps = draft.steps.map(({ event, from, to, at, attempt, effects }): readonly unknown[] => [
      event,
      from,
      to,
      at,
      attempt,
      effects,
    ]);
    return { context: leanContext(this.tables, draft), steps };
  }

  insertRow(draft: Draft, keep: () => number | null): InputRow {
    const { kind, tables } = this;
    const { after } = draft;
    const row = this.inputRow(draft);
    for (const { name, of } of tables.insertedOnlyWith ?? [])
      row[name] = of(after.snapshot.context, stateOf(after.snapshot));
    // An insert has no columns for them: they would be lost without a word.
    for (const fact of tables.kept)
      if (row[fact] !== undefined) throw new Error(`No ${kind.name} can be inserted with ${fact}.`);
    if (!isOnOwnTime(kind, after)) row.kept_by = keep();
    return row;
  }

  commitRow(draft: Draft, isKept: boolean): InputRow {
    const row = this.inputRow(draft);
    row.revision = draft.before?.revision;
    if (row.wake_at === null && !isKept) row.rests = true;
    return row;
  }

  /**
   * $2 is the lowest of the ids, $3 the highest: the bounds leave out the partitions of other days before
   * they are opened. With ninety days, opening all of them took 2 ms. Where tables are distributed $4 are the
   * workspaces.
   */
  load(isDistributed = false): string {
    const shard = isDistributed ? onNodes('$4::text[]') : ON_ONE_SERVER;
    const { inserts, revisions } = this.tables;
    return `select b.id, b.workspace_id, b.livemode, coalesce(t.state, b.state) as state,
  ${contextColumns(this.tables)}, case when t.revision is null then b.timers else t.timers end as timers,
  coalesce(t.revision, 1) as revision, coalesce(t.machine_version, b.machine_version) as machine_version
from unnest($1::text[]) i(id) ${lookUp(false, inserts, 'b', `b.id = i.id and b.id >= $2 and b.id <= $3${shard.within(inserts, 'b')}`)}
left join lateral (
  select * from ${revisions} l where l.email_id = b.id and l.email_id >= $2 and l.email_id <= $3${shard.within(revisions, 'l')}
  order by l.revision desc limit 1
) t on true`;
  }

  loadParameters(ids: readonly string[]): readonly Parameter[] {
    return [ids, ...boundsOf(ids)];
  }

  rowsOf(answered: readonly object[]): readonly ActorRow[] {
    return (answered as readonly StoredRow[]).map((row) => ({
      id: row.id,
      workspace_id: row.workspace_id,
      livemode: row.livemode,
      state: row.state,
      context: wholeContext(this.tables, row),
      timers: row.timers,
      revision: row.revision,
      machine_version: row.machine_version,
    }));
  }

  history(
    { id, revision, workspace_id }: Pick<ActorRow, 'id' | 'revision' | 'workspace_id'>,
    most: number,
  ): BoundStatement {
    return {
      sql: `select revision, steps from ${this.kind.journal} where actor_id = $1 and revision <= $2 and workspace_id = $3 order by revision desc limit ${most}`,
      parameters: [id, revision, workspace_id],
    };
  }

  left(most: number): string {
    return `select b.id from ${this.tables.inserts} b where b.id >= $1 and b.id > $2 and b.kept_by = $3
  and ${isUnchanged(this.tables, 'b', '$1')} order by b.id limit ${most}`;
  }

  sampled(sample: string): string {
    const { inserts, revisions } = this.tables;
    return `(select b.workspace_id, b.livemode, coalesce(t.state, b.state) as state from ${inserts} b ${sample}
       left join lateral (
         select l.state from ${revisions} l where l.email_id = b.id order by l.revision desc limit 1
       ) t on true) s`;
  }

  /** Waiting actors are in one table, and the turns that led to a rare end in another. */
  byState(isTimed: boolean): { readonly name: string; readonly id: string } {
    const { revisions, due } = this.tables;
    return isTimed
      ? { name: due, id: 'id' }
      : { name: `(select * from ${revisions} where ${TOOK_STEP})`, id: 'email_id' };
  }

  inState({ condition, isTimed, isIndexed, limit }: StateSearch): StateRelation | null {
    if (!isTimed && !isIndexed) return null;
    const { name, id } = this.byState(isTimed);
    const own = 'f.workspace_id = $1 and f.livemode = $2';
    const found = `select f.${id} as id from ${name} f
      where ${own} and f.${condition} and f.${id} < $3 and f.${id} >= $4 order by f.${id} desc limit ${limit}`;
    const kept = isTimed
      ? `union (${newestKeptSql(this.kind, this.tables, `${own} and f.${condition} and f.id < $3 and f.id >= $4`, limit)})`
      : '';
    return {
      cte: `with found as materialized ((${found}) ${kept})`,
      name: `(select n.* from found f join ${this.kind.table} n on n.id = f.id)`,
      condition,
    };
  }

  /** The table of what is due knows nothing of the kept ones. */
  waiting(columns: string, isIndexed: boolean): string {
    const { inserts, due } = this.tables;
    const lowest = lowestMarkSql(this.kind);
    return `(select ${columns} from ${due}${isIndexed ? '' : ' where wake_at is not null'} union all select ${columns} from ${inserts} b where b.id >= ${lowest} and b.kept_by is not null
  and ${isUnchanged(this.tables, 'b', lowest)}) waiting`;
  }
}

const listed = (names: readonly string[]): string => names.map((name) => `, ${name}`).join('');

interface DueOptions {
  readonly unless?: string;
  readonly whereThere: string;
  /** Further columns, each as SQL over those of the source. */
  readonly further?: Readonly<Record<string, string>>;
}

const ALL_CHANGED = `
), changed as not materialized (select * from input)`;

const LEAVING_OUT_LOSERS = `
  on conflict do nothing
  returning email_id as id
), changed as materialized (
  select * from input where (id in (select id from turned)) is true
)`;
