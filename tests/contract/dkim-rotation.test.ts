import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { type RealService, startRealService } from './real-service.ts';

// POST /v1/domains/{id}/rotate-dkim, as clients meet it.

let database: TestDatabase;
let one: RealService;
let other: RealService;
let key: string;

beforeAll(async () => {
  database = await createTestDatabase();
  one = await startRealService({ DATABASE_URL: database.url, DEFAULT_PLAN: 'growth' });
  other = await startRealService({ DATABASE_URL: database.url });
  await one.service.database.query(`update workspaces set plan = 'growth'`);
  key = await one.keyWith('live', ['*']);
});
afterAll(async () => {
  await one[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
  await database.close();
});

const added = async (name: string) =>
  (await one.ask({ method: 'POST', path: '/v1/domains', key, body: { name } })).body.data;
const rotate = (id: string, headers = {}, at = one, by = key) =>
  at.ask({ method: 'POST', path: `/v1/domains/${id}/rotate-dkim`, key: by, headers });
const get = async (id: string) => (await one.ask({ path: `/v1/domains/${id}`, key })).body.data;
const standings = ({ dkimKeys }: { dkimKeys: { status: string }[] }) => dkimKeys.map(({ status }) => status);

test('rotate-dkim answers the domain with its new records and no private key', async () => {
  const { id } = await added('shown.test');
  const reply = await rotate(id);
  expect(reply.status).toBe(200);
  expect(standings(reply.body.data)).toEqual(['pending', 'active']);
  expect(await get(id)).toEqual(reply.body.data);
  const values = reply.body.data.dnsRecords.map(({ value }: { value: string }) => value);
  expect(values[2]).toMatch(/^v=DKIM1; k=rsa; p=[A-Za-z0-9+/]{392}$/);
  expect(values[3]).toMatch(/^v=DKIM1; k=ed25519; p=[A-Za-z0-9+/]{43}=$/);
  expect(reply.text).not.toMatch(/sealed|PRIVATE/i);
  const [journal] = await one.service.database.query<{ all: string }>(
    `select string_agg(steps::text, '') as all from domain_journal where actor_id = $1`,
    [id],
  );
  expect(journal?.all).toContain('rotation.requested');
  expect(journal?.all).not.toContain('sealed');
  expect(one.logged()).not.toMatch(/sealed:1|PRIVATE KEY/);
});

test('rotate-dkim of a reserved name switches at the next check', async () => {
  const { id } = await added('captured.test');
  const next = (await rotate(id)).body.data.dkimKeys[0].selector;
  const { body } = await one.ask({ method: 'POST', path: `/v1/domains/${id}/verify`, key });
  expect(body.data).toMatchObject({
    status: 'verified',
    dkimKeys: [{ selector: next, status: 'active' }, {}],
  });
  expect(body.data.dnsRecords[0]).toMatchObject({ status: 'verified', required: true });
});

test('rotate-dkim during a waiting rotation is a conflict that changes nothing', async () => {
  const { id } = await added('second.test');
  await rotate(id);
  const before = await get(id);
  const reply = await rotate(id);
  expect([reply.status, reply.body.error.code]).toEqual([409, 'CONFLICT']);
  expect(await get(id)).toEqual(before);
});

test('parallel rotate-dkim on two instances succeeds once, with the answer that is stored', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { id } = await added(`race-${round}.test`);
    // Both know the actor, so that each decides on what it remembers.
    await other.ask({ path: `/v1/domains/${id}`, key });
    const replies = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        rotate(id, { 'idempotency-key': crypto.randomUUID() }, n % 2 ? one : other),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(5).fill(409)]);
    expect(replies.find(({ status }) => status === 200)?.body.data.dkimKeys).toEqual(
      (await get(id)).dkimKeys,
    );
  }
});

test('rotate-dkim with an Idempotency-Key rotates once and replays; a refusal leaves the key free', async () => {
  const { id } = await added('once.test');
  const headers = { 'idempotency-key': crypto.randomUUID() };
  const [first, again] = [await rotate(id, headers), await rotate(id, headers)];
  expect([first.status, again.status]).toEqual([200, 200]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(again.text).toBe(first.text);
  const refused = { 'idempotency-key': crypto.randomUUID() };
  expect((await rotate(id, refused)).status).toBe(409);
  await one.ask({ method: 'POST', path: `/v1/domains/${id}/verify`, key });
  expect((await rotate(id, refused)).status).toBe(200);
});

test('rotate-dkim needs domains:write and a domain of the workspace', async () => {
  const { id } = await added('whose.test');
  const reader = await one.keyWith('live', ['domains:read']);
  expect((await rotate(id, {}, one, reader)).body.error.code).toBe('FORBIDDEN');
  expect((await rotate(`${id.slice(0, -1)}${id.endsWith('0') ? 1 : 0}`)).status).toBe(404);
  await one.ask({ method: 'DELETE', path: `/v1/domains/${id}`, key });
  expect((await rotate(id)).status).toBe(404);
});
