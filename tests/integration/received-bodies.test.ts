import { afterAll, beforeAll, expect, test } from 'bun:test';
import pino from 'pino';
import { bodyCollector } from '../../src/engine/bodies/collector.ts';
import { BODY_HOLDERS } from '../../src/modules.ts';
import { LONGEST_RETENTION } from '../../src/platform/config/settings/settings.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { receivedPruner } from '../../src/sending/received/received-pruner.ts';
import { auditedBodies, storeAt } from '../support/image-store.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';
import { noise } from '../support/noise.ts';
import { type S3, startS3 } from '../support/s3.ts';

const DAY = 24 * 3_600_000;

let s3: S3;
let service: LiveService;
beforeAll(async () => {
  s3 = await startS3();
  service = await startLiveService({ environment: { ...s3.environment } });
  await service.test.post('/v1/inbound-routes', {
    domainId: service.domainId,
    match: { type: 'catchAll' },
    action: { type: 'keep' },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
});

const file = (seed: number): string => noise(100_000, seed).toString('base64').replace(/.{76}/g, '$&\r\n');
const receive = async (raw: string): Promise<string> => {
  const answer = await fetch(`${service.url}/v1/received/test`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.keys.test}`, 'content-type': 'message/rfc822' },
    body: raw,
  });
  return ((await answer.json()) as { data: { id: string } }).data.id;
};
const rawOf = async (id: string): Promise<string> =>
  (
    await fetch(`${service.url}/v1/received/${id}/raw`, {
      headers: { authorization: `Bearer ${service.keys.test}` },
    })
  ).text();
const message = (seed: number) => `From: a@b.example\r\nTo: c@sender.example\r\n\r\n${file(seed)}\r\n`;

/** The duties as they run so many days later. */
async function after(days: number): Promise<void> {
  const { database } = service.service;
  const now = Date.now() + days * DAY;
  const clock = { now: () => now, monotonic: () => performance.now() };
  await receivedPruner({ database, clock, config: LONGEST_RETENTION }).run();
  const logger = pino({ enabled: false });
  await bodyCollector({
    database,
    bucket: s3.bucket,
    holders: BODY_HOLDERS,
    logger,
    clock,
    settled: async () => now,
  }).run();
}

test('a large message lies in the body store as long as it is kept', async () => {
  const [kept, deleted] = [await receive(message(1)), await receive(message(2))];
  const small = await receive('From: a@b.example\r\nTo: c@sender.example\r\n\r\nHello\r\n');
  expect(await s3.keys('test/')).toHaveLength(2);
  expect(await rawOf(kept)).toBe(message(1));
  expect(await rawOf(small)).toEndWith('Hello\r\n');
  await service.test.delete(`/v1/received/${deleted}`);
  await after(2);
  expect(await s3.keys('test/')).toHaveLength(1);
  expect(await rawOf(kept)).toBe(message(1));
  await after(8);
  expect((await service.test.get('/v1/received')).body.data).toEqual([]);
  await after(9);
  expect(await s3.keys('test/')).toEqual([]);
  const [left] = await service.service.database.query<{ rows: number }>(
    'select ((select count(*) from received_contents) + (select count(*) from received_journal))::integer as rows',
  );
  expect(left?.rows).toBe(0);
});

test('a content that a crash has left without a message is removed', async () => {
  const { database } = service.service;
  const [workspace] = await database.query<{ id: string }>('select id from workspaces');
  await database.query(
    `insert into received_contents (id, workspace_id, livemode, parsed, raw) select $1, $2, false, '', ''`,
    [`rcc_${(await receive(message(3))).slice(4)}`, workspace?.id ?? ''],
  );
  const contents = async () => (await database.query('select id from received_contents')).length;
  expect(await contents()).toBe(2);
  await after(0.1);
  expect(await contents()).toBe(1);
});

test.each([3, 400])('such a content of %d days ago is removed as well', async (days) => {
  const { database } = service.service;
  const [workspace] = await database.query<{ id: string }>('select id from workspaces');
  const id = `rcc_${mintId('rcv', Date.now() - days * DAY).slice(4)}`;
  await database.query(
    `insert into received_contents (id, workspace_id, livemode, parsed, raw) values ($1, $2, false, '', '')`,
    [id, workspace?.id ?? ''],
  );
  await after(0);
  expect(await database.query('select id from received_contents where id = $1', [id])).toEqual([]);
});

test('messages of a workspace that is no more are removed', async () => {
  const { database } = service.service;
  const id = await receive(message(4));
  const rows = () => database.query(`select id from received where workspace_id = 'ws_gone'`);
  await database.query(`update received set workspace_id = 'ws_gone' where id = $1`, [id]);
  expect(await rows()).toHaveLength(1);
  await after(0);
  expect(await rows()).toEqual([]);
  expect(await database.query('select id from workspaces')).toHaveLength(1);
});

test('the audit names a received message whose octets are gone, and they are not shown', async () => {
  // The days that went by above count as removed, and what they hold is not audited.
  await service.service.database.query('delete from retention');
  const before = new Set(await s3.keys('test/'));
  const id = await receive(message(5));
  const [key = ''] = (await s3.keys('test/')).filter((each) => !before.has(each));
  await s3.bucket.delete(key, new AbortController().signal);
  const findings = await auditedBodies(service.databaseUrl, storeAt(s3, 'mail'));
  const [content] = await service.service.database.query<{ id: string }>(
    'select id from received_contents where raw_key = $1',
    [key],
  );
  expect(findings.named.filter(({ check }) => check === 'bodies')).toEqual([
    { check: 'bodies', id: content?.id ?? '', what: `its body ${key} is not in the store` },
  ]);
  expect((await service.test.get(`/v1/received/${id}`)).status).toBe(200);
});
