import type { Parameter } from '../../platform/db/database.ts';
import { ON_ONE_SERVER, onNodes } from '../../platform/db/distribution/terms.ts';
import { WHOLE_CALL } from '../../platform/db/stored-replies.ts';
import { type Draft, meaningOf, wakeAtOf } from '../machine/draft.ts';
import { type FactRows, type Kind, stateOf } from '../machine/kind.ts';
import type { Claim } from '../machine/result.ts';
import type { ActorRow } from '../machine/storage.ts';
import type { BatchStatement, BoundStatement } from './statements/statement-parts.ts';
import type { CommitOptions, InsertOptions } from './statements/statements.ts';
import type { ListenerQuery } from './statements/topics.ts';
import type { WakeWriting } from './statements/wake-at.ts';

/** A row of a statement's input. It is new, and its owner adds members to it. */
export type InputRow = Record<string, unknown>;

/** SQL of a relation of actors in one state. */
export interface StateRelation {
  /** A CTE that the relation reads; empty without any. */
  readonly cte: string;
  readonly name: string;
  readonly condition: string;
}

/** A state, and the indexes that find its actors. */
export interface StateSearch {
  readonly condition: string;
  /** Actors in the state wait for a timer. */
  readonly isTimed: boolean;
  /** An index begins with the workspace and the state. */
  readonly isIndexed: boolean;
  /** The most rows of a page. */
  readonly limit: number;
}

/**
 * The SQL of one kind, and the form of its rows. There are two: `RowStore` keeps one row for each actor and
 * rewrites it, `HistoryStore` appends a row for each write. `storeOf` chooses by the kind; no other code
 * knows how a kind is stored.
 */
export abstract class ActorStore {
  constructor(readonly kind: Kind) {}

  /** The table with one row for each actor, from its insert on, and with its workspace. */
  abstract readonly actorTable: string;
  /** The table that has `wake_at` of the actors that wait for the clock. */
  protected abstract readonly dueTable: string;
  /** The columns of a due actor `a`, and those that a claim answers. */
  protected abstract readonly dueColumns: { readonly found: string; readonly claimed: string };
  /**
   * True when instances may keep new actors that they carry out at once, without a place among what is due.
   */
  abstract readonly keepsLeases: boolean;
  /** True when the due row of an actor has the epoch of the instance that holds it (`held_by`). */
  abstract readonly holds: boolean;
  /**
   * True when callers wait for actors that other processes leave to this one: the scheduler looks for them
   * more often.
   */
  abstract readonly isLookedForOften: boolean;
  /**
   * The table in which the second of two commits of one revision finds its key taken, so that the rows of a
   * batch come in the order of their ids. Null where a commit locks the rows first.
   */
  abstract readonly revisionKeyIn: string | null;
  /**
   * Removes those of the ids in $1 from what is due that have no actor. Null where the due row is the actor
   * itself.
   */
  abstract readonly forgetStray: string | null;

  /** The statement that writes new actors. */
  abstract insert(wake: WakeWriting, options?: InsertOptions): BatchStatement;
  /** The statement that writes changed actors. */
  abstract commit(wake: WakeWriting, options?: CommitOptions): BatchStatement;
  /** The question for listeners to a fact of the kind; null where each commit writes for all readers. */
  abstract readonly listeners: ListenerQuery | null;

  /** The context and the steps of a draft as its row holds them. */
  protected abstract packed(draft: Draft): { readonly context: unknown; readonly steps: readonly unknown[] };

  /** A draft as a row of the input: the actor's new columns and all it brings along. */
  inputRow(draft: Draft): InputRow {
    const { after, outbox, claim, steps } = draft;
    const state = stateOf(after.snapshot);
    const context = after.snapshot.context as never;
    const packed = this.packed(draft);
    const row: InputRow = {
      id: after.id,
      workspace_id: after.workspaceId,
      livemode: after.livemode,
      state,
      context: packed.context,
      timers: Object.keys(after.timers).length > 0 ? after.timers : null,
      wake_at: wakeAtOf(this.kind, after),
      steps: packed.steps,
    };
    for (const column of this.kind.derived) row[column.name] = column.of(context, state);
    addFacts(this.kind, draft, row);
    if (outbox.length > 0)
      row.outbox = outbox.map(({ id, kind: to_kind, to, event }) => ({ id, to_kind, to_id: to, event }));
    return claim ? { ...row, ...claimColumns(claim, state, context, steps.at(-1)?.at ?? 0) } : row;
  }

