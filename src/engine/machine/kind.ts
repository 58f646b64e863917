import type { AnyStateMachine } from 'xstate';
import type { Catalogue } from '../../../machines/catalogue.ts';
import type { ContextOf, EffectOf, EventOf, InputOf } from '../../../machines/names.ts';
import type { ShardTerms } from '../../platform/db/distribution/terms.ts';
import type { IdPrefix } from '../../platform/db/ids.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import type { DerivedColumn, HistoryTables, PartCheck, SpawnRule } from './storage.ts';

/**
 * The kinds of an engine, each with its machine and the states that are stored. Declared by name, so that
 * `tell` and `spawn` know what a kind takes; tests declare theirs beside these.
 */
export interface Kinds extends Catalogue {}

export type KindName = keyof Kinds & string;
export type EventOfKind<Name extends KindName> = EventOf<Kinds[Name]['machine']>;
export type InputOfKind<Name extends KindName> = InputOf<Kinds[Name]['machine']>;
export type ContextOfKind<Name extends KindName> = ContextOf<Kinds[Name]['machine']>;
/** The states that a kind is stored in. */
export type StateOfKind<Name extends KindName> = Kinds[Name]['states'][number];

/** The state of an actor. The machine is flat, so a state has a name. */
export interface Snapshot {
  readonly value: string;
  readonly context: unknown;
  readonly status: 'active' | 'done';
}

/** One actor as the engine holds it: the row's machine columns, decoded. */
export interface Actor {
  readonly id: string;
  readonly workspaceId: string;
  readonly livemode: boolean;
  readonly snapshot: Snapshot;
  /** Rises by one with every write; a write holds only where it is still the one decided upon. */
  readonly revision: number;
  /** Pending `after` timers: XState's id → due moment (epoch ms). */
  readonly timers: Readonly<Record<string, number>>;
  /** The definition whose machine it runs, for all its life; none: the kind's own machine. */
  readonly definitionId?: string | undefined;
}

/** An event as a machine takes it; `at` is the moment it happened (epoch ms). */
export interface ActorEvent {
  readonly type: string;
  readonly at: number;
}

/** An action that a transition returned, with its parameters resolved. */
export interface Effect {
  readonly type: string;
  readonly params: unknown;
}

/** Rows that effects turn into, written by the commit of the transition that returned them. */
export interface FactTable {
  readonly name: string;
  /**
   * Columns of the rows, which are a JSON list in their actor's row of the input; `actor` (the id) is added
   * by the engine.
   */
  readonly columns: string;
  /**
   * SQL of a statement. `source` is a relation of the rows whose actor really changed, with the actor's
   * `workspace_id`, `livemode` and `actorColumnsForFacts` beside them, these of a life only if it
   * `readsActor`. Null: the rows lie in the turn alone.
   */
  readonly sql: ((source: string, shard: ShardTerms) => string) | null;
  readonly followedBy?: string; // Further CTEs with their names, which may read the relations of this fact and those before it.
  readonly readsActor?: true; // The rows need columns of the actor; a history store reads its inserted row for them.
  /**
   * The column that names the topic of a row, where only listeners need the rows: its statement is then a
   * query that writes nothing, and a commit whose topics have no listener goes without it (`topics.ts`).
   */
  readonly topic?: string;
}

/**
 * A write of another module in this kind's commits, from the rows of one of its facts: in the same statement,
 * so that there is neither without the other.
 */
export interface FollowingWrite {
  /** The fact whose rows it reads, as `FactTable.sql` does. */
  readonly fact: string;
  readonly name: string;
  /**
   * True for a row of the fact that needs the write: a batch without such a row goes without it. Absent, all
   * rows need it.
   */
  isFor?(row: Readonly<Record<string, unknown>>): boolean;
  /**
   * SQL of a data-modifying statement, or of a query that others of them read. `has` returns true for the
   * names of the others that are present.
   */
  sql(source: string, has: PartCheck): string;
  readonly isMaterialized?: true; // A query that is run by itself, and not as a part of the one that reads it.
  /**
   * For a fact with topics: an SQL condition that may hold wherever a topic has a listener, as
   * `ChildSpec.listens`. Absent, every topic has one.
   */
  listens?(topic: string): string;
}

