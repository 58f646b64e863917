import type { Database } from '../../../platform/db/database.ts';
import { NotFromReplica, Replica, type ReplicaFailure } from '../../../platform/db/replica/replica.ts';
import { LeaderPosition } from '../../../platform/db/replica/wal-position.ts';
import { serverUrls } from '../../../platform/db/server/server-urls.ts';
import { type Diagnosis, fine, messageOf, warning } from '../diagnosis.ts';

const CHECK = 'Read replicas';

/** The reason for which a replica cannot be read from. */
const SAYS: Readonly<Record<ReplicaFailure, string>> = {
  behind: 'is more than 250 ms behind the primary',
  primary: 'is the primary at present',
  'no replica': 'follows no server: it was promoted, or never was a replica',
  'another cluster': 'belongs to another cluster',
  'another timeline': 'does not follow the current primary: it is on another timeline',
  away: 'does not answer',
  busy: 'takes no more reads',
  slow: 'takes too long',
  conflict: 'cancelled the statement, which was in the way of replay',
  error: 'refuses queries',
};

/** Checks whether each replica of DATABASE_READ_URL can be read from now. */
export async function diagnoseReplicas(database: Database, url: string): Promise<Diagnosis> {
  const found = await Promise.all(
    (serverUrls(url) ?? [url]).map(async (each) => {
      const replica = new Replica(each);
      try {
        await replica.examine(await new LeaderPosition(database).read());
        return { isFit: true, isPrimary: false, says: `${replica.name} is up to date with the primary` };
      } catch (error) {
        if (!(error instanceof NotFromReplica)) throw error;
        const because = error.cause === undefined ? '' : ` (${messageOf(error.cause).replace(/\.$/, '')})`;
        const isPrimary = error.reason === 'primary';
        return { isFit: false, isPrimary, says: `${replica.name} ${SAYS[error.reason]}${because}` };
      } finally {
        await replica.close();
      }
    }),
  );
  const detail = `${found.map(({ says }) => says).join('; ')}.`;
  // One of several servers that change places is the primary.
  const isWell =
    found.some(({ isFit }) => isFit) && found.every(({ isFit, isPrimary }) => isFit || isPrimary);
  return isWell
    ? fine(CHECK, detail)
    : warning(
        CHECK,
        detail,
        'The primary answers in its place: name streaming standbys of DATABASE_URL in DATABASE_READ_URL, without recovery_min_apply_delay, and see docs/scale.md.',
      );
}
