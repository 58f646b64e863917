import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { AUTHORITY, CERTIFICATE, PRIVATE_KEY } from '../integration/transport/certificates.ts';
import { byImap, type ImapServer, PASSWORD, run, untilPort } from './imap-server.ts';

/** Why Dovecot cannot be started here; null when it can. */
export const dovecotMissing = (): string | null => {
  if (process.getuid?.() !== 0) return 'Dovecot starts only as root';
  return Bun.which('dovecot') && Bun.which('doveadm')
    ? null
    : 'the Debian package dovecot-imapd is not installed';
};

const configuration = (home: string, port: number, tlsPort: number, more: string): string => `
base_dir = ${home}/run
state_dir = ${home}/state
log_path = ${home}/log
protocols = imap
listen = 127.0.0.1, ::1
ssl = required
ssl_cert = <${home}/cert.pem
ssl_key = <${home}/key.pem
auth_mechanisms = plain login
mail_location = maildir:${home}/mail/%u
mail_max_userip_connections = 50
passdb {
  driver = passwd-file
  args = scheme=PLAIN ${home}/users
}
userdb {
  driver = static
  args = uid=nobody gid=nogroup home=${home}/mail/%u
}
first_valid_uid = 1
first_valid_gid = 1
service imap-login {
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = ${tlsPort}
    ssl = yes
  }
}
${more}
`;

/** Starts one with the users. `settings` are further lines of its configuration. */
export async function startDovecot(users: readonly string[], settings = ''): Promise<ImapServer> {
  const home = await mkdtemp(join(tmpdir(), 'posthorn-dovecot-'));
  const [port, tlsPort] = [await freePort(), await freePort()];
  const conf = join(home, 'dovecot.conf');
  await chmod(home, 0o755);
  await mkdir(join(home, 'mail'));
  await run(['chown', 'nobody:nogroup', join(home, 'mail')]);
  await writeFile(join(home, 'cert.pem'), CERTIFICATE);
  await writeFile(join(home, 'key.pem'), PRIVATE_KEY);
  await writeFile(join(home, 'ca.pem'), AUTHORITY);
  await writeFile(join(home, 'users'), users.map((user) => `${user}:${PASSWORD}\n`).join(''));
  await writeFile(conf, configuration(home, port, tlsPort, settings));
  const start = async (): Promise<void> => {
    await run(['dovecot', '-c', conf]);
    await untilPort(port, 'open');
  };
  const stop = () => run(['doveadm', '-c', conf, 'stop']);
  await start();
  return {
    port,
    tlsPort,
    ca: join(home, 'ca.pem'),
    start,
    ...byImap(tlsPort),
    async stop() {
      await stop();
      await untilPort(port, 'closed');
    },
    async renumber(user) {
      const validity = String(Math.floor(Date.now() / 1_000) + 1_000);
      await run([
        'doveadm',
        '-c',
        conf,
        'mailbox',
        'update',
        '-u',
        user,
        '--uid-validity',
        validity,
        'INBOX',
      ]);
      // Those that are connected learn of it when they open the folder again.
      await run(['doveadm', '-c', conf, 'kick', user]).catch(() => {});
    },
    kick: (user) => run(['doveadm', '-c', conf, 'kick', user]),
    async [Symbol.asyncDispose]() {
      await stop().catch(() => {});
      await rm(home, { recursive: true, force: true });
    },
  };
}
