import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { EMAIL_EVENT_TYPES } from '../../../machines/email/recipient.ts';
import { PERMISSION_NAMES } from '../../http/auth/permissions.ts';
import type { Config, Environment, Loaded } from '../../platform/config/config.ts';
import { PLAN_NAMES, type PlanName } from '../../platform/config/plans.ts';
import { SAFEGUARDS } from '../../platform/config/settings/chaos-setting.ts';
import { VERSION_TEXT } from '../../platform/config/version.ts';
import { parseAddress } from '../../platform/text/address.ts';
import { createKey, type KeyRequest } from './accounts/keys.ts';
import { printResetLink } from './accounts/members.ts';
import { changePlan } from './accounts/plan.ts';
import {
  addWorkspace,
  changeWorkspace,
  removeWorkspace,
  saveWorkspace,
  showWorkspaces,
} from './accounts/workspaces.ts';
import { runAudit } from './database/audit.ts';
import { addBackupCommands } from './database/backup-commands.ts';
import { type MigrateOptions, runMigrations } from './database/migrate.ts';
import { revokeLinks, rotateSecretKey } from './database/rotate-secret-key.ts';
import { replaceSecretKey } from './database/secret-key.ts';
import { type DoctorRequest, runDoctor } from './doctor.ts';
import { MISUSE } from './explain.ts';
import { printLicenses } from './licenses.ts';
import { type ListenRequest, listen } from './listen.ts';
import { MACHINE_FORMATS, type MachineFormat, showMachines } from './machines.ts';
import { type McpRequest, runMcp } from './mcp.ts';
import { checkHealth } from './serving/health.ts';
import { type ServeOptions, serve } from './serving/serve.ts';
import { settingsHelp } from './settings-help.ts';
import type { Terminal } from './terminal.ts';
import { runTorture, type TortureRequest } from './torture.ts';
import { momentOf, oneToThree, wholeNumber } from './words.ts';

