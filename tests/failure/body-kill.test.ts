import { afterAll, beforeAll, expect, test } from 'bun:test';
import postgres from 'postgres';
import type { Database } from '../../src/platform/db/database.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { collectBodies, imageAt, uploadedImage, uploadImage } from '../support/image-store.ts';
import { noise } from '../support/noise.ts';
import { gifOf } from '../support/pictures.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type S3, startS3 } from '../support/s3.ts';
import { type Service, startService, TEST_KEY } from '../support/service.ts';

// A body is written before the row that has it. In between the table is locked, and then the process dies, or
// the store does.

const DAY = 24 * 3_600_000;
/** Also a connection that does not wait for the lock yet: what it was asked for may have just come. */
const END_OTHERS = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
  and application_name like 'posthorn%'
  and application_name not like '%' || split_part(current_setting('application_name'), '#', 2)`;

const stack = new AsyncDisposableStack();
let s3: S3;
let locker: postgres.Sql;
let database: Database;
let environment: Readonly<Record<string, string>>;
beforeAll(async () => {
  s3 = stack.use(await startS3());
  const made = stack.use(await createTestDatabase());
  database = await openDatabase({ url: made.url, dataDir: null });
  stack.defer(() => database.close());
  locker = postgres(made.url, { max: 1, onnotice: () => {} });
  stack.defer(() => locker.end({ timeout: 1 }));
  environment = {
    ...s3.environment,
    DATABASE_URL: made.url,
    SECRET_KEY: 's'.repeat(32),
    DEFAULT_PLAN: 'unlimited',
    TEST_SENDS_PER_DAY: '0',
  };
});
afterAll(() => stack.disposeAsync());

const asked = (seed: number) => ({
  from: 'a@shop.example',
  to: 'ada@example.com',
  subject: `Number ${seed}`,
  text: 'Here.',
  attachments: [{ filename: 'file.bin', content: noise(100_000, seed).toString('base64') }],
});
const send = (service: Service, seed: number) =>
  createClient(service.url, TEST_KEY).post('/v1/emails', asked(seed));
const emails = async (): Promise<readonly string[]> =>
  (await database.query<{ subject: string }>('select subject from emails order by subject')).map(
    ({ subject }) => subject,
  );

/** Ends what a dead process had asked of the database: the server would go on with it. */
const endOthers = () =>
  eventually('what it had asked of the database is over', async () =>
    (await database.query(END_OTHERS)).length === 0 ? true : undefined,
  );

/** Asks for a row of the table that cannot be stored until `unlock`, and waits until its body is there. */
async function untilWritten<Answer>(table: 'emails' | 'assets', asking: () => Promise<Answer>) {
  const before = new Set(await s3.keys());
  await locker.unsafe(`begin; lock table ${table} in exclusive mode`);
  const answer = asking().catch(() => null);
  const key = await eventually('the body is there', async () =>
    (await s3.keys()).find((each) => !before.has(each)),
  );
  return { key, answer, unlock: () => locker.unsafe('rollback') };
}

test('kill -9 between the body and its email leaves a body that is collected, and no email', async () => {
  await using service = await startService({ env: environment });
  expect((await send(service, 1)).status).toBe(202);
  const [own = ''] = await s3.keys('test/');
  const { key, answer, unlock } = await untilWritten('emails', () => send(service, 2));
  await service.kill();
  expect(await answer).toBeNull();
  await endOthers();
  await unlock();
  expect(await emails()).toEqual(['Number 1']);
  expect(await s3.keys('test/')).toContain(key);
  await collectBodies(database, s3, 2 * DAY);
  expect(await s3.keys('test/')).toEqual([own]);
});

test('a store that dies between the body and its email stops no acceptance', async () => {
  await using service = await startService({ env: environment });
  expect((await send(service, 3)).status).toBe(202);
  const { answer, unlock } = await untilWritten('emails', () => send(service, 4));
  s3.relay.freeze();
  await unlock();
  expect((await answer)?.status).toBe(202);
  expect(await emails()).toContain('Number 4');
  const shown = await createClient(service.url, TEST_KEY).get('/v1/emails?limit=1');
  expect(shown.body.data[0]?.subject).toBe('Number 4');
  s3.relay.thaw();
});

test('kill -9 between the octets of an image and its row leaves a body that is collected, and no image', async () => {
  await using service = await startService({ env: environment });
  const kept = await uploadedImage(service.url, TEST_KEY, gifOf({ width: 1, height: 1 }));
  const [own = ''] = await s3.keys('kept/');
  const picture = gifOf({ width: 2, height: 1 });
  const { key, answer, unlock } = await untilWritten('assets', () =>
    uploadImage(service.url, TEST_KEY, picture),
  );
  await service.kill();
  expect(await answer).toBeNull();
  await endOthers();
  await unlock();
  expect(await database.query('select id from assets')).toEqual([{ id: kept.id }]);
  expect(await s3.keys('kept/')).toContain(key);
  await collectBodies(database, s3, 2 * DAY);
  expect(await s3.keys('kept/')).toEqual([own]);
  await using next = await startService({ env: environment });
  expect((await imageAt(next.url, kept)).status).toBe(200);
  expect((await uploadImage(next.url, TEST_KEY, picture)).status).toBe(201);
});
