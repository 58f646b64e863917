import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AUTHORITY } from '../integration/transport/certificates.ts';

/**
 * The folder into which the Debian package exim4-daemon-light, and the libraries that it needs, were unpacked
 * by `dpkg -x`: as a package it cannot be installed beside postfix. It needs the user Debian-exim.
 */
const ROOT = process.env.EXIM_ROOT ?? '/';
const BINARY = join(ROOT, 'usr/sbin/exim4');
const ENVIRONMENT: Readonly<Record<string, string>> =
  ROOT === '/' ? {} : { LD_LIBRARY_PATH: join(ROOT, 'usr/lib/x86_64-linux-gnu') };

/** Why Exim cannot be started here; null when it can. */
export const eximMissing = (): string | null => {
  if (process.getuid?.() !== 0) return 'Exim starts only as root';
  if (!Bun.which(BINARY)) return 'the Debian package exim4-daemon-light is not there, nor EXIM_ROOT set';
  const user = Bun.spawnSync(['id', 'Debian-exim']);
  return user.exitCode === 0 ? null : 'there is no user Debian-exim';
};

/**
 * An Exim that hands each message to one server, over TLS whose certificate it checks, in chunks where the
 * server takes them.
 */
export interface Exim extends AsyncDisposable {
  /** Delivers a message now; what its log says of it. */
  deliver(from: string, to: string, raw: string): Promise<string>;
}

const configuration = (home: string, port: number): string => `
primary_hostname = exim.customer.example
spool_directory = ${home}/spool
log_file_path = ${home}/log/%slog
exim_path = ${BINARY}
exim_user = Debian-exim
exim_group = Debian-exim
keep_environment =
disable_ipv6 = true
untrusted_set_sender = *
begin routers
all:
  driver = manualroute
  route_list = * 127.0.0.1
  self = send
  transport = out
begin transports
out:
  driver = smtp
  port = ${port}
  hosts_require_tls = *
  hosts_try_chunking = *
  tls_verify_certificates = ${home}/ca.pem
  tls_verify_hosts = *
  tls_verify_cert_hostnames =
begin retry
* * F,1m,1m
`;

/** An Exim that takes mail, but for recipients that begin with `refused`, and keeps it. */
export interface EximServer extends AsyncDisposable {
  readonly port: number;
  /** The messages that it has taken, as they came. */
  taken(): Promise<readonly string[]>;
  log(): Promise<string>;
}

const serverConfiguration = (home: string, port: number): string => `
primary_hostname = exim.receiver.example
spool_directory = ${home}/spool
log_file_path = ${home}/log/%slog
exim_path = ${BINARY}
exim_user = Debian-exim
exim_group = Debian-exim
keep_environment =
disable_ipv6 = true
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${port}
pid_file_path = ${home}/spool/exim.pid
smtp_accept_max = 100
smtp_accept_queue_per_connection = 0
deliver_drop_privilege
acl_smtp_rcpt = rcpt
acl_smtp_data = data
begin acl
rcpt:
  deny local_parts = ^refused
       message = Unknown recipient
  accept
data:
  accept
begin routers
all:
  driver = accept
  transport = kept
begin transports
kept:
  driver = appendfile
  directory = ${home}/mail
  maildir_format
begin retry
* * F,1m,1m
`;

/** A server. It demands that commands and replies are in step, as Exim does by itself. */
export async function startEximServer(port: number): Promise<EximServer> {
  const home = await mkdtemp(join(tmpdir(), 'posthorn-exim-'));
  await chmod(home, 0o755);
  const id = (flag: string) => Number(Bun.spawnSync(['id', flag, 'Debian-exim']).stdout.toString());
  for (const name of ['spool', 'log', 'mail']) {
    await mkdir(join(home, name));
    await chown(join(home, name), id('-u'), id('-g'));
  }
  await writeFile(join(home, 'exim.conf'), serverConfiguration(home, port), { mode: 0o644 });
  const daemon = Bun.spawn([BINARY, '-C', join(home, 'exim.conf'), '-bdf'], {
    stdout: 'ignore',
    stderr: 'ignore',
    env: { PATH: process.env.PATH ?? '', ...ENVIRONMENT },
  });
  const kept = join(home, 'mail/new');
  return {
    port,
    async taken() {
      const names = await readdir(kept).catch(() => []);
      return Promise.all(names.map((name) => readFile(join(kept, name), 'latin1')));
    },
    log: () => readFile(join(home, 'log/mainlog'), 'utf8').catch(() => ''),
    async [Symbol.asyncDispose]() {
      daemon.kill();
      await daemon.exited;
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Starts no server: each message has a process that delivers it. */
export async function openExim(port: number): Promise<Exim> {
  const home = await mkdtemp(join(tmpdir(), 'posthorn-exim-'));
  await chmod(home, 0o755);
  const id = (flag: string) => Number(Bun.spawnSync(['id', flag, 'Debian-exim']).stdout.toString());
  for (const name of ['spool', 'log']) {
    await mkdir(join(home, name));
    await chown(join(home, name), id('-u'), id('-g'));
  }
  await writeFile(join(home, 'ca.pem'), AUTHORITY);
  await writeFile(join(home, 'exim.conf'), configuration(home, port), { mode: 0o644 });
  return {
    async deliver(from, to, raw) {
      const child = Bun.spawn([BINARY, '-C', join(home, 'exim.conf'), '-odf', '-oi', '-f', from, to], {
        stdin: Buffer.from(raw.replaceAll('\r\n', '\n'), 'latin1'),
        stdout: 'pipe',
        stderr: 'pipe',
        env: { PATH: process.env.PATH ?? '', ...ENVIRONMENT },
      });
      const said = await new Response(child.stderr).text();
      await child.exited;
      const log = await Bun.file(join(home, 'log/mainlog'))
        .text()
        .catch(() => '');
      return said + log;
    },
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  };
}
