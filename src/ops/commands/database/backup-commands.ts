import { type Command, InvalidArgumentError } from 'commander';
import type { Config } from '../../../platform/config/config.ts';
import type { Terminal } from '../terminal.ts';
import { runBackup } from './backup.ts';
import { EMBEDDED, runMove } from './move.ts';
import type { PassphraseRequest, PassphraseSource } from './passphrase.ts';
import { type InspectRequest, inspectBackup, runRestore } from './restore.ts';

const PASSPHRASE = [
  '--passphrase-file <path>',
  'a file with the passphrase; otherwise BACKUP_PASSPHRASE, if it is set',
] as const;

const BACKUP_HELP = `
The service may run on. The file holds everything as it was at one moment, the secret key included, and appears under its name
when it is whole. Every night, by cron:

  15 3 * * *  posthorn backup --passphrase-file /etc/posthorn/passphrase /backups/posthorn-$(date +\\%F)
`;

const RESTORE_HELP = `
The database that DATABASE_URL or DATA_DIR names must be empty. It is brought to the schema of this version, readers of the event
log go on with the cursors that they have, and an audit ends it. What had not been sent when the backup was made is sent again.
`;

const MOVE_HELP = `
Stop the service first. The new database must be empty; the one before is left as it is. Cut off, it can be begun again.

  posthorn move --to postgres://user:password@host:5432/posthorn     from the embedded database to a server
  DATABASE_URL=postgres://… posthorn move --to embedded              and back, into DATA_DIR
  DATABASE_URL=postgres://… posthorn move --to embedded:/srv/mail    or into another folder
`;

/** The call that runs the commands. */
export interface BackupRunner {
  /** With the whole configuration, or not at all. */
  configured(task: (config: Config) => Promise<number>): Promise<void>;
  /** With the passphrase of the configuration, whatever else may be wrong in it. */
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
    .description('write everything in the database into one file, while it serves')
    .argument('<file>', 'that does not exist yet')
    .option('--encrypt', 'ask for a passphrase, where none is given otherwise')
    .option(...PASSPHRASE)
    .addHelpText('after', BACKUP_HELP)
    .action((file: string, request: PassphraseRequest) =>
      configured((config) => runBackup(config, file, request, terminal)),
    );
  program
    .command('restore')
    .description('put a backup into an empty database')
    .argument('<file>', 'that `posthorn backup` has written')
    .option(...PASSPHRASE)
    .option('--check', 'only see whether the file is whole')
    .option('--print-secret-key', 'only print the secret key that is in it')
    .addHelpText('after', RESTORE_HELP)
    .action((file: string, request: InspectRequest) =>
      request.check || request.printSecretKey
        ? withPassphrase((config) => inspectBackup(config, file, request, terminal))
        : configured((config) => runRestore(config, file, request, terminal)),
    );
  program
    .command('move')
    .description('put everything in the database into another one')
    .requiredOption(
      '--to <database>',
      `the URL of a PostgreSQL, "${EMBEDDED}", or "${EMBEDDED}:" and a folder`,
      databaseOf,
    )
    .addHelpText('after', MOVE_HELP)
    .action(({ to }: { to: string }) => configured((config) => runMove(config, to, terminal)));
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
