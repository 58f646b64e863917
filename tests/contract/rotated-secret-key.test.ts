import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { preferencesPath } from '../../src/audience/preferences/links.ts';
import { totpCode } from '../../src/http/auth/passwords/totp.ts';
import { rotate } from '../../src/ops/rotation/rotate.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { SEALED_COLUMNS } from '../../src/platform/crypto/sealed-columns.ts';
import { createSealer } from '../../src/platform/crypto/sealer.ts';
import { secretKeyOf } from '../../src/platform/crypto/secret-key.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { readKeys } from '../../src/platform/db/canary.ts';
import { isReturnToken } from '../../src/sending/emails/queries.ts';
import { returnToken } from '../../src/sending/emails/send/return-token.ts';
import { linkToken } from '../../src/sending/tracking/api.ts';
import { verify } from '../../src/sending/webhooks/http/signature.ts';
import { command } from '../support/command.ts';
import { confirmEarlier, step } from '../support/earlier-code.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { openReceiver } from '../support/webhook-world.ts';
import { Browser, PASSWORD, setUpOwner } from './a-browser.ts';
import { type RealService, startRealService } from './real-service.ts';

// A rotation of SECRET_KEY on a PostgreSQL that several instances serve from;
// tests/failure/secret-key-rotation.test.ts kills it.

const OLD = 'the-key-of-before-the-key-of-before-it';
const NEW = 'the-key-of-now-the-key-of-now-and-after';
const OWNER = 'ada@acme.example';
const LEFT = 'left@a.example';
const KEY = { name: 'Made before', env: 'test', permissions: ['emails:read'] };
const ONCE = { 'idempotency-key': 'made-before' };

let database: TestDatabase;
/** The instance with the key of before, which is gone once all others have both. */
let service: RealService;
const instances: RealService[] = [];
const receiver = openReceiver();
const before = { totp: '', live: '', test: '', made: '', webhook: '', signed: '', flow: '' };
let environment: Record<string, string>;
const both = () => ({ ...environment, SECRET_KEY: NEW, SECRET_KEY_PREVIOUS: OLD });

const api = (
  one: RealService,
  env: 'live' | 'test',
  method: string,
  path: string,
  body?: unknown,
  headers = {},
) => one.ask({ method, path: `/v1/${path}`, key: before[env], headers, ...(body !== undefined && { body }) });
const made = async (one: RealService, env: 'live' | 'test', path: string, body: unknown, headers = {}) => {
  const told = await api(one, env, 'POST', path, body, headers);
  if (told.status >= 300) throw new Error(told.text);
  return told.body.data;
};
const send = (one: RealService) =>
  made(one, 'test', 'emails', {
    from: 'a@acme.test',
    to: 'delivered@simulator.svc.test',
    subject: 'Hi',
    text: 'Hi',
  });
const rows = <Row extends object>(text: string, parameters: readonly string[] = []) =>
  service.service.database.query<Row>(text, parameters);
const start = async (environment: Record<string, string>) => {
  const one = await startRealService(environment);
  instances.push(one);
  return one;
};

/** Fills what no request of a test fills. */
async function fillTheRest(): Promise<void> {
  const { sealer } = service.service.secretKeys;
  const put = (text: string, ...parameters: string[]) => rows(text, parameters);
  await put(
    `insert into acme_certificates (directory_url, host, account_key, order_key, certificate_key) values ('https://ca.test', 'h', $1, $2, $3)`,
    sealer.seal('account', 'acme-account'),
    sealer.seal('order', 'acme-order'),
    sealer.seal('certificate', 'acme-certificate'),
  );
  await put(
    `insert into ses_removals (id, sealed, attempts, next_at) values ('one', $1, 0, now() + interval '1 day')`,
    sealer.seal(LEFT, 'a suppression that was removed'),
  );
  await put(
    `insert into service_emails (id, sealed, next_at, expires_at) values ('one', $1, now() + interval '1 day', now() + interval '2 days')`,
    sealer.seal('{}', 'an email of the service'),
  );
}

