import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import pino from 'pino';
import { assetBodies } from '../../src/automation/assets/asset-bodies.ts';
import { assetMover } from '../../src/automation/assets/asset-mover.ts';
import { nextInside, readOctets } from '../../src/automation/assets/store.ts';
import type { BodyStore } from '../../src/platform/bodies/body-store.ts';
import { isOwnedBy, OWNER_KEY } from '../../src/platform/bodies/owner.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { type RealService, startRealService } from '../contract/real-service.ts';
import {
  anotherWorkspace,
  collectBodies,
  imageAt,
  storeAt,
  type UploadedImage,
  uploadedImage,
  uploadImage,
} from '../support/image-store.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';
import { noise } from '../support/noise.ts';
import { gifOf } from '../support/pictures.ts';
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
let width = 2_000;
const next = () => gifOf({ width: ++width, height: 5 });
const upload = (image: Uint8Array) => uploadedImage(service.url, service.keys.live, image);
const keyOf = async ({ id }: UploadedImage): Promise<string | null> => {
  const [row] = await database().query<{ key: string | null }>(
    'select body_key as key from assets where id = $1',
    [id],
  );
  return row?.key ?? null;
};
const contentOf = async ({ id }: UploadedImage): Promise<Buffer | null> => {
  const [row] = await database().query<{ content: string }>(
    `select encode(content, 'base64') as content from asset_contents where asset_id = $1`,
    [id],
  );
  return row ? Buffer.from(row.content, 'base64') : null;
};
/**
 * Puts the octets of an image beside its row, as an instance that knows no bodies of images does at another
 * upload.
 */
const layInside = ({ id }: UploadedImage, octets: Uint8Array) =>
  database().query(`insert into asset_contents (asset_id, content) values ($1, decode($2::text, 'base64'))`, [
    id,
    Buffer.from(octets).toString('base64'),
  ]);
/** An instance that has no image in memory. */
const cold = (environment = {}): Promise<RealService> =>
  startRealService({ ...s3.environment, DATABASE_URL: service.databaseUrl, ...environment });
const expectShown = async (url: string, image: UploadedImage, octets: Buffer): Promise<void> => {
  const shown = await imageAt(url, image);
  expect(shown.status).toBe(200);
  expect(Buffer.from(await shown.bytes()).equals(octets)).toBe(true);
};
const move = (bodies: Pick<BodyStore, 'write'> = storeAt(s3, 'mail')) =>
  assetMover({
    database: database(),
    bodies: bodies as BodyStore,
    logger: pino({ enabled: false }),
    clock: { now: Date.now, monotonic: () => performance.now() },
  }).run();

/** The 8 KiB pages that the statements of some reads touch. */
async function pagesOf(read: (database: Pick<Database, 'query'>) => Promise<unknown>): Promise<number> {
  let pages = 0;
  await read({
    async query(statement, parameters) {
      const [row] = await database().query<{ 'QUERY PLAN': unknown }>(
        `explain (analyze, buffers, format json) ${statement}`,
        parameters,
      );
      const told = row?.['QUERY PLAN'];
      const [{ Plan: plan }] = typeof told === 'string' ? JSON.parse(told) : told;
      pages += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
      return database().query(statement, parameters);
    },
  });
  return pages;
}

test('an image whose body lay in the store for too long is not moved: it may have been collected', async () => {
  const picture = next();
  const image = await upload(picture);
  const before = await keyOf(image);
  await layInside(image, picture);
  const store = storeAt(s3, 'mail');
  await move({
    write: async (owner, octets) => ({ ...(await store.write(owner, octets)), until: Date.now() - 1 }),
  });
  expect([await keyOf(image), (await contentOf(image))?.equals(picture)]).toEqual([before, true]);
  await database().query('delete from asset_contents where asset_id = $1', [image.id]);
});

test('one copy of an image is read, however many workspaces have it inside', async () => {
  const COPIES = 40;
  // Octets that PostgreSQL cannot pack take 40 pages a copy.
  const octets = noise(320_000, 7);
  await database().query(
    `insert into workspaces select (jsonb_populate_record(w, jsonb_build_object('id', 'ws_copy' || i))).*
     from workspaces w, generate_series(1, ${COPIES}) i where w.id = (select min(id) from workspaces)`,
  );
  await database().query(
    `insert into assets (id, workspace_id, livemode, file, filename, content_type, width, height, size, created_at)
     select 'ast_copy' || i, 'ws_copy' || i, true, 'copies', 'x.png', 'image/png', 1, 1, 1, now() from generate_series(1, ${COPIES}) i`,
  );
  await database().query(
    `insert into asset_contents (asset_id, content) select id, decode($1::text, 'base64') from assets where file = 'copies'`,
    [octets.toString('base64')],
  );
  const found: unknown[] = [];
  for (const read of [
    async (each: Pick<Database, 'query'>) => found.push(await readOctets(each, 'copies', [])),
    async (each: Pick<Database, 'query'>) => found.push((await nextInside(each, ''))?.content),
  ]) {
    const pages = await pagesOf(read);
    // The copy itself, and a few pages of the indices for each row.
    expect(pages).toBeGreaterThan(30);
    expect(pages).toBeLessThan(COPIES * 20);
  }
  expect(found).toEqual([{ content: new Uint8Array(octets) }, new Uint8Array(octets)]);
});

