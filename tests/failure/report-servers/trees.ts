import { cp, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SERVER_NAMES, SERVERS } from './servers.ts';

const TREES = join(tmpdir(), 'posthorn-report-servers');

/** Runs a command; the end of its complaint where it fails. */
export const run = async (...command: string[]): Promise<string | null> => {
  const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe' });
  const said = await new Response(child.stderr).text();
  return (await child.exited) === 0 ? null : `${command.slice(0, 3).join(' ')}: ${said.trim().slice(-300)}`;
};

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** The tools that are missing, with what installs them; null where there are all. */
export const missing = (): string | null => {
  if (process.getuid?.() !== 0) return 'only root may make networks and file trees';
  const absent = ['debootstrap', 'unshare', 'ip', 'chroot'].filter((tool) => !Bun.which(tool));
  return absent.length === 0
    ? null
    : `${absent.join(', ')} not installed (apt-get install debootstrap iproute2)`;
};

/** A file tree, or the reason why there is none. */
export type Tree = { readonly tree: string } | { readonly reason: string };

/** The file tree with a mail server of Debian. */
export const treeOf = (name: (typeof SERVER_NAMES)[number]): Promise<Tree> =>
  treeWith(name, SERVERS[name].packages);

/** The file tree of that name with packages of Debian, installed where it is not there. */
export async function treeWith(name: string, packages: readonly string[]): Promise<Tree> {
  await mkdir(TREES, { recursive: true });
  const tree = join(TREES, name);
  const wanted = packages.join(' ');
  const ready = await readFile(join(tree, 'ready'), 'utf8').catch(() => null);
  // One of before names no packages.
  if (ready === wanted || ready === '') return { tree };
  const base = join(TREES, 'base');
  if (!(await exists(join(base, 'ready')))) {
    await rm(base, { recursive: true, force: true });
    const failure = await run('debootstrap', '--variant=minbase', 'bookworm', base);
    if (failure !== null) return { reason: failure };
    await writeFile(join(base, 'ready'), '');
  }
  if (ready === null) {
    await rm(tree, { recursive: true, force: true });
    await run('cp', '-a', base, tree);
  }
  await rm(join(tree, 'ready'));
  await cp('/etc/resolv.conf', join(tree, 'etc/resolv.conf'));
  // No daemon starts while it is installed.
  await writeFile(join(tree, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  const install = `mount -t proc proc /proc; echo mx.example.com > /etc/mailname; DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get install -y --no-install-recommends ${wanted}`;
  const failure = await run('unshare', '-m', 'chroot', tree, 'sh', '-c', install);
  if (failure !== null) return { reason: failure };
  await writeFile(join(tree, 'ready'), wanted);
  return { tree };
}
