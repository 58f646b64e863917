import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { eventually } from './eventually.ts';

const BINARY = Bun.which('haproxy', { PATH: `${process.env.PATH}:/usr/sbin` });

/** Why HAProxy cannot be started here; null when it can. */
export const haproxyMissing = (): string | null =>
  BINARY ? null : 'the Debian package haproxy is not installed';

/** An HAProxy in front of an SMTP port, which it checks, and to which it sends the header of a version. */
export interface Haproxy extends AsyncDisposable {
  readonly port: number;
  /** The result of its check of the server, such as L7OK. */
  checked(): Promise<string>;
}

/** Starts one. Its connections to the port come from the address `source`. */
export async function startHaproxy(
  to: number,
  source: string,
  header: 'send-proxy' | 'send-proxy-v2',
): Promise<Haproxy> {
  const home = await mkdtemp(join(tmpdir(), 'posthorn-haproxy-'));
  const port = await freePort();
  await writeFile(
    join(home, 'haproxy.cfg'),
    `
global
  stats socket ${home}/control mode 600
defaults
  mode tcp
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend mail
  bind 127.0.0.1:${port}
  default_backend posthorn
backend posthorn
  option smtpchk EHLO check.example
  server first 127.0.0.1:${to} ${header} check check-send-proxy inter 300ms source ${source}
`,
  );
  const child = Bun.spawn([BINARY ?? '', '-db', '-f', join(home, 'haproxy.cfg')], {
    stdout: 'ignore',
    stderr: Bun.file(join(home, 'log')),
  });
  const control = join(home, 'control');
  const checked = async (): Promise<string> => {
    const table = await asked(control, 'show stat\n').catch(() => '');
    const [names = '', ...rows] = table.split('\n');
    const row = rows.find((one) => one.startsWith('posthorn,first,'))?.split(',') ?? [];
    // A star says that the next check is under way.
    return (row[names.split(',').indexOf('check_status')] ?? '').replace('* ', '');
  };
  await eventually('HAProxy answers', async () => {
    if (child.exitCode !== null) throw new Error(await Bun.file(join(home, 'log')).text());
    return (await checked()) !== '' || undefined;
  });
  return {
    port,
    checked,
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** The answer to one command at the socket of the statistics. */
function asked(path: string, command: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let said = '';
  const socket = connect(path, () => socket.write(command));
  socket.on('data', (octets) => {
    said += octets.toString();
  });
  socket.on('end', () => resolve(said)).on('error', reject);
  return promise;
}
