import { BodyLost, type BodyStore } from '../../platform/bodies/body-store.ts';
import { isOwnedBy } from '../../platform/bodies/owner.ts';
import type { Database } from '../../platform/db/database.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { isoOf } from '../../platform/time/clock.ts';
import { type OutsideOctets, readOctets } from './store.ts';

/** The services that reading octets calls. */
export interface OctetsDeps {
  readonly database: Database;
  /** Null where all octets lie in the database. */
  readonly bodies: BodyStore | null;
}

/**
 * Workspaces with the same image have a body each. So many are tried within a minute before the image counts
 * as lost.
 */
const MOST_LOST = 4;
/** The seconds after which to ask again for an image that only an operator can bring back. */
const LOST_RETRY_SECONDS = 60;

/** Makes octets durable in the body store before any row refers to them. @throws UnavailableError */
export async function putAway(
  bodies: BodyStore,
  workspaceId: string,
  content: Uint8Array<ArrayBuffer>,
): Promise<OutsideOctets> {
  const { key, until } = await bodies.write({ kind: 'asset', workspaceId }, content);
  return { bodyKey: key, until: isoOf(until) };
}

/** True for a body that will not come back by waiting. @throws UnavailableError */
export async function isLost(bodies: BodyStore, key: string): Promise<boolean> {
  try {
    await bodies.read(key);
    return false;
  } catch (error) {
    if (error instanceof BodyLost) return true;
    throw error;
  }
}

/**
 * Refuses to take the place of a lost body in a store of another database: with a wrong BODY_STORE every body
 * seems lost, and the one that is whole in the right store would be collected there. @throws UnavailableError
 */
export async function expectOwnStore(database: Database, { bucket }: BodyStore): Promise<void> {
  if (await isOwnedBy(bucket, database)) return;
  throw new UnavailableError(
    'The octets of this image are missing in BODY_STORE, which is not known to belong to this database. Run posthorn doctor: it names the owner.',
    'no',
    LOST_RETRY_SECONDS,
  );
}

/**
 * Reads an image by the name of its file; null where no workspace has it. One whose octets are lost is
 * unavailable and not missing: mail shows it, caches keep a 404, and another upload of the image brings it
 * back. All of it is compared with its hash before the first octet is served, because caches keep the answer
 * for a year. It adds the keys that it finds lost to `lost`, and asks for none that is there already. @throws
 * UnavailableError
 */
export async function readImage(
  { database, bodies }: OctetsDeps,
  file: string,
  lost: string[],
  onLost: (lost: BodyLost) => void,
): Promise<Uint8Array<ArrayBuffer> | null> {
  while (lost.length < MOST_LOST) {
    const found = await readOctets(database, file, lost);
    if (!found && lost.length === 0) return null;
    if (!found) break;
    if ('content' in found) return found.content;
    if (!bodies)
      throw new UnavailableError(
        'BODY_STORE is not set, and this image lies there.',
        'no',
        LOST_RETRY_SECONDS,
      );
    try {
      return new Uint8Array(await bodies.read(found.bodyKey));
    } catch (error) {
      if (!(error instanceof BodyLost)) throw error;
      onLost(error);
      lost.push(found.bodyKey);
    }
  }
  throw new UnavailableError('The octets of this image are lost. Upload it again.', 'no', LOST_RETRY_SECONDS);
}
