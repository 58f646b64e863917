import { afterAll, beforeAll, expect, test } from 'bun:test';
import pino from 'pino';
import { isExchanged } from '../../src/engine/bodies/exchanged.ts';
import { BODY_HOLDERS } from '../../src/modules.ts';
import { BodyReader } from '../../src/ops/backup/bodies.ts';
import { dump } from '../../src/ops/backup/dump.ts';
import { diagnoseBodies } from '../../src/ops/doctor/bodies.ts';
import { ownerOf, ownName } from '../../src/platform/bodies/owner.ts';
import { openBulkSession } from '../../src/platform/db/bulk-session.ts';
import { type RealService, startRealService } from '../contract/real-service.ts';
import { createClient } from '../support/client.ts';
import {
  auditedBodies,
  collectBodies,
  imageAt,
  storeAt,
  uploadedImage,
  uploadImage,
} from '../support/image-store.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';
import { noise } from '../support/noise.ts';
import { gifOf } from '../support/pictures.ts';
import { type S3, startS3 } from '../support/s3.ts';

// Another bucket than the one with the bodies is configured: an empty one that answers as well.

const HOUR = 3_600_000;
const never = new AbortController().signal;
const WRONG = { BODY_STORE: 's3://bodies/empty' };

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

const database = () => service.service.database;
const empty = () => storeAt(s3, 'empty');
const started = (environment = {}): Promise<RealService> =>
  startRealService({ ...s3.environment, DATABASE_URL: service.databaseUrl, ...environment });
const email = (seed: number) => ({
  from: 'shop@sender.example',
  to: 'ada@example.com',
  subject: 'Yours',
  text: 'Here.',
  attachments: [{ filename: 'file.bin', content: noise(80_000, seed).toString('base64') }],
});
/** Collects, and answers the warnings. */
async function collectIn(bucket: S3['bucket']): Promise<readonly string[]> {
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
  await collectBodies(database(), { bucket }, 3 * HOUR, logger);
  return lines;
}

test('an exchanged bucket is not claimed, and takes, loses and collects nothing', async () => {
  const picture = gifOf({ width: 7, height: 7 });
  const image = await uploadedImage(service.url, service.keys.live, picture);
  const id = await service.send({
    attachments: email(1).attachments,
    scheduledAt: new Date(Date.now() + HOUR).toISOString(),
  });
  await collectIn(s3.bucket);
  const before = await s3.keys();
  await collectIn(empty().bucket);
  expect(await ownerOf(empty().bucket)).toBeNull();
  {
    await using wrong = await started(WRONG);
    const client = createClient(wrong.url, service.keys.live);
    const refused = await client.post('/v1/emails', email(2));
    expect([refused.status, refused.body.error?.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect((await uploadImage(wrong.url, service.keys.live, gifOf({ width: 8, height: 7 }))).status).toBe(
      503,
    );
    // It is stored already.
    expect((await uploadImage(wrong.url, service.keys.live, picture)).status).toBe(201);
    expect((await imageAt(wrong.url, image)).status).toBe(503);
    expect((await client.get(`/v1/emails/${id}`)).status).toBe(200);
    expect(wrong.logged()).toContain('BODY_STORE is another bucket than the one with the bodies');
    expect(wrong.logged()).not.toContain('are lost in BODY_STORE');
  }
  const audited = await auditedBodies(service.databaseUrl, empty());
  expect([audited.wrongOf('bodies'), audited.lookedAt('bodies')]).toEqual([0, 0]);
  expect((await empty().bucket.list('', {}, never)).keys).toEqual([]);
  expect(await s3.keys()).toEqual(before);
  await using right = await started();
  expect(Buffer.from(await (await imageAt(right.url, image)).bytes()).equals(picture)).toBe(true);
});

test('the doctor tells of an exchanged bucket', async () => {
  const config = {
    bodyStore: WRONG.BODY_STORE,
    bodyStoreRegion: 'us-east-1',
    tlsCaFile: null,
    bodyStoreEndpoint: s3.environment.BODY_STORE_ENDPOINT ?? null,
    bodyStoreAccessKeyId: 'test',
    bodyStoreSecretAccessKey: 'test',
    awsAccessKeyId: null,
    awsSecretAccessKey: null,
  };
  const found = await Array.fromAsync(diagnoseBodies(config, database()));
  expect([found.at(-1)?.status, found.at(-1)?.detail]).toEqual([
    'wrong',
    expect.stringContaining('The bodies of this database are not in s3://bodies/empty/'),
  ]);
  expect(found.at(-1)?.advice).toContain(
    `store an object "owner" with the text ${await ownName(database())} in`,
  );
});

test('a backup beside an exchanged bucket counts what it lacks', async () => {
  const reader = new BodyReader(empty());
  const from = await openBulkSession({ url: service.databaseUrl, dataDir: null }, 'read');
  const kinds = await Array.fromAsync(dump(from, null, reader), ({ kind }) => kind);
  await from.close();
  expect(kinds).not.toContain('body');
  expect([reader.isExchanged, reader.lost]).toEqual([true, 2]);
});

test('a new bucket takes the place of one that is lost for good once it names the database', async () => {
  const { bucket } = storeAt(s3, 'new');
  expect(await isExchanged(bucket, database(), BODY_HOLDERS)).toBe(true);
  const name = new TextEncoder().encode((await ownName(database())) ?? '');
  await bucket.put('owner', name, '', never);
  expect(await isExchanged(bucket, database(), BODY_HOLDERS)).toBe(false);
  await collectIn(bucket);
  expect(await database().query('select place from body_store_owner')).toEqual([{ place: bucket.name }]);
});

test('an emptied bucket of the same name has its owner again, and the log warns', async () => {
  const { bucket } = storeAt(s3, 'new');
  await bucket.delete('owner', never);
  expect(await collectIn(bucket)).toEqual([expect.stringContaining('has lost its object')]);
  expect(await ownerOf(bucket)).toBe(await ownName(database()));
  expect(await collectIn(bucket)).toEqual([]);
});

test('a bucket into which everything was copied is taken, and so is any while nothing refers to bodies', async () => {
  const copy = storeAt(s3, 'copy').bucket;
  for (const key of await s3.keys()) {
    const octets = await s3.bucket.get(key, 10_000_000, never);
    await copy.put(key, octets as Uint8Array<ArrayBuffer>, '', never);
  }
  expect(await collectIn(copy)).toEqual([expect.stringContaining('are in another BODY_STORE from now on')]);
  expect(await collectIn(copy)).toEqual([]);
  const claimed = () => database().query<{ place: string }>('select place from body_store_owner');
  expect(await claimed()).toEqual([{ place: copy.name }]);
  // The former one knows it still, until its owner is deleted.
  expect(await collectIn(s3.bucket)).toHaveLength(1);
  expect(await claimed()).toEqual([{ place: s3.bucket.name }]);
  await copy.delete('owner', never);
  expect(await isExchanged(copy, database(), BODY_HOLDERS)).toBe(true);
  await database().script('delete from assets; delete from email_bodies');
  await collectIn(empty().bucket);
  expect(await claimed()).toEqual([{ place: empty().bucket.name }]);
  expect(await ownerOf(empty().bucket)).toBe(await ownerOf(s3.bucket));
});
