import { openBodyStoreAlone } from '../../../platform/bodies/open.ts';
import type { Config } from '../../../platform/config/config.ts';
import { Progress } from '../../backup/progress.ts';
import { isEncrypted, readBackup, readFrames, readHeader } from '../../backup/read-file.ts';
import { restore } from '../../backup/restore.ts';
import { placeSecretKey } from '../../backup/secret-key-file.ts';
import type { Terminal } from '../terminal.ts';
import { auditReport } from './audit.ts';
import {
  knownPassphrase,
  type PassphraseRequest,
  type PassphraseSource,
  refusePassphrase,
} from './passphrase.ts';

/** `posthorn restore <file>` puts a backup into the configured database, which must be empty. */
export async function runRestore(
  config: Config,
  path: string,
  request: PassphraseRequest,
  terminal: Terminal,
): Promise<number> {
  const passphrase = await passphraseOf(config, path, request, terminal);
  await seeThatItIsWhole(path, passphrase);
  const progress = new Progress('Restored', terminal);
  const parts = readBackup(path, passphrase, (share) => progress.setShare(share));
  const { rows, tables, findings, auditMs } = await restore(config, parts, {
    progress,
    warn: (sentence) => terminal.error(`${sentence}\n`),
    onHeader: ({ secretKey }) => placeSecretKey(config, secretKey, path),
    bodies: await openBodyStoreAlone(config),
  });
  terminal.out(`${rows.toLocaleString('en')} rows of ${tables} tables are restored.\n\n`);
  terminal.out(auditReport(findings, auditMs));
  return findings.total === 0 ? 0 : 1;
}

/** The options of looking at a backup. */
export interface InspectRequest extends PassphraseRequest {
  /** True to check that the backup is whole. */
  readonly check?: boolean;
  readonly printSecretKey?: boolean;
}

/** `posthorn restore --check <file>` and `--print-secret-key` look into a backup, and change nothing. */
export async function inspectBackup(
  config: PassphraseSource,
  path: string,
  request: InspectRequest,
  terminal: Terminal,
): Promise<number> {
  const passphrase = await passphraseOf(config, path, request, terminal);
  const { secretKey, takenAt, posthorn } = await readHeader(path, passphrase);
  if (request.check) {
    await seeThatItIsWhole(path, passphrase);
    terminal.out(`${path} is complete: made by Posthorn ${posthorn}, as of ${takenAt}.\n`);
  }
  if (!request.printSecretKey) return 0;
  if (secretKey === null)
    terminal.error('There is no secret key in it: its database was never used with one.\n');
  else terminal.out(`${secretKey}\n`);
  return secretKey === null ? 1 : 0;
}

/** The passphrase of a backup; null for one that is readable. @throws BackupRefused */
async function passphraseOf(
  config: PassphraseSource,
  path: string,
  request: PassphraseRequest,
  terminal: Terminal,
): Promise<string | null> {
  if (await isEncrypted(path)) return knownPassphrase(config, request, terminal);
  refusePassphrase(config, request, path);
  return null;
}

/**
 * All of a file is looked at before anything is begun: one that is torn at its end shows now. @throws
 * BackupRefused
 */
async function seeThatItIsWhole(path: string, passphrase: string | null): Promise<void> {
  for await (const _ of readFrames(path, passphrase));
}
