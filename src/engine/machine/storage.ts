/** A narrow column kept beside the snapshot and derived from it on every write. */
export interface DerivedColumn<Context = never, State extends string = string> {
  readonly name: string;
  readonly type: string;
  of(context: Context, state: State): unknown;
}

/**
 * A member of the context and the column that holds it: a text, or a moment in whole milliseconds; or null.
 */
export interface MemberInColumn {
  readonly member: string;
  readonly column: string;
  readonly isMoment: boolean;
}

/**
 * The storage of actors whose rows are never rewritten: a row for the insert, a row for each later write,
 * and a due row while they wait for the clock.
 */
export interface HistoryTables {
  readonly inserts: string;
  readonly revisions: string;
  readonly due: string;
  /**
   * Further columns of its row among what is due, as SQL over the columns of the insert's input. They never
   * change.
   */
  readonly dueWith?: Readonly<Record<string, string>>;
  /** Derived columns that inserts have as well. */
  readonly insertedWith: readonly string[];
  /**
   * Derived columns of inserts alone. The process writes the values that it knows: PostgreSQL would read the
   * context once more for them.
   */
  readonly insertedOnlyWith?: readonly DerivedColumn<unknown>[];
  /** Further columns of an insert, as SQL over the columns of the input. */
  readonly computedAtInsert?: Readonly<Record<string, string>>;
  /**
   * Facts whose rows lie in the turn, as JSON in a column of the fact's name. No actor is inserted with one.
   */
  readonly kept: readonly string[];
  /** Members of the context that never change: they lie in the insert alone. */
  readonly constants: readonly string[];
  /**
   * Members of the context that lie in derived columns, and are read from there. Those without a column in
   * inserts are null in most.
   */
  readonly inColumns: readonly MemberInColumn[];
  /**
   * Further members that are null at most inserts: null is read where neither the insert nor its latest turn
   * has them.
   */
  readonly nullAtFirst: readonly string[];
  /** Further columns of a turn, each as SQL over the rows of the fact `of`; null in a turn that has none. */
  readonly computed: Readonly<Record<string, { readonly of: string; readonly sql: string }>>;
}

/**
 * A condition on some new actors, checked in the statement that writes them: the purpose of the actors may be
 * fulfilled, or stopped, since the request. Actors for which it does not hold are withheld; nothing of them
 * is written, and they take no quota.
 */
export interface SpawnCondition {
  readonly name: string;
  /** SQL over the input: the actors that are judged. */
  readonly judged: string;
  /**
   * SQL of a query that answers `ord` of those for whom it holds, and may lock rows until they are written.
   */
  sql(input: string): string;
}

/**
 * The condition of another module on some new actors of a kind, and its writes with them. A batch in which
 * the first column is null throughout has none that it is about.
 */
export interface SpawnRule {
  /** Further columns of the input: `name text, …`. Null for actors that are none of its business. */
  readonly columns: string;
  readonly conditions: readonly SpawnCondition[];
  /** Further writes; `admitted` is a relation of the admitted input rows. */
  readonly writes: readonly ((admitted: string) => string)[];
}

/** Tells whether a form of a statement has a part. */
export type PartCheck = (part: string) => boolean;

/** A row as the load, claim and spawn statements answer it. */
export interface ActorRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly state: string;
  readonly context: unknown;
  readonly timers: Readonly<Record<string, number>> | null;
  readonly revision: number;
  readonly machine_version: number;
  /** For kinds with definitions. */
  readonly definition_id?: string | null;
}
