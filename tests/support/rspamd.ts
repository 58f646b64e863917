import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { eventually } from './eventually.ts';

/** Why a real rspamd cannot be started here; null when it can. */
export const rspamdMissing = (): string | null =>
  Bun.which('rspamd') ? null : 'the Debian package rspamd is not installed';

/** A rspamd with its built-in rules alone, which asks no name server. */
const configuration = (home: string, port: number): string => `
options {
  rundir = "${home}";
  tempdir = "${home}";
  pidfile = "${home}/pid";
  control_socket = "${home}/control.sock mode=0600";
  dns { nameserver = ["127.0.0.1:9"]; timeout = 0.1s; retransmits = 1; }
  filters = "";
}
logging { type = "console"; level = "error"; }
actions { reject = 15; add_header = 6; greylist = 4; }
worker "normal" { bind_socket = "127.0.0.1:${port}"; count = 1; }
`;

/** Starts a real rspamd, and waits until it answers: it reads its rules for seconds of the processor. */
export async function startRspamd(): Promise<{ readonly url: string } & AsyncDisposable> {
  const home = await mkdtemp(join(tmpdir(), 'posthorn-rspamd-'));
  const port = await freePort();
  const conf = join(home, 'rspamd.conf');
  await writeFile(conf, configuration(home, port));
  const child = Bun.spawn(['rspamd', '-c', conf, '-f', '-i', '--var', `DBDIR=${home}`], {
    stdout: 'ignore',
    stderr: 'ignore',
  });
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    child.kill();
    await child.exited;
    await rm(home, { recursive: true, force: true });
  };
  try {
    await eventually('rspamd answers', async () => {
      if (child.exitCode !== null) throw new Error(`rspamd has ended with ${child.exitCode}`);
      const pong = await fetch(`${url}/ping`).then((response) => response.text());
      return pong.startsWith('pong') ? true : undefined;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, [Symbol.asyncDispose]: stop };
}

/** A question to a stand-in of rspamd. */
interface AskedRspamd {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** A server that answers as rspamd 3.4 does; `answer` gives the body, or a response. */
export function standInForRspamd(answer: (asked: AskedRspamd) => unknown) {
  const asked: AskedRspamd[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname: path } = new URL(request.url);
      if (path === '/ping') return new Response('pong\r\n');
      const one = { path, headers: request.headers, body: await request.text() };
      asked.push(one);
      const said = await answer(one);
      return said instanceof Response ? said : Response.json(said);
    },
  });
  return {
    url: server.url.origin,
    asked,
    [Symbol.dispose]: () => void server.stop(true),
  };
}