async function fill(): Promise<void> {
  const owner = await setUpOwner(service, OWNER);
  before.live = await service.keyWith('live', ['*']);
  before.test = await service.keyWith('test', ['*']);
  before.totp = (await owner.ask('/account/totp', {})).body.data.secret;
  await confirmEarlier(before.totp, (code) => owner.ask('/account/totp/confirm', { code }));
  before.made = (await made(service, 'live', 'api-keys', KEY, ONCE)).key;
  const domain = await made(service, 'live', 'domains', { name: 'acme.test' });
  await made(service, 'live', 'inbound-routes', {
    domainId: domain.id,
    match: { type: 'catchAll' },
    action: { type: 'webhook', url: receiver.url },
  });
  await made(service, 'live', 'mailboxes', {
    host: 'imap.example.com',
    username: 'a@acme.test',
    password: 'secret',
    paused: true,
  });
  before.flow = (
    await made(service, 'test', 'flows/webhook-secret', {}, { 'idempotency-key': 'flow' })
  ).secret;
  const webhook = await made(service, 'test', 'webhooks', { url: receiver.url, events: ['delivered'] });
  [before.webhook, before.signed] = [webhook.id, webhook.secret];
  await made(service, 'live', 'suppressions', { address: LEFT });
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
  await made(service, 'test', 'emails', {
    from: 'a@acme.test',
    to: LEFT,
    subject: 'Hi',
    text: 'Hi',
    scheduledAt,
  });
  for (const env of ['live', 'test'] as const) {
    const { id } = await made(service, env, 'contacts', { email: LEFT });
    await api(service, env, 'DELETE', `contacts/${id}`);
  }
  await fillTheRest();
}

/** Every column of the schema that holds sealed texts, with the beginnings of those. */
async function sealedAnywhere(): Promise<ReadonlyMap<string, readonly string[]>> {
  const columns = await rows<{ table: string; column: string }>(
    `select c.table_name as "table", c.column_name as "column" from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = current_schema() and t.table_type = 'BASE TABLE'
       and c.data_type in ('text', 'json', 'jsonb', 'ARRAY', 'character varying', 'bytea')`,
  );
  const found = new Map<string, readonly string[]>();
  for (const { table, column } of columns) {
    const marks = await rows<{ mark: string }>(
      `select distinct substring(x."${column}"::text from 'sealed:\\d:(?:[0-9a-f]{16}:)?') as mark from "${table}" x
       where x."${column}"::text like '%sealed:_:%'`,
    );
    if (marks.length > 0)
      found.set(
        `${table}.${column}`,
        marks.map(({ mark }) => mark),
      );
  }
  return found;
}

