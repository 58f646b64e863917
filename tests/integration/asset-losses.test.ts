import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { BodyReader } from '../../src/ops/backup/bodies.ts';
import { dump } from '../../src/ops/backup/dump.ts';
import { load } from '../../src/ops/backup/load.ts';
import type { Part } from '../../src/ops/backup/parts.ts';
import { diagnoseBodies } from '../../src/ops/doctor/bodies.ts';
import { OWNER_KEY } from '../../src/platform/bodies/owner.ts';
import { openBulkSession } from '../../src/platform/db/bulk-session.ts';
import { type RealService, startRealService } from '../contract/real-service.ts';
import {
  anotherWorkspace,
  auditedBodies,
  collectBodies,
  imageAt,
  storeAt,
  type UploadedImage,
  uploadedImage,
  uploadImage,
} from '../support/image-store.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';
import { gifOf } from '../support/pictures.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type S3, startS3 } from '../support/s3.ts';

const HOUR = 3_600_000;
const never = new AbortController().signal;

let s3: S3;
let service: LiveService;
beforeAll(async () => {
  s3 = await startS3();
  service = await startLiveService({ environment: s3.environment });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await database().query('delete from assets');
  await collectBodies(database(), s3, 3 * HOUR);
});

const database = () => service.service.database;
/** An image that no other test has. */
let width = 1_000;
const next = () => gifOf({ width: ++width, height: 3 });
const upload = (image: Uint8Array) => uploadedImage(service.url, service.keys.live, image);
const bodyOf = async ({ id }: UploadedImage): Promise<string> => {
  const [row] = await database().query<{ key: string }>('select body_key as key from assets where id = $1', [
    id,
  ]);
  return row?.key ?? '';
};
const isThere = async (key: string): Promise<boolean> =>
  (await s3.bucket.get(key, 1_000_000, never)) !== null;
const empty = async (): Promise<void> => {
  for (const key of await s3.keys('kept/')) await s3.bucket.delete(key, never);
};
/** An instance that has no image in memory. */
const cold = (environment = {}): Promise<RealService> =>
  startRealService({ ...s3.environment, DATABASE_URL: service.databaseUrl, ...environment });
const octetsAt = async (url: string, image: UploadedImage): Promise<Buffer> => {
  const shown = await imageAt(url, image);
  expect(shown.status).toBe(200);
  return Buffer.from(await shown.bytes());
};

test('a store that was emptied is 503 for its images, and another upload of each brings it back', async () => {
  const [picture, second] = [next(), next()];
  const [image, other] = [await upload(picture), await upload(second)];
  await empty();
  await using instance = await cold();
  const shown = await imageAt(instance.url, image);
  expect([shown.status, shown.headers.get('retry-after')]).toEqual([503, '60']);
  expect(instance.logged()).toContain(
    'The octets of an image are lost in BODY_STORE: upload the image again.',
  );
  const findings = await auditedBodies(service.databaseUrl, storeAt(s3, 'mail'));
  expect([findings.lookedAt('bodies'), findings.wrongOf('bodies')]).toEqual([2, 2]);
  expect(
    findings.named
      .filter(({ check }) => check === 'bodies')
      .map(({ id }) => id)
      .sort(),
  ).toEqual([image.id, other.id].sort());
  // The process that uploaded it knows that it wrote the same octets a moment ago.
  for (const each of [image, other]) {
    const lost = await bodyOf(each);
    const again = await upload(each === image ? picture : second);
    expect([again.id, again.url]).toEqual([each.id, each.url]);
    expect((await bodyOf(each)) === lost).toBe(false);
  }
  expect(await octetsAt(instance.url, image)).toEqual(picture);
  expect((await auditedBodies(service.databaseUrl, storeAt(s3, 'mail'))).wrongOf('bodies')).toBe(0);
});