/**
 * Actors of another kind that are made in this kind's commits: however many its facts call for, in the same
 * statement, so that there is neither without the other.
 */
export interface ChildSpec {
  readonly kind: Kind;
  readonly fact: string; // The fact whose rows they are made from: a commit without any makes none.
  readonly reads?: string; // Another fact that their SQL reads, which has rows wherever the first one has.
  /**
   * The input of the new actors' machine. All of one commit begin alike, and differ only in their columns.
   */
  input(at: number): unknown;
  /**
   * SQL of the insert, which may read the CTEs of the fact tables. `template` is a relation of one row:
   * state, context, timers, wake_at, machine_version, and `not_before`, which no other wake_at may lie before
   * (null: any may). Returns id, workspace_id and livemode.
   */
  sql(template: string, shard: ShardTerms): string;
  /**
   * For a fact with topics: an SQL condition that holds wherever an actor may be made from rows of a topic,
   * over the relation `topic` of workspace_id, livemode and about. The commit itself asks it. Absent, every
   * topic may have one.
   */
  listens?(topic: string): string;
  /**
   * True when the commit answers the new actors, so that their orders are performed at once and not when the
   * clock finds them.
   */
  readonly performedAtOnce: boolean;
  /**
   * For children that their instance may keep (`Kind.keepsChildren`): the lowest possible id of a child from
   * a row of the fact.
   */
  lowestId?(row: Readonly<Record<string, unknown>>): string;
  readonly brings?: boolean; // The answer has a text `brought` besides, which comes with the orders (`Order.payload`) and spares a read.
}

/** Rows of a fact table. */
export interface FactRows<Params> {
  readonly fact: string;
  rows(params: Params, actor: Actor, at: number): readonly object[];
}

/**
 * The meaning of an effect: rows of fact tables; an event for another actor, by the outbox; or an order to
 * perform once the commit has returned.
 */
export type EffectMeaning<Params = never> =
  | ({ readonly also?: readonly FactRows<Params>[] } & FactRows<Params>)
  | {
      /** The kind of the other actor. */
      readonly notify: string;
      to(params: Params, actor: Actor): { readonly id: string; readonly event: ActorEvent };
    }
  | { readonly order: true };

/**
 * The meanings of a machine's effects: total over their names, each with the parameters that the machine
 * gives it.
 */
export type EffectMeanings<M extends AnyStateMachine> = {
  readonly [Name in EffectOf<M>['type']]: EffectMeaning<
    Exclude<Extract<EffectOf<M>, { type: Name }>['params'], null>
  >;
};

/** Columns and tables that are written once, when the actor is spawned. */
export interface SpawnShape {
  /** Further columns of the input, as SQL: `name text, …`. */
  readonly columns: string;
  /** Those of them that belong to the actor's own table. */
  readonly insertColumns: readonly string[];
  /** Further writes; `source` is a relation of the admitted input rows. */
  readonly insertInto: readonly ((source: string) => string)[];
  readonly rules?: readonly SpawnRule[]; // The conditions of other modules.
}

/**
 * Actors that wait for their performer to have room. One that is due is handed over as an order, without a
 * write: however long it waits, its journal does not grow. Its performer begins by telling it so; until then
 * the actor offers itself again and again.
 */
export interface Offers {
  /** Which of the kind's due rows they are, as SQL. */
  readonly where: string;
  is(actor: Actor): boolean;
  /**
   * The SQL condition of actors that no caller waits for: they are claimed apart, with separate room, and
   * keep no others waiting.
   */
  readonly bulk?: string;
  /** The effect whose order is handed over. */
  readonly effect: string;
}