/** Runs one command line (without the two leading arguments) and returns the exit code. */
export async function runCommandLine(
  words: readonly string[],
  terminal: Terminal,
  /** Reads the configuration; `more` are variables that stand above those of the environment. */
  load: (more?: Environment) => Loaded,
): Promise<number> {
  let code = 0;
  const configured = async (task: (config: Config) => Promise<number>, more?: Environment) => {
    const loaded = load(more);
    if ('config' in loaded) code = await task(loaded.config);
    else {
      terminal.error(
        `The configuration is not right:\n${loaded.problems.map((problem) => `  ${problem}\n`).join('')}`,
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
      'http, engine or delivery, or several separated by commas: ROLES; needs DATABASE_URL',
    )
    .addOption(new Option('--worker <index>', 'one of them').argParser(wholeNumber).hideHelp())
    .addHelpText('after', settingsHelp)
    .action((options: ServeOptions) =>
      configured(
        (config) => serve(config, terminal, options),
        options.only === undefined ? {} : { ROLES: options.only },
      ),
    );

  program
    .command('migrate')
    .description('bring the database schema up to date')
    .option('--distributed', 'spread the tables by workspace over the nodes of a Citus cluster as well')
    .action((options: MigrateOptions) => configured((config) => runMigrations(config, terminal, options)));

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
    .description('make an API key and print it, once')
    .addOption(new Option('--env <env>', 'its environment').choices(['live', 'test']).makeOptionMandatory())
    .option('--workspace <id>', 'its workspace, where there are several: posthorn workspaces list')
    .option('--name <name>', 'what it is for', 'Made on the command line')
    .addOption(
      new Option('--permissions <permissions...>', 'what it may do').choices(PERMISSION_NAMES).default(['*']),
    )
    .action((request: KeyRequest) => configured((config) => createKey(config, request, terminal)));

  const secretKey = program.command('secret-key').description('the key that seals secrets');
  secretKey
    .command('rotate')
    .description(
      'go over to another one, while serving: to SECRET_KEY from SECRET_KEY_PREVIOUS, or to a new one in DATA_DIR',
    )
    .action(() => configured((config) => rotateSecretKey(config, terminal)));
  secretKey
    .command('revoke-links')
    .description('refuse links and return addresses in emails that a key before the one of now has signed')
    .action(() => configured((config) => revokeLinks(config, terminal)));
  secretKey
    .command('replace')
    .description('go on with another one, when the one before is lost for good')
    .action(() => configured((config) => replaceSecretKey(config, terminal)));

  program
    .command('plan')
    .description('the plan of a workspace')
    .command('set')
    .description('put a workspace on a plan')
    .argument('<workspace>', 'its id')
    .addArgument(new Argument('<plan>').choices(PLAN_NAMES))
    .action((workspace: string, plan: PlanName) =>
      configured((config) => changePlan(config, workspace, plan, terminal)),
    );

  const workspaces = program.command('workspaces').description('the workspaces of this installation');
  workspaces
    .command('list')
    .description('list them')
    .action(() => configured((config) => showWorkspaces(config, terminal)));
  workspaces
    .command('create')
    .description('make one, and print its id')
    .argument('<name>')
    .option('--owner <email>', 'an account that gets it')
    .action((name: string, { owner }: { owner?: string }) =>
      configured((config) => addWorkspace(config, name, owner ?? null, terminal)),
    );
  workspaces
    .command('rename')
    .description('give one another name')
    .argument('<workspace>', 'its id')
    .argument('<name>')
    .action((id: string, name: string) =>
      configured((config) => changeWorkspace(config, id, { name }, terminal)),
    );
  workspaces
    .command('archive')
    .description('stop its keys; nothing is removed')
    .argument('<workspace>', 'its id')
    .option('--undo', 'take it back into use')
    .action((id: string, { undo }: { undo?: boolean }) =>
      configured((config) => changeWorkspace(config, id, { archived: !undo }, terminal)),
    );
  workspaces
    .command('export')
    .description('write every row of it into a file, a JSON text a line, without secrets')
    .argument('<workspace>', 'its id')
    .argument('<file>', 'that does not exist yet')
    .action((id: string, file: string) => configured((config) => saveWorkspace(config, id, file, terminal)));
  workspaces
    .command('delete')
    .description('remove an archived one and every row of it, for good')
    .argument('<workspace>', 'its id')
    .action((id: string) => configured((config) => removeWorkspace(config, id, terminal)));

  program
    .command('members')
    .description('the people of this installation')
    .command('reset-password')
    .description('print a link with which a person sets a new password')
    .argument('<email>', 'the address of the account')
    .option('--without-second-factor', 'also remove authenticator, passkeys and recovery codes', false)
    .action((email: string, { withoutSecondFactor }: { withoutSecondFactor: boolean }) =>
      configured((config) => printResetLink(config, email, withoutSecondFactor, terminal)),
    );

  program
    .command('machines')
    .description('list the state machines, or show one')
    .argument('[name]')
    .addOption(new Option('--format <format>', 'how to show it').choices(MACHINE_FORMATS).default('mermaid'))
    .action((name: string | undefined, { format }: { format: MachineFormat }) => {
      code = showMachines(name, format, terminal);
    });

  program
    .command('audit')
    .description('prove the ledger of the database: reads only, and answers 1 when anything disagrees')
    .option('--since <time>', 'only emails accepted since then (ISO 8601)', momentOf, 0)
    .action(({ since }: { since: number }) => configured((config) => runAudit(config, since, terminal)));

  program
    .command('torture')
    .description(
      'kill, freeze and cut off instances of this program on a database made for them, and check what is left',
    )
    .option('--seconds <n>', 'how long', wholeNumber, 60)
    .option('--instances <n>', 'how many, 1 to 3', oneToThree, 2)
    .option('--embedded', 'one instance on the embedded database, without a PostgreSQL')
    .option('--seed <n>', 'makes the same chances come again', wholeNumber, 1)
    .option('--workers <n>', 'requests under way at most', wholeNumber, 64)
    .option('--no-webhooks', 'without a receiver of webhooks: ends sooner')
    .option('--no-clocks', 'with the right time on every machine')
    .option('--no-live', 'without live mail and a server that takes it')
    .option('--postgres-bin <folder>', 'where initdb and postgres are')
    .addOption(
      new Option('--break <safeguard...>', 'switch them off: the torture must then fail').choices(SAFEGUARDS),
    )
    .action(async (request: TortureRequest) => {
      code = await runTorture(request, terminal);
    });

  program
    .command('doctor')
    .description('look at everything that email depends on, and say what is wrong and what to do')
    .option('--to <address>', 'send a test message there, from a verified domain', plainAddress)
    .option('--probe <domain>', 'whose mail server shows whether port 25 is open outwards', 'gmail.com')
    .action((request: DoctorRequest) => configured((config) => runDoctor(config, request, terminal)));

  program
    .command('listen')
    .description('post each event of a service to an address of this machine, signed as a webhook')
    .option('--forward-to <url>', 'where to post: http://localhost:4000/hooks')
    .addOption(serviceUrl())
    .addOption(serviceKey('emails:read'))
    .option('--events <types>', 'only these, with commas between: delivered,bounced', eventTypes)
    .option('--print-secret', 'print the secret that events are signed with for this key, and end')
    .action(async (request: ListenRequest) => {
      code = await listen(request, terminal);
    });

  program
    .command('mcp')
    .description(
      'the Model Context Protocol on standard streams, for an assistant: it reads, and sends nothing',
    )
    .addOption(serviceUrl())
    .addOption(serviceKey('what the tools need, such as emails:read'))
    .option('--allow-changes', 'also offer to store templates and to send email, by what the key permits')
    .action(async (request: McpRequest) => {
      code = await runMcp(request, terminal);
    });

  program
    .command('health')
    .description('ask the service on this machine how it is')
    .action(() => configured((config) => checkHealth(config, terminal)));

  program
    .command('licenses')
    .description('print the licence of everything that this program contains')
    .action(async () => {
      code = await printLicenses(terminal);
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
  new Option('--url <url>', 'where the service is').env('POSTHORN_URL').default('http://localhost:3000');

const serviceKey = (permission: string): Option =>
  new Option('--key <key>', `an API key with ${permission}; in the variable no other program sees it`).env(
    'POSTHORN_API_KEY',
  );

function eventTypes(text: string): string {
  const unknown = text.split(',').find((type) => !(EMAIL_EVENT_TYPES as readonly string[]).includes(type));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`Allowed are ${EMAIL_EVENT_TYPES.join(', ')}, with commas between.`);
  return text;
}

function plainAddress(text: string): string {
  const read = parseAddress(text);
  if ('problem' in read) throw new InvalidArgumentError(read.problem);
  return read.address;
}
