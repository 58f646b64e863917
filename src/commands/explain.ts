import { NotAuditable } from '../audit/audit.ts';
import { NotBreakable } from '../chaos/faulty-engine.ts';
import { NoPostgres } from '../chaos/postgres-programs.ts';
import { WrongSecretKey } from '../db/canary.ts';
import { DataDirectoryNotWritable } from '../db/data-directory.ts';
import { DataDirectoryInUse } from '../db/directory-lock.ts';
import { MigrationMismatch } from '../db/migrate.ts';
import { Unavailable } from '../errors/unavailable.ts';

/** The operator can correct these failures. Their message is enough; a stack trace would bury it. */
const PLAIN = [
  DataDirectoryInUse,
  DataDirectoryNotWritable,
  MigrationMismatch,
  NoPostgres,
  NotAuditable,
  NotBreakable,
  Unavailable,
  WrongSecretKey,
];

/** The text that is printed when a command fails. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return `${String(error)}\n`;
  const isPlain = PLAIN.some((plain) => error instanceof plain) || 'syscall' in error;
  return `${isPlain ? error.message : (error.stack ?? error.message)}\n`;
}

/** The exit code of a command that failed: 2 where a setting is wrong, as for one that cannot be understood. */
export const exitCodeOf = (error: unknown): number => (error instanceof WrongSecretKey ? 2 : 1);
