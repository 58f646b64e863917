import type { Database, Parameter } from '../../platform/db/database.ts';

/**
 * Repeats a statement that works on a batch until a batch is not full, so that locks are short and other
 * writers wait for a bounded time. It ends between two batches once `stop` is aborted. The statement returns
 * one row for each that it has processed.
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
