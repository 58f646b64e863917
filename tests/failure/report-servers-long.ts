// Runs the real mail servers of Debian, each in a separate file tree and network, collects the reports that
// they write about refusals of every kind, and compares what is read from them with what is right:
//
//   bun tests/failure/report-servers-long.ts [--only exim,dma] [--keep tests/fixtures/reports]
//
// It needs root, debootstrap and the archive of Debian, takes some ten minutes the first time, and sends
// nothing to any machine: the servers have a loopback interface alone. A server that cannot be had is named
// with the reason.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { reportsIn, rightFor, verdictOnFile } from '../support/reports-of-servers.ts';
import { SERVER_NAMES } from './report-servers/servers.ts';
import { missing, run, treeOf } from './report-servers/trees.ts';

const { values } = parseArgs({ options: { only: { type: 'string' }, keep: { type: 'string' } } });
const WORLD = join(import.meta.dir, 'report-servers/world.ts');

const why = missing();
if (why !== null) {
  console.log(`Nothing was run: ${why}.`);
  process.exit(0);
}

const out = values.keep ?? (await mkdtemp(join(tmpdir(), 'posthorn-reports-')));
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
