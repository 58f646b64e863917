import { afterAll, beforeAll, expect, test } from 'bun:test';
import { nanoid } from 'nanoid';
import { bodyCollector } from '../../src/engine/bodies/collector.ts';
import { BODY_HOLDERS } from '../../src/modules.ts';
import { diagnoseBodies } from '../../src/ops/doctor/bodies.ts';
import { bodyDay, bodyKey, shelfOf } from '../../src/platform/bodies/body-key.ts';
import { OWNER_KEY } from '../../src/platform/bodies/owner.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';
import { noise } from '../support/noise.ts';
import { type S3, startS3 } from '../support/s3.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const never = new AbortController().signal;

let s3: S3;
let service: LiveService;
let workspaceId: string;
beforeAll(async () => {
  s3 = await startS3();
  service = await startLiveService({
    environment: { ...s3.environment, DEFAULT_PLAN: 'free', TEST_SENDS_PER_DAY: '1' },
  });
  const [row] = await service.service.database.query<{ id: string }>('select id from workspaces');
  workspaceId = row?.id ?? '';
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
});

const attached = (seed: number) => [
  { filename: 'file.bin', content: noise(80_000, seed).toString('base64') },
];
const asked = (seed: number) => ({
  from: 'shop@sender.example',
  to: 'ada@example.com',
  subject: 'Yours',
  text: 'Here.',
  attachments: attached(seed),
});
const bodiesOf = async (id: string): Promise<readonly string[]> =>
  (
    await service.service.database.query<{ key: string }>(
      'select key from email_bodies where email_id = $1',
      [id],
    )
  ).map(({ key }) => key);

/** A body of that time, to which no email refers. */
async function lay(at: number, { livemode = true, of = workspaceId } = {}): Promise<string> {
  const key = bodyKey({
    shelf: shelfOf({ kind: 'email', livemode, day: bodyDay(at), workspaceId: of }),
    workspaceId: of,
    generation: mintId('gen', at),
    hash: new Bun.CryptoHasher('sha256').update(nanoid()).digest('hex'),
    octets: 4,
  });
  await s3.overwrite(key, 'body');
  return key;
}

const isThere = async (key: string): Promise<boolean> =>
  (await s3.bucket.get(key, 1_000_000, never)) !== null;

const warned: string[] = [];
const logger = { info: () => {}, warn: (_: unknown, says?: string) => void warned.push(says ?? '') };

/** Collects as it is done at that moment. */
const collect = (now: number, settled: () => Promise<number | null> = async () => now) =>
  bodyCollector({
    database: service.service.database,
    bucket: s3.bucket,
    holders: BODY_HOLDERS,
    settled,
    logger: logger as never,
    clock: { now: () => now, monotonic: () => performance.now() },
  }).run();

test('a body that no email has goes once its day is over, and one that an email has stays', async () => {
  const now = Date.now();
  const id = await service.send({ attachments: attached(1) });
  const [own = ''] = await bodiesOf(id);
  const orphan = await lay(now);
  await collect(now);
  expect([await isThere(own), await isThere(orphan)]).toEqual([true, true]);
  // As the database knows it itself: by now all are settled, and the day is not over.
  await bodyCollector({
    ...service.service,
    bucket: s3.bucket,
    holders: BODY_HOLDERS,
    logger: logger as never,
  }).run();
  // Midnight may come in between.
  expect((await isThere(orphan)) || bodyDay(Date.now()) !== bodyDay(now)).toBe(true);
  await collect(now + 2 * DAY);
  expect([await isThere(own), await isThere(orphan)]).toEqual([true, false]);
  // The bodies of a day are compared once, until its emails expire.
  const late = await lay(now);
  await collect(now + 3 * DAY);
  expect(await isThere(late)).toBe(true);
});

test('nothing goes while a transaction is open that may have accepted an email', async () => {
  const orphan = await lay(Date.now() - 5 * DAY);
  await collect(Date.now(), async () => null);
  expect(await isThere(orphan)).toBe(true);
  await collect(Date.now(), async () => Date.now() - 6 * DAY);
  expect(await isThere(orphan)).toBe(true);
  await collect(Date.now());
  expect(await isThere(orphan)).toBe(false);
});

