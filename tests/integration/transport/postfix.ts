import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../src/ops/torture/free-port.ts';
import { CERTIFICATE, PRIVATE_KEY } from './certificates.ts';

/**
 * A Postfix of the tests' own, strict, on loopback, that puts what it accepts for receiver.test into one
 * Maildir.
 */
export interface Postfix extends AsyncDisposable {
  readonly port: number;
  /** The process from which all others of it descend. */
  readonly pid: number;
  readonly maildir: string;
  /** The folder of main.cf. */
  readonly config: string;
  /** File names of the messages delivered so far. */
  delivered(): Promise<string[]>;
}

/** Why Postfix cannot be started here; null when it can. */
export const postfixMissing = (): string | null => {
  if (process.getuid?.() !== 0) return 'Postfix starts only as root';
  return Bun.which('postfix') && Bun.which('postconf') ? null : 'the Debian package postfix is not installed';
};

/**
 * Starts a whole instance in a separate directory, beside any that the machine runs. It passes mail for
 * elsewhere.test on to port `relaysTo` of this machine, or all mail to several of them by lot, and bounces
 * for our return paths to port `bouncesTo`. `settings` are further lines of main.cf.
 */
export const startPostfix = async ({
  relaysTo = 25,
  bouncesTo = 25,
  settings = '',
}: {
  readonly relaysTo?: number | readonly number[];
  readonly bouncesTo?: number;
  readonly settings?: string;
} = {}): Promise<Postfix> => {
  const home = await mkdtemp(join(tmpdir(), 'posthorn-postfix-'));
  const port = await freePort();
  const inside = (name: string) => join(home, name);
  for (const name of ['config', 'queue', 'data', 'mail']) await mkdir(inside(name), { mode: 0o755 });
  await writeFile(inside('cert.pem'), CERTIFICATE);
  await writeFile(inside('key.pem'), PRIVATE_KEY);
  await writeFile(
    inside('config/recipients'),
    '/^full@/ REJECT 5.2.2 Mailbox full\n/^gone@/ REJECT 5.1.1 No such user\n',
  );
  await writeFile(
    inside('config/transport'),
    `/@elsewhere\\.test$/ relay:[127.0.0.1]:${relaysTo}\n/^b\\+/ relay:[127.0.0.1]:${bouncesTo}\n`,
  );
  await writeFile(inside('config/main.cf'), configuration(home, transports(home, relaysTo)) + settings);
  await writeFile(inside('config/master.cf'), services(port));
  await run('chown', 'postfix', inside('data'));
  await run('chown', 'nobody', inside('mail'));
  await run('chmod', '755', home);
  await run('postfix', '-c', inside('config'), 'start');
  const maildir = inside('mail/inbox');
  const pid = Number(await readFile(inside('queue/pid/master.pid'), 'utf8'));
  return {
    port,
    pid,
    maildir,
    config: inside('config'),
    delivered: async () =>
      (await readdir(join(maildir, 'new')).catch(() => [])).map((name) => join(maildir, 'new', name)),
    async [Symbol.asyncDispose]() {
      await run('postfix', '-c', inside('config'), 'stop');
      await rm(home, { recursive: true, force: true });
    },
  };
};

/**
 * A name of a setting that comes twice is a warning of each process, and their first ones can keep it from
 * starting.
 */
const transports = (home: string, to: number | readonly number[]): string =>
  typeof to === 'number'
    ? `regexp:${home}/config/transport`
    : `randmap:{${to.map((one) => `relay:[127.0.0.1]:${one}`).join(',')}}`;

const configuration = (home: string, transportMaps: string): string => `
compatibility_level = 3.6
queue_directory = ${home}/queue
data_directory = ${home}/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
myhostname = mx.receiver.test
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
maillog_file = ${home}/queue/maillog
maillog_file_prefixes = ${home}
relay_domains = elsewhere.test
transport_maps = ${transportMaps}
virtual_mailbox_domains = receiver.test
virtual_mailbox_base = ${home}/mail
virtual_mailbox_maps = static:inbox/
virtual_uid_maps = static:65534
virtual_gid_maps = static:65534
virtual_minimum_uid = 100
message_size_limit = 30000000
mailbox_size_limit = 0
virtual_mailbox_limit = 0
smtpd_tls_cert_file = ${home}/cert.pem
smtpd_tls_key_file = ${home}/key.pem
smtpd_tls_security_level = may
smtpd_forbid_bare_newline = yes
smtpd_forbid_bare_newline_exclusions =
smtpd_forbid_unauth_pipelining = yes
strict_rfc821_envelopes = yes
strict_mime_encoding_domain = yes
strict_7bit_headers = yes
smtpd_helo_required = yes
smtpd_recipient_restrictions = check_recipient_access regexp:${home}/config/recipients, reject_unauth_destination
smtpd_client_connection_rate_limit = 0
smtpd_client_connection_count_limit = 0
`;

const services = (port: number): string =>
  [
    `127.0.0.1:${port} inet n - n - - smtpd`,
    'pickup unix n - n 60 1 pickup',
    'cleanup unix n - n - 0 cleanup',
    'qmgr unix n - n 300 1 qmgr',
    'rewrite unix - - n - - trivial-rewrite',
    'bounce unix - - n - 0 bounce',
    'defer unix - - n - 0 bounce',
    'trace unix - - n - 0 bounce',
    'verify unix - - n - 1 verify',
    'proxymap unix - - n - - proxymap',
    'relay unix - - n - - smtp',
    'smtp unix - - n - - smtp',
    'virtual unix - n n - - virtual',
    'error unix - - n - - error',
    'retry unix - - n - - error',
    'discard unix - - n - - discard',
    'tlsmgr unix - - n 1000? 1 tlsmgr',
    'anvil unix - - n - 1 anvil',
    'scache unix - - n - 1 scache',
    'postlog unix-dgram n - n - 1 postlogd',
    '',
  ].join('\n');

const run = async (...command: string[]): Promise<void> => {
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' });
  const said = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}: ${said}`);
};
