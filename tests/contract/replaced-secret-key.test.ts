import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type StepWork, type StepWorkDeps, workOf } from '../../src/automation/flows/runs/steps.ts';
import { totpCode } from '../../src/http/auth/passwords/totp.ts';
import type { Transport } from '../../src/mail/transport/transport.ts';
import { sendTestMessage } from '../../src/ops/doctor/mail/test-message.ts';
import { createSealer } from '../../src/platform/crypto/sealer.ts';
import { command } from '../support/command.ts';
import { confirmEarlier, step } from '../support/earlier-code.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { openReceiver } from '../support/webhook-world.ts';
import { Browser, inviteMember, PASSWORD, setUpOwner } from './a-browser.ts';
import { type RealService, startRealService } from './real-service.ts';

const LOST = 'the-key-that-was-lost-the-key-that-was-lost';
const NEW = 'the-key-that-came-the-key-that-came-after';
const OWNER = 'ada@acme.example';
const LEFT = 'left@a.example';
const KEY = { name: 'Made before', env: 'test', permissions: ['emails:read'] };
const ONCE = { 'idempotency-key': 'made-before' };

let database: TestDatabase;
let service: RealService;
let owner: Browser;
let said = '';
let workspaceId = '';
const receiver = openReceiver();
/** The data sealed with the lost key. */
const before = { secret: '', codes: [] as string[], begun: '', member: '', live: '', test: '', webhook: '' };

const api = (env: 'live' | 'test', method: string, path: string, body?: unknown, headers = {}) =>
  service.ask({
    method,
    path: `/v1/${path}`,
    key: before[env],
    headers,
    ...(body !== undefined && { body }),
  });
const made = async (env: 'live' | 'test', path: string, body: unknown, headers = {}) => {
  const told = await api(env, 'POST', path, body, headers);
  if (told.status >= 300) throw new Error(told.text);
  return told.body.data;
};
const signIn = async (code?: string) => {
  const browser = new Browser(service);
  const told = await browser.signIn(OWNER, PASSWORD, code);
  return { browser, status: told.status, error: told.body?.error };
};

async function fill(): Promise<void> {
  owner = await setUpOwner(service, OWNER);
  workspaceId = service.workspaceId;
  before.live = await service.keyWith('live', ['*']);
  before.test = await service.keyWith('test', ['*']);
  before.secret = (await owner.ask('/account/totp', {})).body.data.secret;
  const { confirmed } = await confirmEarlier(before.secret, (code) =>
    owner.ask('/account/totp/confirm', { code }),
  );
  before.codes = confirmed.body.data.recoveryCodes;
  const { browser, email } = await inviteMember(service, owner, 'member');
  before.member = email;
  before.begun = (await browser.ask('/account/totp', {})).body.data.secret;
  await made('live', 'api-keys', KEY, ONCE);
  await made('live', 'domains', { name: 'acme.test' });
  await made('test', 'flows/webhook-secret', {});
  before.webhook = (await made('test', 'webhooks', { url: receiver.url, events: ['delivered'] })).id;
  await made('live', 'suppressions', { address: LEFT });
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
  await made('test', 'emails', { from: 'a@acme.test', to: LEFT, subject: 'Hi', text: 'Hi', scheduledAt });
  for (const env of ['live', 'test'] as const) {
    const { id } = await made(env, 'contacts', { email: LEFT });
    expect((await api(env, 'DELETE', `contacts/${id}`)).status).toBe(204);
  }
  await service.service.database.query(
    `insert into forgotten_leavings (workspace_id, livemode, address_hash, audience_id, left_at)
     values ($1, true, 'forgotten:one', 'aud_1', now())`,
    [workspaceId],
  );
  // Of the test environment the address is still needed for the email that has to leave.
  await eventually('the live erasure', async () => {
    const rows = await service.service.database.query('select id from erasures where waiting <> $1::text[]', [
      [],
    ]);
    const all = await service.service.database.query('select id from erasures');
    return rows.length === 1 && all.length === 1 ? true : undefined;
  });
}

