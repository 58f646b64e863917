import {
  type KeySource,
  NoSecretKey,
  presentSecretKeys,
  secretKeyFile,
} from '../../platform/config/secret-key.ts';
import { type Sealer, sealerOf } from '../../platform/crypto/sealer.ts';
import { type Keys, onlyKey } from '../../platform/crypto/secret-key.ts';
import { readFormerKeys, readKeys, WrongSecretKey } from '../../platform/db/canary.ts';
import type { Database } from '../../platform/db/database.ts';
import { anySealedKeys, signingKeys } from '../../sending/domains/queries.ts';
import { countLeft } from '../rotation/reseal.ts';
import { type Diagnosis, fine, skipped, warning, wrong } from './diagnosis.ts';

/** The remaining step for domains after `posthorn secret-key replace`. */
export const ROTATE_KEYS =
  'The key was replaced: rotate the DKIM keys of each domain, with POST /v1/domains/{id}/rotate-dkim.';

const RIGHT_KEY = 'Set SECRET_KEY to the key that this database was used with.';
const GO_ON = 'Run `posthorn secret-key rotate` again: it continues.';
const CHECK = 'Secret key';

/** The sealer that opens the secrets of a database; null where there is no key, or a wrong one. */
export async function readSealer(
  source: KeySource,
  database: Database,
): Promise<Pick<Sealer, 'open'> | null> {
  const offered = await presentSecretKeys(source).catch(() => []);
  const [first] = offered;
  if (first === undefined) return null;
  const keys = await readKeys(database, offered).catch(ofWrongKey);
  return sealerOf(() => keys ?? onlyKey(first));
}

/** Unlike a start, this makes no key. */
const ofWrongKey = (error: unknown): null => {
  if (error instanceof WrongSecretKey) return null;
  throw error;
};

/**
 * Checks that there is a key, that it opens what was sealed, and that no rotation of it has stopped halfway.
 */
export async function diagnoseSecretKey(source: KeySource, database: Database | null): Promise<Diagnosis> {
  const path = secretKeyFile(source.dataDir);
  const whence = source.secretKey === null ? path : 'SECRET_KEY';
  let offered: readonly string[];
  try {
    offered = await presentSecretKeys(source);
  } catch (error) {
    if (!(error instanceof NoSecretKey)) throw error;
    return wrong(CHECK, error.message, 'Restore the file, or set SECRET_KEY to its content.');
  }
  const sealed = database && (await anySealedKeys(database));
  const [first] = offered;
  if (first === undefined)
    return sealed
      ? wrong(
          CHECK,
          `There is none at ${path}, though secrets have been sealed.`,
          'Restore the file, or set SECRET_KEY to its content.',
        )
      : skipped(CHECK, 'There is none yet; the first start makes one.');
  let keys: Keys | null;
  try {
    keys = database && (await readKeys(database, offered));
  } catch (error) {
    if (!(error instanceof WrongSecretKey)) throw error;
    return wrong(
      CHECK,
      `From ${whence}; it does not open the secret that was sealed at the first start.`,
      RIGHT_KEY,
    );
  }
  if (database && keys) {
    const rotation = await diagnoseRotation(database, keys, source, offered);
    if (rotation) return rotation;
  }
  if (!sealed && keys) return fine(CHECK, `From ${whence}; it is the key of the database.`);
  if (!sealed) return fine(CHECK, `From ${whence}; there is no sealed secret to try it on.`);
  try {
    signingKeys(
      sealerOf(() => keys ?? onlyKey(first)),
      sealed,
    );
    return fine(CHECK, `From ${whence}; it opens the sealed secrets.`);
  } catch {
    return wrong(
      CHECK,
      `From ${whence}; it does not open the sealed secrets, so no mail can be signed.`,
      keys ? ROTATE_KEYS : RIGHT_KEY,
    );
  }
}

/** Looks for a rotation that was begun; null where there is none. */
async function diagnoseRotation(
  database: Database,
  keys: Keys,
  source: KeySource,
  offered: readonly string[],
): Promise<Diagnosis | null> {
  const former = await readFormerKeys(database);
  const unfinished = former.find(({ resealed_at: at }) => at === null);
  if (unfinished) {
    const since = new Date(unfinished.replaced_at).toISOString();
    const left = counted(await countLeft(database, keys));
    return warning(
      CHECK,
      `A rotation that began at ${since} is unfinished: ${left} still sealed with an earlier key.`,
      GO_ON,
    );
  }
  if (source.secretKey === null && offered.some((key) => key !== keys.current.text))
    return warning(
      CHECK,
      'A rotation to another key has begun, and the database does not use it yet.',
      GO_ON,
    );
  if (source.secretKey !== null && source.secretKey !== keys.current.text)
    return warning(
      CHECK,
      'The database still uses SECRET_KEY_PREVIOUS.',
      'Once every instance has both keys: `posthorn secret-key rotate`.',
    );
  return null;
}

const counted = (left: number): string =>
  left === 1 ? 'one text is' : `${left.toLocaleString('en')} texts are`;
