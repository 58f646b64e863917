import type { Bucket } from '../../platform/bodies/bucket.ts';
import type { BodyHolders } from '../../platform/bodies/holder.ts';
import { ownerOf, ownStore } from '../../platform/bodies/owner.ts';
import type { Statements } from '../../platform/db/database.ts';

/** True where rows refer to bodies. @throws UnavailableError */
async function isUsed(database: Pick<Statements, 'query'>, holders: BodyHolders): Promise<boolean> {
  const each = Object.values(holders).map(({ references }) => `exists (${references})`);
  const [row] = await database.query<{ used: boolean }>(`select ${each.join(' or ')} as used`);
  return row?.used ?? false;
}

/**
 * The owner that a bucket must have, because the database has bodies and has claimed another bucket; null
 * where it may be any: nothing is asked of the bucket that was claimed. @throws UnavailableError
 */
export async function expectedOwner(
  { name }: Pick<Bucket, 'name'>,
  database: Pick<Statements, 'query'>,
  holders: BodyHolders,
): Promise<string | null> {
  const own = await ownStore(database);
  if (!own || own.place === null || own.place === name) return null;
  return (await isUsed(database, holders)) ? own.id : null;
}

/**
 * True where a database has bodies in another bucket, and this one does not know it: each body would seem
 * lost here, and what is whole there would be collected once rows refer to copies here. @throws
 * UnavailableError
 */
export async function isExchanged(
  bucket: Bucket,
  database: Pick<Statements, 'query'>,
  holders: BodyHolders,
): Promise<boolean> {
  const expected = await expectedOwner(bucket, database, holders);
  return expected !== null && (await ownerOf(bucket)) !== expected;
}
