import { NoSecretKey } from '../../platform/config/secret-key.ts';
import { OtherVersion } from '../../platform/control/client.ts';
import { WrongSecretKey } from '../../platform/db/canary.ts';
import {
  DatabaseNotOpened,
  DataDirectoryUnusable,
  RAISE_FILES,
  TOO_MANY_FILES,
  UnfinishedRestore,
} from '../../platform/db/embedded/data-directory.ts';
import { DataDirectoryInUse } from '../../platform/db/embedded/directory-lock.ts';
import { EngineEnded } from '../../platform/db/embedded/guarded-engine.ts';
import { MigrationMismatch } from '../../platform/db/migrate.ts';
import { OldServer, UnfitDatabase } from '../../platform/db/server-version.ts';
import { PortNotOpened } from '../../platform/errors/port-not-opened.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { NotAuditable } from '../audit/audit.ts';
import { BackupRefused, TargetNotEmpty } from '../backup/refused.ts';
import { NotBreakable } from '../torture/faults/faulty-engine.ts';
import { NoPostgres } from '../torture/postgres-programs.ts';
import { MISUSE } from './terminal.ts';

/** The operator can correct these failures. Their message is enough; a stack trace would bury it. */
const PLAIN = [
  BackupRefused,
  DataDirectoryInUse,
  DataDirectoryUnusable,
  DatabaseNotOpened,
  EngineEnded,
  MigrationMismatch,
  NoPostgres,
  NoSecretKey,
  NotAuditable,
  NotBreakable,
  OldServer,
  OtherVersion,
  PortNotOpened,
  UnavailableError,
  UnfinishedRestore,
  UnfitDatabase,
  WrongSecretKey,
];

/** The text that is printed when a command fails. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return `${typeof error === 'string' ? error : Bun.inspect(error)}\n`;
  const isPlain = PLAIN.some((plain) => error instanceof plain) || 'syscall' in error;
  const advice = 'code' in error && TOO_MANY_FILES.test(String(error.code)) ? `. ${RAISE_FILES}.` : '';
  return `${isPlain ? error.message : (error.stack ?? error.message)}${advice}\n`;
}

const MISUSES = [NoSecretKey, OldServer, TargetNotEmpty, WrongSecretKey];

/** The exit code of a command that failed. */
export const exitCodeOf = (error: unknown): number =>
  MISUSES.some((misuse) => error instanceof misuse) ? MISUSE : 1;
