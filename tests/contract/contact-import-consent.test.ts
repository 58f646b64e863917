import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ImportClient, importClient } from './import-client.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
let live: string;
let inTest: string;
let client: ImportClient;

beforeAll(async () => {
  service = await startRealService();
  live = await service.keyWith('live', ['*']);
  inTest = await service.keyWith('test', ['*']);
  client = importClient(service, live);
});
afterAll(() => service[Symbol.asyncDispose]());

const send = (method: string, path: string, body?: object, key = live) =>
  service.ask({ method, path, key, ...(body && { body }) });
const statusOf = async (email: string) => (await client.contact(email)).status;
const reasonOf = async (address: string) =>
  (await send('GET', `/v1/suppressions?address=${address}`)).body.data[0]?.reason ?? null;

describe('an import may lower a status, and never raises one', () => {
  test('of contacts that are there: counted, with their suppressions, and before in a check', async () => {
    for (const name of ['in', 'low', 'hard'])
      await send('POST', '/v1/contacts', { email: `${name}@here.example` });
    await send('POST', '/v1/contacts', { email: 'out@here.example', status: 'unsubscribed' });
    await send('POST', '/v1/suppressions', { address: 'suppressed@here.example', reason: 'unsubscribed' });
    const file =
      'email,status,unsubscribed_at\nin@here.example,subscribed,\nlow@here.example,unsubscribed,2026-01-02T03:04:05Z\nhard@here.example,bounced,\nout@here.example,subscribed,\nsuppressed@here.example,subscribed,\nnew@here.example,complained,\nsilent@here.example,,\nodd@here.example,perhaps,\n';
    const consent = { lowered: 2, keptOut: 2, addedOut: 2 };
    const check = await client.imported(file, '?dryRun=true');
    expect(check).toMatchObject({ consent, counts: { total: 8, created: 3, updated: 4, failed: 1 } });
    expect(await statusOf('low@here.example')).toBe('subscribed');
    const done = await client.imported(file);
    expect(done).toMatchObject({
      consent,
      counts: check.counts,
      errors: [{ line: 9, column: 2, code: 'unknown_status' }],
      warnings: [
        {
          column: 2,
          message: expect.stringContaining('1 row complained, 1 row bounced, 1 row unsubscribed.'),
        },
        { column: 2, message: expect.stringContaining('"perhaps"') },
        { column: 2, message: expect.stringContaining('1 row has no value') },
        { column: 3, message: expect.stringContaining('1 row unsubscribed.') },
      ],
    });
    const wanted = {
      in: 'subscribed',
      low: 'unsubscribed',
      hard: 'bounced',
      out: 'unsubscribed',
      suppressed: 'unsubscribed',
      new: 'complained',
      silent: 'unsubscribed',
    };
    for (const [name, status] of Object.entries(wanted))
      expect([name, await statusOf(`${name}@here.example`)]).toEqual([name, status]);
    expect((await client.contact('low@here.example')).unsubscribedAt).toBe('2026-01-02T03:04:05.000Z');
    const reasons = { in: null, low: 'unsubscribed', hard: 'bounced', new: 'complained', silent: null };
    for (const [name, reason] of Object.entries(reasons))
      expect([name, await reasonOf(`${name}@here.example`)]).toEqual([name, reason]);
    expect((await send('GET', '/v1/contacts/odd@here.example')).status).toBe(404);
  });

  test('of each address of a cell, of which the first alone becomes a contact', async () => {
    await send('POST', '/v1/contacts', { email: 'second@many.example' });
    const file =
      'email,status\nfirst@many.example ::: second@many.example ::: third@many.example,unsubscribed\n';
    const counts = { total: 1, created: 1, updated: 0, failed: 0 };
    for (const query of ['?dryRun=true', ''])
      expect(await client.imported(file, query)).toMatchObject({
        consent: { lowered: 1, addedOut: 1 },
        counts,
      });
    expect(await statusOf('second@many.example')).toBe('unsubscribed');
    for (const name of ['first', 'second', 'third'])
      expect([name, await reasonOf(`${name}@many.example`)]).toEqual([name, 'unsubscribed']);
    expect((await send('GET', '/v1/contacts/third@many.example')).status).toBe(404);
  });

  test('with onConflict=skip too, and by a second row of the same address', async () => {
    await send('POST', '/v1/contacts', { email: 'skip@here.example', firstName: 'Ada' });
    const file =
      'email,first_name,status\nskip@here.example,Eve,unsubscribed\ntwice@here.example,A,subscribed\ntwice@here.example,B,unsubscribed\n';
    expect(await client.imported(file, '?onConflict=skip')).toMatchObject({
      counts: { total: 3, created: 1, updated: 0, skipped: 2, failed: 0 },
      consent: { lowered: 1, keptOut: 0, addedOut: 1 },
    });
    expect(await client.contact('skip@here.example')).toMatchObject({
      firstName: 'Ada',
      status: 'unsubscribed',
    });
    expect(await client.contact('twice@here.example')).toMatchObject({
      firstName: 'A',
      status: 'unsubscribed',
    });
  });

  test('also where another cell of the row is wrong: that the person has left counts, and nothing else', async () => {
    const names = ['long', 'number', 'zero', 'surplus', 'again', 'stranger'];
    for (const name of names.slice(0, -1))
      await send('POST', '/v1/contacts', { email: `${name}@wrong.example`, firstName: 'Ada' });
    const file = [
      'email,status,first_name,properties.n:number',
      `long@wrong.example,unsubscribed,${'x'.repeat(201)},`,
      'number@wrong.example,unsubscribed,Eve,abc',
      'zero@wrong.example,bounced,E\0ve,',
      'surplus@wrong.example,unsubscribed,Eve,1,2',
      'again@wrong.example,unsubscribed,Eve,abc',
      'again@wrong.example,subscribed,Eve,7',
      'stranger@wrong.example,unsubscribed,Eve,abc',
    ].join('\n');
    const check = await client.imported(file, '?dryRun=true');
    expect(check).toMatchObject({
      counts: { total: 7, created: 0, updated: 1, failed: 6 },
      consent: { lowered: 5, keptOut: 0, addedOut: 0 },
    });
    const done = await client.imported(file);
    expect(done).toMatchObject({ counts: check.counts, consent: check.consent });
    for (const name of ['long', 'number', 'surplus'])
      expect(await client.contact(`${name}@wrong.example`)).toMatchObject({
        status: 'unsubscribed',
        firstName: 'Ada',
        properties: {},
      });
    expect(await client.contact('zero@wrong.example')).toMatchObject({ status: 'bounced', firstName: 'Ada' });
    expect(await client.contact('again@wrong.example')).toMatchObject({
      status: 'unsubscribed',
      firstName: 'Eve',
    });
    expect((await send('GET', '/v1/contacts/stranger@wrong.example')).status).toBe(404);
    expect(await reasonOf('stranger@wrong.example')).toBe('unsubscribed');
    expect(await reasonOf('zero@wrong.example')).toBe('bounced');
  });

  test('the answer to the request itself names what is not understood', async () => {
    const told = await client.post('email,Unsubscribed\na@told.example,perhaps\n');
    expect(told.status).toBe(202);
    expect(told.body.data.warnings).toMatchObject([{ column: 2, header: 'Unsubscribed' }]);
  });
});

