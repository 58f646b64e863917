import type { Statements } from '../database.ts';
import { DISTRIBUTED, type DistributedTable } from './catalogue.ts';

const HAS_CATALOGUE = `select to_regclass('pg_dist_partition') is not null as "isThere"`;
const PLACED = 'select logicalrelid::text as name from pg_dist_partition';

/** The tables of the catalogue that lie on one node still. */
export async function undistributed(
  database: Pick<Statements, 'query'>,
): Promise<readonly DistributedTable[]> {
  const [row] = await database.query<{ isThere: boolean }>(HAS_CATALOGUE);
  if (!row?.isThere) return DISTRIBUTED;
  const placed = new Set((await database.query<{ name: string }>(PLACED)).map(({ name }) => name));
  return DISTRIBUTED.filter(({ table }) => !placed.has(table));
}

/** Some tables are distributed and some are not, which no statement fits. */
export class HalfDistributed extends Error {
  override readonly name = 'HalfDistributed';
}

/** True where the tables of the catalogue lie on several nodes. @throws HalfDistributed */
export async function isDistributedDatabase(database: Pick<Statements, 'query'>): Promise<boolean> {
  const left = await undistributed(database);
  if (left.length === DISTRIBUTED.length) return false;
  if (left.length > 0)
    throw new HalfDistributed(
      `The tables ${left.map(({ table }) => table).join(', ')} are not distributed, while others are. Run "posthorn migrate --distributed".`,
    );
  return true;
}
