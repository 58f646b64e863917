/** What a search has found in the part of the list that it looked at. */
export interface Found<Row> {
  readonly rows: readonly Row[];
  /** The last id that was looked at, when the list goes on below it; null when the page is full or the list at its end. */
  readonly stoppedAt: string | null;
}

/** What a search goes through: a list by ids, newest first, most of which may not be what is asked for. */
export interface Searched<Row> {
  /** The id of so manieth email from the beginning; null where there are fewer. */
  nth(count: number): Promise<string | null>;
  /** What is found from the beginning down to that id, or to the end. */
  rowsDownTo(id: string | null): Promise<readonly Row[]>;
}

/**
 * Most filters that find anything find a page of it among these. To look at a few first keeps those as cheap as they are
 * without a bound.
 */
const FEW = 500;

/**
 * Looks at `most` emails at most and answers what was among them: a filter without an index may match none of ten million.
 * More than a page holds is a full page. The bound is an id, given to every table that is read: whatever the planner makes of
 * the filters, it reads no rows beyond it.
 */
export async function search<Row>(
  { nth, rowsDownTo }: Searched<Row>,
  limit: number,
  most: number,
): Promise<Found<Row>> {
  const bounds = FEW < most ? [FEW, most] : [most];
  let stoppedAt: string | null = null;
  let rows: readonly Row[] = [];
  for (const bound of bounds) {
    stoppedAt = await nth(bound);
    rows = await rowsDownTo(stoppedAt);
    if (rows.length > limit || stoppedAt === null) return { rows, stoppedAt: null };
  }
  return { rows, stoppedAt };
}