beforeAll(async () => {
  database = await createTestDatabase();
  environment = { DATABASE_URL: database.url, WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' };
  service = await startRealService({ ...environment, SECRET_KEY: OLD });
  await fill();
});
afterAll(async () => {
  receiver[Symbol.dispose]();
  for (const one of instances) await one[Symbol.asyncDispose]();
  await database.close();
});

test('everything that is sealed is in the list that a rotation goes by, and nothing else is sealed', async () => {
  const listed = SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`);
  const sealed = [...(await sealedAnywhere()).keys()];
  const yet = listed.filter((column) => column !== 'former_secret_keys.sealed');
  expect(sealed.toSorted()).toEqual([...yet, 'secret_key_canary.sealed'].toSorted());
  const keys = await rows<{ table: string; columns: string[] }>(
    `select c.relname as "table", array_agg(a.attname::text) as columns from pg_index i join pg_class c on c.oid = i.indrelid
     join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
     where i.indisprimary and c.relname = any($1) group by 1`,
    [`{${SEALED_COLUMNS.map(({ table }) => table).join(',')}}`],
  );
  for (const { table, key } of SEALED_COLUMNS)
    expect(keys.find((one) => one.table === table)?.columns.toSorted()).toEqual(Object.keys(key).toSorted());
});

test('nothing is changed while an instance lives that does not have the new key', async () => {
  await Promise.all([start(both()), start(both())]);
  const loaded = loadConfig(both());
  if ('problems' in loaded) throw new Error(loaded.problems.join());
  const silent = { waiting() {}, turned() {}, resealed() {} };
  const told = await rotate(service.service.database, loaded.config, silent, 0);
  expect(told).toEqual({ outcome: 'refused', all: 3, behind: 1 });
  expect(await rows('select id from former_secret_keys')).toEqual([]);
  // All seal with the key that every one of them has.
  const [one] = instances as [RealService];
  expect(one.service.secretKeys.inUse.sealsWith).toBe(secretKeyOf(OLD).id);
  expect(one.service.secretKeys.sealer.seal('text', 'totp secret')).toStartWith('sealed:1:');
  await service[Symbol.asyncDispose]();
  service = one;
});

test('with the key of the service in another DATA_DIR nothing is changed, and no key is left there', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-elsewhere-'));
  try {
    writeFileSync(join(dataDir, 'secret-key'), OLD, { mode: 0o600 });
    const silent = { waiting() {}, turned() {}, resealed() {} };
    const source = { secretKey: null, secretKeyPrevious: null, dataDir };
    const told = await rotate(service.service.database, source, silent, 0);
    expect(told).toMatchObject({ outcome: 'refused' });
    expect(readdirSync(dataDir).filter((name) => name.startsWith('secret-key.next'))).toEqual([]);
    expect(await rows('select id from former_secret_keys')).toEqual([]);
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});

test('the key is rotated while two instances serve: each reads what the other one seals', async () => {
  const [one, other] = instances as [RealService, RealService];
  let isOver = false;
  const asked: string[] = [];
  // One makes keys with a key of the request, the other one is asked for the stored answer, which was sealed
  // by the first.
  const client = async () => {
    while (!isOver) {
      const once = { 'idempotency-key': `during-${asked.length}` };
      const first = await made(one, 'live', 'api-keys', { ...KEY, name: `During ${asked.length}` }, once);
      const again = await made(other, 'live', 'api-keys', { ...KEY, name: `During ${asked.length}` }, once);
      expect(again).toEqual(first);
      await api(one, 'live', 'DELETE', `api-keys/${first.id}`);
      asked.push(first.key);
    }
  };
  const load = client();
  await eventually('some load', () => (asked.length > 3 ? true : undefined));
  const told = await command(both(), 'secret-key', 'rotate');
  isOver = true;
  await load;
  expect([told.code, told.error]).toEqual([0, expect.stringContaining('The database uses the new key')]);
  for (const line of [
    '1 DKIM keys (RSA)',
    '1 DKIM keys (Ed25519)',
    '1 secrets of webhooks',
    '1 authenticators',
    'replies that hold a secret',
    'No instance needs SECRET_KEY_PREVIOUS any more',
    '`posthorn secret-key revoke-links`',
    'An earlier backup needs the previous key',
  ])
    expect(told.out).toContain(line);
  expect(told.out).not.toContain('are unchanged');
  expect(told.out + told.error + one.logged() + other.logged()).not.toMatch(/the-key-of-|PRIVATE KEY/);
  for (const [column, marks] of await sealedAnywhere())
    expect([column, marks]).toEqual([column, [`sealed:2:${secretKeyOf(NEW).id}:`]]);
  const again = await command(both(), 'secret-key', 'rotate');
  expect(again).toMatchObject({
    code: 0,
    out: expect.stringContaining('SECRET_KEY_PREVIOUS is no longer needed'),
  });
});

test('the key before stops a start with its own sentence, and is not taken as a new one', async () => {
  await expect(readKeys(service.service.database, [OLD])).rejects.toThrow(
    'that this database was used with until 2',
  );
  const back = { ...environment, SECRET_KEY: OLD, SECRET_KEY_PREVIOUS: NEW };
  expect(await command(back, 'secret-key', 'rotate')).toMatchObject({
    code: 1,
    error: expect.stringContaining('was used with before'),
  });
});

test('with the new key alone everything goes on', async () => {
  for (const one of instances.splice(0)) await one[Symbol.asyncDispose]();
  service = await start({ ...environment, SECRET_KEY: NEW });

  const code = totpCode(before.totp, step());
  expect((await new Browser(service).signIn(OWNER, PASSWORD, code)).status).toBe(200);
  expect((await made(service, 'live', 'api-keys', KEY, ONCE)).key).toBe(before.made);
  const flow = await made(service, 'test', 'flows/webhook-secret', {}, { 'idempotency-key': 'flow' });
  expect(flow.secret).toBe(before.flow);

  await send(service);
  const [post] = await receiver.until(1);
  if (!post) throw new Error('Nothing was posted.');
  expect(verify(before.signed, post.signature, post.body, Date.now() / 1_000)).toBeTrue();

  const [keys] = await rows<{ domain_id: string; rsa: string; rsa_value: string }>(
    'select * from domain_keys',
  );
  const pem = service.service.secretKeys.sealer.open(keys?.rsa ?? '', `DKIM key of ${keys?.domain_id}`);
  const published = createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'der' });
  expect(keys?.rsa_value).toContain(published.toString('base64'));
  // Forgotten people who had left are known still.
  const suppressed = await api(service, 'live', 'GET', `suppressions?address=${LEFT}`);
  expect(suppressed.body.data).toEqual([expect.objectContaining({ reason: 'manual' })]);
  expect((await command({ ...environment, SECRET_KEY: NEW }, 'doctor')).out).toContain(
    'it opens the sealed secrets',
  );
});

test('links and return addresses that the key before has signed hold until they are revoked', async () => {
  const old = createSigner(OLD);
  const page = (signer: typeof old) =>
    preferencesPath(signer, { workspaceId: service.workspaceId, livemode: true, key: LEFT });
  const emailId = 'em_01m83wxa5en803y935wftw51';
  const token = returnToken({ emailId, recipient: 0 }, old);
  const clicked = `/t/c/${linkToken('click', { emailId, recipient: 0, target: 'https://a.example/' }, old)}`;
  const ask = async (path: string) => (await fetch(service.url + path, { redirect: 'manual' })).status;
  expect([await ask(page(old)), await ask(clicked)]).toEqual([200, 302]);
  expect(isReturnToken(token, service.service.secretKeys.signer, Date.now())).toBeTrue();
  const environmentOfNow = { ...environment, SECRET_KEY: NEW };
  expect(await command(environmentOfNow, 'secret-key', 'revoke-links')).toMatchObject({ code: 0 });
  await service.service.secretKeys.refresh();
  const { signer } = service.service.secretKeys;
  expect([await ask(page(old)), await ask(clicked), isReturnToken(token, signer, Date.now())]).toEqual([
    400,
    400,
    false,
  ]);
  expect(await ask(page(signer))).toBe(200);
  expect((await command(environmentOfNow, 'secret-key', 'revoke-links')).out).toContain('refused already');
});

test('a service whose database goes over to a key that it does not have says so', async () => {
  const lone = await start({ ...environment, SECRET_KEY: NEW });
  const canary = createSealer('another-key-another-key-another-key').seal('x', 'canary');
  const [stored] = await rows<{ sealed: string }>('select sealed from secret_key_canary');
  await rows('update secret_key_canary set sealed = $1', [canary]);
  const error = await lone.service.superseded;
  expect(error.message).toContain('SECRET_KEY is not the key that this database uses');
  await rows('update secret_key_canary set sealed = $1', [stored?.sealed ?? '']);
});