beforeAll(async () => {
  database = await createTestDatabase();
  const environment = { DATABASE_URL: database.url, WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' };
  const start = (key: string) => startRealService({ ...environment, SECRET_KEY: key });
  service = await start(LOST);
  await fill();
  await service[Symbol.asyncDispose]();
  const told = await command({ ...environment, SECRET_KEY: NEW }, 'secret-key', 'replace');
  expect(told).toMatchObject({ code: 0, error: '' });
  said = told.out;
  service = await start(NEW);
});
afterAll(async () => {
  receiver[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
  await database.close();
});

test('replacing the key tells how much of what is lost with it, and what to do', () => {
  for (const sentence of [
    '1 forgotten people who had unsubscribed: they are no longer recognised: an import',
    '1 audiences that forgotten people had left: these people are no longer recognised',
    '1 forgotten people whose emails still name them',
    '2 authenticators: their codes are refused: sign in with a recovery code',
    '1 DKIM keys: rotate the DKIM keys of each domain',
    '1 secrets of webhooks: POST /v1/webhooks/{id}/rotate-secret',
    '1 secrets of webhook steps in flows: rotate each with POST /v1/flows/webhook-secret',
    'links in earlier emails (to unsubscribe',
  ])
    expect(said).toContain(sentence);
  expect(said).not.toContain('Amazon SES');
});

test('the key is not replaced below a service that goes on with the one before', async () => {
  const environment = { DATABASE_URL: database.url, SECRET_KEY: LOST };
  const told = await command(environment, 'secret-key', 'replace');
  expect(told).toEqual({ code: 1, out: '', error: expect.stringContaining('Stop it first') });
});

test('a code of an authenticator is refused with the way out, which a recovery code opens', async () => {
  const refused = await signIn(totpCode(before.secret, step()));
  expect(refused.status).toBe(401);
  expect(refused.error.message).toContain('the secret key of this installation has been replaced');
  expect(refused.error.suggestion).toContain('recovery code');
  expect((await signIn()).error.message).toContain('second factor');
  const { browser, status } = await signIn(before.codes[0]);
  expect(status).toBe(200);
  const remove = (code = '') => browser.ask('/account/totp', { code }, 'DELETE');
  const kept = await remove(totpCode(before.secret, step()));
  expect([kept.status, kept.body.error.suggestion]).toEqual([409, expect.stringContaining('recovery code')]);
  expect((await remove(before.codes[1])).status).toBe(204);
  const { secret } = (await browser.ask('/account/totp', {})).body.data;
  const again = await browser.ask('/account/totp/confirm', { code: totpCode(secret, step()) });
  expect(again.status).toBe(200);
});

test('an authenticator that was only begun is begun again', async () => {
  const browser = new Browser(service);
  expect((await browser.signIn(before.member)).status).toBe(200);
  const confirm = (secret: string) =>
    browser.ask('/account/totp/confirm', { code: totpCode(secret, step()) });
  const { status, body } = await confirm(before.begun);
  expect([status, body.error.suggestion]).toEqual([409, expect.stringContaining('Start again')]);
  const { secret } = (await browser.ask('/account/totp', {})).body.data;
  expect((await confirm(secret)).status).toBe(200);
});

test('a request whose reply held a secret is not carried out twice, and says why it cannot be answered', async () => {
  const told = await api('live', 'POST', 'api-keys', KEY, ONCE);
  expect([told.status, told.body.error.code]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
  expect(told.body.error.message).toContain('was already carried out');
  const keys = (await api('live', 'GET', 'api-keys')).body.data as { name: string }[];
  expect(keys.filter(({ name }) => name === KEY.name)).toHaveLength(1);
});

test('a webhook fails with the reason until its secret is rotated', async () => {
  const send = () =>
    made('test', 'emails', {
      from: 'a@acme.test',
      to: 'delivered@simulator.svc.test',
      subject: 'Hi',
      text: 'Hi',
    });
  await send();
  const path = `webhooks/${before.webhook}/deliveries`;
  const delivery = await eventually('an attempt', async () => {
    const [first] = (await api('test', 'GET', path)).body.data;
    return first?.attempts > 0 || first?.responseBody ? first : undefined;
  });
  expect(JSON.stringify(delivery)).toContain('Rotate the secret');
  expect(receiver.received).toEqual([]);
  await made('test', `webhooks/${before.webhook}/rotate-secret`, {});
  await send();
  await receiver.until(1);
});

test('an erasure that cannot be finished is put off for a day and delays no other', async () => {
  const { id } = await made('test', 'contacts', { email: 'other@a.example' });
  await service.service.database.query(`update erasures set next_at = now() - interval '1 hour'`);
  expect((await api('test', 'DELETE', `contacts/${id}`)).status).toBe(204);
  await eventually('the other erasure', async () => {
    const rows = await service.service.database.query<{ is_off: boolean }>(
      `select next_at > now() + interval '23 hours' as is_off from erasures`,
    );
    return rows.length === 1 && rows[0]?.is_off ? true : undefined;
  });
  expect(service.logged()).toContain('A forgotten person cannot be taken out of sent emails');
});

test('a webhook step of a flow fails with the reason', async () => {
  const { database: rows } = service.service;
  const deps = {
    database: rows,
    sealer: createSealer(NEW),
    clock: { now: Date.now },
  } as unknown as StepWorkDeps;
  const work = { scope: { workspaceId, livemode: false }, row: {}, now: Date.now() } as unknown as StepWork;
  const config = { url: receiver.url };
  const done = await workOf({ key: 'post', type: 'webhook', config } as never, deps, work);
  expect(done).toEqual({ outcome: expect.stringContaining('rotate it') as unknown as string });
});

test('the test message of the doctor says that the keys of the domain have to be rotated', async () => {
  await service.service.database.query(`update domains set state = 'verified'`);
  const transport = { name: 'smtp' } as Transport;
  const message = { to: OWNER, transport, isDefault: true, sealer: createSealer(NEW), now: Date.now() };
  const { status, advice } = await sendTestMessage({ ...message, database: service.service.database });
  expect([status, advice]).toEqual(['wrong', expect.stringContaining('rotate-dkim')]);
});

test('nothing of it was a failure of the service', () => {
  expect(service.logged()).not.toContain('a request failed unexpectedly');
  const duties = service
    .logged()
    .split('\n')
    .filter((line) => line.includes('A duty failed'));
  expect(duties.filter((line) => line.includes('SealedWithAnotherKey'))).toEqual([]);
});
