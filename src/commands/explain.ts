import { NotAuditable } from '../audit/audit.ts';
import { DataDirectoryNotWritable } from '../db/data-directory.ts';
import { DataDirectoryInUse } from '../db/directory-lock.ts';
import { MigrationMismatch } from '../db/migrate.ts';
import { Unavailable } from '../db/unavailable.ts';
import { NoPostgres } from '../torture/postgres-programs.ts';
import { NotTorturable } from '../torture/tortured-engine.ts';

/** The operator can correct these failures. Their message is enough; a stack trace would bury it. */
const PLAIN = [
  DataDirectoryInUse,
  DataDirectoryNotWritable,
  MigrationMismatch,
  NoPostgres,
  NotAuditable,
  NotTorturable,
  Unavailable,
];

/** The text that is printed when a command fails. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return `${String(error)}\n`;
  const isPlain = PLAIN.some((plain) => error instanceof plain) || 'syscall' in error;
  return `${isPlain ? error.message : (error.stack ?? error.message)}\n`;
}
