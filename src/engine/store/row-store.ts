import type { Parameter } from '../../platform/db/database.ts';
import { ON_ONE_SERVER, onNodes, type ShardTerms } from '../../platform/db/distribution/terms.ts';
import type { Draft } from '../machine/draft.ts';
import type { ActorRow } from '../machine/storage.ts';
import { ACTOR_COLUMNS, definitionColumn, readColumns } from './actor-columns.ts';
import { ActorStore, type InputRow, type StateRelation, type StateSearch } from './actor-store.ts';
import { hasNoTurn, isKeptSql } from './local-leases-sql.ts';
import {
  actorColumnsForFacts,
  type BatchStatement,
  type BoundStatement,
  derivedNames,
  each,
  TAG,
} from './statements/statement-parts.ts';
import {
  type CommitOptions,
  commitStatement,
  type InsertOptions,
  insertStatement,
  unhandled,
} from './statements/statements.ts';
import type { WakeWriting } from './statements/wake-at.ts';

/**
 * Actors as one row each, which every write changes, with a row in a journal beside it. A commit locks the
 * rows of its batch and compares their revisions. An actor that waits for the clock has `wake_at` in its row.
 */
export class RowStore extends ActorStore {
  readonly actorTable = this.kind.table;
  protected readonly dueTable = this.kind.table;
  protected readonly dueColumns = { found: readColumns(this.kind), claimed: readColumns(this.kind) };
  readonly keepsLeases = this.kind.keepsChildren === true;
  readonly holds = false;
  readonly isLookedForOften = false;
  readonly revisionKeyIn = null;
  readonly forgetStray = null;
  readonly listeners = null;

  insert(wake: WakeWriting, options: InsertOptions = {}): BatchStatement {
    const { kind } = this;
    const own = each([...kind.spawn.insertColumns, ...definitionColumn(kind)], (name) => `, ${name}`);
    return insertStatement(kind, wake, options, {
      derived: kind.derived,
      columns: '',
      inserted: (shard) => `, spawned as (
  insert into ${kind.table}
    (${ACTOR_COLUMNS.join(', ')}${derivedNames(kind)}${own})
  select id, workspace_id, livemode, state, context, timers, ${wake.at('wake_at')}, 1, $1::smallint${derivedNames(kind)}${own}
  from admitted
), journaled as (
  insert into ${kind.journal} (actor_id, revision, commit_tag, steps${shard.column(kind.journal)}) select id, 1, ${TAG}, steps${shard.value(kind.journal, 'admitted')} from admitted
)`,
      isTermOpen: 'null',
    });
  }

  /**
   * The rows are locked in id order before anything is written: contending batches that lock in any other
   * order deadlock (measured: 1,374 wins and six deadlocks against 224,447 and none). The join keeps the
   * revision check true after the wait for a lock: PostgreSQL evaluates it again on the row as it is then.
   */
  commit(wake: WakeWriting, options: CommitOptions = {}): BatchStatement {
    const { kind } = this;
    const { withoutRevisionCheck = false } = options;
    const copied = ['state', 'context', 'timers', ...kind.derived.map(({ name }) => name)]
      .map((name) => `${name} = l.${name}`)
      .join(', ');
    const assignments = `${copied}, wake_at = ${wake.at('l.wake_at')}`;
    return commitStatement(kind, wake, options, {
      parts: [],
      columns: '',
      listeners: null,
      mayLose: true,
      changed: ({ has, shard, carried }) => {
        const condition = `a.id = i.id${withoutRevisionCheck ? '' : ' and a.revision = i.revision'}${unhandled(has)}`;
        return `${this.#locked(shard, condition)}${wake.cte}, changed as (
  update ${kind.table} a
  set ${assignments}, revision = a.revision + 1, machine_version = $1::smallint
  from locked l where a.id = l.id${shard.within(kind.table, 'a')}
  returning a.id, a.revision, a.workspace_id, a.livemode${actorColumnsForFacts(kind, 'a')}${each(carried, (name) => `, l.${name}`)}
), journaled as (
  insert into ${kind.journal} (actor_id, revision, commit_tag, steps${shard.column(kind.journal)})
  select id, revision, ${TAG}, steps${shard.value(kind.journal, 'changed')} from changed${withoutRevisionCheck ? ' on conflict do nothing' : ''}
)`;
      },
      actorsOf: () => null,
    });
  }

