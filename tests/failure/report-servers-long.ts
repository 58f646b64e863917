// Runs the real mail servers of Debian, each in a file tree and a network of its own, collects the reports that they write about
// refusals of every kind, and compares what is read from them with what is right:
//
//   bun tests/failure/report-servers-long.ts [--only exim,dma] [--keep tests/fixtures/reports]
//
// It needs root, debootstrap and the archive of Debian, takes some ten minutes the first time, and sends nothing to any machine: the
// servers have a loopback interface alone. A server that cannot be had is named with the reason.
import { cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { reportsIn, rightFor, verdictOnFile } from '../support/reports-of-servers.ts';
import { SERVER_NAMES, SERVERS } from './report-servers/servers.ts';

const { values } = parseArgs({ options: { only: { type: 'string' }, keep: { type: 'string' } } });
const TREES = join(tmpdir(), 'posthorn-report-servers');
const WORLD = join(import.meta.dir, 'report-servers/world.ts');

const run = async (...command: string[]): Promise<string | null> => {
  const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe' });
  const said = await new Response(child.stderr).text();
  return (await child.exited) === 0 ? null : `${command.slice(0, 3).join(' ')}: ${said.trim().slice(-300)}`;
};

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

const missing = (): string | null => {
  if (process.getuid?.() !== 0) return 'only root may make networks and file trees';
  const absent = ['debootstrap', 'unshare', 'ip', 'chroot'].filter((tool) => !Bun.which(tool));
  return absent.length === 0
    ? null
    : `${absent.join(', ')} not installed (apt-get install debootstrap iproute2)`;
};

/** The tree of a server; the reason when it cannot be had. */
async function treeOf(name: (typeof SERVER_NAMES)[number]): Promise<{ tree: string } | { reason: string }> {
  const tree = join(TREES, name);
  if (await exists(join(tree, 'ready'))) return { tree };
  const base = join(TREES, 'base');
  if (!(await exists(join(base, 'ready')))) {
    await rm(base, { recursive: true, force: true });
    const failure = await run('debootstrap', '--variant=minbase', 'bookworm', base);
    if (failure !== null) return { reason: failure };
    await writeFile(join(base, 'ready'), '');
  }
  await rm(tree, { recursive: true, force: true });
  await run('cp', '-a', base, tree);
  await rm(join(tree, 'ready'));
  await cp('/etc/resolv.conf', join(tree, 'etc/resolv.conf'));
  // No daemon starts while it is installed.
  await writeFile(join(tree, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  const install = `mount -t proc proc /proc; echo mx.example.com > /etc/mailname; DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get install -y --no-install-recommends ${SERVERS[name].packages.join(' ')}`;
  const failure = await run('unshare', '-m', 'chroot', tree, 'sh', '-c', install);
  if (failure !== null) return { reason: failure };
  await writeFile(join(tree, 'ready'), '');
  return { tree };
}

const why = missing();
if (why !== null) {
  console.log(`Nothing was run: ${why}.`);
  process.exit(0);
}

const out = values.keep ?? (await mkdtemp(join(tmpdir(), 'posthorn-reports-')));
await mkdir(TREES, { recursive: true });
for (const name of SERVER_NAMES) {
  if (values.only !== undefined && !values.only.split(',').includes(name)) continue;
  const had = await treeOf(name);
  if ('reason' in had) {
    console.log(`${name} was not run: ${had.reason}`);
    continue;
  }
  for (const old of (await readdir(out)).filter((file) => file.startsWith(`${name}-`)))
    await rm(join(out, old));
  const inside = `hostname mx.example.com; ip link set lo up; mount -t proc proc "$1/proc"; mount --bind /dev "$1/dev"; exec "$2" "$3" "$4" "$1" "$5"`;
  const world = ['unshare', '-n', '-m', '-u', '-p', '--fork', '--kill-child', 'sh', '-c', inside];
  const failure = await run(...world, 'sh', had.tree, process.execPath, WORLD, name, out);
  console.log(failure === null ? `${name} was run.` : `${name}: ${failure}`);
}

let wrong = 0;
for (const report of reportsIn(out)) {
  const { verdict, message } = await verdictOnFile(out, report);
  const right = rightFor(report);
  if (verdict !== right) wrong++;
  console.log(
    `${verdict === right ? '✓' : '✗'} ${report.file}: ${verdict}${verdict === right ? '' : `, not ${right}`} (${message ?? ''})`,
  );
}
console.log(wrong === 0 ? 'All reports were read as they should be.' : `${wrong} reports were read wrongly.`);
process.exit(wrong === 0 ? 0 : 1);
