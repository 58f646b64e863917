import { afterAll, beforeAll, expect, test } from 'bun:test';
import { preferencesPath } from '../../src/audience/preferences/links.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { type ImportClient, importClient } from './import-client.ts';
import { type RealService, startRealService } from './real-service.ts';

// The order of what became known decides which consent undoes a leaving: clocks and files may be wrong.

const SIGNER = createSigner('only-for-tests-only-for-tests-only');
const HOUR_MS = 3_600_000;

let service: RealService;
let live: string;
let client: ImportClient;

beforeAll(async () => {
  service = await startRealService();
  live = await service.keyWith('live', ['*']);
  client = importClient(service, live);
});
afterAll(() => service[Symbol.asyncDispose]());

const send = async (method: string, path: string, body?: unknown) => {
  const told = await service.ask({ method, path, key: live, ...(body !== undefined && { body }) });
  if (told.status >= 300) throw new Error(`${path}: ${told.text}`);
  return told.body?.data;
};
const submit = (email: string, body: string) =>
  service.ask({
    method: 'POST',
    path: preferencesPath(SIGNER, { workspaceId: service.workspaceId, livemode: true, key: email }),
    body,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
const leaveEverything = (email: string) => submit(email, 'action=off');
const moment = (inMs: number): string => new Date(Date.now() + inMs).toISOString();
const agree = async (email: string, at: string) => {
  const body = { status: 'subscribed', consent: { source: 'form', at } };
  return (await service.ask({ method: 'PATCH', path: `/v1/contacts/${email}`, key: live, body })).status;
};

test('a consent that was known before undoes no leaving, whatever the clock said that noted it', async () => {
  const { database } = service.service;
  const email = 'behind@example.com';
  const path = `/v1/contacts/${email}`;
  await send('POST', '/v1/contacts', { email });
  let at = '';
  // PostgreSQL does not read the first.
  for (at of ['2026-01-01T00:00:00+18:00', moment(30_000)]) {
    await send('PATCH', path, { status: 'unsubscribed' });
    expect(await agree(email, at)).toBe(200);
  }
  const { id: listId } = await send('POST', '/v1/audiences', { name: 'Behind', public: true });
  const add = () =>
    send('POST', `/v1/audiences/${listId}/contacts`, { emails: [email], consent: { source: 'form', at } });
  expect((await add()).added).toBe(1);
  await submit(email, `action=save&shown=${listId}`);
  await leaveEverything(email);
  const { id } = await send('GET', path);
  for (const [table, column, key] of [
    ['contacts', 'unsubscribed_at', 'id'],
    ['contact_activity', 'at', `type in ('left', 'unsubscribed') and contact_id`],
  ])
    await database.query(`update ${table} set ${column} = now() - interval '3 days' where ${key} = $1`, [id]);
  await database.query(`update suppressions set created_at = now() - interval '3 days' where address = $1`, [
    email,
  ]);
  expect(await agree(email, at)).toBe(422);
  expect(await add()).toMatchObject({ added: 0, left: [email] });
  at = moment(40_000);
  expect(await add()).toMatchObject({ added: 1 });
  expect(await agree(email, at)).toBe(200);
});

test('a consent that a file dates to come refuses no later one', async () => {
  const email = 'early@example.com';
  await client.imported(`email,optin_time\n${email},${moment(11 * HOUR_MS)}\n`);
  await leaveEverything(email);
  expect(await agree(email, moment(0))).toBe(200);
});

test('a consent undoes no leaving that a file told of later, whatever its moment', async () => {
  const email = 'by-file@example.com';
  const at = moment(-4 * HOUR_MS);
  await client.imported(`email,optin_time\n${email},${at}\n`);
  await client.imported(`email,status,unsubscribed_at\n${email},unsubscribed,${moment(-8 * HOUR_MS)}\n`);
  expect((await client.contact(email)).status).toBe('unsubscribed');
  expect(await agree(email, at)).toBe(422);
  expect(await agree(email, moment(-2 * HOUR_MS))).toBe(200);
});

test('a consent that came with a contact that is made again counts after the leaving from before', async () => {
  const { id } = await send('POST', '/v1/audiences', { name: 'Again', public: true });
  const emails = Array.from({ length: 8 }, (_, n) => `again-${n}@example.com`);
  for (const email of emails) {
    await send('POST', '/v1/contacts', { email });
    await send('POST', `/v1/audiences/${id}/contacts`, { emails: [email] });
    await submit(email, `action=save&shown=${id}`);
    await send('DELETE', `/v1/contacts/${email}`);
  }
  const at = moment(0);
  await client.imported(`email,optin_time\n${emails.map((email) => `${email},${at}\n`).join('')}`);
  const add = (consent?: object) =>
    send('POST', `/v1/audiences/${id}/contacts`, { emails, ...(consent && { consent }) });
  expect((await add()).left).toEqual(emails);
  expect(await add({ source: 'form', at })).toMatchObject({ added: 8 });
});