test('an image that is deleted, and uploaded again into a store that was emptied, is whole', async () => {
  const picture = next();
  const image = await upload(picture);
  await empty();
  await service.live.delete(`/v1/assets/${image.id}?force=true`);
  const again = await upload(picture);
  await using instance = await cold();
  expect(await octetsAt(instance.url, again)).toEqual(picture);
});

test('a damaged body is never shown, and is replaced by another upload', async () => {
  const picture = next();
  const image = await upload(picture);
  await s3.overwrite(await bodyOf(image), 'torn');
  await using instance = await cold();
  expect((await imageAt(instance.url, image)).status).toBe(503);
  await upload(picture);
  expect(await octetsAt(instance.url, image)).toEqual(picture);
});

test('the image of a workspace whose body is lost is shown from another workspace, of four at most', async () => {
  const picture = next();
  const images = [await upload(picture)];
  for (let at = 1; at < 5; at++) {
    const { key } = await anotherWorkspace(service.service, `Workspace ${at}`);
    images.push(await uploadedImage(service.url, key, picture));
  }
  // The newest bodies come first.
  const generationOf = (key: string): string => key.split('/')[2] ?? '';
  const keys = (await Promise.all(images.map(bodyOf))).sort((one, other) =>
    generationOf(other) < generationOf(one) ? -1 : 1,
  );
  for (const key of keys.slice(0, 3)) await s3.bucket.delete(key, never);
  {
    await using instance = await cold();
    expect(await octetsAt(instance.url, images[0] as UploadedImage)).toEqual(picture);
  }
  await s3.bucket.delete(keys[3] ?? '', never);
  await using instance = await cold();
  expect((await imageAt(instance.url, images[0] as UploadedImage)).status).toBe(503);
});

test('rows that were restored from before the collection of their bodies are found by the audit, and mended', async () => {
  const picture = next();
  const image = await upload(picture);
  const rows = await database().query<{ row: string }>('select row_to_json(a)::text as row from assets a');
  await service.live.delete(`/v1/assets/${image.id}?force=true`);
  await collectBodies(database(), s3, 2 * HOUR);
  // As pg_restore does it, with the bucket as it is by now.
  await database().query(
    'insert into assets select * from json_populate_record(null::assets, $1::text::json)',
    [rows[0]?.row ?? ''],
  );
  expect(await isThere(await bodyOf(image))).toBe(false);
  await using instance = await cold();
  expect((await imageAt(instance.url, image)).status).toBe(503);
  const findings = await auditedBodies(service.databaseUrl, storeAt(s3, 'mail'));
  expect(findings.named.find(({ check }) => check === 'bodies')?.id).toBe(image.id);
  expect((await upload(picture)).id).toBe(image.id);
  expect(await octetsAt(instance.url, image)).toEqual(picture);
});

/** A backup of the database with its bodies. */
async function backup(): Promise<{ readonly parts: readonly Part[]; readonly lost: number }> {
  const from = await openBulkSession({ url: service.databaseUrl, dataDir: null }, 'read');
  const reader = new BodyReader(storeAt(s3, 'mail'));
  const parts = await Array.fromAsync(dump(from, null, reader));
  await from.close();
  return { parts, lost: reader.lost };
}

async function* flowing(parts: readonly Part[]): AsyncGenerator<Part> {
  yield* parts;
}

