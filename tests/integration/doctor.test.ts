import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommandLine } from '../../src/ops/commands/command-line.ts';
import { diagnoseConnections } from '../../src/ops/doctor/database/connections.ts';
import {
  diagnoseClock,
  diagnosePartitions,
  diagnoseSchema,
  diagnoseWrites,
} from '../../src/ops/doctor/database/database.ts';
import { diagnosePooler } from '../../src/ops/doctor/database/pooler.ts';
import { diagnoseReplication } from '../../src/ops/doctor/database/replication.ts';
import type { Diagnosis } from '../../src/ops/doctor/diagnosis.ts';
import { examine } from '../../src/ops/doctor/examine.ts';
import { openTransports } from '../../src/ops/doctor/mail/open-transport.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { migrations } from '../../src/platform/db/migrations.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { type RealService, startRealService } from '../contract/real-service.ts';
import { createTestAuthority } from '../support/acme-certificates.ts';
import { postgresStore } from '../support/engine.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { startService } from '../support/service.ts';
import { CERTIFICATE, PRIVATE_KEY } from './transport/certificates.ts';
import { a, mx, ptr, startNameServer, type TestNameServer } from './transport/name-server.ts';
import { type Sink, startSink } from './transport/smtp-sink.ts';

const SECRET_KEY = 'only-for-tests-only-for-tests-only';

