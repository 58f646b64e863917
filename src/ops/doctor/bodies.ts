import { nanoid } from 'nanoid';
import { type BodySettings, openBodyStoreAlone } from '../../platform/bodies/open.ts';
import { ownerOf, patiently } from '../../platform/bodies/owner.ts';
import type { Database } from '../../platform/db/database.ts';
import { type Diagnosis, fine, messageOf, warning, wrong } from './diagnosis.ts';

const CHECK = 'Body store';
const USED =
  'select exists (select from email_bodies) or exists (select from received_contents where raw_key is not null) as used';
const OWN_NAME = 'select id from body_store_owner order by id limit 1';

/** Tries whether BODY_STORE takes, gives and removes a body, keeps it from strangers, and belongs to this database. */
export async function* diagnoseBodies(
  config: BodySettings & { readonly tlsCaFile: string | null },
  database: Database | null,
): AsyncGenerator<Diagnosis> {
  const isUsed = database !== null && (await first<{ used: boolean }>(database, USED))?.used === true;
  const store = await openBodyStoreAlone(config);
  if (!store) {
    if (isUsed)
      yield wrong(
        CHECK,
        'BODY_STORE is not set, and contents of emails are in one: these emails wait, and cannot be shown.',
        'Set it as it was when they were accepted, until the last of them has been removed.',
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
        'Make the bucket private: contents of emails are stored in it as they are.',
      );
    const own = database && (await first<{ id: string }>(database, OWN_NAME))?.id;
    const owner = await ownerOf(bucket);
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
      `Large emails are refused with 503 and large ones that wait are not sent, until ${bucket.name} can be used: check BODY_STORE and its key.`,
    );
  }
}

/** The row of a query; undefined where there is none, or where the database has not the table yet. */
const first = async <Row extends object>(database: Database, sql: string): Promise<Row | undefined> =>
  (await database.query<Row>(sql).catch(() => []))[0];