test('no file of another service subscribes who has left it', async () => {
  const files = join(import.meta.dir, '../fixtures/contact-files');
  for (const name of readdirSync(files)) await client.imported(readFileSync(join(files, name)));
  const rows = await service.service.database.query<{ email: string }>(
    `select email from contacts where livemode and status = 'subscribed'
     and email ~ '(out|block|bounce|gs-2|gs-3|mc-b|mc-c|mc-d|left2).*@example.com'`,
  );
  expect(rows).toEqual([]);
});

describe('the plan of a file', () => {
  const plan = (body: string | Uint8Array, query = '') =>
    service.ask({
      method: 'POST',
      path: `/v1/contacts/import/plan${query}`,
      key: live,
      body,
      headers: { 'content-type': 'text/csv' },
    });

  test('says what the import will do with each column, and stores nothing', async () => {
    const file = Buffer.from(
      'E-Mail;Status;Größe;1st\na@plan.example;aktiv;x;\nb@plan.example;weg;;\n',
      'latin1',
    );
    expect((await plan(file)).body.data).toEqual({
      encoding: 'windows-1252',
      delimiter: ';',
      columns: [
        { header: 'E-Mail', target: 'email', cells: ['a@plan.example', 'b@plan.example'] },
        { header: 'Status', target: 'status', cells: ['aktiv', 'weg'] },
        { header: 'Größe', target: 'properties.Grosse:string', cells: ['x'] },
        { header: '1st', target: null, cells: [] },
      ],
      warnings: [{ column: 2, header: 'Status', message: expect.stringContaining('"weg"') }],
      problems: [{ path: '/body', message: expect.stringContaining('"1st", cannot name a property') }],
    });
    expect((await send('GET', '/v1/contacts/a@plan.example')).status).toBe(404);
  });

  test('is made of the beginning of a longer file as well, in any encoding', async () => {
    for (const body of [
      Buffer.from('email,Vorname\na@plan.example,Jürgen\nb@plan.example,Jü').subarray(0, -1),
      Buffer.from('\ufeffemail,Vorname\na@plan.example,Jürgen\nb@plan', 'utf16le').subarray(0, -1),
    ])
      expect((await plan(body, '?partial=true')).body.data.columns[1]).toEqual({
        header: 'Vorname',
        target: 'first_name',
        cells: ['Jürgen'],
      });
  });

  test('of a file without a header is 422', async () => {
    expect((await plan('\n\n')).status).toBe(422);
  });
});

