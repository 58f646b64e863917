import type { Database, Parameter } from '../db/database.ts';

/**
 * Repeats a statement that works on a batch until one is not full: short locks, and a bounded wait for whoever needs the same
 * rows. Ends between two batches once `stop` is aborted. The statement returns a row for each that it has done.
 */
export async function untilDone(
  database: Database,
  statement: string,
  parameters: readonly Parameter[],
  batch: number,
  stop?: AbortSignal,
): Promise<void> {
  while (!stop?.aborted && (await database.query(statement, parameters)).length === batch);
}
