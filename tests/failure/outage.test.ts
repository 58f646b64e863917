import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { startRealService } from '../contract/real-service.ts';
import { startCluster } from '../support/cluster.ts';
import { StatementRelay } from '../support/engine-relay.ts';
import { eventually } from '../support/eventually.ts';
import { livedMs } from '../support/own-time.ts';
import { createTestDatabase } from '../support/postgres.ts';
import {
  askEverything,
  EMAIL,
  expectNothingLost,
  expectUnavailable,
  healed,
  SteadyClients,
} from './outage-world.ts';

// A database that is gone, frozen, full or out of connections, as a client of the service sees it.

test('PostgreSQL stopped under load: 503, and recovery within a second', async () => {
  const cluster = await startCluster();
  try {
    await using service = await startRealService({ DATABASE_URL: cluster.url });
    const key = await service.keyWith('test', ['*']);
    const unused = await service.keyWith('test', ['*']);
    const clients = new SteadyClients(service, key);
    for (let strike = 0; strike < 2; strike++) {
      await clients.progress(100);
      await cluster.strike();
      expectUnavailable(await askEverything(service, unused), 2_000);
      await cluster.up();
      expect(await healed(service, key, cluster.url)).toBeLessThan(1_000);
    }
    await clients.progress(100);
    await clients.finish();
    expect(clients.statuses.get(503)).toBeGreaterThan(0);
    await expectNothingLost(cluster.url, clients);
  } finally {
    await cluster.stop();
  }
});

test('PostgreSQL frozen under load: 503 within 8 s, and recovery within a second', async () => {
  await using database = await createTestDatabase();
  await using relay = await StatementRelay.to(database.url);
  await using service = await startRealService({ DATABASE_URL: relay.url });
  const key = await service.keyWith('test', ['*']);
  const unused = await service.keyWith('test', ['*']);
  const clients = new SteadyClients(service, key);
  await clients.progress(100);
  relay.freeze({ newcomersToo: true });
  expectUnavailable(await askEverything(service, unused));
  // By now it is known to be away.
  expectUnavailable(await askEverything(service, unused), 2_500);
  relay.thaw({ dead: true });
  expect(await healed(service, key, database.url)).toBeLessThan(1_000);
  await clients.progress(100);
  await clients.finish();
  await expectNothingLost(database.url, clients);
});

test('PostgreSQL connections that go dead silently are replaced within 2.5 s', async () => {
  await using database = await createTestDatabase();
  await using relay = await StatementRelay.to(database.url);
  await using service = await startRealService({ DATABASE_URL: relay.url });
  const key = await service.keyWith('test', ['*']);
  const clients = new SteadyClients(service, key);
  await clients.progress(100);
  relay.freeze({ newcomersToo: false });
  expect(await healed(service, key, database.url)).toBeLessThan(2_500);
  await clients.progress(100);
  await clients.finish();
  await expectNothingLost(database.url, clients);
});

test('PostgreSQL out of connections: 503, and recovery within a second', async () => {
  const places = 24;
  const cluster = await startCluster({ settings: { max_connections: `${places}` } });
  const hogs: postgres.Sql[] = [];
  try {
    await using service = await startRealService({ DATABASE_URL: cluster.url });
    const key = await service.keyWith('test', ['*']);
    const unused = await service.keyWith('test', ['*']);
    await healed(service, key, cluster.url);
    const admin = postgres(cluster.url, { max: 1 });
    hogs.push(admin);
    const occupyAll = async (): Promise<void> => {
      for (;;) {
        const hog = postgres(cluster.url, { max: 1, fetch_types: false });
        try {
          await hog`select 1`;
          hogs.push(hog);
        } catch {
          return;
        }
      }
    };
    // The service's own connections are cut until every place is taken. That it has none in the list of
    // backends would say too little: a backend leaves the list before it gives up its place, which the
    // service may take again.
    while (hogs.length < places) {
      await admin`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'posthorn%'`;
      await occupyAll();
    }
    expectUnavailable(await askEverything(service, unused), 2_000);
    await Promise.all(hogs.splice(0).map((hog) => hog.end()));
    expect(await healed(service, key, cluster.url)).toBeLessThan(1_000);
  } finally {
    await Promise.all(hogs.map((hog) => hog.end()));
    await cluster.stop();
  }
});

test('PostgreSQL out of disk: writes answer 503, reads go on, and recovery within a second', async () => {
  const disk = mkdtempSync(join(tmpdir(), 'posthorn-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=192m', 'tmpfs', disk], { encoding: 'utf8' });
  if (mounted.status !== 0) {
    console.warn(`No small disk could be mounted, so a full one was not tried: ${mounted.stderr}`);
    rmSync(disk, { recursive: true });
    return;
  }
  chmodSync(disk, 0o755);
  const cluster = await startCluster({ within: disk, settings: { max_wal_size: '64MB' } });
  try {
    await using service = await startRealService({ DATABASE_URL: cluster.url });
    const key = await service.keyWith('test', ['*']);
    const clients = new SteadyClients(service, key);
    await clients.progress(50);
    const ballast = join(disk, 'ballast');
    fill(ballast);
    const body = { ...EMAIL, html: `<p>${'x'.repeat(900_000)}</p>` };
    const post = { method: 'POST', path: '/v1/emails', key, body };
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++) {
      const took = await livedMs(async () => {
        const { status, headers } = await service.ask(post);
        statuses.push(status);
        if (status === 503) expect(headers.get('retry-after')).toBe('1');
      });
      expect(took).toBeLessThan(8_000);
    }
    expect(statuses).toContain(503);
    for (const path of ['/v1/workspace', '/v1/emails'])
      expect((await service.ask({ path, key })).status).toBe(200);
    // When a write fails is the disk's affair: small ones may still find a place between two large ones.
    await eventually('health that tells of the full disk', async () => {
      await service.ask(post);
      const reply = await service.ask({ path: '/health' });
      return reply.status === 503 && reply.body.error.message.includes('no free space') ? true : undefined;
    });
    rmSync(ballast);
    expect(await healed(service, key, cluster.url)).toBeLessThan(1_000);
    await clients.progress(50);
    await clients.finish();
    await expectNothingLost(cluster.url, clients);
  } finally {
    await cluster.stop();
    spawnSync('umount', [disk]);
    rmSync(disk, { recursive: true });
  }
});

/** Writes until nothing more fits. */
function fill(path: string): void {
  const megabyte = Buffer.alloc(1_048_576);
  try {
    for (;;) writeFileSync(path, megabyte, { flag: 'a' });
  } catch (error) {
    expect((error as { code?: string }).code).toBe('ENOSPC');
  }
}
