import { nanoid } from 'nanoid';
import { expectedOwner } from '../../engine/bodies/exchanged.ts';
import { presentHolders } from '../../engine/bodies/references.ts';
import { BODY_HOLDERS } from '../../modules.ts';
import { type BodySettings, openBodyStoreAlone } from '../../platform/bodies/open.ts';
import { ownerOf, ownName, patiently } from '../../platform/bodies/owner.ts';
import type { Database } from '../../platform/db/database.ts';
import { type Diagnosis, fine, messageOf, warning, wrong } from './diagnosis.ts';

const CHECK = 'Body store';

/**
 * Tries whether BODY_STORE takes, gives and removes a body, keeps it from strangers, and belongs to this
 * database.
 */
export async function* diagnoseBodies(
  config: BodySettings & { readonly tlsCaFile: string | null },
  database: Database | null,
): AsyncGenerator<Diagnosis> {
  const store = await openBodyStoreAlone(config);
  if (!store) {
    const outside = database === null ? [] : await holdersInUse(database);
    if (outside.length > 0)
      yield wrong(
        CHECK,
        `BODY_STORE is not set, and contents of ${inWords(outside)} are in one: they can be neither sent nor shown.`,
        'Set it as it was when they were stored, until the last of them has been removed. A backup made with it, and restored without it, puts them into the database.',
      );
    return;
  }
  const { bucket } = store;
  const key = `doctor/${nanoid()}`;
  const octets = new TextEncoder().encode('posthorn doctor');
  const hash = new Bun.CryptoHasher('sha256').update(octets).digest('hex');
  try {
    await patiently((signal) => bucket.put(key, octets, hash, signal));
    const found = await patiently((signal) => bucket.get(key, octets.length, signal));
    const isPublic = await patiently((signal) => bucket.isPublic(key, signal));
    const listed = await patiently((signal) => bucket.list(key, {}, signal));
    await patiently((signal) => bucket.delete(key, signal));
    if (found === null || !Buffer.from(octets).equals(found))
      yield wrong(CHECK, `${bucket.name} does not return stored bodies.`, 'Choose another server.');
    else if (!listed.keys.includes(key))
      yield wrong(
        CHECK,
        `${bucket.name} does not list stored bodies, so that none could be removed.`,
        'Permit ListBucket for this bucket, and choose a server whose listings show new objects at once.',
      );
    else yield fine(CHECK, `${bucket.name} stores, returns, lists and removes bodies.`);
    if (isPublic)
      yield wrong(
        CHECK,
        'Anyone can read its objects without a key.',
        'Make the bucket private: contents are stored in it as they are.',
      );
    // A database of an earlier version lacks the table.
    const own = database && (await ownName(database).catch(() => null));
    const owner = await ownerOf(bucket);
    const expected = database && (await expectedOwner(bucket, database, BODY_HOLDERS).catch(() => null));
    if (expected !== null && owner !== expected) {
      yield wrong(
        CHECK,
        `The bodies of this database are not in ${bucket.name}, but where BODY_STORE was before: they can be neither sent nor shown.`,
        `Set BODY_STORE as it was, or copy all objects from there, "owner" too. If they are lost for good, store an object "owner" with the text ${expected} in ${bucket.name}: large emails and uploads are taken again within a minute, and what lay there stays lost.`,
      );
      return;
    }
    if (owner !== null && owner !== own)
      yield warning(
        CHECK,
        `The bodies there belong to another database (${owner}), so unused bodies are never removed.`,
        'Give each installation its own bucket or prefix. If that database no longer exists, as after a restore, delete the object "owner" there.',
      );
  } catch (error) {
    yield wrong(
      CHECK,
      messageOf(error),
      `Large emails and uploads of images are refused with 503, large emails that wait are not sent, and images are not shown, until ${bucket.name} can be used: check BODY_STORE and its key.`,
    );
  }
}

/** The names of those that refer to bodies. */
async function holdersInUse(database: Database): Promise<readonly string[]> {
  const used: string[] = [];
  for (const { plural, references } of await presentHolders(database, BODY_HOLDERS).catch(() => [])) {
    const [row] = await database.query<{ used: boolean }>(`select exists (${references}) as used`);
    if (row?.used) used.push(plural);
  }
  return used;
}

const inWords = (names: readonly string[]): string => new Intl.ListFormat('en').format(names);
