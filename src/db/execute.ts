import type { SQL } from 'drizzle-orm';
import type { Database, ReadOptions } from './database.ts';

/** Runs a statement that was put together with Drizzle's `sql`, and answers its rows: one of the two drivers wraps them. @throws Unavailable */
export async function execute<Row>(
  database: Database,
  statement: SQL,
  options?: ReadOptions,
): Promise<readonly Row[]> {
  const result: unknown = await database.read((orm) => orm.execute(statement), options);
  return (Array.isArray(result) ? result : (result as { readonly rows: unknown }).rows) as readonly Row[];
}