/** A kind of actor: its machine, its table, and what its effects mean. Made by `defineKind`. */
export interface Kind {
  readonly name: string;
  readonly table: string;
  /** The tables of its actors where their lives are appended; `table` is then a view. */
  readonly history?: HistoryTables;
  readonly idPrefix: IdPrefix;
  readonly machine: AnyStateMachine;
  /**
   * True when an actor may run another machine than the kind's own: the one of a definition, named by the
   * table's nullable column `definition_id`. The kind's own machine then says which events and effects there
   * are.
   */
  readonly hasDefinitions?: true;
  /** The states that its actors are stored in. */
  readonly states: readonly string[];
  readonly version: number;
  readonly derived: readonly DerivedColumn[];
  readonly spawn: SpawnShape;
  /** Columns of the actor's row that the fact tables' SQL reads besides its id. */
  readonly actorColumnsForFacts: readonly string[];
  readonly facts: readonly FactTable[];
  /** The children that its commits make, the spawning commit included. */
  readonly children: readonly ChildSpec[];
  /** The writes of other modules in its commits. */
  readonly followers?: readonly FollowingWrite[];
  readonly offers?: Offers;
  /**
   * The delays of its machine that may be without end: an actor that waits by nothing else has no wake-up
   * time.
   */
  readonly openEnded?: readonly string[];
  /** True of a context whose actor lives by another time than the clock's: see `isOnOwnTime`. */
  hasOwnTime?(context: unknown): boolean;
  /**
   * The states in which a performer is at work: its outcome comes long before the next timer, and needs no
   * reading.
   */
  readonly underWay?: readonly string[];
  /**
   * The table of the actor's transitions, written by the commits that make them; a view where its life is
   * appended.
   */
  readonly journal: string;
  /**
   * True when its table has a column `kept_by`: actors that other kinds' commits make, and whose orders are
   * performed at once, are then kept by their instance, and unknown to the clock, as long as they have had no
   * turn (local-leases.ts).
   */
  readonly keepsChildren?: true;
  /** True when other actors write to this kind: its commits then delete them from the outbox. */
  readonly receivesEvents?: boolean;
  readonly effects: Readonly<Record<string, EffectMeaning>>;
}

/** The fact with a name. @throws when the kind has none: the name in a follower is wrong */
export function factOf({ name, facts }: Kind, fact: string): FactTable {
  const table = facts.find((each) => each.name === fact);
  if (!table) throw new Error(`${fact} is no fact of ${name}.`);
  return table;
}

/** A kind that knows the types of its machine. */
export interface KindOf<M extends AnyStateMachine, State extends string = string> extends Kind {
  readonly machine: M;
  readonly states: readonly State[];
  readonly derived: readonly DerivedColumn<ContextOf<M>, State>[];
  readonly effects: EffectMeanings<M>;
}

/**
 * A kind, held to its machine: an effect without a meaning does not compile. One per resource, in its
 * `kind.ts`.
 */
export const defineKind = <M extends AnyStateMachine, State extends string>(
  kind: KindOf<M, State>,
): KindOf<M, State> => kind;

/**
 * Written by a newer version of the service, whose machine has names or meanings that this one does not know.
 */
export const newer = (name: string): UnavailableError =>
  new UnavailableError(`A newer version of the service has written "${name}". Update this instance.`);

/** True when it is a state that the kind's actors are stored in. */
export const isStateOf = <State extends string>(
  { states }: { readonly states: readonly State[] },
  text: string,
): text is State => (states as readonly string[]).includes(text);

/**
 * A state as a row has it: nothing behind this has to expect a name that it does not know. @throws
 * UnavailableError
 */
export function decodeState<State extends string>(
  kind: { readonly states: readonly State[] },
  text: string,
): State {
  if (!isStateOf(kind, text)) throw newer(text);
  return text;
}

/** The value for a stored name in a table that is total over a machine's names. @throws UnavailableError */
export function decidedFor<Value>(table: Readonly<Record<string, Value>>, text: string): Value {
  const value = Object.hasOwn(table, text) ? table[text] : undefined;
  if (value === undefined) throw newer(text);
  return value;
}

/** The state's name. */
export const stateOf = ({ value }: Pick<Snapshot, 'value'>): string => value;

/** Names of states, which come from a machine's definition, as an SQL list. */
export const stateList = (states: readonly string[]): string =>
  states.map((state) => `'${state.replaceAll("'", "''")}'`).join(', ');

/** The states that a total choice over them takes. */
export const statesWhere = <State extends string>(
  chosen: Readonly<Record<State, boolean>>,
): readonly State[] => (Object.keys(chosen) as State[]).filter((state) => chosen[state]);
