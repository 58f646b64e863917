import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { EMAIL_EVENT_TYPES } from '../../../machines/email/recipient.ts';
import { PERMISSION_NAMES } from '../../http/auth/permissions.ts';
import type { Config, ConfigResult, Environment } from '../../platform/config/config.ts';
import { PLAN_NAMES, type PlanName } from '../../platform/config/plans.ts';
import { SAFEGUARDS } from '../../platform/config/settings/chaos-setting.ts';
import { VERSION_TEXT } from '../../platform/config/version.ts';
import { parseAddress } from '../../platform/text/address.ts';
import type { KeyRequest } from './accounts/keys.ts';
import { addBackupCommands } from './database/backup-commands.ts';
import type { MigrateOptions } from './database/migrate.ts';
import type { DoctorRequest } from './doctor.ts';
import type { ListenRequest } from './listen.ts';
import type { McpRequest } from './mcp.ts';
import type { ServeOptions } from './serving/serve.ts';
import { settingsHelp } from './settings-help.ts';
import { MISUSE, type Terminal } from './terminal.ts';
import type { TortureRequest } from './torture.ts';
import { MACHINE_FORMATS, type MachineFormat, momentOf, oneToThree, wholeNumber } from './words.ts';

/**
 * Runs one command line (without the two leading arguments) and returns the exit code. Each command is loaded
 * when it runs, so that a health check needs no service, and a service no torture.
 */
