/** The rows that a search found in the part of the list that it looked at. */
export interface SearchPage<Row> {
  readonly rows: readonly Row[];
  /**
   * The last id that was looked at when the list goes on after it; null when the page is full or the list
   * ends.
   */
  readonly stoppedAt: string | null;
}

/** The list that a search goes through, by id; most of it may not match. */
export interface SearchableList<Row> {
  /** The id of the nth row from the beginning; null when there are fewer. */
  nth(count: number): Promise<string | null>;
  /** The matching rows from the beginning up to that id, or to the end. */
  rowsUntil(id: string | null): Promise<readonly Row[]>;
  /** The matching rows among the first ones, or some of them, where one statement finds both. */
  among?(count: number): Promise<readonly Row[]>;
}

/** Looks through the newest `count` rows of a list. */
export type Look<Result> = (count: number) => Promise<Result>;

/**
 * The first bound. Most filters that match anything fill a page within it, so that they cost no more than
 * without a bound.
 */
const FEW = 500;

/** One statement that finds both looks further at first: it stops as soon as it has a page. */
const FEW_AT_ONCE = 2_000;

/** Looks at few rows first, and at `most` where those hold no whole page, though the list goes on. */
export async function searchBy<Result extends Pick<SearchPage<unknown>, 'stoppedAt'>>(
  look: Look<Result>,
  most: number,
): Promise<Result> {
  const found = await look(Math.min(FEW, most));
  return found.stoppedAt === null || most <= FEW ? found : look(most);
}

/**
 * Looks at `most` rows at most and answers the matches among them: a filter without an index may match none
 * of ten million. The bound is an id that every table is given, so that no plan reads rows beyond it.
 */
export async function search<Row>(
  { nth, rowsUntil, among }: SearchableList<Row>,
  limit: number,
  most: number,
): Promise<SearchPage<Row>> {
  const look: Look<SearchPage<Row>> = async (count) => {
    const end = await nth(count);
    const rows = await rowsUntil(end);
    return { rows, stoppedAt: rows.length > limit ? null : end };
  };
  if (!among || most <= FEW_AT_ONCE) return searchBy(look, most);
  const rows = await among(FEW_AT_ONCE);
  return rows.length > limit ? { rows, stoppedAt: null } : look(most);
}