  /**
   * The row of a new actor. `keep` returns the term of the instance that keeps it, null where the clock has
   * to.
   */
  abstract insertRow(draft: Draft, keep: () => number | null): InputRow;
  /** The row of a changed actor. `isKept`: this instance keeps it, and it has no place among what is due. */
  abstract commitRow(draft: Draft, isKept: boolean): InputRow;

  /** Reads the actors of the ids in $1; `isDistributed`: the last parameter has their workspaces. */
  abstract load(isDistributed?: boolean): string;
  abstract loadParameters(ids: readonly string[]): readonly Parameter[];
  /** The actors that `load` answers. */
  abstract rowsOf(answered: readonly object[]): readonly ActorRow[];

  /** The writes of an actor up to a revision, newest first. */
  abstract history(actor: Pick<ActorRow, 'id' | 'revision' | 'workspace_id'>, most: number): BoundStatement;

  /**
   * The workspaces of the ids in $1. Where tables are distributed it asks every node for those of unknown
   * workspace.
   */
  whose(): string {
    return `select id, workspace_id from ${this.actorTable} where id = any($1::text[])`;
  }

  /**
   * The tags of the commits that made the revisions in $1, to find the outcome of a commit whose reply was
   * lost. The journal knows, however far the actor has moved on since. Where tables are distributed $2 are
   * their workspaces.
   */
  readBack(isDistributed = false): string {
    const { journal } = this.kind;
    const shard = isDistributed ? onNodes('$2::text[]') : ON_ONE_SERVER;
    return `select j.actor_id as id, j.commit_tag as tag
from json_to_recordset($1::text::json) as i(id text, revision integer)
join ${journal} j on j.actor_id = i.id and j.revision = i.revision${shard.within(journal, 'j')}`;
  }

  /**
   * Finds what `claim` would claim, and leaves it as it is. Rows that others have locked are skipped, since a
   * commit would wait for them with all of its batch: 1 µs a row, where a claim takes 28.
   */
  due(where?: string): string {
    return `select ${this.dueColumns.found}, (extract(epoch from a.wake_at) * 1000)::float8 as due_at
from ${this.dueTable} a
where a.wake_at >= $3::timestamptz and a.wake_at <= $1::timestamptz${also(where)}
order by a.wake_at limit $2::integer for update skip locked`;
  }

  /**
   * Claims actors whose wake_at has come ($1) and is not before $4, at most $2, by moving it to $3: another
   * instance skips them (SKIP LOCKED now, the new wake_at afterwards), and a claimer that dies loses nothing.
   * Returns each with its due moment. The CTE is a fence: without it the planner may repeat the LIMIT inside
   * a nested loop. `where` leaves out others of the kind. $5 is the epoch of the claimer, where the store has
   * a place for it.
   */
  claim(wake: WakeWriting, where?: string): string {
    return `with due as materialized (
  select id, wake_at from ${this.dueTable} where wake_at >= $4::timestamptz and wake_at <= $1::timestamptz${also(where)}
  order by wake_at limit $2::integer
  for update skip locked
)${wake.cte}
update ${this.dueTable} a set wake_at = ${wake.at('$3::timestamptz')}${this.holds ? ', held_by = $5::integer' : ''} from due where a.id = due.id
returning ${this.dueColumns.claimed}, (extract(epoch from due.wake_at) * 1000)::float8 as due_at`;
  }

  /**
   * Has what the instances of the epochs in $1 hold be due at once ($2), as far as it would be by itself up
   * to $3, at most $4; answers its number. Rows that others have locked are skipped: these are being written
   * just now, and a commit locks them in another order.
   */
  release(wake: WakeWriting): string {
    return `with held as materialized (
  select id from ${this.dueTable} where wake_at > $2::timestamptz and wake_at <= $3::timestamptz
    and held_by = any($1::text[]::integer[])
  limit $4::integer for update skip locked
)${wake.cte}, released as (
  update ${this.dueTable} a set wake_at = ${wake.at('$2::timestamptz')}, held_by = null from held where a.id = held.id returning a.id
)
select count(*)::integer as n from released`;
  }

  /**
   * The actors due up to $1 and not before $3, at most $2, each with its exact moment. It asks every node.
   */
  dueOnNodes(where?: string): string {
    return `select id, workspace_id, wake_at::text as seen, (extract(epoch from wake_at) * 1000)::float8 as due_at
from ${this.dueTable}
where wake_at >= $3::timestamptz and wake_at <= $1::timestamptz${also(where)}
order by wake_at limit $2::integer`;
  }

