import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { DiskRoom, RESERVE } from '../../src/platform/db/embedded/disk-room.ts';
import { EmbeddedDatabase } from '../../src/platform/db/embedded/embedded.ts';
import { EngineEnded, GuardedEngine } from '../../src/platform/db/embedded/guarded-engine.ts';
import { command } from '../support/command.ts';
import { layEmbedded } from '../support/embedded.ts';
import { eventually } from '../support/eventually.ts';
import { LIVE_KEY, startService, TEST_KEY } from '../support/service.ts';

// An embedded database on a disk that fills up. PostgreSQL ends where it cannot make the next segment of its
// log, and PGlite spins from then on: the process would answer nothing, and heed no signal.

const MIB = 1_048_576;

/** A separate disk; null, with the reason, where none can be mounted. */
function smallDisk(): { readonly path: string; free(): number; [Symbol.dispose](): void } | null {
  const path = mkdtempSync(join(tmpdir(), 'posthorn-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=120m', 'tmpfs', path], { encoding: 'utf8' });
  const remove = (): void => rmSync(path, { recursive: true });
  if (mounted.status !== 0) {
    console.warn(`No small disk could be mounted, so a full one was not tried: ${mounted.stderr}`);
    remove();
    return null;
  }
  return {
    path,
    free() {
      const { bavail, bsize } = statfsSync(path);
      return bavail * bsize;
    },
    [Symbol.dispose]() {
      spawnSync('umount', ['-l', path]);
      remove();
    },
  };
}

const random = (octets: number): string => randomBytes((octets * 3) / 4).toString('base64');

test('an embedded database on a full disk refuses in a sentence, goes on when there is room, and stops', async () => {
  using disk = smallDisk();
  if (disk === null) return;
  const dataDir = join(disk.path, 'data');
  const others = join(disk.path, 'others');
  const accepted: string[] = [];
  {
    await using service = await startService({ dataDir });
    const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`${service.url}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      });
    const send = async (): Promise<Response> => {
      const body = { from: 'a@example.com', to: 'b@example.com', subject: 'Full', text: random(600_000) };
      const reply = await ask('/v1/emails', { method: 'POST', body: JSON.stringify(body) });
      if (reply.status === 202)
        accepted.push(((await reply.clone().json()) as { data: { id: string } }).data.id);
      return reply;
    };
    const untilRefused = async (): Promise<Response> => {
      for (let i = 0; i < 200; i++) {
        const reply = await send();
        if (reply.status !== 202) return reply;
      }
      throw new Error('The disk takes more than it has.');
    };
    const expectFull = async (): Promise<void> => {
      const refused = await untilRefused();
      expect([refused.status, await refused.json()]).toMatchObject([
        503,
        { error: { code: 'SERVICE_UNAVAILABLE' } },
      ]);
      expect(refused.headers.get('retry-after')).not.toBeNull();
      // Beside a large write that is refused, small ones may still find a place.
      await eventually('health that tells of the full disk', async () => {
        expect((await send()).status).toBe(503);
        const health = await ask('/health');
        if (health.status === 200) return undefined;
        expect([health.status, health.headers.get('retry-after')]).toEqual([503, '10']);
        return (await health.text()).includes('has no free space for writes') || undefined;
      });
      for (const path of ['/v1/workspace', '/v1/emails']) expect((await ask(path)).status).toBe(200);
    };
    const expectRoom = async (): Promise<void> => {
      await eventually('an email that is accepted', async () =>
        (await send()).status === 202 ? true : undefined,
      );
      await eventually('health', async () => ((await ask('/health')).ok ? true : undefined));
    };

    writeFileSync(others, Buffer.alloc(disk.free() - RESERVE - 8 * MIB));
    await expectFull();
    expect(accepted.length).toBeGreaterThan(0);
    rmSync(others);
    await expectRoom();
    // The room that mail alone fills, as it did when the whole disk was the service's.
    await expectFull();
    spawnSync('mount', ['-o', 'remount,size=160m', disk.path]);
    await expectRoom();
    // Others fill all of it.
    expect(() => appendFileSync(others, Buffer.alloc(160 * MIB))).toThrow('ENOSPC');
    await expectFull();
    expect(await service.stop()).toBe(0);
  }
  rmSync(others);
  const audit = await command({ DATA_DIR: dataDir, BOOTSTRAP_LIVE_KEY: LIVE_KEY }, 'audit');
  expect(audit).toMatchObject({ code: 0 });
  const database = await EmbeddedDatabase.open(dataDir);
  const rows = await database.query<{ id: string }>('select id from emails');
  await database.close();
  expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(accepted));
});

test('an engine that ended where the log found no room is left alone, and what it had answered is there', async () => {
  using disk = smallDisk();
  if (disk === null) return;
  const dataDir = join(disk.path, 'data');
  await layEmbedded(dataDir);
  const plain = await PGlite.create(join(dataDir, 'postgres'));
  // The reserve is looked for elsewhere: as if others had taken it between the look and the write.
  const engine = new GuardedEngine(plain, new DiskRoom(dataDir, { free: () => Number.POSITIVE_INFINITY }));
  await engine.exec('create table written (n integer, content text)');
  const others = join(disk.path, 'others');
  writeFileSync(others, Buffer.alloc(disk.free() - 20 * MIB));
  let written = 0;
  const fill = async (): Promise<void> => {
    for (let n = 0; n < 400; n++, written++)
      await engine.query('insert into written values ($1, $2)', [n, random(100_000)]);
  };
  // Some wait for their turn when it ends, as they always do in a service.
  const fills = await Promise.allSettled([fill(), fill(), fill()]);
  for (const each of fills)
    expect(each).toMatchObject({ status: 'rejected', reason: expect.any(EngineEnded) });
  expect(await engine.ended).toBeInstanceOf(EngineEnded);
  await expect(engine.query('select 1')).rejects.toThrow(EngineEnded);
  await expect(engine.exec('select 1')).rejects.toThrow(EngineEnded);
  await engine.close();
  rmSync(others);
  const database = await EmbeddedDatabase.open(dataDir);
  const [row] = await database.query<{ count: number }>('select count(*)::integer as count from written');
  await database.close();
  expect(row?.count).toBe(written);
});
