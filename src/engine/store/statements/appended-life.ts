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
 * The storage of actors whose rows are never rewritten: a row for the birth, a row for each turn of the life,
 * and a due row while they wait for the clock.
 */
export interface AppendedLife {
  readonly births: string;
  readonly turns: string;
  readonly due: string;
  /** Further columns of its row among what is due, as SQL over the columns of the birth's input. They never change. */
  readonly dueWith?: Readonly<Record<string, string>>;
  /** Derived columns that births have as well. */
  readonly bornWith: readonly string[];
  /**
   * Derived columns of births alone. The process writes the values that it knows: PostgreSQL would read the
   * context once more for them.
   */
  readonly bornOnlyWith?: readonly DerivedColumn<unknown>[];
  /** Further columns of a birth, as SQL over the columns of the input. */
  readonly computedAtBirth?: Readonly<Record<string, string>>;
  /** Facts whose rows lie in the turn, as JSON in a column of the fact's name. No actor is born with one. */
  readonly kept: readonly string[];
  /** Members of the context that never change: they lie in the birth alone. */
  readonly constants: readonly string[];
  /**
   * Members of the context that lie in derived columns, and are read from there. Those without a column in
   * births are null in most.
   */
  readonly inColumns: readonly MemberInColumn[];
  /** Further members that are null at most births: null is read where neither the birth nor its latest turn has them. */
  readonly nullAtFirst: readonly string[];
  /** Further columns of a turn, each as SQL over the rows of the fact `of`; null in a turn that has none. */
  readonly computed: Readonly<Record<string, { readonly of: string; readonly sql: string }>>;
}
