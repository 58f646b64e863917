import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { eventually } from '../../support/eventually.ts';

/** A port of this machine that is free now. */
export function anyPort(): number {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
  const { port } = probe;
  probe.stop();
  return port;
}

/** Writes files of a tree, by their paths in it. */
export async function writeInTree(
  tree: string,
  files: Readonly<Record<string, string | Buffer>>,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(tree, path)), { recursive: true });
    await writeFile(join(tree, path), content);
  }
}

/**
 * Runs shell commands in a tree, which share the network of this machine and nothing else. Killed, all that
 * they started ends.
 */
export function spawnInTree(
  tree: string,
  host: string,
  command: string,
  env: Readonly<Record<string, string>> = {},
  input: Buffer = Buffer.alloc(0),
) {
  const inside = `hostname ${host}; echo '127.0.0.1 ${host} localhost' > "$1/etc/hosts"
    mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"; exec chroot "$1" /bin/sh -c "$2"`;
  const alone = ['unshare', '-m', '-u', '-p', '--fork', '--kill-child', 'sh', '-c', inside, 'sh'];
  return Bun.spawn([...alone, tree, command], {
    stdin: input,
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', ...env },
  });
}

const answers = async (port: number): Promise<boolean> => {
  const socket = connect(port, '127.0.0.1');
  try {
    const [greeting] = (await Promise.race([
      once(socket, 'data'),
      once(socket, 'close').then(() => []),
    ])) as Buffer[];
    return greeting?.toString().startsWith('220') ?? false;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
};

/** A server in a tree; `pid` is that of the process from which the others descend. */
export interface TreeServer extends AsyncDisposable {
  readonly pid: number;
}

/**
 * Starts a mail server in a tree by shell commands that stay in the foreground, and waits until it greets at
 * its port.
 */
export async function startTreeServer(
  tree: string,
  host: string,
  port: number,
  command: string,
): Promise<TreeServer> {
  const child = spawnInTree(tree, host, `exec >/tmp/server.log 2>&1; ${command}`);
  const end = async () => {
    // A server that has changed its user no longer ends with its parent: the first process of its namespace
    // ends all others.
    const { pid } = child;
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
    for (const one of children.split(' ').filter(Boolean)) process.kill(Number(one), 'SIGKILL');
    child.kill('SIGKILL');
    await child.exited;
  };
  try {
    const isUp = eventually(`the server in ${tree}`, async () => (await answers(port)) || undefined);
    const ended = child.exited.then((code) => Promise.reject(new Error(`it ended with ${code}`)));
    await Promise.race([isUp, ended]);
  } catch (error) {
    await end();
    throw error;
  }
  return { pid: child.pid, [Symbol.asyncDispose]: end };
}
