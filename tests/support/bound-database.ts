import { createSealer } from '../../src/platform/crypto/sealer.ts';
import { bindToKey } from '../../src/platform/db/canary.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { createTestDatabase } from './postgres.ts';

/** The secret keys of a rotation. */
export const OLD = 'the-key-of-before-the-key-of-before-it';
export const NEW = 'the-key-of-now-the-key-of-now-and-after';

/** A separate database, migrated. */
export interface BoundDatabase extends AsyncDisposable {
  readonly url: string;
  readonly database: Database;
}

/** One that the old key is in use of: what a rotation begins with. */
export async function databaseOfOldKey(): Promise<BoundDatabase> {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await createTestDatabase());
  const database = await openDatabase({ url, dataDir: null });
  stack.defer(() => database.close());
  await migrate(database);
  await bindToKey(database, [OLD]);
  const kept = stack.move();
  return { url, database, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

const sealer = createSealer(OLD);
/** The purpose that `sealedOfOld` seals for. */
export const PURPOSE = 'a suppression that was removed';

/** An address as a removed suppression holds it, sealed with the old key. */
export const sealedOfOld = (address: string): string => sealer.seal(address, PURPOSE);