  /**
   * Claims those of the ids in $1, of workspaces in $4, that are due when they were seen to be ($2), by
   * moving that to $3: a quicker instance has moved it. It answers no moments: Citus takes nothing there that
   * a setting of the session has a part in.
   */
  claimOnNodes(wake: WakeWriting): string {
    const { within } = onNodes('$4::text[]');
    return `with seen as materialized (
  select id, wake_at from unnest($1::text[], $2::timestamptz[]) s(id, wake_at)
)${wake.cte}
update ${this.dueTable} a set wake_at = ${wake.at('$3::timestamptz')} from seen s where a.id = s.id and a.wake_at = s.wake_at${within(this.dueTable, 'a')}
returning ${this.dueColumns.found}`;
  }

  /** The earliest wake_at from one moment up to another, as epoch milliseconds. */
  nextDue(where?: string, from = '$1', to = '$2'): string {
    return `select (extract(epoch from min(wake_at)) * 1000)::float8 as at
from ${this.dueTable} where wake_at >= ${from}::timestamptz and wake_at <= ${to}::timestamptz${also(where)}`;
  }

  /**
   * The new actors that a closed instance ($3) has kept from its mark ($1) on, and behind $2, at most `most`.
   */
  abstract left(most: number): string;

  /** The tables whose indexes on the state find actors without a search. */
  abstract readonly tablesByState: readonly string[];
  /** The rows that a search without a fitting index examines in about 20 ms. */
  abstract readonly examinedAtOnce: number;
  /** A relation of the actors' workspace, mode and state, on the pages that `sample` chooses. */
  abstract sampled(sample: string): string;
  /** The relation, and its column of ids, that has the actors of a state without a search. */
  abstract byState(isTimed: boolean): { readonly name: string; readonly id: string };
  /**
   * Finds the actors in a state without a search; null where that takes one. Parameters: workspace, mode,
   * below, from.
   */
  abstract inState(search: StateSearch): StateRelation | null;
  /** The actors that wait for a timer, those that instances keep included, as a relation of these columns. */
  abstract waiting(columns: string, isIndexed: boolean): string;
}

const also = (where: string | undefined): string => (where === undefined ? '' : ` and ${where}`);

/** The parameters of `readBack`; `workspaces` where tables are distributed. */
export const readBackParameters = (
  isDistributed: boolean,
  items: readonly { readonly draft: Pick<Draft, 'after'> }[],
): readonly Parameter[] => [
  JSON.stringify(items.map(({ draft: { after } }) => ({ id: after.id, revision: after.revision }))),
  ...(isDistributed ? [[...new Set(items.map(({ draft: { after } }) => after.workspaceId))]] : []),
];

/** The columns of the reply that a commit stores with an actor. */
export const claimColumns = (
  claim: Claim,
  state: string,
  context: unknown,
  at: number,
): Record<string, unknown> => ({
  idem_workspace_id: claim.scope.workspaceId,
  idem_livemode: claim.scope.livemode,
  idem_key: claim.key,
  idem_item: claim.item ?? WHOLE_CALL,
  idem_fingerprint: claim.fingerprint,
  idem_status: claim.status,
  idem_reply: claim.reply(state, context),
  idem_at: new Date(at).toISOString(),
});

/** Adds the rows of the fact tables that a draft's effects turn into. */
export function addFacts(kind: Kind, { after, effects, steps }: Draft, row: Record<string, unknown>): void {
  const at = steps.at(-1)?.at ?? 0;
  const named = new Set<string>();
  const addRows = ({ fact, rows: rowsOf }: FactRows<never>, params: unknown): void => {
    const rows = rowsOf(params as never, after, at);
    if (rows.length === 0) return;
    row[fact] = named.has(fact) ? [...(row[fact] as object[]), ...rows] : rows;
    named.add(fact);
  };
  for (const { type, params } of effects) {
    const meaning = meaningOf(kind, type);
    if (!('fact' in meaning)) continue;
    addRows(meaning, params);
    for (const also of meaning.also ?? []) addRows(also, params);
  }
  for (const fact of named) row[fact] = inOrderOfIds(row[fact] as Record<string, unknown>[]);
  for (const { fact, name, isFor } of kind.followers ?? [])
    if (isFor && named.has(fact) && (row[fact] as Record<string, unknown>[]).some(isFor)) row[name] = true;
}

/**
 * Ids of one millisecond are in no order. One actor's facts get theirs ascending, so that the log reads as it
 * happened.
 */
function inOrderOfIds(rows: readonly Record<string, unknown>[]): readonly object[] {
  if (rows[0]?.id === undefined || isAscending(rows)) return rows;
  const ids = rows.map(({ id }) => id as string).sort();
  return rows.map((row, index) => ({ ...row, id: ids[index] }));
}

const isAscending = (rows: readonly Record<string, unknown>[]): boolean =>
  rows.every(({ id }, index) => index === 0 || (id as string) > (rows[index - 1]?.id as string));
