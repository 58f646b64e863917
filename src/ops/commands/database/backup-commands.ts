import { type Command, InvalidArgumentError } from 'commander';
import type { Config } from '../../../platform/config/config.ts';
import type { Terminal } from '../terminal.ts';
import { EMBEDDED } from '../words.ts';
import type { PassphraseRequest, PassphraseSource } from './passphrase.ts';
import type { InspectRequest } from './restore.ts';

const PASSPHRASE = [
  '--passphrase-file <path>',
  'a file with the passphrase; otherwise BACKUP_PASSPHRASE, if it is set',
] as const;

const BACKUP_HELP = `
The service can keep running. The file holds the whole database as of one moment, with the secret key, and gets its name
when it is complete. Every night, by cron:

  15 3 * * *  posthorn backup --passphrase-file /etc/posthorn/passphrase /backups/posthorn-$(date +\\%F)
`;

const RESTORE_HELP = `
The database that DATABASE_URL or DATA_DIR names must be empty. It gets the schema of this version, readers of the event log
keep their cursors, and an audit follows. Mail that was unsent at the time of the backup is sent, even if it left since.
`;

const MOVE_HELP = `
Stop the service first. The new database must be empty; the old one is not changed. An interrupted move can be run again.

  posthorn move --to postgres://user:password@host:5432/posthorn     from the embedded database to a server
  DATABASE_URL=postgres://… posthorn move --to embedded              and back, into DATA_DIR
  DATABASE_URL=postgres://… posthorn move --to embedded:/srv/mail    or into another folder
`;

/** The call that runs the commands. */
export interface BackupRunner {
  /** With the whole configuration, or not at all. */
  configured(task: (config: Config) => Promise<number>): Promise<void>;
  /** Runs with the passphrase of the configuration, even if other settings are invalid. */
  withPassphrase(task: (config: PassphraseSource) => Promise<number>): Promise<void>;
  readonly terminal: Terminal;
}

/** Adds the commands that write, read and move whole databases. */
export function addBackupCommands(
  program: Command,
  { configured, withPassphrase, terminal }: BackupRunner,
): void {
  program
    .command('backup')
    .description('write the whole database to one file, while the service runs')
    .argument('<file>', 'a file that does not exist yet')
    .option('--encrypt', 'ask for a passphrase, where none is given otherwise')
    .option(...PASSPHRASE)
    .addHelpText('after', BACKUP_HELP)
    .action((file: string, request: PassphraseRequest) =>
      configured(async (config) => (await import('./backup.ts')).runBackup(config, file, request, terminal)),
    );
  program
    .command('restore')
    .description('restore a backup into an empty database')
    .argument('<file>', 'a file of `posthorn backup`')
    .option(...PASSPHRASE)
    .option('--check', 'only check that the file is complete')
    .option('--print-secret-key', 'only print its secret key')
    .addHelpText('after', RESTORE_HELP)
    .action((file: string, request: InspectRequest) =>
      request.check || request.printSecretKey
        ? withPassphrase(async (config) =>
            (await import('./restore.ts')).inspectBackup(config, file, request, terminal),
          )
        : configured(async (config) =>
            (await import('./restore.ts')).runRestore(config, file, request, terminal),
          ),
    );
  program
    .command('move')
    .description('move the whole database to another one')
    .requiredOption(
      '--to <database>',
      `the URL of a PostgreSQL, "${EMBEDDED}", or "${EMBEDDED}:" and a folder`,
      databaseOf,
    )
    .addHelpText('after', MOVE_HELP)
    .action(({ to }: { to: string }) =>
      configured(async (config) => (await import('./move.ts')).runMove(config, to, terminal)),
    );
}

function databaseOf(text: string): string {
  const isEmbedded =
    text === EMBEDDED || (text.startsWith(`${EMBEDDED}:`) && text.length > EMBEDDED.length + 1);
  if (!isEmbedded && !/^postgres(ql)?:\/\//.test(text))
    throw new InvalidArgumentError(
      `It must be a URL such as postgres://user:password@host:5432/name, "${EMBEDDED}" for the folder of DATA_DIR, or such as "${EMBEDDED}:/srv/mail" for another one.`,
    );
  return text;
}
