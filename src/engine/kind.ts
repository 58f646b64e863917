import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import type { IdPrefix } from '../db/ids.ts';

/** One actor as the engine holds it: the row's machine columns, decoded. */
export interface Actor {
  readonly id: string;
  readonly workspaceId: string;
  readonly livemode: boolean;
  readonly snapshot: AnyMachineSnapshot;
  /** Rises by one with every write; a write holds only where it is still the one decided upon. */
  readonly revision: number;
  /** Pending `after` timers: XState's id → due moment (epoch ms). */
  readonly timers: Readonly<Record<string, number>>;
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

/** A narrow column kept beside the snapshot and derived from it on every write. */
export interface DerivedColumn {
  readonly name: string;
  readonly type: string;
  of(context: never, state: string): unknown;
}

/** Rows that effects turn into, written by the commit of the transition that returned them. */
export interface FactTable {
  /** Name of the CTE. */
  readonly name: string;
  /** Columns of the rows, which are a JSON list in their actor's row of the input; `actor` (the id) is added by the engine. */
  readonly columns: string;
  /**
   * SQL of a data-modifying statement. `source` is a relation of the rows whose actor really changed, with
   * the actor's `workspace_id`, `livemode` and carried columns beside them.
   */
  sql(source: string): string;
}

/**
 * Actors of another kind that come into being in this kind's commits: however many its facts call for, in the same
 * statement, so that there is neither without the other.
 */
export interface Offspring {
  readonly kind: Kind;
  /** The input of the new actors' machine. All of one commit begin alike; what tells them apart are their own columns. */
  input(at: number): unknown;
  /**
   * SQL of the insert, which may read the CTEs of the fact tables. `seed` is a relation of one row: state, context,
   * timers, wake_at and machine_version. Returns id, workspace_id and livemode.
   */
  sql(seed: string): string;
  /** Whether the commit answers the new actors, so that their orders are performed at once and not when the clock finds them. */
  readonly performedAtOnce: boolean;
}

/**
 * What an effect means: rows of fact tables; an event for an actor of the kind `mail` names; or an order to perform
 * once the commit has returned.
 */
export type EffectMeaning =
  | { readonly fact: string; rows(params: never, actor: Actor, at: number): readonly object[] }
  | {
      readonly mail: string;
      to(params: never, actor: Actor): { readonly id: string; readonly event: ActorEvent };
    }
  | { readonly order: true };

/** Columns and tables that are written once, when the actor is spawned. */
export interface SpawnShape {
  /** Further columns of the input, as SQL: `name text, …`. */
  readonly columns: string;
  /** Those of them that belong to the actor's own table. */
  readonly own: readonly string[];
  /** Further inserts; `source` is a relation of the admitted input rows. */
  readonly also: readonly ((source: string) => string)[];
}

/** A kind of actor: its machine, its table, and what its effects mean. One per resource, in its `kind.ts`. */
export interface Kind {
  readonly name: string;
  readonly table: string;
  readonly idPrefix: IdPrefix;
  readonly machine: AnyStateMachine;
  readonly version: number;
  readonly derived: readonly DerivedColumn[];
  readonly spawn: SpawnShape;
  /** Columns of the actor's row that the fact tables' SQL reads besides its id. */
  readonly carried: readonly string[];
  readonly facts: readonly FactTable[];
  readonly offspring?: Offspring;
  /** Where the actor's transitions are written down, in the commit that made them. */
  readonly journal: string;
  /** Whether other actors write to this kind: its commits then consume their mail. */
  readonly receivesMail?: boolean;
  /** Total over the machine's effects. */
  readonly effects: Readonly<Record<string, EffectMeaning>>;
}

/** The state's name. Machines here are flat: a nested value would need a column of its own. */
export const stateOf = (snapshot: AnyMachineSnapshot): string => snapshot.value as string;

/** Whether actors of the kind ever wait for the clock. */
export const hasTimers = ({ machine }: Kind): boolean =>
  Object.values(machine.states).some(({ after }) => after.length > 0);