  /**
   * The rows of the input whose actors are locked, in id order, and as they were decided upon. Where tables
   * are distributed the lock is a query of one table: Citus reads the result of a lock beside a join in
   * another form than it wrote.
   */
  #locked(shard: ShardTerms, condition: string): string {
    const { table } = this.kind;
    return shard.isDistributed
      ? `, held as materialized (
  select a.id, a.revision from ${table} a where a.id = any(array(select id from input))${shard.within(table, 'a')}
  order by a.id for update
), locked as materialized (
  select i.* from input i join held a on ${condition}
)`
      : `, locked as materialized (
  select i.* from input i
  join ${table} a on ${condition}
  order by a.id for update of a
)`;
  }

  protected packed({ after, steps }: Draft) {
    return { context: after.snapshot.context, steps };
  }

  insertRow(draft: Draft): InputRow {
    return this.inputRow(draft);
  }

  commitRow(draft: Draft): InputRow {
    const row = this.inputRow(draft);
    row.revision = draft.before?.revision;
    return row;
  }

  /** $2 are the workspaces of the actors where tables are distributed. */
  load(isDistributed = false): string {
    const { kind } = this;
    const shard = isDistributed ? onNodes('$2::text[]') : ON_ONE_SERVER;
    return `select ${readColumns(kind)}
from unnest($1::text[]) i(id) join ${kind.table} a on a.id = i.id${shard.within(kind.table, 'a')}`;
  }

  loadParameters(ids: readonly string[]): readonly Parameter[] {
    return [ids];
  }

  rowsOf(answered: readonly object[]): readonly ActorRow[] {
    return answered as readonly ActorRow[];
  }

  /** Not every journal has the workspace, and some have it only where tables are distributed. */
  history({ id, revision }: Pick<ActorRow, 'id' | 'revision'>, most: number): BoundStatement {
    return {
      sql: `select revision, steps from ${this.kind.journal} where actor_id = $1 and revision <= $2 order by revision desc limit ${most}`,
      parameters: [id, revision],
    };
  }

  left(most: number): string {
    return `select a.id from ${this.kind.table} a where a.id >= $1 and a.id > $2 and a.kept_by = $3 and ${hasNoTurn('a')} order by a.id limit ${most}`;
  }

  readonly tablesByState = [this.kind.table];
  readonly examinedAtOnce = 20_000;

  sampled(sample: string): string {
    return `${this.kind.table} ${sample}`;
  }

  byState(): { readonly name: string; readonly id: string } {
    return { name: this.kind.table, id: 'id' };
  }

  inState({ condition, isTimed, isIndexed }: StateSearch): StateRelation | null {
    const { kind, examinedAtOnce: most } = this;
    if (isIndexed) return { cte: '', name: kind.table, condition };
    if (!isTimed) return null;
    const waits = `select * from ${kind.table} where wake_at is not null and ${condition} limit ${most}`;
    // The index on wake-up times lacks the rows that instances keep.
    const kept = `select * from ${kind.table} a where ${isKeptSql(kind, 'a')} and ${condition} limit ${most}`;
    const waiting = this.keepsLeases ? `(${waits}) union all (${kept})` : waits;
    return { cte: `with waiting as materialized (${waiting})`, name: 'waiting', condition };
  }

  /** An index on the state has the kept ones as well. */
  waiting(columns: string, isIndexed: boolean): string {
    const { kind } = this;
    if (isIndexed) return `(select ${columns} from ${kind.table}) waiting`;
    const waiting = `select ${columns} from ${kind.table} where wake_at is not null`;
    const kept = `select ${columns} from ${kind.table} a where ${isKeptSql(kind, 'a')}`;
    return this.keepsLeases ? `(${waiting} union all ${kept}) waiting` : `(${waiting}) waiting`;
  }
}
