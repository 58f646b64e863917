import type { Database } from '../../../platform/db/database.ts';
import { type Failing, NotFromReplica, Replica } from '../../../platform/db/replica/replica.ts';
import { LeaderPosition } from '../../../platform/db/replica/wal-position.ts';
import { serverUrls } from '../../../platform/db/server/server-urls.ts';
import { type Diagnosis, fine, messageOf, warning } from '../diagnosis.ts';

const CHECK = 'Read replicas';

/** The reason for which a replica cannot be read from. */
const SAYS: Readonly<Record<Failing, string>> = {
  behind: 'is more than 250 ms behind the primary',
  primary: 'is the primary at present',
  'no replica': 'follows nobody: it was promoted, or never was a replica',
  'another cluster': 'belongs to another cluster',
  'another timeline': 'has not followed the primary of now: it stands on another timeline',
  away: 'does not answer',
  busy: 'takes no more reads',
  slow: 'takes too long',
  conflict: 'ended the statement, which stood in the way of replaying',
  error: 'refuses what it is asked',
};

/** Checks whether each replica of DATABASE_READ_URL can be read from now. */
export async function diagnoseReplicas(database: Database, url: string): Promise<Diagnosis> {
  const found = await Promise.all(
    (serverUrls(url) ?? [url]).map(async (each) => {
      const replica = new Replica(each);
      try {
        await replica.examine(await new LeaderPosition(database).read());
        return { isFit: true, isPrimary: false, says: `${replica.name} has what the primary has` };
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
  // Of servers that change places, one is the primary.
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
