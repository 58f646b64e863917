import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Bucket } from '../../src/platform/bodies/bucket.ts';
import { claim, givenName, ownerOf } from '../../src/platform/bodies/owner.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { collectBodies, storeAt } from '../support/image-store.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';
import { type S3, startS3 } from '../support/s3.ts';

let s3: S3;
let service: LiveService;
let instances: readonly Database[];
beforeAll(async () => {
  s3 = await startS3();
  service = await startLiveService({ environment: s3.environment });
  const url = service.databaseUrl;
  instances = await Promise.all([1, 2, 3, 4].map(() => openDatabase({ url, dataDir: null })));
});
afterAll(async () => {
  for (const instance of instances) await instance.close();
  await service[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
});

const named = () => service.service.database.query<{ id: string }>('select id from body_store_owner');

test('collectors that begin together give their database one name', async () => {
  for (let round = 0; round < 200; round++) {
    await service.service.database.script('delete from body_store_owner');
    const names = await Promise.all(
      instances.map((instance, at) => givenName(instance, mintId('own', 1_000_000 - at))),
    );
    expect([await named(), new Set(names).size]).toEqual([[{ id: names[0] ?? '' }], 1]);
  }
});

test('the collectors that name a database claim its bucket by that name', async () => {
  for (let round = 0; round < 20; round++) {
    await service.service.database.script('delete from body_store_owner');
    const { bucket } = storeAt(s3, `first-${round}`);
    await Promise.all(instances.map((instance, at) => collectBodies(instance, { bucket }, -at * 1_000)));
    expect(await named()).toEqual([{ id: (await ownerOf(bucket)) ?? '' }]);
  }
});

test.each([
  ['keeps the condition', 412, 'own_1'],
  ['does not know the condition', 501, 'own_2'],
])('a bucket that was claimed meanwhile, of a server that %s', async (_, status, owner) => {
  const kept = new Map<string, string>();
  // It answers a PUT with If-None-Match by RFC 9110, 13.1.2, or refuses the field.
  await using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const there = kept.get(pathname);
      if (request.method === 'GET')
        return there === undefined
          ? new Response('<Error><Code>NoSuchKey</Code></Error>', { status: 404 })
          : new Response(there);
      if (request.headers.has('if-none-match') && (status === 501 || there !== undefined))
        return new Response('<Error><Code>Refused</Code></Error>', { status });
      kept.set(pathname, await request.text());
      return new Response();
    },
  });
  const bucket = new Bucket({
    bucket: 'bodies',
    prefix: '',
    endpoint: `http://127.0.0.1:${server.port}`,
    region: 'us-east-1',
    accessKeyId: 'test',
    secretAccessKey: 'test',
    ca: null,
    now: Date.now,
  });
  expect(await claim(bucket, 'own_1')).toBe('own_1');
  expect(await claim(bucket, 'own_2')).toBe(owner);
});