let folder: string;
let dns: TestNameServer;
let sink: Sink;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-doctor-'));
  dns = await startNameServer({ 'example.com A': [a('192.0.2.1')] });
  sink = await startSink();
});
afterAll(async () => {
  await dns[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the command as people do, in an environment that names nothing of this machine. */
async function doctor(environment: Record<string, string>, words: readonly string[] = []) {
  let out = '';
  const say = (text: string): void => {
    out += text;
  };
  const settings = {
    DATA_DIR: folder,
    DNS_SERVERS: `127.0.0.1:${dns.server.port}`,
    HOST: '127.0.0.1',
    PORT: '9',
    ...environment,
  };
  const code = await runCommandLine(['doctor', ...words], { out: say, error: say }, () =>
    loadConfig(settings, false),
  );
  /** The line of one check, and what it advises. */
  const about = (check: string) =>
    new RegExp(`^. ${check}.*\\n(?: {4}.*\\n)?`, 'm').exec(out)?.[0] ?? `nothing about ${check} in:\n${out}`;
  return { code, out, about };
}

describe('doctor before the first start', () => {
  test('nothing is wrong, nothing is made, and what cannot be seen is said', async () => {
    const { code, out, about } = await doctor({ DATA_DIR: join(folder, 'none') });
    expect(out).toEndWith('\nNo faults.\n');
    expect(code).toBe(0);
    expect(about('Database')).toBe(
      `– Database: There is none in ${join(folder, 'none')} yet; the first start makes it.\n`,
    );
    expect(about('Secret key')).toStartWith('– Secret key: There is none yet');
    expect(about('Name server 127.0.0.1')).toMatch(/^✓ .+ Answers in \d+ ms\.\n$/);
    expect(about('Capture')).toContain('set TRANSPORT to smtp, direct or ses');
    expect(await Bun.file(join(folder, 'none')).exists()).toBe(false);
  });

  test('offline: each thing that does not answer is named, with what to do', async () => {
    const port = String(await freePort());
    const { code, out, about } = await doctor({
      DNS_SERVERS: `127.0.0.1:${port}`,
      DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/none`,
      SECRET_KEY,
      TRANSPORT: 'smtp',
      SMTP_URL: `smtp://127.0.0.1:${port}`,
    });
    expect(code).toBe(1);
    expect(about('Database')).toMatch(
      /^✗ Database: .+\n {4}Check host, port, user and password in DATABASE_URL/,
    );
    expect(about('Name server')).toMatch(/^✗ .+\n {4}Check DNS_SERVERS/);
    expect(about('SMTP relay')).toMatch(/^✗ .+\n {4}Check host and port in SMTP_URL/);
    expect(out).toEndWith('\n3 faults.\n');
  });

  test('others reach the service: links to localhost and keys in clear text are wrong', async () => {
    const DATA_DIR = join(folder, 'none');
    const open = await doctor({ DATA_DIR, HOST: '0.0.0.0', SUBMISSION_PORT: '2525' });
    expect(open.about('Public URL')).toMatch(/^✗ .+localhost:9.+\n {4}Set PUBLIC_URL/);
    expect(open.about('Submission')).toMatch(/^✗ .+clear text.+\n {4}Set SUBMISSION_TLS_CERT/);
    expect([open.code, open.out.endsWith('\n2 faults.\n')]).toEqual([1, true]);

    const cert = join(folder, 'cert.pem');
    const key = join(folder, 'key.pem');
    writeFileSync(cert, CERTIFICATE);
    writeFileSync(key, PRIVATE_KEY);
    const proxied = { DATA_DIR, PUBLIC_URL: 'https://mail.example.com' };
    const encrypted = { SUBMISSION_PORT: '2525', SUBMISSION_TLS_CERT: cert, SUBMISSION_TLS_KEY: key };
    const closed = await doctor({ ...proxied, ...encrypted, HOST: '::' });
    expect(closed.about('Public URL')).toStartWith('✓');
    expect(closed.about('Submission')).toStartWith('✓');
    expect(closed.about('Proxy')).toMatch(/^✗ .+TRUST_PROXY trusts none.+\n {4}Set TRUST_PROXY/);
    expect((await doctor({ ...proxied, TRUST_PROXY: '1' })).about('Proxy')).toStartWith('✓');
    expect((await doctor({ ...proxied, TRUST_PROXY: '10.0.0.0/8' })).about('Proxy')).toStartWith('✓');
    expect((await doctor({ DATA_DIR })).about('Proxy')).toStartWith('–');
    const within = { DATA_DIR, HOST: '10.1.2.3', SUBMISSION_PORT: '2525', PUBLIC_URL: 'http://10.1.2.3:9' };
    expect((await doctor(within)).about('Submission')).toStartWith('✓');
    expect((await doctor({ DATA_DIR })).about('Public URL')).toStartWith('–');
  });

  test('mail servers get a certificate for the name of the MX, or the doctor says what to do', async () => {
    const [cert, key] = [join(folder, 'mx-cert.pem'), join(folder, 'mx-key.pem')];
    writeFileSync(cert, CERTIFICATE);
    writeFileSync(key, PRIVATE_KEY);
    const port = String(await freePort());
    const received = { DATA_DIR: join(folder, 'none'), INBOUND_SMTP_PORT: port };
    const of = async (more: Record<string, string>) =>
      (await doctor({ ...received, ...more })).about('TLS of received mail');
    const files = { SUBMISSION_TLS_CERT: cert, SUBMISSION_TLS_KEY: key };
    expect(await of({ ...files, EHLO_NAME: 'relay.test' })).toMatch(
      /^✓ .+ names relay\.test, .+ \d+ days\.\n$/,
    );
    expect(await of({ ...files, EHLO_NAME: 'mx.example.com' })).toMatch(
      /^! .+ does not name mx\.example\.com.+\n {4}Set .+ a certificate for mx\.example\.com/,
    );
    expect(await of({ ...files, PUBLIC_URL: 'https://relay.test' })).toStartWith('✓');
    expect(await of({})).toMatch(/^! .+ clear text.+\n {4}Set SUBMISSION_TLS_CERT/);
    const old = await (await createTestAuthority()).own({
      notBefore: new Date(0),
      notAfter: new Date(1_000_000),
    });
    writeFileSync(cert, old.cert);
    writeFileSync(key, old.key);
    expect(await of(files)).toMatch(/^✗ .+ has expired\.\n {4}Renew the files/);
    expect((await doctor({ DATA_DIR: join(folder, 'none') })).about('TLS of received mail')).toStartWith('–');
  });

  test('a test message to something that is no address is misuse', async () => {
    expect((await doctor({}, ['--to', 'me'])).code).toBe(2);
  });
});

describe('doctor with a database and a verified domain', () => {
  let database: TestDatabase;
  let service: RealService;
  let environment: Record<string, string>;
  beforeAll(async () => {
    database = await createTestDatabase();
    service = await startRealService({ DATABASE_URL: database.url });
    const key = await service.keyWith('live', ['*']);
    await service.ask({ method: 'POST', path: '/v1/domains', key, body: { name: 'doctor.test' } });
    environment = {
      DATABASE_URL: database.url,
      SECRET_KEY,
      TRANSPORT: 'smtp',
      SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
    };
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await database.close();
  });

  test('finds nothing wrong, and a signed test message arrives', async () => {
    const { code, out, about } = await doctor(environment, ['--to', 'me@receiver.example']);
    expect({ out, code }).toMatchObject({ code: 0 });
    expect(about('Database')).toMatch(/^✓ Database: PostgreSQL \d+, [\d.]+ ms a round trip\.\n$/);
    const applied = migrations.map(({ name }) => name).join(', ');
    expect(about('Schema')).toBe(`✓ Schema: Up to date: ${applied} applied.\n`);
    for (const check of ['Partitions', 'Clock', 'Scheduler', 'SMTP relay', 'Test message'])
      expect(about(check)).toStartWith(`✓ ${check}`);
    expect(about('Secret key')).toBe('✓ Secret key: From SECRET_KEY; it opens the sealed secrets.\n');
    expect(about('Reverse DNS')).toStartWith('– ');
    const [received] = sink.received;
    expect(received?.to).toEqual(['me@receiver.example']);
    const raw = received?.raw.toString() ?? '';
    expect(raw).toContain('From: Posthorn <posthorn@doctor.test>');
    expect(raw.match(/^DKIM-Signature: /gim)).toHaveLength(2);
  });

  test('warns of the ceiling of the free plan where live mail leaves, until it is lifted', async () => {
    const { code, about } = await doctor(environment);
    expect(about('Plan')).toMatch(
      /^! Plan: ws_\w+ may send 3,000 live emails.+\n {4}.+plan set ws_\w+ unlimited/,
    );
    expect(code).toBe(0);
    expect((await doctor({ ...environment, TRANSPORT: 'capture' })).about('Plan')).toStartWith('–');
    const sold = { STRIPE_SECRET_KEY: 'sk_test_x', STRIPE_WEBHOOK_SECRET: 'whsec_x' };
    expect((await doctor({ ...environment, ...sold })).about('Plan')).toStartWith('✓');
    const [, id = ''] = /(ws_\w+)/.exec(about('Plan')) ?? [];
    const say = { out: () => {}, error: () => {} };
    await runCommandLine(['plan', 'set', id, 'unlimited'], say, () => loadConfig(environment, false));
    expect((await doctor(environment)).about('Plan')).toStartWith('✓');
  });

  test('reports another SECRET_KEY than the secrets were sealed with', async () => {
    const { code, about } = await doctor({ ...environment, SECRET_KEY: 'x'.repeat(32) });
    expect(code).toBe(1);
    expect(about('Secret key')).toMatch(
      /^✗ .+does not open the se(cret|aled) .+\n {4}Set SECRET_KEY to the key/,
    );
  });

  test('shows how late the scheduler of a running service is', async () => {
    const { about } = await doctor({ ...environment, PORT: String(service.port) });
    expect(about('Scheduler')).toMatch(/^✓ Scheduler: The service on this machine says ok;/);
  });
});

describe('doctor on a database', () => {
  const wrong = (words: string, advice: string): Partial<Diagnosis> => ({
    status: 'wrong',
    detail: expect.stringContaining(words) as never,
    advice: expect.stringContaining(advice) as never,
  });

  test('reports one that takes no writes', async () => {
    await using made = await createTestDatabase();
    const database = new PostgresDatabase(made.url);
    expect(await diagnoseWrites(database)).toMatchObject({ status: 'fine' });
    await database.script(`alter database ${made.name} set default_transaction_read_only = on`);
    const readOnly = new PostgresDatabase(made.url);
    expect(await diagnoseWrites(readOnly)).toMatchObject({
      status: 'wrong',
      detail: 'The database is read-only: no mail can be accepted or sent.',
    });
    await Promise.all([readOnly.close(), database.close()]);
  });

  test('reports a commit that waits for no disk, whatever DATABASE_URL names', async () => {
    await using made = await createTestDatabase();
    const before = new PostgresDatabase(made.url);
    expect(await diagnoseReplication(before, 1)).toMatchObject({ status: 'skipped' });
    await before.script(`alter database ${made.name} set synchronous_commit = off`);
    await before.close();
    const database = new PostgresDatabase(made.url);
    expect(await diagnoseReplication(database, 1)).toMatchObject(
      wrong('a crash may lose mail', 'set it to on'),
    );
    await database.close();
  });

  test.each([
    ['role', 'alter role … connection limit'],
    ['database', 'alter database … connection limit'],
  ])('warns of a %s with fewer connections than an instance opens', async (limited, remedy) => {
    await using made = await createTestDatabase();
    const owner = new PostgresDatabase(made.url);
    const role = `few_${made.name}`;
    await owner.script(
      `create role ${role} login password 'few' connection limit 14; grant select on service_instances to ${role}`,
    );
    const url = Object.assign(new URL(made.url), { username: role, password: 'few' });
    const database = new PostgresDatabase(url.href);
    expect(await diagnoseConnections(database, false)).toMatchObject({
      status: 'fine',
      detail: expect.stringContaining('An instance opens up to 14'),
    });
    expect(await diagnoseConnections(database, true)).toMatchObject({ status: 'skipped' });
    await owner.script(`alter ${limited} ${limited === 'role' ? role : made.name} connection limit 13`);
    expect(await diagnoseConnections(database, false)).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining(`the ${limited} allows 13`),
      advice: expect.stringContaining(remedy),
    });
    await database.close();
    await owner.script(`drop owned by ${role}; drop role ${role}`);
    await owner.close();
  });

  test('tells a pooler, and what it drops', async () => {
    await using made = await createTestDatabase();
    const database = new PostgresDatabase(made.url);
    const pooled = async () => ({ isPooled: true, takesSettings: true, hasCitus: false });
    expect(await diagnosePooler(database, made.url, pooled)).toMatchObject({ status: 'fine', advice: null });
    await database.close();
    const dropping = { query: async () => [{ timeout: '0' }] } as unknown as PostgresDatabase;
    expect((await diagnosePooler(dropping, made.url, pooled))?.advice).toContain('alter role');
    // The server says whether a pooler is there: none is before a test's own, unless the run goes through
    // one.
    const found = await diagnosePooler(dropping, made.url);
    expect(found === null).toBe(process.env.TEST_POOLER_URL === undefined);
  });

  test('reports a missing, older, newer or altered schema', async () => {
    await using store = await postgresStore();
    const { database } = store;
    const known = migrations.map(({ name }) => ({ name, sql: 'x' }));
    expect(await diagnoseSchema(database)).toMatchObject({ status: 'fine' });
    expect(await diagnoseSchema(database, [])).toMatchObject(wrong('does not know', 'newer version'));
    expect(await diagnoseSchema(database, known)).toMatchObject(wrong('other content', 'restore'));
    const longer = [...migrations, { name: '0002_later', sql: 'x' }];
    expect(await diagnoseSchema(database, longer)).toMatchObject(wrong('0002_later', '`posthorn migrate`'));
    await database.script('drop table posthorn_migrations');
    expect(await diagnoseSchema(database)).toMatchObject({ status: 'skipped' });
  });

  test('reports missing partitions and clock skew', async () => {
    await using store = await postgresStore();
    expect(await diagnosePartitions(store.database, Date.now())).toMatchObject(
      wrong('emails_', 'partitionMaker'),
    );
    expect(await diagnoseClock(store.database, Date.now)).toMatchObject({ status: 'fine' });
    const ahead = () => Date.now() + 60_000;
    // The round trip of a busy machine makes the difference more or less by a part of it.
    const { detail, ...rest } = await diagnoseClock(store.database, ahead);
    expect(rest).toMatchObject({ status: 'wrong', advice: expect.stringContaining('NTP') });
    expect(detail).toMatch(/\b(?:5\d|6\d)\.\d+\b.*ahead of the database/);
  });

  test('reports overdue work while no service runs', async () => {
    await using store = await postgresStore();
    await store.database.query(
      `insert into workspaces (id, name, plan, created_at) values ('ws_1', 'w', 'free', now())`,
    );
    await store.database.query(
      `insert into domains (id, workspace_id, livemode, state, context, revision, machine_version, wake_at, name,
         return_path)
       values ('dom_1', 'ws_1', true, 'pending', '{}', 1, 1, now() - interval '1000000 seconds', 'a.test', 'r')`,
    );
    const { code, about } = await doctor({ DATABASE_URL: store.url ?? '', SECRET_KEY });
    expect(code).toBe(1);
    expect(about('Scheduler')).toMatch(
      /^✗ Scheduler: 1 due, the oldest for 1000\d+ s\.\n {4}Start the service/,
    );
  });
});

test('doctor looks into an embedded database through the service that uses it', async () => {
  await using service = await startService();
  const settings = { DATA_DIR: service.dataDir, PORT: String(service.port) };
  const { code, about } = await doctor(settings);
  expect(code).toBe(0);
  expect(about('Database')).toStartWith('✓ Database: Embedded, ');
  expect(about('Scheduler')).toStartWith('✓ ');
  expect(about('Secret key')).toStartWith(`✓ Secret key: From ${join(service.dataDir, 'secret-key')}`);
  // A process that serves no commands, such as another command.
  rmSync(join(service.dataDir, 'control'), { recursive: true });
  expect((await doctor(settings)).about('Database')).toStartWith(
    '– Database: The embedded database is in use',
  );
  const apart = await doctor({ ...settings, PORT: '9' });
  expect(apart.code).toBe(1);
  expect(apart.about('Database')).toContain('check HOST and PORT');
});

test('doctor checks host name, reverse DNS and outgoing port 25 for direct delivery', async () => {
  const loaded = loadConfig({
    DATA_DIR: join(folder, 'none'),
    TRANSPORT: 'direct',
    EHLO_NAME: 'mail.posthorn.test',
    DIRECT_PORT: String(sink.port),
    PORT: '9',
  });
  if ('problems' in loaded) throw new Error(loaded.problems.join());
  const { config } = loaded;
  const nameServers = [dns.server];
  const means = { nameServers, hostName: 'x', probeDomain: 'probe.test', mayConnect: () => true };
  const look = async () => {
    const found: Diagnosis[] = [];
    for await (const diagnosis of examine({
      config,
      now: Date.now,
      nameServers,
      openTransports: () => openTransports(config, means),
      to: null,
    }))
      found.push(diagnosis);
    return found.filter(({ check }) => /Name of this server|outwards/.test(check));
  };
  expect(await look()).toMatchObject([
    { status: 'wrong', advice: expect.stringContaining('EHLO_NAME') },
    { status: 'wrong', advice: expect.stringContaining('DNS_SERVERS') },
  ]);
  dns.zone = {
    'mail.posthorn.test A': [a('192.0.2.7')],
    '7.2.0.192.in-addr.arpa PTR': [ptr('mail.posthorn.test')],
    'probe.test MX': [mx('mx.probe.test', 10)],
    'mx.probe.test A': [a('127.0.0.1')],
  };
  expect(await look()).toMatchObject([
    { status: 'fine', detail: expect.stringContaining('in reverse DNS') },
    { status: 'fine', detail: 'mx.probe.test answers.' },
  ]);
});
