import { withDeadline } from '../async/deadline.ts';
import type { Statements } from '../db/database.ts';
import type { Bucket } from './bucket.ts';

/**
 * The key that says which database the bodies belong to: a backup that was restored elsewhere must not
 * collect foreign bodies.
 */
export const OWNER_KEY = 'owner';

/** More than any name of a database has. */
const MOST = 1_000;
/** Milliseconds for one background question. */
export const PATIENCE_MS = 30_000;

/** Carries out one background question. */
export const patiently = <T>(ask: (signal: AbortSignal) => Promise<T>, stop?: AbortSignal): Promise<T> =>
  withDeadline({ signal: stop, deadlineMs: PATIENCE_MS }, ask);

/**
 * The name of the database that the bodies belong to; null where none has claimed them. @throws
 * UnavailableError
 */
export async function ownerOf(bucket: Bucket, stop?: AbortSignal): Promise<string | null> {
  const octets = await patiently((signal) => bucket.get(OWNER_KEY, MOST, signal), stop);
  return octets && new TextDecoder().decode(octets).trim();
}

/**
 * The name by which buckets know a database, and the bucket that it has claimed last; null where it has
 * claimed none.
 */
interface OwnStore {
  readonly id: string;
  readonly place: string | null;
}

/** A database of an earlier version has no place. */
const OWN = `select id, to_jsonb(o) ->> 'place' as place from body_store_owner o order by id limit 1`;

/** The name of a database and its bucket; null before the first collection. @throws UnavailableError */
export async function ownStore(database: Pick<Statements, 'query'>): Promise<OwnStore | null> {
  const [own] = await database.query<OwnStore>(OWN);
  return own ?? null;
}

/** The name of a database; null before the first collection. @throws UnavailableError */
export const ownName = async (database: Pick<Statements, 'query'>): Promise<string | null> =>
  (await ownStore(database))?.id ?? null;

/** True where the bodies belong to a database, which has claimed them. @throws UnavailableError */
export async function isOwnedBy(bucket: Bucket, database: Pick<Statements, 'query'>): Promise<boolean> {
  const owner = await ownerOf(bucket);
  return owner !== null && owner === (await ownName(database));
}

/**
 * The name of a database, which gets this one if it has none. Two collectors that begin together would each
 * see no row, and make one: the lock has the second one wait, and look again. @throws UnavailableError
 */
export async function givenName(database: Statements, id: string): Promise<string> {
  const own = await ownName(database);
  if (own !== null) return own;
  await database.script(`lock table body_store_owner in share row exclusive mode;
insert into body_store_owner (id) select '${id}' where not exists (select from body_store_owner)`);
  return (await ownName(database)) ?? id;
}

/**
 * Claims them for a database, unless another one was faster, and answers the name that they have. @throws
 * UnavailableError
 */
export async function claim(bucket: Bucket, id: string): Promise<string | null> {
  const octets = new TextEncoder().encode(`${id}\n`);
  const hash = new Bun.CryptoHasher('sha256').update(octets).digest('hex');
  await patiently((signal) => bucket.putNew(OWNER_KEY, octets, hash, signal));
  return ownerOf(bucket);
}
