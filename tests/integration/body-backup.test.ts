import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openSession } from '../../src/engine/audit/session.ts';
import { auditLedger } from '../../src/ops/audit/audit.ts';
import { BodyReader } from '../../src/ops/backup/bodies.ts';
import { dump } from '../../src/ops/backup/dump.ts';
import { load } from '../../src/ops/backup/load.ts';
import type { BodyStore } from '../../src/platform/bodies/body-store.ts';
import { openBulkSession } from '../../src/platform/db/bulk-session.ts';
import { bringBack } from '../../src/sending/emails/bodies/content-bodies.ts';
import { storeAt } from '../support/image-store.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';
import { noise } from '../support/noise.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type S3, startS3 } from '../support/s3.ts';

const FILES = [noise(90_000, 1), Buffer.from('small'), noise(90_000, 1), noise(50_000, 2)];
const HTML = `<p>${noise(60_000, 3).toString('base64')}</p>`;

let s3: S3;
let service: LiveService;
let ids: readonly string[];
beforeAll(async () => {
  s3 = await startS3();
  service = await startLiveService({ environment: s3.environment });
  const attachments = FILES.map((file, at) => ({
    filename: `${at}.bin`,
    content: file.toString('base64'),
  }));
  ids = [
    await service.send({ attachments }),
    await service.send({ html: HTML, attachments }),
    await service.send({ html: HTML }),
    await service.send(),
  ];
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
});

/** The content of each email in a database, read with that store. */
async function contentsIn(url: string, store: BodyStore | null): Promise<readonly object[]> {
  const session = await openBulkSession({ url, dataDir: null }, 'read');
  try {
    const rows = await session.query<{ packed: string }>(
      `select encode(content, 'base64') as packed from emails where id = any($1::text[]) order by id`,
      [ids],
    );
    return await Promise.all(rows.map(({ packed }) => bringBack(store, packed, 'whole')));
  } finally {
    await session.close();
  }
}

test.each([
  ['a separate store', 'restored'],
  ['none, into the rows', null],
] as const)('a backup holds the bodies, and puts them into %s', async (_, prefix) => {
  const [own, url] = [storeAt(s3, 'mail'), service.databaseUrl];
  const before = await contentsIn(url, own);
  const store = prefix === null ? null : storeAt(s3, prefix);
  await using target = await createTestDatabase();
  const [from, into] = await Promise.all([
    openBulkSession({ url, dataDir: null }, 'read'),
    openBulkSession({ url: target.url, dataDir: null }, 'write'),
  ]);
  const reader = new BodyReader(own);
  const { bodies } = await load(into, dump(from, null, reader), {
    isOurs: false,
    bodies: store,
    warn() {},
  });
  await Promise.all([from.close(), into.close()]);
  // Two files, one of them named twice and both by two emails, and the rest of each email with the html.
  expect([bodies, reader.lost]).toEqual([4, 0]);
  expect(await contentsIn(target.url, store)).toEqual(before as object[]);
  expect((before[1] as { html: string }).html).toBe(HTML);
  const session = await openSession({ url: target.url, dataDir: null });
  const findings = await auditLedger(session, Date.now(), { bodies: store });
  await session.close();
  expect([findings.lookedAt('bodies'), findings.wrongOf('bodies')]).toEqual([store ? 4 : 0, 0]);
});

test('the audit names a body that is not there, and a backup counts it', async () => {
  const [own, url] = [storeAt(s3, 'mail'), service.databaseUrl];
  const [key = ''] = await s3.keys('live/');
  await s3.bucket.delete(key, new AbortController().signal);
  const session = await openSession({ url, dataDir: null });
  const findings = await auditLedger(session, Date.now(), { bodies: own });
  await session.close();
  expect([findings.lookedAt('bodies'), findings.wrongOf('bodies')]).toEqual([4, 1]);
  expect(findings.named.find(({ check }) => check === 'bodies')?.what).toBe(
    `its body ${key} is not in the store`,
  );
  const reader = new BodyReader(own);
  const from = await openBulkSession({ url, dataDir: null }, 'read');
  const kinds = await Array.fromAsync(dump(from, null, reader), ({ kind }) => kind);
  await from.close();
  expect([kinds.filter((kind) => kind === 'body').length, reader.lost]).toEqual([3, 1]);
});

test('without BODY_STORE there is no backup of what lies there', async () => {
  const from = await openBulkSession({ url: service.databaseUrl, dataDir: null }, 'read');
  const parts = Array.fromAsync(dump(from, null, new BodyReader(null)));
  await expect(parts).rejects.toThrow('none is set: set it as for the service.');
  await from.close();
});
