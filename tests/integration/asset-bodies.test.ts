import { afterAll, beforeAll, expect, test } from 'bun:test';
import pino from 'pino';
import postgres from 'postgres';
import { eraseWorkspace, journalsOf } from '../../src/accounts/workspace/erase.ts';
import { assetMover } from '../../src/automation/assets/asset-mover.ts';
import { bodyCollector } from '../../src/engine/bodies/collector.ts';
import { BODY_HOLDERS, MODULE_KINDS } from '../../src/modules.ts';
import { type RealService, startRealService } from '../contract/real-service.ts';
import { eventually } from '../support/eventually.ts';
import {
  anotherWorkspace,
  collectBodies,
  imageAt,
  storeAt,
  uploadedImage,
  uploadImage,
} from '../support/image-store.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';
import { LOCK_WAITS } from '../support/lock-waits.ts';
import { gifOf } from '../support/pictures.ts';
import { type S3, startS3 } from '../support/s3.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const never = new AbortController().signal;

let s3: S3;
/** Two instances on one database. */
let first: LiveService;
let second: RealService;
beforeAll(async () => {
  s3 = await startS3();
  first = await startLiveService({ environment: s3.environment, bodies: { writeMs: 3_000, readMs: 1_000 } });
  second = await startRealService({ ...s3.environment, DATABASE_URL: first.databaseUrl });
});
afterAll(async () => {
  await second[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
});

const database = () => first.service.database;
/** An image that no other test has. */
let width = 0;
const next = () => gifOf({ width: ++width, height: 2 });
const upload = (image: Uint8Array, key = first.keys.live) => uploadedImage(first.url, key, image);
const remove = (id: string, key = first.keys.live) =>
  fetch(`${first.url}/v1/assets/${id}?force=true`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${key}` },
  });
const keyOf = async (id: string): Promise<string> => {
  const [row] = await database().query<{ key: string }>('select body_key as key from assets where id = $1', [
    id,
  ]);
  return row?.key ?? '';
};
const isThere = async (key: string): Promise<boolean> =>
  (await s3.bucket.get(key, 1_000_000, never)) !== null;
const inside = async (): Promise<number> =>
  (await database().query<{ asset_id: string }>('select asset_id from asset_contents')).length;

/** A new instance on the database, which has no image in memory. */
const another = () => startRealService({ ...s3.environment, DATABASE_URL: first.databaseUrl });

test('both sizes of an image lie in the store, and every instance shows them at their addresses', async () => {
  const [large, small] = [next(), next()];
  const images = [await upload(large), await upload(small)];
  expect(await inside()).toBe(0);
  const [workspace] = await database().query<{ id: string }>('select id from workspaces');
  const keys = await Promise.all(images.map(({ id }) => keyOf(id)));
  for (const [at, key] of keys.entries()) {
    expect(key).toStartWith(`kept/${workspace?.id}/gen_`);
    // The name of the body and of the public address are the same hash.
    expect(key).toContain(/[0-9a-f]{64}/.exec(images[at]?.url ?? '')?.[0] ?? 'none');
  }
  expect(await s3.keys('kept/')).toEqual([...keys].sort());
  expect(await s3.keys('live/')).toEqual([]);
  for (const instance of [first.url, second.url])
    for (const [at, picture] of [large, small].entries()) {
      const shown = await imageAt(instance, images[at] as { url: string });
      expect(Object.fromEntries(shown.headers)).toMatchObject({
        'content-type': 'image/gif',
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
      });
      expect(Buffer.from(await shown.bytes()).equals(picture)).toBe(true);
    }
});

test('a repeated upload is the same image with the same body, in either environment and on every instance', async () => {
  const picture = next();
  const image = await uploadedImage(first.url, first.keys.test, picture);
  const [key, before] = [await keyOf(image.id), await s3.keys()];
  for (const again of [await upload(picture), await uploadedImage(second.url, first.keys.test, picture)])
    expect(again).toMatchObject({ id: image.id, url: image.url });
  expect([await keyOf(image.id), await s3.keys()]).toEqual([key, before]);
  const [row] = await database().query<{ livemode: boolean }>('select livemode from assets where id = $1', [
    image.id,
  ]);
  expect(row?.livemode).toBe(true);
});

test('an image stays as long as it is not deleted, and its body goes within a day once it is', async () => {
  const [kept, deleted] = [await upload(next()), await upload(next())];
  const [keptKey, deletedKey] = [await keyOf(kept.id), await keyOf(deleted.id)];
  const orphan = keptKey.replace(/[0-9a-f]{64}/, 'f'.repeat(64));
  await s3.overwrite(orphan, 'body');
  // Years later, when the mail that showed it was removed long ago.
  await database().query(
    `insert into retention (livemode, removed_before) values (true, now() + interval '3 years') on conflict do nothing`,
  );
  await collectBodies(database(), s3, 1_000 * DAY);
  expect(await Promise.all([keptKey, deletedKey, orphan].map(isThere))).toEqual([true, true, false]);
  expect((await remove(deleted.id)).status).toBe(204);
  // Another image may be given it within the hour.
  await collectBodies(database(), s3, 0);
  expect(await isThere(deletedKey)).toBe(true);
  await collectBodies(database(), s3, 2 * HOUR);
  expect(await Promise.all([keptKey, deletedKey].map(isThere))).toEqual([true, false]);
  expect((await imageAt(second.url, kept)).status).toBe(200);
  expect((await imageAt(second.url, deleted)).status).toBe(404);
  await database().query('delete from retention');
});

test('a process looks through the bodies of images once a day, and again when that was not possible', async () => {
  const image = await upload(next());
  const key = await keyOf(image.id);
  const lay = async (name: string): Promise<string> => {
    const orphan = key.replace(/[0-9a-f]{64}/, name.repeat(64));
    await s3.overwrite(orphan, 'body');
    return orphan;
  };
  const now = Date.now() + 2 * HOUR;
  let monotonic = 0;
  let settled: number | null = null;
  const collector = bodyCollector({
    database: database(),
    bucket: s3.bucket,
    holders: BODY_HOLDERS,
    settled: async () => settled,
    logger: pino({ enabled: false }),
    clock: { now: () => now, monotonic: () => monotonic },
  });
  const early = await lay('a');
  await collector.run();
  expect(await isThere(early)).toBe(true);
  settled = now;
  await collector.run();
  expect(await isThere(early)).toBe(false);
  const late = await lay('b');
  monotonic += DAY - HOUR;
  await collector.run();
  expect(await isThere(late)).toBe(true);
  monotonic += HOUR;
  await collector.run();
  expect(await Promise.all([late, key].map(isThere))).toEqual([false, true]);
});

test('two workspaces with the same image have a body each, and neither depends on the other', async () => {
  const picture = next();
  const other = await anotherWorkspace(first.service, 'Other');
  const [mine, theirs] = [await upload(picture), await upload(picture, other.key)];
  expect([mine.url === theirs.url, mine.id === theirs.id]).toEqual([true, false]);
  const keys = [await keyOf(mine.id), await keyOf(theirs.id)];
  expect(keys[1]).toStartWith(`kept/${other.id}/`);
  expect((await fetch(`${first.url}/v1/assets/${theirs.id}`, auth(first.keys.live))).status).toBe(404);
  expect((await remove(theirs.id)).status).toBe(404);
  expect((await remove(mine.id)).status).toBe(204);
  await collectBodies(database(), s3, 2 * HOUR);
  expect(await Promise.all(keys.map(isThere))).toEqual([false, true]);
  for (const instance of [first.url, second.url])
    expect(Buffer.from(await (await imageAt(instance, theirs)).bytes()).equals(picture)).toBe(true);
  // With the workspace its images go, and no others.
  const others = (await s3.keys('kept/')).filter((key) => !key.startsWith(`kept/${other.id}/`));
  await database().query('update workspaces set archived_at = now(), erase_at = now() where id = $1', [
    other.id,
  ]);
  await eraseWorkspace(database(), journalsOf(MODULE_KINDS), other.id);
  await collectBodies(database(), s3, 2 * HOUR);
  expect(await s3.keys('kept/')).toEqual(others);
  await using fresh = await another();
  expect((await imageAt(fresh.url, theirs)).status).toBe(404);
});

const auth = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

test('an image that is deleted while it is uploaded again is a new image, with a body that stays', async () => {
  const picture = next();
  const before = await upload(picture);
  const locker = postgres(first.databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await locker.unsafe('begin');
    await locker.unsafe(`delete from assets where id = '${before.id}'`);
    const uploading = upload(picture);
    await eventually('the upload waits for the deletion', async () => {
      const waiting = await database().query(`select pid from ${LOCK_WAITS}`);
      return waiting.length > 0 || undefined;
    });
    await locker.unsafe('commit');
    const after = await uploading;
    expect([after.url, after.id === before.id]).toEqual([before.url, false]);
    await collectBodies(database(), s3, 2 * HOUR);
    await using fresh = await another();
    expect(Buffer.from(await (await imageAt(fresh.url, after)).bytes()).equals(picture)).toBe(true);
  } finally {
    await locker.end({ timeout: 1 });
  }
});

test('uploads of one image at the same time, on two instances, make one image; the spare body is collected', async () => {
  const picture = next();
  const images = await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      uploadedImage(at % 2 === 0 ? first.url : second.url, first.keys.live, picture),
    ),
  );
  expect(new Set(images.map(({ id }) => id)).size).toBe(1);
  const key = await keyOf(images[0]?.id ?? '');
  await collectBodies(database(), s3, 2 * HOUR);
  const hash = /[0-9a-f]{64}/.exec(key)?.[0] ?? '';
  expect((await s3.keys('kept/')).filter((each) => each.includes(hash))).toEqual([key]);
});

test('while the store is away an upload is 503 and leaves nothing, and no image is 404', async () => {
  const [picture, fresh] = [next(), next()];
  const known = await upload(picture);
  expect((await imageAt(first.url, known)).status).toBe(200);
  const cold = await upload(next());
  const rows = async () => (await database().query('select id from assets')).length;
  const before = await rows();
  s3.relay.freeze();
  try {
    const refused = await uploadImage(first.url, first.keys.live, fresh);
    const told = (await refused.json()) as { error: { code: string } };
    expect([refused.status, told.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const unread = await imageAt(first.url, cold);
    expect([unread.status, unread.headers.get('cache-control')]).toEqual([503, 'no-store']);
    expect(Number(unread.headers.get('retry-after'))).toBeGreaterThan(0);
    // Nothing has to be written for one that is stored already.
    expect((await uploadImage(first.url, first.keys.live, picture)).status).toBe(201);
    // One that is in memory is shown all the same.
    expect((await imageAt(first.url, known)).status).toBe(200);
    expect(await rows()).toBe(before);
  } finally {
    s3.relay.thaw({ dead: true });
    s3.relay.cut();
  }
  await eventually('the store is used again', async () =>
    (await uploadImage(first.url, first.keys.live, fresh)).status === 201 ? true : undefined,
  );
  expect((await imageAt(first.url, cold)).status).toBe(200);
});

test('nothing is written to the store for a workspace that has too many images', async () => {
  const other = await anotherWorkspace(first.service, 'Full');
  await database().query(
    `insert into assets (id, workspace_id, livemode, file, filename, content_type, width, height, size, created_at)
     select 'ast_full' || i, $1, true, 'full' || i, 'x.png', 'image/png', 1, 1, 1, now() from generate_series(1, 2000) i`,
    [other.id],
  );
  const refused = await uploadImage(first.url, other.key, next());
  expect(((await refused.json()) as { error: { code: string } }).error.code).toBe('QUOTA_EXCEEDED');
  expect(await s3.keys(`kept/${other.id}/`)).toEqual([]);
  await database().query("delete from assets where id = 'ast_full1'");
  expect((await uploadImage(first.url, other.key, next())).status).toBe(201);
});

test('images from before BODY_STORE was set are moved into it, by two instances at once, and stay what they are', async () => {
  await using without = await startLiveService({});
  const pictures = [next(), next(), next()];
  const images = [];
  for (const picture of pictures) images.push(await uploadedImage(without.url, without.keys.live, picture));
  const own = without.service.database;
  const contents = async () => (await own.query('select asset_id from asset_contents')).length;
  const { bucket } = storeAt(s3, 'moved');
  const outside = async () => (await bucket.list('kept/', {}, never)).keys.length;
  expect([await contents(), await outside()]).toEqual([3, 0]);
  await using with1 = await startRealService({
    ...s3.environment,
    DATABASE_URL: without.databaseUrl,
    BODY_STORE: 's3://bodies/moved',
  });
  // Before they are moved they are shown from the database.
  expect((await imageAt(with1.url, images[0] as { url: string })).status).toBe(200);
  const mover = (limits = {}) =>
    assetMover({
      database: own,
      bodies: storeAt(s3, 'moved', limits),
      logger: pino({ enabled: false }),
      clock: { now: Date.now, monotonic: () => performance.now() },
    }).run();
  s3.relay.freeze();
  try {
    await expect(mover({ writeMs: 200 })).rejects.toThrow('The body store cannot be reached');
    expect(await contents()).toBe(3);
  } finally {
    s3.relay.thaw({ dead: true });
    s3.relay.cut();
  }
  await Promise.all([mover(), mover()]);
  expect(await contents()).toBe(0);
  await mover();
  for (const [at, picture] of pictures.entries()) {
    const shown = await imageAt(with1.url, images[at] as { url: string });
    expect(Buffer.from(await shown.bytes()).equals(picture)).toBe(true);
  }
  const rows = await own.query<{ key: string }>('select body_key as key from assets order by key');
  const store = storeAt(s3, 'moved');
  for (const { key } of rows) expect((await store.read(key)).length).toBeGreaterThan(0);
});
