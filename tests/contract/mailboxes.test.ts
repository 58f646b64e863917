import { afterAll, beforeAll, expect, test } from 'bun:test';
import { fingerprintOf } from '../../src/http/request/idempotency.ts';
import { MOST_MAILBOXES } from '../../src/sending/mailboxes/model.ts';
import { pathsOf } from './ask.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
let live: string;
let inTest: string;

beforeAll(async () => {
  // Of a service that others reach.
  service = await startRealService({ PUBLIC_URL: 'https://post.example.com', TRUST_PROXY: '1' });
  live = await service.keyWith('live', ['*']);
  inTest = await service.keyWith('test', ['*']);
});
afterAll(() => service[Symbol.asyncDispose]());

const send = (method: string, path: string, body?: unknown, key = live) =>
  service.ask({ method, path, key, ...(body !== undefined && { body }) });
const PASSWORD = 'a password that stays here';
const account = {
  host: 'imap.example.com',
  username: 'support@example.com',
  password: PASSWORD,
  paused: true,
};
const create = (more: object = {}, key = live) => send('POST', '/v1/mailboxes', { ...account, ...more }, key);

test('a mailbox is created, shown without its password, changed and deleted', async () => {
  const made = await create();
  expect(made.status).toBe(201);
  const mailbox = made.body.data;
  expect(mailbox).toEqual({
    id: expect.stringMatching(/^mbx_[0-9a-z]{24}$/),
    livemode: true,
    host: 'imap.example.com',
    port: 993,
    security: 'tls',
    username: 'support@example.com',
    folder: 'INBOX',
    status: 'paused',
    reason: null,
    since: mailbox.createdAt,
    nextAttemptAt: null,
    taken: 0,
    skipped: 0,
    lastTakenAt: null,
    createdAt: expect.stringMatching(/Z$/),
    updatedAt: mailbox.createdAt,
  });
  expect((await send('GET', `/v1/mailboxes/${mailbox.id}`)).body.data).toEqual(mailbox);
  expect((await send('GET', '/v1/mailboxes')).body.data).toEqual([mailbox]);
  expect((await send('GET', '/v1/mailboxes', undefined, inTest)).body.data).toEqual([]);
  const changed = await send('PATCH', `/v1/mailboxes/${mailbox.id}`, { security: 'starttls', port: 143 });
  expect(changed.body.data).toMatchObject({ security: 'starttls', port: 143, host: 'imap.example.com' });
  const [row] = await service.service.database.query<{ text: string }>(
    'select row_to_json(m)::text as text from mailboxes m where id = $1',
    [mailbox.id],
  );
  expect(row?.text).not.toContain(PASSWORD);
  expect((await send('DELETE', `/v1/mailboxes/${mailbox.id}`)).status).toBe(204);
  expect((await send('GET', `/v1/mailboxes/${mailbox.id}`)).status).toBe(404);
  for (const act of ['created', 'changed', 'deleted']) {
    const acts = await send('GET', `/v1/audit-log?action=mailbox.${act}`);
    expect(acts.body.data).toMatchObject([{ target: { id: mailbox.id } }]);
    expect(acts.text).not.toContain(PASSWORD);
  }
  expect(service.logged()).not.toContain(PASSWORD);
});

test('its server is at a public address, and nothing in its settings breaks a command', async () => {
  const refused = async (more: object): Promise<readonly string[]> => {
    const made = await create(more);
    expect(made.status).toBe(422);
    return pathsOf(made);
  };
  for (const host of ['127.0.0.1', '10.0.0.7', '169.254.169.254', '::1', 'localhost', 'db', 'mail.internal'])
    expect([host, await refused({ host })]).toEqual([host, ['/body/host']]);
  for (const host of ['imap://imap.example.com', 'imap.example.com:993', 'a b', 'imap.example.com/x'])
    expect([host, await refused({ host })]).toEqual([host, ['/body/host']]);
  for (const name of ['username', 'password', 'folder'])
    expect(await refused({ [name]: 'a\r\nA1 DELETE INBOX' })).toEqual([`/body/${name}`]);
  expect((await create({ port: 0 })).status).toBe(422);
  expect((await create({ security: 'none' })).status).toBe(422);
});

test('another server or user needs the password with it, so that none learns that of another', async () => {
  const { id } = (await create()).body.data;
  for (const more of [{ host: 'imap.elsewhere.example' }, { username: 'other@example.com' }]) {
    const refused = await send('PATCH', `/v1/mailboxes/${id}`, more);
    expect([refused.status, pathsOf(refused)]).toEqual([422, ['/body/password']]);
    expect((await send('PATCH', `/v1/mailboxes/${id}`, { ...more, password: 'another' })).status).toBe(200);
  }
  await send('DELETE', `/v1/mailboxes/${id}`);
});

test('an environment has a limited number of them', async () => {
  for (let count = 0; count < MOST_MAILBOXES; count++) expect((await create({}, inTest)).status).toBe(201);
  const refused = await create({}, inTest);
  expect([refused.status, refused.body.error.code]).toEqual([429, 'QUOTA_EXCEEDED']);
  expect((await create()).status).toBe(201);
});

test('its creation is repeated by its key, and the fingerprint of the request does not give the password away', async () => {
  const body = { ...account, username: 'keyed@example.com' };
  const headers = { 'idempotency-key': 'a-mailbox' };
  const made = await service.ask({ method: 'POST', path: '/v1/mailboxes', key: live, headers, body });
  const again = await service.ask({ method: 'POST', path: '/v1/mailboxes', key: live, headers, body });
  expect([made.status, again.status, again.body.data]).toEqual([201, 201, made.body.data]);
  const other = { ...body, password: 'another' };
  const refused = await service.ask({
    method: 'POST',
    path: '/v1/mailboxes',
    key: live,
    headers,
    body: other,
  });
  expect(refused.body.error.code).toBe('IDEMPOTENCY_CONFLICT');
  const [row] = await service.service.database.query<{ fingerprint: string }>(
    `select fingerprint from idempotency_keys where key = 'a-mailbox'`,
  );
  const plain = fingerprintOf({ method: 'POST', path: '/v1/mailboxes', query: {}, body });
  expect(row?.fingerprint).toMatch(/^[0-9a-f]{64}$/);
  expect(row?.fingerprint).not.toBe(plain);
});

test('needs the permissions of domains', async () => {
  const reader = await service.keyWith('live', ['domains:read']);
  const mailer = await service.keyWith('live', ['emails:send']);
  expect((await send('GET', '/v1/mailboxes', undefined, reader)).status).toBe(200);
  expect((await create({}, reader)).status).toBe(403);
  expect((await send('GET', '/v1/mailboxes', undefined, mailer)).status).toBe(403);
});