test('an upload brings an image back, however many other workspaces have lost it', async () => {
  const picture = next();
  const images = [await upload(picture)];
  let key = '';
  for (let at = 1; at < 7; at++) {
    key = (await anotherWorkspace(service.service, `Workspace ${at}`)).key;
    images.push(await uploadedImage(service.url, key, picture));
  }
  for (const each of await s3.keys('kept/')) await s3.bucket.delete(each, never);
  // The newest workspace is the last one in the order of the keys.
  await uploadedImage(service.url, key, picture);
  await using instance = await cold();
  await expectShown(instance.url, images[0] as UploadedImage, picture);
});

test('an image that an older instance also stored inside is shown from there, and moved once', async () => {
  const picture = next();
  const image = await upload(picture);
  const lost = (await keyOf(image)) ?? '';
  await layInside(image, picture);
  await s3.bucket.delete(lost, never);
  {
    await using instance = await cold();
    await expectShown(instance.url, image, picture);
  }
  await Promise.all([move(), move()]);
  const moved = await keyOf(image);
  expect([moved === lost, await contentOf(image)]).toEqual([false, null]);
  const written = await s3.keys('kept/');
  await move();
  expect([await s3.keys('kept/'), await keyOf(image)]).toEqual([written, moved]);
  await using instance = await cold();
  await expectShown(instance.url, image, picture);
});

test('a body is brought into a row that has octets inside already', async () => {
  const picture = next();
  const image = await upload(picture);
  await layInside(image, new Uint8Array(3));
  const key = (await keyOf(image)) ?? '';
  const [, workspaceId = ''] = key.split('/');
  await assetBodies.bringInside(database(), { workspaceId, key, octets: picture });
  expect([await keyOf(image), (await contentOf(image))?.equals(picture)]).toEqual([null, true]);
});

test('the mover goes on behind an image that cannot be written, and ends after three failures in a row', async () => {
  const pictures = Array.from({ length: 7 }, next);
  for (const picture of pictures) {
    const image = await upload(picture);
    await layInside(image, picture);
  }
  const store = storeAt(s3, 'mail');
  const tried: number[] = [];
  const withoutThose = (refused: readonly number[]): Pick<BodyStore, 'write'> => ({
    write(owner, octets) {
      const at = pictures.findIndex((picture) => picture.equals(octets));
      tried.push(at);
      if (refused.includes(at)) throw new UnavailableError(`Image ${at} is late.`);
      return store.write(owner, octets);
    },
  });
  await expect(move(withoutThose([0, 2, 3, 4, 5, 6]))).rejects.toThrow('Image 4 is late.');
  expect(tried.splice(0)).toEqual([0, 1, 2, 3, 4]);
  await expect(move(withoutThose([0, 2]))).rejects.toThrow('Image 2 is late.');
  expect(tried).toEqual([0, 2, 3, 4, 5, 6]);
  expect(await database().query('select asset_id from asset_contents')).toHaveLength(2);
});

test('an instance with a wrong BODY_STORE takes no image from the right one', async () => {
  const picture = next();
  const image = await upload(picture);
  const key = await keyOf(image);
  const { bucket } = storeAt(s3, 'typo');
  await bucket.put(OWNER_KEY, new TextEncoder().encode('own_another\n'), '', never);
  {
    await using wrong = await cold({ BODY_STORE: 's3://bodies/typo' });
    // It is stored already, wherever that is.
    expect((await uploadImage(wrong.url, service.keys.live, picture)).status).toBe(201);
    expect((await uploadImage(wrong.url, service.keys.live, next())).status).toBe(503);
    expect(wrong.logged()).toContain('BODY_STORE is another bucket than the one with the bodies');
  }
  expect(await keyOf(image)).toBe(key);
  expect((await bucket.list('kept/', {}, never)).keys).toEqual([]);
  await collectBodies(database(), s3, 2 * HOUR);
  await using right = await cold();
  await expectShown(right.url, image, picture);
  // A store that no database has claimed may be a wrong one as well.
  expect(await isOwnedBy(storeAt(s3, 'unclaimed').bucket, database())).toBe(false);
  expect(await isOwnedBy(s3.bucket, database())).toBe(true);
});
