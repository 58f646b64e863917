import { WrongSecretKey } from '../../platform/db/canary.ts';
import type { Duty } from './duty.ts';

interface SecretKeyWatchDeps {
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
export const secretKeyWatch = ({ keys, roster, onSuperseded }: SecretKeyWatchDeps): Duty => ({
  name: 'secretKeyWatch',
  pattern: '*/10 * * * * *',
  isEverybodys: true,
  async run() {
    try {
      if (await keys.refresh()) await roster.tell();
    } catch (error) {
      if (!(error instanceof WrongSecretKey)) throw error;
      onSuperseded(error);
    }
  },
});
