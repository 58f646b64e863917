import { readFileSync } from 'node:fs';
import type { Config } from '../../../platform/config/config.ts';
import { BackupRefused } from '../../backup/refused.ts';
import type { Terminal } from '../terminal.ts';

/** The members of the configuration that give a passphrase. */
export type PassphraseSource = Pick<Config, 'backupPassphrase'>;

/** The options that say where a passphrase comes from. */
export interface PassphraseRequest {
  readonly passphraseFile?: string;
  /** Encrypts, and asks for the passphrase where nothing else says it. */
  readonly encrypt?: boolean;
}

/** A shorter passphrase can be guessed at any cost of a try. */
const SHORTEST = 8;

/**
 * The passphrase of a new backup: of a file, of BACKUP_PASSPHRASE, or of a person; null for none. @throws
 * BackupRefused
 */
export async function newPassphrase(
  config: PassphraseSource,
  { passphraseFile, encrypt }: PassphraseRequest,
  terminal: Terminal,
): Promise<string | null> {
  const given = givenPassphrase(config, passphraseFile);
  if (given !== null || !encrypt) return given;
  const first = checked(await asked(terminal, 'Passphrase: '), 'The passphrase');
  if ((await asked(terminal, 'Again: ')) !== first) throw new BackupRefused('The two passphrases differ.');
  return first;
}

/** The passphrase of a backup that is encrypted. @throws BackupRefused where none is given */
export const knownPassphrase = async (
  config: PassphraseSource,
  { passphraseFile }: PassphraseRequest,
  terminal: Terminal,
): Promise<string> => givenPassphrase(config, passphraseFile) ?? (await asked(terminal, 'Passphrase: '));

/**
 * Refuses a passphrase for a backup that is readable: an operator who gives one expects a file that only its
 * holders could have made.
 * @throws BackupRefused
 */
export function refusePassphrase(
  config: PassphraseSource,
  { passphraseFile }: PassphraseRequest,
  path: string,
): void {
  if (givenPassphrase(config, passphraseFile) === null) return;
  const source = passphraseFile === undefined ? 'unset BACKUP_PASSPHRASE' : 'leave out --passphrase-file';
  throw new BackupRefused(
    `${path} is not encrypted, so the passphrase does not prove its origin: anyone could have written it. If you trust the file, ${source}.`,
  );
}

function givenPassphrase({ backupPassphrase }: PassphraseSource, file: string | undefined): string | null {
  if (file === undefined) return backupPassphrase;
  try {
    // Editors end a file with a line break, which is no part of the passphrase.
    return checked(readFileSync(file, 'utf8').replace(/\r?\n$/, ''), `The passphrase in ${file}`);
  } catch (error) {
    if (error instanceof BackupRefused) throw error;
    throw new BackupRefused(`The passphrase cannot be read: ${(error as Error).message}.`, { cause: error });
  }
}

function asked(terminal: Terminal, question: string): Promise<string> {
  if (terminal.askSecret) return terminal.askSecret(question);
  throw new BackupRefused(
    'The passphrase is missing: give it with --passphrase-file or BACKUP_PASSPHRASE, since there is no terminal to ask for it.',
  );
}

function checked(passphrase: string, which: string): string {
  if (passphrase.length < SHORTEST)
    throw new BackupRefused(`${which} must have at least ${SHORTEST} characters.`);
  return passphrase;
}
