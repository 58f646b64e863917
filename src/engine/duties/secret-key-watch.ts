import { WrongSecretKey } from '../../platform/db/canary.ts';
import type { Database } from '../../platform/db/database.ts';
import { afterWork } from './after-work.ts';
import type { Duty } from './duty.ts';

interface SecretKeyWatchDeps {
  readonly database: Pick<Database, 'kind' | 'worked'>;
  /** True when something has changed. Rejects with WrongSecretKey. */
  readonly keys: { refresh(): Promise<boolean> };
  readonly roster: { tell(): Promise<void> };
  /** Called when the database is used with a key that is not here. */
  onSuperseded(error: WrongSecretKey): void;
}

/**
 * Follows a rotation of the secret key: takes the new key, seals with it once the database says so, and
 * reports that at once, since the rotation waits for every instance. An instance that was away meanwhile, and
 * lacks the current key, has to end.
 */
export const secretKeyWatch = ({ database, keys, roster, onSuperseded }: SecretKeyWatchDeps): Duty => ({
  name: 'secretKeyWatch',
  pattern: '*/10 * * * * *',
  isEverybodys: true,
  run: afterWork(database, async () => {
    try {
      if (await keys.refresh()) await roster.tell();
      return true;
    } catch (error) {
      if (!(error instanceof WrongSecretKey)) throw error;
      onSuperseded(error);
      return false;
    }
  }),
});