test('an export and its import in the other environment give the same contacts, types, consent and audiences', async () => {
  const properties = {
    seats: 3,
    ratio: 1.5,
    zip: '007',
    yes: true,
    no: false,
    empty: '',
    text: 'true',
    sum: '=1+1',
  };
  await send('POST', '/v1/contacts', { email: '=a@round.example', firstName: "'=Ada", properties });
  await send('POST', '/v1/contacts', { email: 'b@round.example', properties: { seats: 'many' } });
  const consent = { source: 'Form', at: new Date().toISOString() };
  await send('PATCH', '/v1/contacts/b@round.example', { status: 'unsubscribed' });
  await send('PATCH', '/v1/contacts/b@round.example', { status: 'subscribed', consent });
  await send('PATCH', '/v1/contacts/low@here.example', { properties: { seats: 2 } });
  const audience = (key: string) => send('POST', '/v1/audiences', { name: 'Readers' }, key);
  const { id } = (await audience(live)).body.data;
  await send('POST', `/v1/audiences/${id}/contacts`, { emails: ['b@round.example', 'low@here.example'] });
  const file = (await send('GET', '/v1/contacts/export')).text;
  expect((await client.post(file, '?dryRun=true', {}, inTest)).body.data.warnings[0].message).toContain(
    '"Readers"',
  );
  const other = (await audience(inTest)).body.data.id;
  const done = await client.imported(file, '', inTest);
  expect(done).toMatchObject({ errors: [], warnings: [] });
  const said = ({
    email,
    firstName,
    lastName,
    properties: own,
    status,
    unsubscribedAt,
  }: Record<string, unknown>) => ({
    email,
    firstName,
    lastName,
    properties: own,
    status,
    unsubscribedAt,
  });
  const all = async (key: string) =>
    ((await send('GET', '/v1/contacts?limit=100', undefined, key)).body.data as Record<string, unknown>[])
      .map(said)
      .sort((one, two) => String(one.email).localeCompare(String(two.email)));
  expect(await all(inTest)).toEqual(await all(live));
  expect((await client.contact('=a@round.example', inTest)).properties).toEqual(properties);
  for (const email of ['b@round.example', 'low@here.example'])
    expect((await client.contact(email, inTest)).audienceIds).toEqual([other]);
  const [entry] = (
    await send('GET', '/v1/contacts/b@round.example/activity?type=imported', undefined, inTest)
  ).body.data;
  expect(entry.data).toEqual({ consent });
  // A second time nothing changes, in either environment.
  for (const key of [live, inTest]) {
    const before = await all(key);
    expect((await client.imported(file, '', key)).consent).toMatchObject({ lowered: 0, addedOut: 0 });
    expect(await all(key)).toEqual(before);
  }
});

