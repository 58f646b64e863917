import type { Config } from '../../../platform/config/config.ts';
import { readFormerKeys } from '../../../platform/db/canary.ts';
import {
  type RotationProgress,
  type RotationResult,
  rotate,
  type UnreadableTexts,
} from '../../rotation/rotate.ts';
import type { Terminal } from '../terminal.ts';
import { withClockedDatabase } from './with-database.ts';

/** The number of texts after which a line comes, so that an operator sees the progress. */
const TOLD_EVERY = 1_000;

/**
 * `posthorn secret-key rotate` moves the database to another key while it is served. A killed run continues
 * when the command runs again.
 */
export const rotateSecretKey = (config: Config, terminal: Terminal): Promise<number> =>
  withClockedDatabase(config, async (database) => {
    const told = new RotationPrinter(terminal);
    const rotated = await rotate(database, config, told);
    return tell(config, rotated, told, terminal);
  });

function tell(config: Config, rotated: RotationResult, told: RotationPrinter, terminal: Terminal): number {
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
  rotated: Exclude<RotationResult, { outcome: 'done' | 'nothing' }>,
): string {
  if (rotated.outcome === 'unbound')
    return (
      'This database has not been used with a key yet. The first start takes SECRET_KEY, or makes a key. ' +
      'If a service runs, this is not its database: run this with the DATABASE_URL and DATA_DIR of the service.\n'
    );
  if (rotated.outcome === 'refused') {
    const who = `Nothing has been changed: ${rotated.behind} of ${rotated.all} instances do not have the new key`;
    return secretKey === null
      ? `${who}, which lay in ${dataDir} for them to read. Their settings probably differ from those of this command: run it on their ` +
          'machine with their DATA_DIR; where they have SECRET_KEY, set SECRET_KEY to a new key and SECRET_KEY_PREVIOUS to that one, for them ' +
          'and for this. Each has to run this version; a killed instance counts for 35 s.\n'
      : `${who}. Start each with the new SECRET_KEY and with SECRET_KEY_PREVIOUS, and in this version; a killed instance counts for 35 s. ` +
          'If they have both, the settings of this command differ: run it with the same settings. Then run this again.\n';
  }
  return (
    'The database uses the new key, but some instances still seal with the previous one, or did not answer in time. ' +
    'Nothing is lost: both keys open everything. Run this again to finish.\n'
  );
}

/** The advice for an operator once nothing is left to do. */
function after({ secretKey, dataDir }: Config, lost: readonly UnreadableTexts[]): readonly string[] {
  return [
    ...lost.map(
      ({ what, rows }) =>
        `  ${rows.toLocaleString('en')} ${what} are unchanged: they are sealed with a key that was lost before`,
    ),
    secretKey === null
      ? `The new key is in ${dataDir}/secret-key; replace all other copies of the key.`
      : 'No instance needs SECRET_KEY_PREVIOUS any more; remove it at the next restart.',
    'The previous key stays in the database, sealed with the new one. It is still needed for:',
    '  links in earlier emails, and bounces of them: unless you run `posthorn secret-key revoke-links`',
    '  the hashes that recognise forgotten people who had unsubscribed',
    'An earlier backup needs the previous key: keep that key as long as you keep such backups.',
    'If a person with a copy of the database has got the key, the secrets that it sealed are known too: docs/security.md lists what to rotate.',
  ];
}

class RotationPrinter implements RotationProgress {
  readonly #rows = new Map<string, number>();
  #sum = 0;

  constructor(private readonly terminal: Terminal) {}

  waiting(): void {
    this.terminal.error('Waiting until every instance has the new key.\n');
  }

  turned(): void {
    this.terminal.error('The database uses the new key. Resealing the secrets of the previous key.\n');
  }

  resealed(what: string, rows: number): void {
    this.#rows.set(what, (this.#rows.get(what) ?? 0) + rows);
    const before = Math.floor(this.#sum / TOLD_EVERY);
    this.#sum += rows;
    if (Math.floor(this.#sum / TOLD_EVERY) > before)
      this.terminal.error(`${this.#sum.toLocaleString('en')} texts, now ${what}.\n`);
  }

  summary(): readonly string[] {
    const counts = [...this.#rows].filter(([, rows]) => rows > 0);
    return [
      counts.length > 0
        ? 'No secret is sealed with the previous key any more. Resealed:'
        : 'No secret is sealed with the previous key any more.',
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
      terminal.error('There is no previous key: run `posthorn secret-key rotate` first.\n');
      return 1;
    }
    const revoked = await database.query(REVOKE);
    terminal.out(
      revoked.length > 0
        ? 'Links signed with earlier keys are refused within five seconds: to unsubscribe, to preferences, to confirm, tracked ones. Bounces and complaints about earlier emails that come by mail are not recognised.\n'
        : 'Links of earlier keys are refused already.\n',
    );
    return 0;
  });
