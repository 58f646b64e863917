import type { Sealer } from '../crypto/sealer.ts';
import type { Database, Statements } from './database.ts';

const PURPOSE = 'canary';
const PLAINTEXT = 'This database is used with this key.';

/** The key is another one than the database was first started with. */
export class WrongSecretKey extends Error {
  override readonly name = 'WrongSecretKey';

  constructor() {
    super(
      'SECRET_KEY is not the key that this database was first started with, so nothing that was sealed with it could be opened. ' +
        'Set SECRET_KEY to that key, or restore the file `secret-key` of the DATA_DIR that it was generated into. ' +
        'If it is lost for good: `posthorn secret-key replace`.',
    );
  }
}

async function readCanary(database: Pick<Statements, 'query'>): Promise<string | null> {
  const [table] = await database.query<{ there: boolean }>(
    `select to_regclass('secret_key_canary') is not null as there`,
  );
  if (!table?.there) return null;
  const [canary] = await database.query<{ sealed: string }>('select sealed from secret_key_canary');
  return canary?.sealed ?? null;
}

/** True when the database has been used with a key. */
export const isBound = async (database: Pick<Statements, 'query'>): Promise<boolean> =>
  (await readCanary(database)) !== null;

/** True when the key is the one that the database is used with; null where it was never used with any. */
export async function isItsKey(database: Pick<Statements, 'query'>, sealer: Sealer): Promise<boolean | null> {
  const sealed = await readCanary(database);
  if (sealed === null) return null;
  try {
    return sealer.open(sealed, PURPOSE) === PLAINTEXT;
  } catch {
    return false;
  }
}

/** Binds a database to another key than before. Nothing that was sealed with that one can be opened any more. */
export async function bindAnew(database: Database, sealer: Sealer): Promise<void> {
  await database.query(
    'insert into secret_key_canary (sealed) values ($1) on conflict (one) do update set sealed = excluded.sealed',
    [sealer.seal(PLAINTEXT, PURPOSE)],
  );
}

/** Binds a database that is new to the key. @throws WrongSecretKey where it is bound to another one */
export async function bindToKey(database: Database, sealer: Sealer): Promise<void> {
  await database.query('insert into secret_key_canary (sealed) values ($1) on conflict (one) do nothing', [
    sealer.seal(PLAINTEXT, PURPOSE),
  ]);
  if ((await isItsKey(database, sealer)) === false) throw new WrongSecretKey();
}