export async function runCommandLine(
  words: readonly string[],
  terminal: Terminal,
  /** Reads the configuration; `more` are variables that precede those of the environment. */
  load: (more?: Environment) => ConfigResult,
): Promise<number> {
  let code = 0;
  const configured = async (task: (config: Config) => Promise<number>, more?: Environment) => {
    const loaded = load(more);
    if ('config' in loaded) code = await task(loaded.config);
    else {
      terminal.error(
        `The configuration is invalid:\n${loaded.problems.map((problem) => `  ${problem}\n`).join('')}`,
      );
      code = MISUSE;
    }
  };

  const program = new Command('posthorn')
    .description('A transactional email service that you run yourself.')
    .version(VERSION_TEXT, '-v, --version', 'print the version')
    .exitOverride()
    .configureOutput({ writeOut: (text) => terminal.out(text), writeErr: (text) => terminal.error(text) });

  program
    .command('serve')
    .description('run the service')
    .option('--workers <n>', 'processes that share the port, all equal; needs DATABASE_URL', wholeNumber, 1)
    .option(
      '--only <roles>',
      'http, engine or delivery, or several separated by commas: ROLES; needs DATABASE_URL, but for http',
    )
    .addOption(new Option('--worker <index>', 'the number of a worker').argParser(wholeNumber).hideHelp())
    .addHelpText('after', settingsHelp)
    .action((options: ServeOptions) =>
      configured(
        async (config) => (await import('./serving/serve.ts')).serve(config, terminal, options),
        options.only === undefined ? {} : { ROLES: options.only },
      ),
    );

  program
    .command('migrate')
    .description('bring the database schema up to date')
    .option('--distributed', 'spread the tables by workspace over the nodes of a Citus cluster as well')
    .action((options: MigrateOptions) =>
      configured(async (config) =>
        (await import('./database/migrate.ts')).runMigrations(config, terminal, options),
      ),
    );

  addBackupCommands(program, {
    configured,
    // A backup is looked at before there is anything that it could be restored into.
    async withPassphrase(task) {
      const loaded = load();
      code = await task('config' in loaded ? loaded.config : { backupPassphrase: null });
    },
    terminal,
  });

  program
    .command('keys')
    .description('API keys')
    .command('create')
    .description('create an API key and print it once')
    .addOption(new Option('--env <env>', 'its environment').choices(['live', 'test']).makeOptionMandatory())
    .option('--workspace <id>', 'its workspace, where there are several: posthorn workspaces list')
    .option('--name <name>', 'its name', 'Made on the command line')
    .addOption(
      new Option('--permissions <permissions...>', 'its permissions')
        .choices(PERMISSION_NAMES)
        .default(['*']),
    )
    .action((request: KeyRequest) =>
      configured(async (config) => (await import('./accounts/keys.ts')).createKey(config, request, terminal)),
    );

  const secretKey = program.command('secret-key').description('the key that seals secrets');
  secretKey
    .command('rotate')
    .description(
      'change to another key while the service runs: from SECRET_KEY_PREVIOUS to SECRET_KEY, or to a new key in DATA_DIR',
    )
    .action(() =>
      configured(async (config) =>
        (await import('./database/rotate-secret-key.ts')).rotateSecretKey(config, terminal),
      ),
    );
  secretKey
    .command('revoke-links')
    .description('refuse links and return addresses in emails that an earlier key has signed')
    .action(() =>
      configured(async (config) =>
        (await import('./database/rotate-secret-key.ts')).revokeLinks(config, terminal),
      ),
    );
  secretKey
    .command('replace')
    .description('use another key, when the previous one is lost for good')
    .action(() =>
      configured(async (config) =>
        (await import('./database/secret-key.ts')).replaceSecretKey(config, terminal),
      ),
    );

  program
    .command('plan')
    .description('the plan of a workspace')
    .command('set')
    .description('put a workspace on a plan')
    .argument('<workspace>', 'its id')
    .addArgument(new Argument('<plan>').choices(PLAN_NAMES))
    .action((workspace: string, plan: PlanName) =>
      configured(async (config) =>
        (await import('./accounts/plan.ts')).changePlan(config, workspace, plan, terminal),
      ),
    );

  const workspaces = program.command('workspaces').description('the workspaces of this installation');
  workspaces
    .command('list')
    .description('list them')
    .action(() =>
      configured(async (config) =>
        (await import('./accounts/workspaces.ts')).showWorkspaces(config, terminal),
      ),
    );
  workspaces
    .command('create')
    .description('create a workspace and print its id')
    .argument('<name>')
    .option('--owner <email>', 'the account of its owner')
    .action((name: string, { owner }: { owner?: string }) =>
      configured(async (config) =>
        (await import('./accounts/workspaces.ts')).addWorkspace(config, name, owner ?? null, terminal),
      ),
    );
  workspaces
    .command('rename')
    .description('rename a workspace')
    .argument('<workspace>', 'its id')
    .argument('<name>')
    .action((id: string, name: string) =>
      configured(async (config) =>
        (await import('./accounts/workspaces.ts')).changeWorkspace(config, id, { name }, terminal),
      ),
    );
  workspaces
    .command('archive')
    .description('disable the keys of a workspace; nothing is removed')
    .argument('<workspace>', 'its id')
    .option('--undo', 'restore it')
    .action((id: string, { undo }: { undo?: boolean }) =>
      configured(async (config) =>
        (await import('./accounts/workspaces.ts')).changeWorkspace(config, id, { archived: !undo }, terminal),
      ),
    );
  workspaces
    .command('export')
    .description('export all rows of a workspace to a file, one JSON object a line, without secrets')
    .argument('<workspace>', 'its id')
    .argument('<file>', 'a file that does not exist yet')
    .action((id: string, file: string) =>
      configured(async (config) =>
        (await import('./accounts/workspaces.ts')).saveWorkspace(config, id, file, terminal),
      ),
    );
  workspaces
    .command('delete')
    .description('delete an archived workspace and all of its rows, permanently')
    .argument('<workspace>', 'its id')
    .action((id: string) =>
      configured(async (config) =>
        (await import('./accounts/workspaces.ts')).removeWorkspace(config, id, terminal),
      ),
    );

  program
    .command('members')
    .description('the people of this installation')
    .command('reset-password')
    .description('print a link with which a person sets a new password')
    .argument('<email>', 'the address of the account')
    .option('--without-second-factor', 'also remove authenticator, passkeys and recovery codes', false)
    .action((email: string, { withoutSecondFactor }: { withoutSecondFactor: boolean }) =>
      configured(async (config) =>
        (await import('./accounts/members.ts')).printResetLink(config, email, withoutSecondFactor, terminal),
      ),
    );

  program
    .command('machines')
    .description('list the state machines, or show one')
    .argument('[name]')
    .addOption(
      new Option('--format <format>', 'the format of the output').choices(MACHINE_FORMATS).default('mermaid'),
    )
    .action(async (name: string | undefined, { format }: { format: MachineFormat }) => {
      code = (await import('./machines.ts')).showMachines(name, format, terminal);
    });

  program
    .command('audit')
    .description('check the consistency of the database: reads only, and exits with 1 on any fault')
    .option('--since <time>', 'only emails accepted since then (ISO 8601)', momentOf, 0)
    .action(({ since }: { since: number }) =>
      configured(async (config) => (await import('./database/audit.ts')).runAudit(config, since, terminal)),
    );

  program
    .command('torture')
    .description(
      'kill, freeze and cut off instances of this program on a database made for them, and check the result',
    )
    .option('--seconds <n>', 'the duration in seconds', wholeNumber, 60)
    .option('--instances <n>', 'the number of instances, 1 to 3', oneToThree, 2)
    .option('--embedded', 'one instance on the embedded database, without a PostgreSQL')
    .option('--seed <n>', 'repeats the random choices of a run', wholeNumber, 1)
    .option('--workers <n>', 'the most requests under way', wholeNumber, 64)
    .option('--no-webhooks', 'no receiver of webhooks: ends sooner')
    .option('--no-clocks', 'no wrong clocks')
    .option('--no-live', 'no live mail, and no server that accepts it')
    .option('--postgres-bin <folder>', 'the folder of initdb and postgres')
    .addOption(
      new Option('--break <safeguard...>', 'safeguards to switch off: the torture must then fail').choices(
        SAFEGUARDS,
      ),
    )
    .action(async (request: TortureRequest) => {
      code = await (await import('./torture.ts')).runTorture(request, terminal);
    });

  program
    .command('doctor')
    .description('check everything that email depends on, and report each fault with its remedy')
    .option('--to <address>', 'send a test message to this address, from a verified domain', plainAddress)
    .option(
      '--probe <domain>',
      'the domain whose mail server tests that port 25 is open outwards',
      'gmail.com',
    )
    .action((request: DoctorRequest) =>
      configured(async (config) => (await import('./doctor.ts')).runDoctor(config, request, terminal)),
    );

  program
    .command('listen')
    .description('post each event of a service to an address of this machine, signed as a webhook')
    .option('--forward-to <url>', 'the address to post to, such as http://localhost:4000/hooks')
    .addOption(serviceUrl())
    .addOption(serviceKey('emails:read'))
    .option('--events <types>', 'only these types, separated by commas: delivered,bounced', eventTypes)
    .option('--print-secret', 'print the secret that signs events for this key, and end')
    .action(async (request: ListenRequest) => {
      code = await (await import('./listen.ts')).listen(request, terminal);
    });

  program
    .command('mcp')
    .description(
      'the Model Context Protocol on standard streams, for an assistant: it reads, and sends nothing',
    )
    .addOption(serviceUrl())
    .addOption(serviceKey('the permissions of the tools, such as emails:read'))
    .option(
      '--allow-changes',
      'also offer tools that store templates and send email, within the permissions of the key',
    )
    .action(async (request: McpRequest) => {
      code = await (await import('./mcp.ts')).runMcp(request, terminal);
    });

  program
    .command('health')
    .description('check the health of the service on this machine')
    .action(() =>
      configured(async (config) => (await import('./serving/health.ts')).checkHealth(config, terminal)),
    );

  program
    .command('licenses')
    .description('print the licence of everything that this program contains')
    .action(async () => {
      code = await (await import('./licenses.ts')).printLicenses(terminal);
    });

  program
    .command('version')
    .description('print the version and the commit')
    .action(() => terminal.out(`${VERSION_TEXT}\n`));

  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : MISUSE;
    throw error;
  }
  return code;
}

const serviceUrl = (): Option =>
  new Option('--url <url>', 'the address of the service')
    .env('POSTHORN_URL')
    .default('http://localhost:3000');

const serviceKey = (permission: string): Option =>
  new Option('--key <key>', `an API key with ${permission}; in the variable no other program sees it`).env(
    'POSTHORN_API_KEY',
  );

function eventTypes(text: string): string {
  const unknown = text.split(',').find((type) => !(EMAIL_EVENT_TYPES as readonly string[]).includes(type));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`Allowed are ${EMAIL_EVENT_TYPES.join(', ')}, separated by commas.`);
  return text;
}

function plainAddress(text: string): string {
  const read = parseAddress(text);
  if ('problem' in read) throw new InvalidArgumentError(read.problem);
  return read.address;
}
