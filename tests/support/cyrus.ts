import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { AUTHORITY, CERTIFICATE, PRIVATE_KEY } from '../integration/transport/certificates.ts';
import { asUser, byImap, type ImapServer, PASSWORD, run, untilPort } from './imap-server.ts';

/**
 * The folder into which the Debian packages cyrus-imapd and cyrus-common, and the libraries that they need,
 * were unpacked by `dpkg -x`: as packages they cannot be installed beside dovecot-imapd.
 */
const ROOT = process.env.CYRUS_ROOT ?? '/';
const BIN = join(ROOT, 'usr/lib/cyrus/bin');
const LIBRARIES = ['usr/lib/x86_64-linux-gnu', 'lib/x86_64-linux-gnu', 'usr/lib/cyrus'].map((path) =>
  join(ROOT, path),
);
const ENVIRONMENT: Readonly<Record<string, string>> =
  ROOT === '/' ? {} : { LD_LIBRARY_PATH: LIBRARIES.join(':') };
const ADMIN = 'admin';

/** Why Cyrus cannot be started here; null when it can. */
export const cyrusMissing = (): string | null => {
  if (process.getuid?.() !== 0) return 'Cyrus starts only as root';
  if (!Bun.which(join(BIN, 'imapd')))
    return 'the Debian package cyrus-imapd is not there, nor CYRUS_ROOT set';
  return Bun.which('saslpasswd2') ? null : 'the Debian package sasl2-bin is not installed';
};

const settings = (home: string): string => `
configdirectory: ${home}/config
partition-default: ${home}/spool
defaultpartition: default
cyrus_user: nobody
admins: ${ADMIN}
servername: localhost
allowplaintext: 0
sasl_pwcheck_method: auxprop
sasl_auxprop_plugin: sasldb
sasl_sasldb_path: ${home}/passwords
sasl_mech_list: PLAIN
autocreate_quota: 0
imapidlepoll: 1s
autocreate_users: anyone
delete_mode: immediate
tls_server_cert: ${home}/cert.pem
tls_server_key: ${home}/key.pem
`;

const services = (home: string, port: number, tlsPort: number): string => `
START {
  recover cmd="${BIN}/ctl_cyrusdb -C ${home}/imapd.conf -r"
}
SERVICES {
  imap cmd="${BIN}/imapd -C ${home}/imapd.conf" listen="127.0.0.1:${port}" prefork=0
  imaps cmd="${BIN}/imapd -C ${home}/imapd.conf -s" listen="127.0.0.1:${tlsPort}" prefork=0
}
`;

interface Commands {
  exec(
    command: string,
    words: readonly { readonly type: 'ATOM'; readonly value: string }[],
    options: object,
  ): Promise<{ next(): void }>;
}

/** Starts one with the users. */
export async function startCyrus(users: readonly string[]): Promise<ImapServer> {
  const home = await mkdtemp(join(tmpdir(), 'posthorn-cyrus-'));
  const [port, tlsPort] = [await freePort(), await freePort()];
  for (const folder of ['config', 'spool']) await mkdir(join(home, folder));
  await writeFile(join(home, 'cert.pem'), CERTIFICATE);
  await writeFile(join(home, 'key.pem'), PRIVATE_KEY);
  await writeFile(join(home, 'ca.pem'), AUTHORITY);
  await writeFile(join(home, 'imapd.conf'), settings(home));
  await writeFile(join(home, 'cyrus.conf'), services(home, port, tlsPort));
  const passwords = join(home, 'passwords');
  for (const user of [...users, ADMIN]) {
    const child = Bun.spawn(['saslpasswd2', '-c', '-p', '-f', passwords, '-u', 'localhost', user], {
      stdin: Buffer.from(PASSWORD),
    });
    if ((await child.exited) !== 0) throw new Error(`saslpasswd2: no password for ${user}`);
  }
  await run(['chown', '-R', 'nobody:nogroup', home]);
  await chmod(home, 0o755);
  let master: Bun.Subprocess | null = null;
  const start = async (): Promise<void> => {
    const words = ['-C', join(home, 'imapd.conf'), '-M', join(home, 'cyrus.conf'), '-p', join(home, 'pid')];
    const env = { ...process.env, ...ENVIRONMENT };
    master = Bun.spawn([join(BIN, 'master'), ...words], { stdout: 'ignore', stderr: 'ignore', env });
    await untilPort(tlsPort, 'open');
  };
  // Its children each have one connection.
  const kick = () => run(['pkill', '-TERM', '-P', String(master?.pid)]).catch(() => {});
  const stop = async (): Promise<void> => {
    await kick();
    master?.kill();
    await master?.exited;
    await untilPort(tlsPort, 'closed');
  };
  await start();
  const { append, flags, threads } = byImap(tlsPort);
  return {
    port,
    tlsPort,
    ca: join(home, 'ca.pem'),
    start,
    stop,
    kick,
    append,
    flags,
    threads,
    /** Only a folder that is made again has another UIDVALIDITY. */
    async renumber(user) {
      const messages = await asUser({ tlsPort, user }, async (client) => {
        await client.mailboxOpen('INBOX', { readOnly: true });
        return client.fetchAll('1:*', { source: true, internalDate: true });
      });
      await asUser({ tlsPort, user: ADMIN }, async (untyped) => {
        // The types of the library leave its commands out.
        const client = untyped as unknown as Commands;
        const atoms = (...words: string[]) => words.map((value) => ({ type: 'ATOM' as const, value }));
        for (const [command = '', ...words] of [
          ['SETACL', `user/${user}`, ADMIN, 'lrswipkxtecda'],
          ['DELETE', `user/${user}`],
        ])
          (await client.exec(command, atoms(...words), {})).next();
      });
      for (const { source, internalDate } of messages)
        await append(user, [source ?? Buffer.alloc(0)], 'INBOX', new Date(internalDate ?? 0));
    },
    async [Symbol.asyncDispose]() {
      await stop().catch(() => {});
      await rm(home, { recursive: true, force: true });
    },
  };
}