test('a column without a type keeps the type of the contacts that are there', async () => {
  await send('POST', '/v1/contacts', { email: 'typed@kept.example', properties: { rooms: 3, vip: true } });
  const done = await client.imported('email,rooms,vip\ntyped@kept.example,4,no\nnew@kept.example,many,yes\n');
  expect((await client.contact('typed@kept.example')).properties).toEqual({ rooms: 4, vip: false });
  expect(done.errors).toMatchObject([{ line: 3, column: 2, code: 'invalid_number' }]);
});

test('integers that lose digits are refused in JSON, and names keep no control characters', async () => {
  const post = (text: string) =>
    service.ask({
      method: 'POST',
      path: '/v1/contacts',
      key: live,
      body: text,
      headers: { 'content-type': 'application/json' },
    });
  const withSize = (size: string) => `{"email": "big@json.example", "properties": {"size": ${size}}}`;
  for (const size of [
    '9007199254740992',
    '9007199254740993',
    '-9007199254740993',
    '12345678901234567890',
    '1e16',
  ])
    expect((await post(withSize(size))).body.error.details).toMatchObject([
      { path: '/body/properties/size' },
    ]);
  expect((await post(withSize('9007199254740991'))).body.data.properties).toEqual({ size: 9007199254740991 });
  const named = await send('PATCH', '/v1/contacts/big@json.example', {
    firstName: 'Ada\r\nBcc: x@y.example\u0000'.slice(0, -1),
    lastName: '\u202e\n',
  });
  expect(named.body.data).toMatchObject({ firstName: 'Ada Bcc: x@y.example', lastName: null });
});

test('a file that names an unsubscription beside a bounce or a complaint leaves both', async () => {
  await client.imported(
    'email,Unsubscribed,Bounced\ncells@both.example,yes,yes\nonly@both.example,no,yes\n',
    '?columns=%7B%7D',
  );
  await client.imported('email,status\nlines@both.example,unsubscribed\nlines@both.example,bounced\n');
  await client.imported('email,status\nangry@both.example,complained\nangry@both.example,unsubscribed\n');
  // Our own export says in both columns when an address bounced.
  await client.imported('email,status,unsubscribedAt\nexported@both.example,bounced,2026-01-02T03:04:05Z\n');
  for (const [name, reason, otherReasons] of [
    ['cells', 'bounced', ['unsubscribed']],
    ['only', 'bounced', []],
    ['lines', 'bounced', ['unsubscribed']],
    ['angry', 'complained', ['unsubscribed']],
    ['exported', 'bounced', []],
  ] as const)
    expect((await send('GET', `/v1/suppressions?address=${name}@both.example`)).body.data).toMatchObject([
      { reason, otherReasons },
    ]);
});

test('of several lines that a person left by, the last moment counts', async () => {
  const lines = ['2024-01-02T00:00:00Z', '2026-01-02T00:00:00Z', '2025-01-02T00:00:00Z'];
  await client.imported(
    `email,status,unsubscribedAt\n${lines.map((at) => `often@left.example,unsubscribed,${at}\n`).join('')}`,
  );
  expect((await client.contact('often@left.example')).unsubscribedAt).toBe('2026-01-02T00:00:00.000Z');
});

test.each(['upsert', 'skip'])(
  'a file that names a later leaving keeps an older consent out, by %s',
  async (way) => {
    const email = `${way}@again.example`;
    const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
    const file = (at: string) =>
      client.imported(`email,status,unsubscribedAt\n${email},unsubscribed,${at}\n`, `?onConflict=${way}`);
    const subscribe = async (at: string) =>
      (
        await send('PATCH', `/v1/contacts/${email}`, {
          status: 'subscribed',
          consent: { source: 'form', at },
        })
      ).status;
    await file(ago(3));
    await file(ago(1));
    await file(ago(4));
    expect(await subscribe(ago(2))).toBe(422);
    expect(await subscribe(ago(0))).toBe(200);
  },
);
