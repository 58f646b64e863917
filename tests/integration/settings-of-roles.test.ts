import { afterAll, beforeAll, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { type RealService, startRealService } from '../contract/real-service.ts';
import { createServedDatabase, type TestDatabase } from '../support/postgres.ts';
import { serverUrl } from '../support/server.ts';

// The forms in which PostgreSQL writes values are settings that a role, a database or postgresql.conf may
// change for other programs. Each of these alone turned dates into invalid ones, bytes into others, or the
// clock into the year 2033.

const SETTINGS = {
  datestyle: 'German, DMY',
  intervalstyle: 'sql_standard',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  timezone: 'America/St_Johns',
  standard_conforming_strings: 'off',
  default_transaction_isolation: 'serializable',
};

let made: TestDatabase;
let admin: postgres.Sql;
let role: string;
let service: RealService;
beforeAll(async () => {
  made = await createServedDatabase();
  admin = postgres(await serverUrl(), { max: 1, onnotice: () => {} });
  role = `posthorn_${randomBytes(4).toString('hex')}`;
  await admin.unsafe(`create role ${role} login superuser password 'forms'`);
  for (const [name, value] of Object.entries(SETTINGS))
    await admin.unsafe(`alter role ${role} set ${name} = '${value}'`);
  const url = new URL(made.url);
  url.username = role;
  url.password = 'forms';
  service = await startRealService({ DATABASE_URL: url.href });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await made.close();
  await admin.unsafe(`drop role if exists ${role}`);
  await admin.end();
});

test('a role with other forms of dates, bytes and numbers changes nothing that is answered', async () => {
  const key = await service.keyWith('test', ['*']);
  const before = Date.now();
  const text = 'Grüße, 日本 \\ \u0001'.repeat(20_000);
  const message = { from: 'a@example.com', to: ['delivered@simulator.svc.test'], subject: 'Forms', text };
  const sent = await service.ask({ method: 'POST', path: '/v1/emails', key, body: message });
  expect(sent.status).toBe(202);
  const { id } = (sent.body as { data: { id: string } }).data;
  const read = await service.ask({ method: 'GET', path: `/v1/emails/${id}`, key });
  expect(read.status).toBe(200);
  const email = (read.body as { data: { text: string; createdAt: string } }).data;
  expect(email.text).toBe(text);
  expect(Math.abs(Date.parse(email.createdAt) - before)).toBeLessThan(60_000);
  expect(service.logged()).not.toContain('Invalid Date');
});
