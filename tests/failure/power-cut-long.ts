import { dlopen, ptr } from 'bun:ffi';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { $ } from 'bun';
import type { Service } from '../support/service.ts';
import { faultsOf, killRepeatedly } from './kill.ts';

// bun tests/failure/power-cut-long.ts [cuts] : the embedded database on a separate ext4 file system, whose
// power is cut in the middle of the work. Exit code 1 when anything was lost or doubled. Needs Linux and
// root, since it mounts.

const cuts = Number(process.argv[2] ?? 6);
if (process.platform !== 'linux' || process.getuid?.() !== 0)
  throw new Error('A file system is mounted for this: run it as root, on Linux.');

/**
 * `EXT4_IOC_SHUTDOWN`: the file system does nothing any more from that moment on, whatever it still had in
 * memory.
 */
const SHUTDOWN = 0x80_04_58_7d;
/** Its flag to leave the journal as it is on the disk. */
const NOLOGFLUSH = 2;

const { symbols } = dlopen('libc.so.6', {
  ioctl: { args: ['i32', 'u64', 'ptr'], returns: 'i32' },
});

const place = mkdtempSync(join(tmpdir(), 'posthorn-power-'));
const image = join(place, 'image');
const home = join(place, 'mounted');
mkdirSync(home);
await $`truncate -s 2G ${image} && mkfs.ext4 -q -F ${image} && mount -o loop ${image} ${home}`;

/**
 * The process is stopped first, so that nothing of it happens after the cut. What it had written and not
 * synced is gone with the file system's memory; what the file system had given to its device is kept, as by a
 * disk without a cache.
 */
async function cutPower(service: Service): Promise<void> {
  process.kill(service.pid, 'SIGSTOP');
  const directory = openSync(home, 'r');
  const failed = symbols.ioctl(directory, SHUTDOWN, ptr(new Uint32Array([NOLOGFLUSH])));
  closeSync(directory);
  if (failed !== 0) throw new Error('The file system cannot be shut down: EXT4_IOC_SHUTDOWN was refused.');
  await service.kill();
  await $`umount ${home} && mount -o loop ${image} ${home}`;
}

try {
  const report = await killRepeatedly({
    database: 'PGlite',
    kills: cuts,
    emails: [50, 1_500],
    say: console.log,
    home,
    strike: cutPower,
  });
  const found = faultsOf(report);
  console.log(JSON.stringify({ cuts, ...report }, null, 2));
  console.log(found === 0 ? 'Nothing was lost, nothing was doubled.' : `${found} faults.`);
  process.exitCode = found === 0 ? 0 : 1;
} finally {
  await $`umount ${home}`.nothrow();
  rmSync(place, { recursive: true, force: true });
}
process.exit();
