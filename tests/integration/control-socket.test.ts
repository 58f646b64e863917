import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openForCommand } from '../../src/platform/control/client.ts';
import { fromBytes, type Outcome, toBytes } from '../../src/platform/control/protocol.ts';
import { serveControl } from '../../src/platform/control/server.ts';
import { lockDirectory } from '../../src/platform/db/embedded/directory-lock.ts';
import { isDuplicate } from '../../src/platform/db/sqlstate.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { type Commanded, command } from '../support/command.ts';
import { bringPreparedDirectory } from '../support/prepared-directory.ts';
import { LIVE_KEY, type Service, startService, TEST_KEY } from '../support/service.ts';

// Commands on the embedded database of a service that runs.

let service: Service;
const home = mkdtempSync(join(tmpdir(), 'posthorn-control-'));
beforeAll(async () => {
  await bringPreparedDirectory();
  service = await startService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

const run = (...words: string[]): Promise<Commanded> =>
  command({ DATA_DIR: service.dataDir, PORT: String(service.port), DNS_SERVERS: '127.0.0.1:9' }, ...words);

const get = (path: string, key: string) =>
  fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${key}` } });

const socketOf = (dataDir: string): string => join(dataDir, 'control', 'socket');

describe('beside a service on the embedded database', () => {
  test('keys create makes a key that opens it at once', async () => {
    const { code, out } = await run('keys', 'create', '--env', 'test', '--name', 'From beside');
    expect([code, out]).toEqual([0, expect.stringMatching(/^svc_test_\w+\n$/)]);
    expect((await get('/v1/emails', out.trim())).status).toBe(200);
  });

  test('workspaces, plan set and members reset-password work', async () => {
    const made = await run('workspaces', 'create', 'Customer');
    const id = made.out.trim();
    expect(id).toMatch(/^ws_/);
    expect((await run('plan', 'set', id, 'growth')).out).toBe(`${id} is on the plan growth.\n`);
    expect((await run('workspaces', 'list')).out).toContain(`${id}  growth     active    Customer\n`);
    const file = join(home, 'customer.jsonl');
    expect(await run('workspaces', 'export', id, file)).toMatchObject({ code: 0 });
    expect(statSync(file).size).toBeGreaterThan(100);
    await run('workspaces', 'archive', id);
    expect(await run('workspaces', 'delete', id)).toMatchObject({ code: 0, out: `${id} was deleted.\n` });
    expect(await run('members', 'reset-password', 'nobody@acme.example')).toMatchObject({
      code: 1,
      error: 'There is no account with this address.\n',
    });
  });

  test('migrate finds the schema up to date, and doctor looks into the database', async () => {
    expect(await run('migrate')).toMatchObject({ code: 0, out: 'The schema is up to date.\n' });
    const { out } = await run('doctor');
    expect(out).toContain('✓ Database: Embedded, ');
    expect(out).toContain('✓ Schema: Up to date');
    expect(out).toContain('✓ Event log: ');
    expect(out).toContain('it is the key of the database');
  });

  test('audit and backup read a copy as it was at one moment, while the service goes on, and leave none', async () => {
    const send = () =>
      fetch(`${service.url}/v1/emails`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          from: 'a@acme.example',
          to: 'delivered@simulator.svc.test',
          subject: 'Hi',
          text: 'Hi',
        }),
      });
    for (let i = 0; i < 20; i++) expect((await send()).status).toBe(202);
    const { code, out } = await run('audit');
    expect([code, out]).toEqual([0, expect.stringContaining('No faults')]);
    expect(out).toContain('An instance serves this database, and the audit read a copy');
    expect(out).not.toContain('No instance is connected');
    const file = join(home, 'backup');
    const [made, beside] = await Promise.all([run('backup', file), run('audit')]);
    expect([made.code, beside.code]).toEqual([0, 0]);
    expect(readdirSync(join(service.dataDir, 'snapshots'))).toEqual([]);
    expect((await send()).status).toBe(202);
    const target = join(home, 'restored');
    expect(await command({ DATA_DIR: target }, 'restore', file)).toMatchObject({ code: 0 });
  });

  test('move wants it stopped, and so does a restore', async () => {
    expect(await run('move', '--to', 'postgres://127.0.0.1:9/x')).toMatchObject({
      code: 1,
      error: expect.stringContaining('Stop it first'),
    });
    const file = join(home, 'backup-of-all');
    await run('backup', file);
    expect(await run('restore', file)).toMatchObject({
      code: 1,
      error: expect.stringContaining('Another Posthorn already uses the data directory'),
    });
  });

  test('the socket is for the owner alone', () => {
    expect(statSync(join(service.dataDir, 'control')).mode & 0o777).toBe(0o700);
    expect(statSync(socketOf(service.dataDir)).mode & 0o777).toBe(0o600);
  });

  test('statements come back as they are: errors with their code, dates, bytes, lists and nothing', async () => {
    const database = await openForCommand({ url: null, dataDir: service.dataDir });
    expect(database.kind).toBe('embedded');
    const [row] = await database.query(
      `select '2026-11-22T12:00:00Z'::timestamptz as at, '\\x0001ff'::bytea as bytes, '{a,b}'::text[] as list,
         null::text as none, 9007199254740993 as big, '{"a":[1]}'::jsonb as json, $1::text as given`,
      ['it’s'],
    );
    expect(row).toEqual({
      at: new Date('2026-11-22T12:00:00Z'),
      bytes: new Uint8Array([0, 1, 255]),
      list: ['a', 'b'],
      none: null,
      big: 9007199254740993n,
      json: { a: [1] },
      given: 'it’s',
    });
    const twice = `insert into last_run (one, at) values (true, now())`;
    const failure = await database.script(`${twice}; ${twice}`).catch((error: unknown) => error);
    expect(isDuplicate(failure, 'last_run_pkey')).toBeTrue();
    await expect(database.script('begin; select 1')).rejects.toThrow('A transaction cannot be opened');
    await database.close();
  });

  test('clients that go away in the middle, and many at once, do the service no harm', async () => {
    const unix = socketOf(service.dataDir);
    const slow = { call: 'query', text: 'select pg_sleep(0.2)', parameters: [], rowMode: null, unparsed: [] };
    const gone = new AbortController();
    const left = fetch('http://posthorn/statement', {
      unix,
      method: 'POST',
      body: toBytes(slow),
      signal: gone.signal,
    }).catch(() => 'gone');
    gone.abort();
    expect(await left).toBe('gone');
    const lists = await Promise.all(Array.from({ length: 10 }, () => run('workspaces', 'list')));
    expect(new Set(lists.map(({ out }) => out)).size).toBe(1);
    for (const body of ['', 'no message of ours']) {
      const answer = await fetch('http://posthorn/statement', { unix, method: 'POST', body });
      if (answer.ok) expect(fromBytes<Outcome>(await answer.arrayBuffer())).toHaveProperty('error');
    }
    expect((await get('/v1/emails', LIVE_KEY)).status).toBe(200);
  });
});

test('a service that stops finishes the running statement of a command, and refuses the next one', async () => {
  const dataDir = join(home, 'stopping');
  mkdirSync(join(dataDir, 'postgres'), { recursive: true });
  const lock = lockDirectory(dataDir);
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
  const engine = {
    async query() {
      arrive();
      await mayAnswer;
      return { rows: [{ done: 'done' }] };
    },
  };
  const control = serveControl(engine as never, dataDir, {
    refresh: async () => false,
    inUse: { holds: [], sealsWith: '' },
  });
  const database = await openForCommand({ url: null, dataDir });
  const waiting = database.query<{ done: string }>('select');
  await arrived;
  const closed = control.close();
  const next = await database.query('select').catch((error: unknown) => error);
  expect(next).toBeInstanceOf(UnavailableError);
  answer();
  expect(await waiting).toEqual([{ done: 'done' }]);
  await closed;
  expect(existsSync(join(dataDir, 'control'))).toBeFalse();
  lock.release();
});

test('a service that was killed leaves a socket that disturbs no later one', async () => {
  await using killed = await startService();
  // The files of a command that is killed while it reads a copy.
  mkdirSync(join(killed.dataDir, 'snapshots', 'left'), { recursive: true });
  await killed.kill();
  expect(existsSync(socketOf(killed.dataDir))).toBeTrue();
  expect(await command({ DATA_DIR: killed.dataDir }, 'workspaces', 'list')).toMatchObject({ code: 0 });
  await using again = await startService({ dataDir: killed.dataDir });
  expect(await command({ DATA_DIR: again.dataDir }, 'workspaces', 'list')).toMatchObject({ code: 0 });
  expect(existsSync(join(again.dataDir, 'snapshots'))).toBeFalse();
  await again.stop();
});

test('a command of another version than the service says so', async () => {
  const dataDir = join(home, 'other');
  for (const folder of ['control', 'postgres']) mkdirSync(join(dataDir, folder), { recursive: true });
  const lock = lockDirectory(dataDir);
  const other = Bun.serve({ unix: socketOf(dataDir), fetch: () => new Response('0.0.9') });
  expect(await command({ DATA_DIR: dataDir }, 'workspaces', 'list')).toMatchObject({
    code: 1,
    error: expect.stringContaining('The running service is Posthorn 0.0.9'),
  });
  await other.stop(true);
  lock.release();
});
