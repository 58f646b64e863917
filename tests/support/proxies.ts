import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { eventually } from './eventually.ts';

/** The page of docs/deploy with this name. */
export const deployed = (name: string): string =>
  readFileSync(resolve(import.meta.dir, '../../docs/deploy', name), 'utf8');

/** The two ports of a proxy. */
interface Between {
  readonly listen: number;
  readonly service: number;
}

/**
 * Replaces one part of a page, which must be there: a test of another text than the documented one shows
 * nothing.
 */
const laid = (page: string, changes: readonly (readonly [string | RegExp, string])[]): string =>
  changes.reduce((text, [part, by]) => {
    const next = text.replace(part, by);
    if (next === text) throw new Error(`The page has no ${part} any more.`);
    return next;
  }, page);

/** The documented configuration of nginx, on plain HTTP and other ports, as a separate program. */
function nginx(folder: string, { listen, service }: Between): readonly string[] {
  const server = laid(deployed('nginx.conf'), [
    [/ +listen 443 ssl;\n +listen \[::\]:443 ssl;\n/, `    listen 127.0.0.1:${listen};\n`],
    [/ +ssl_certificate .*\n +ssl_certificate_key .*\n/, ''],
    ['127.0.0.1:3000', `127.0.0.1:${service}`],
  ]);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr;
     events {} http { access_log off; ${temporary.join(' ')} ${server} }`,
  );
  return ['nginx', '-p', folder, '-e', 'stderr', '-c', file];
}

/** The documented configuration of Caddy, likewise. */
function caddy(folder: string, { listen, service }: Between): readonly string[] {
  const site = laid(deployed('Caddyfile'), [
    ['\nmail.example.com {', `\nhttp://127.0.0.1:${listen} {`],
    ['127.0.0.1:3000', `127.0.0.1:${service}`],
  ]);
  const file = join(folder, 'Caddyfile');
  writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\n${site}`);
  return ['caddy', 'run', '--adapter', 'caddyfile', '--config', file];
}

export const PROXIES = { nginx, caddy } as const;

/** Runs a proxy with the documented configuration until it is disposed of. */
export async function startProxy(name: keyof typeof PROXIES, between: Between): Promise<AsyncDisposable> {
  const folder = mkdtempSync(join(tmpdir(), `posthorn-${name}-`));
  const [program = '', ...words] = PROXIES[name](folder, between);
  const path = `${process.env.PATH}:/usr/sbin`;
  const child = Bun.spawn([Bun.which(program, { PATH: path }) ?? program, ...words], {
    env: { PATH: path, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdout: 'ignore',
    stderr: Bun.file(join(folder, 'log')),
  });
  const close = async (): Promise<void> => {
    child.kill();
    await child.exited;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await eventually(`${name} listens`, async () =>
      child.exitCode !== null || (await isOpen(between.listen)) ? true : undefined,
    );
    if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}.`);
  } catch (error) {
    const log = readFileSync(join(folder, 'log'), 'utf8');
    await close();
    throw new Error(`${name} did not start: ${log}`, { cause: error });
  }
  return { [Symbol.asyncDispose]: close };
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => done(true)).once('error', () => done(false));
    socket.once('connect', () => socket.destroy());
  });