test('of a day that expired everything goes but what emails still have, and what names it', async () => {
  const { database } = service.service;
  const old = Date.now() - 40 * DAY;
  const [kept, gone] = [await lay(old), await lay(old)];
  const id = await service.send();
  const insert = 'insert into email_bodies (workspace_id, key, email_id) values ($1, $2, $3)';
  await database.query(insert, [workspaceId, kept, id]);
  await database.query(insert, [workspaceId, gone, mintId('em', old)]);
  await collect(Date.now());
  expect([await isThere(kept), await isThere(gone)]).toEqual([true, false]);
  await database.query(
    'insert into retention (livemode, removed_before) values (true, $1::text::timestamptz) on conflict (livemode) do update set removed_before = excluded.removed_before',
    [new Date(old + 2 * DAY).toISOString()],
  );
  await database.query('delete from email_bodies where key = $1 and email_id = $2', [kept, id]);
  await collect(Date.now());
  expect(await isThere(kept)).toBe(false);
  const left = await database.query('select 1 from email_bodies where key = any($1::text[])', [[kept, gone]]);
  expect(left).toHaveLength(0);
});

test('bodies of a workspace that was erased go at once, of either environment', async () => {
  const gone = 'ws_00000000000000000000000a';
  // Two hours before the middle of the day are the same day, whose other bodies stay until it is over.
  const noon = Math.floor(Date.now() / DAY) * DAY + DAY / 2;
  const bodies = [
    await lay(noon - 2 * HOUR, { of: gone }),
    await lay(noon - 2 * HOUR, { of: gone, livemode: false }),
  ];
  const own = await lay(noon - 2 * HOUR);
  await collect(noon);
  expect(await Promise.all([...bodies, own].map(isThere))).toEqual([false, false, true]);
});

test('an email that is stored too late is refused, and its bodies have no owner', async () => {
  await using slow = await startLiveService({ environment: s3.environment });
  // As a process sees it that stood still for hours between the store and the database.
  await slow.pass(-3 * HOUR);
  const late = await slow.live.post('/v1/emails', asked(2));
  expect([late.status, late.body.error?.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  const stored = 'select (select count(*) from emails) + (select count(*) from email_bodies) as found';
  const [row] = await slow.service.database.query<{ found: string }>(stored);
  expect(Number(row?.found)).toBe(0);
});

test('nothing is stored for an email over the quota', async () => {
  expect((await service.test.post('/v1/emails', asked(3))).status).toBe(202);
  const before = await s3.keys();
  expect((await service.test.post('/v1/emails', asked(4))).body.error.code).toBe('QUOTA_EXCEEDED');
  expect(await s3.keys()).toEqual(before);
});

const diagnoses = async (environment: Readonly<Record<string, string>>) => {
  const config = {
    bodyStore: environment.BODY_STORE ?? null,
    bodyStoreRegion: 'us-east-1',
    tlsCaFile: null,
    bodyStoreEndpoint: environment.BODY_STORE_ENDPOINT ?? null,
    bodyStoreAccessKeyId: 'test',
    bodyStoreSecretAccessKey: 'test',
    awsAccessKeyId: null,
    awsSecretAccessKey: null,
  };
  return Array.fromAsync(diagnoseBodies(config, service.service.database));
};

test('the doctor tries the store, and tells of one that strangers can read', async () => {
  const found = await diagnoses(s3.environment);
  expect(found.map(({ status }) => status)).toEqual(['fine', 'wrong']);
  expect(found[1]?.detail).toContain('Anyone can read');
  expect(await s3.keys('doctor/')).toEqual([]);
  const [unset] = await diagnoses({});
  expect([unset?.status, unset?.detail]).toEqual([
    'wrong',
    'BODY_STORE is not set, and contents of emails are in one: they can be neither sent nor shown.',
  ]);
  const [away] = await diagnoses({ ...s3.environment, BODY_STORE: 's3://nobodys-bucket' });
  expect([away?.status, away?.detail]).toEqual(['wrong', 'The body store answered 404 NoSuchBucket to PUT.']);
});

test('nothing is collected of another database, and the doctor says whose it is', async () => {
  const orphan = await lay(Date.now() - 5 * DAY);
  await service.service.database.query('delete from body_collections');
  const owner = await s3.bucket.get(OWNER_KEY, 100, never);
  await s3.overwrite(OWNER_KEY, 'own_another');
  await collect(Date.now());
  expect([await isThere(orphan), warned.at(-1)]).toEqual([
    true,
    'BODY_STORE belongs to another database: nothing is collected there. `posthorn doctor` says what to do.',
  ]);
  // By the address under which it was claimed.
  const [, BODY_STORE_ENDPOINT = ''] = s3.bucket.name.split(' at ');
  const found = await diagnoses({ ...s3.environment, BODY_STORE_ENDPOINT });
  expect(found.at(-1)?.detail).toContain('belong to another database (own_another)');
  await s3.bucket.put(OWNER_KEY, owner as Uint8Array<ArrayBuffer>, '', never);
  await collect(Date.now());
  expect(await isThere(orphan)).toBe(false);
});