test.each([
  ['a separate store', 'restored-images'],
  ['the same store', 'mail'],
  ['the database', null],
] as const)('a backup from before a collection brings its images back into %s', async (_, prefix) => {
  const pictures = [next(), next()];
  const images = [await upload(pictures[0] as Buffer), await upload(pictures[1] as Buffer)];
  const { parts, lost } = await backup();
  expect([parts.filter(({ kind }) => kind === 'body').length, lost]).toEqual([2, 0]);
  for (const { id } of images) await service.live.delete(`/v1/assets/${id}?force=true`);
  await collectBodies(database(), s3, 2 * HOUR);
  expect(await s3.keys('kept/')).toEqual([]);
  await using target = await createTestDatabase();
  const into = await openBulkSession({ url: target.url, dataDir: null }, 'write');
  const store = prefix === null ? null : storeAt(s3, prefix);
  const { bodies } = await load(into, flowing(parts), { isOurs: false, bodies: store, warn() {} });
  await into.close();
  expect(bodies).toBe(2);
  await using restored = await startRealService({
    ...s3.environment,
    DATABASE_URL: target.url,
    BODY_STORE: prefix === null ? 's3://bodies/unused' : `s3://bodies/${prefix}`,
  });
  for (const [at, picture] of pictures.entries())
    expect(await octetsAt(restored.url, images[at] as UploadedImage)).toEqual(picture);
  const findings = await auditedBodies(target.url, store);
  expect([findings.lookedAt('bodies'), findings.wrongOf('bodies')]).toEqual([store ? 2 : 0, 0]);
  const [inside] = await restored.service.database.query<{ n: number }>(
    'select count(*)::integer as n from asset_contents',
  );
  expect(inside?.n).toBe(store ? 0 : 2);
  // A database that was restored removes nothing from a store of another one.
  if (prefix === 'mail') {
    const before = await s3.keys();
    await collectBodies(restored.service.database, s3, 90 * 24 * HOUR);
    expect([await s3.keys(), await isThere(OWNER_KEY)]).toEqual([before, true]);
  }
});

test('a backup counts an image whose body is gone, and holds the others', async () => {
  const [gone] = [await upload(next()), await upload(next())];
  await s3.bucket.delete(await bodyOf(gone as UploadedImage), never);
  const { parts, lost } = await backup();
  expect([parts.filter(({ kind }) => kind === 'body').length, lost]).toEqual([1, 1]);
});

test('without BODY_STORE an image that lies there is 503, the doctor names it, and an upload brings it inside', async () => {
  const picture = next();
  const image = await upload(picture);
  await using without = await startRealService({ DATABASE_URL: service.databaseUrl });
  const shown = await imageAt(without.url, image);
  expect(shown.status).toBe(503);
  const unset = {
    bodyStore: null,
    bodyStoreEndpoint: null,
    bodyStoreRegion: 'us-east-1',
    tlsCaFile: null,
    bodyStoreAccessKeyId: null,
    bodyStoreSecretAccessKey: null,
    awsAccessKeyId: null,
    awsSecretAccessKey: null,
  };
  const [told] = await Array.fromAsync(diagnoseBodies(unset, database()));
  expect([told?.status, told?.detail]).toEqual([
    'wrong',
    'BODY_STORE is not set, and contents of images are in one: they can be neither sent nor shown.',
  ]);
  const again = await uploadedImage(without.url, service.keys.live, picture);
  expect([again.id, await bodyOf(image)]).toEqual([image.id, '']);
  expect(await octetsAt(without.url, image)).toEqual(picture);
  expect(await Array.fromAsync(diagnoseBodies(unset, database()))).toEqual([]);
});

test('a process whose clock is hours behind stores no image; one ahead loses none', async () => {
  await using late = await startLiveService({
    environment: { ...s3.environment, BODY_STORE: 's3://bodies/late' },
  });
  await late.pass(-3 * HOUR);
  const refused = await uploadImage(late.url, late.keys.live, next());
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([503, true]);
  expect(await late.service.database.query('select id from assets')).toEqual([]);
  await late.pass(6 * HOUR);
  const picture = next();
  const image = await uploadedImage(late.url, late.keys.live, picture);
  const bucket = storeAt(s3, 'late').bucket;
  // The generation of such a body closes late, so that nothing of it goes before then.
  await collectBodies(late.service.database, { bucket }, 2 * HOUR);
  await late.live.delete(`/v1/assets/${image.id}?force=true`);
  expect((await bucket.list('kept/', {}, never)).keys).toHaveLength(1);
  await collectBodies(late.service.database, { bucket }, 6 * HOUR);
  expect((await bucket.list('kept/', {}, never)).keys).toEqual([]);
});
