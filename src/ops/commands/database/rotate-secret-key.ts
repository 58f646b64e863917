import type { Config } from '../../../platform/config/config.ts';
import { readFormerKeys } from '../../../platform/db/canary.ts';
import { type Lost, type Rotated, type RotationProgress, rotate } from '../../rotation/rotate.ts';
import type { Terminal } from '../terminal.ts';
import { withClockedDatabase } from './with-database.ts';

/** A line comes with each of so many texts, so that an operator sees the progress. */
const TOLD_EVERY = 1_000;

/**
 * `posthorn secret-key rotate` has the database go over to another key while it is served. Killed, it goes on where it was when it is run
 * again.
 */
export const rotateSecretKey = (config: Config, terminal: Terminal): Promise<number> =>
  withClockedDatabase(config, async (database) => {
    const told = new Told(terminal);
    const rotated = await rotate(database, config, told);
    return tell(config, rotated, told, terminal);
  });

function tell(config: Config, rotated: Rotated, told: Told, terminal: Terminal): number {
  if (rotated.outcome === 'done') {
    terminal.out([...told.summary(), ...after(config, rotated.lost), ''].join('\n'));
    return 0;
  }
  if (rotated.outcome === 'nothing') {
    (rotated.isFine ? terminal.out : terminal.error)(rotated.reason);
    return rotated.isFine ? 0 : 1;
  }
  terminal.error(sentenceOf(config, rotated));
  return 1;
}

function sentenceOf(
  { secretKey, dataDir }: Config,
  rotated: Exclude<Rotated, { outcome: 'done' | 'nothing' }>,
): string {
  if (rotated.outcome === 'unbound')
    return (
      'This database has not been used with any key yet. The first start takes SECRET_KEY, or makes a key. ' +
      'If a service runs, this is not its database: run this with the DATABASE_URL and DATA_DIR of the service.\n'
    );
  if (rotated.outcome === 'refused') {
    const who = `Nothing has been changed: ${rotated.behind} of ${rotated.all} instances do not have the new key`;
    return secretKey === null
      ? `${who}, which lay in ${dataDir} for them to read. Most likely their settings are others than those of this command: run it on their ` +
          'machine with their DATA_DIR; where they have SECRET_KEY, set SECRET_KEY to a new key and SECRET_KEY_PREVIOUS to that one, for them ' +
          'and for this. Each has to be in this version; one that was killed counts for 35 s.\n'
      : `${who}. Start each with the new SECRET_KEY and with SECRET_KEY_PREVIOUS, and in this version; one that was killed counts for 35 s. ` +
          'If they have both, this command has other settings than they: run it with the same. Then run this again.\n';
  }
  return (
    'The database is used with the new key, but instances still seal with the one before, or could not be waited for. ' +
    'Nothing is lost: both keys open everything. Run this again to finish.\n'
  );
}

/** The advice for an operator once nothing is left to do. */
function after({ secretKey, dataDir }: Config, lost: readonly Lost[]): readonly string[] {
  return [
    ...lost.map(
      ({ what, rows }) =>
        `  ${rows.toLocaleString('en')} ${what} stay as they are: a key that was lost before has sealed them`,
    ),
    secretKey === null
      ? `The new key is in ${dataDir}/secret-key; whatever else has a copy of the key needs the new one.`
      : 'No instance needs SECRET_KEY_PREVIOUS any more; take it away with the next restart.',
    'The key before stays in the database, sealed with the new one. With it go on:',
    '  links in earlier emails, and bounces of them: unless you run `posthorn secret-key revoke-links`',
    '  the hashes by which forgotten people who had left are known',
    'A backup from before needs the key before: keep that for as long as you keep such backups.',
    'Where the key became known to somebody who has a copy of the database, what it sealed is known too: docs/security.md says what to rotate.',
  ];
}

/** Says how a rotation goes on. */
class Told implements RotationProgress {
  readonly #rows = new Map<string, number>();
  #sum = 0;

  constructor(private readonly terminal: Terminal) {}

  waiting(): void {
    this.terminal.error('Waiting until every instance has the new key.\n');
  }

  turned(): void {
    this.terminal.error(
      'The database is used with the new key. What the one before has sealed is sealed anew.\n',
    );
  }

  resealed(what: string, rows: number): void {
    this.#rows.set(what, (this.#rows.get(what) ?? 0) + rows);
    const before = Math.floor(this.#sum / TOLD_EVERY);
    this.#sum += rows;
    if (Math.floor(this.#sum / TOLD_EVERY) > before)
      this.terminal.error(`${this.#sum.toLocaleString('en')} texts, at present ${what}.\n`);
  }

  summary(): readonly string[] {
    const counts = [...this.#rows].filter(([, rows]) => rows > 0);
    return [
      counts.length > 0
        ? 'Nothing is left of the key before. Sealed anew:'
        : 'Nothing is left of the key before.',
      ...counts.map(([what, rows]) => `  ${rows.toLocaleString('en')} ${what}`),
    ];
  }
}

const REVOKE =
  'update former_secret_keys set links_revoked_at = clock_timestamp() where links_revoked_at is null returning id';

/**
 * `posthorn secret-key revoke-links` is for a key that has leaked: its holders can sign links until the
 * earlier keys are no longer accepted.
 */
export const revokeLinks = (config: Config, terminal: Terminal): Promise<number> =>
  withClockedDatabase(config, async (database) => {
    if ((await readFormerKeys(database)).length === 0) {
      terminal.error('There is no key before the one of now: `posthorn secret-key rotate` comes first.\n');
      return 1;
    }
    const revoked = await database.query(REVOKE);
    terminal.out(
      revoked.length > 0
        ? 'Links that a key before has signed are refused within five seconds: to unsubscribe, to preferences, to confirm, tracked ones. Bounces and complaints about earlier emails that come by mail are not recognised.\n'
        : 'Links of earlier keys are refused already.\n',
    );
    return 0;
  });
