import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import type { Told } from './ask.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
let key: string;
let otherKey: string;
let number = 0;

beforeAll(async () => {
  service = await startRealService();
  key = await service.keyWith('test', ['*']);
  otherKey = await service.keyWith('live', ['*']);
});
afterAll(() => service[Symbol.asyncDispose]());

const csv = { 'content-type': 'text/csv' };
const post = (body: string | Uint8Array, query = '', headers: Record<string, string> = {}, by = key) =>
  service.ask({
    method: 'POST',
    path: `/v1/contacts/import${query}`,
    key: by,
    body,
    headers: { ...csv, ...headers },
  });
const get = (path: string, by = key) => service.ask({ path, key: by });
const ended = (id: string, by = key) =>
  eventually(`the end of ${id}`, async () => {
    const { body } = await get(`/v1/contacts/imports/${id}`, by);
    return ['queued', 'processing'].includes(body.data.status) ? undefined : body.data;
  });
/** Imports a file and says what became of it. */
async function imported(body: string | Uint8Array, query = '', by = key) {
  const told = await post(body, query, {}, by);
  expect({ status: told.status, details: told.body.error?.details }).toEqual({
    status: 202,
    details: undefined,
  });
  expect(told.body.data).toEqual({ id: expect.stringMatching(/^imp_/), status: 'queued' });
  return ended(told.body.data.id, by);
}
const contact = async (email: string, by = key) => (await get(`/v1/contacts/${email}`, by)).body.data;
/** An address that no other test uses. */
const fresh = (name = 'person') => `${name}${++number}@import.example`;
const detailsOf = ({ status, body }: Told) => ({
  status,
  details: body.error?.details?.map(({ path, message }: { path: string; message: string }) => [
    path,
    message,
  ]),
});

describe('a file of contacts', () => {
  test('becomes contacts, with names, properties and counts', async () => {
    const [a, b] = [fresh(), fresh()];
    const done = await imported(`email,first_name,last_name,City\n${a},Ada,Lovelace,London\n${b},,,\n`);
    expect(done).toMatchObject({
      status: 'completed',
      livemode: false,
      counts: { total: 2, created: 2, updated: 0, skipped: 0, failed: 0 },
      errors: [],
      progress: 1,
      encoding: 'utf-8',
      delimiter: ',',
      failureReason: null,
      columns: [
        { header: 'email', target: 'email' },
        { header: 'first_name', target: 'first_name' },
        { header: 'last_name', target: 'last_name' },
        { header: 'City', target: 'properties.City:string' },
      ],
    });
    expect(await contact(a)).toMatchObject({
      email: a,
      firstName: 'Ada',
      lastName: 'Lovelace',
      properties: { City: 'London' },
      status: 'subscribed',
    });
    expect(await contact(b)).toMatchObject({ firstName: null, properties: {} });
    const { body } = await get(`/v1/contacts/${a}/activity`);
    expect(body.data.map(({ type }: { type: string }) => type)).toEqual(['imported']);
  });

  test('with columns that are mapped and typed', async () => {
    const a = fresh();
    const columns = {
      'E-Mail': 'email',
      Alter: 'properties.age:number',
      Aktiv: 'properties.active:boolean',
      Seit: 'properties.since:date',
      PLZ: 'properties.zip',
      Notiz: null,
    };
    const file = `E-Mail;Alter;Aktiv;Seit;PLZ;Notiz\n${a};42;yes;2026-02-28;01067;x\n`;
    const done = await imported(file, `?columns=${encodeURIComponent(JSON.stringify(columns))}`);
    expect(done).toMatchObject({ delimiter: ';', counts: { created: 1 } });
    expect((await contact(a)).properties).toEqual({
      age: 42,
      active: true,
      since: '2026-02-28',
      zip: '01067',
    });
  });

  test('in UTF-16 and in Windows-1252, with semicolons, tabs, CR and a byte order mark', async () => {
    const [a, b, c] = [fresh(), fresh(), fresh()];
    expect(await imported(Buffer.from(`\ufeffemail\tVorname\r${a}\tJürgen\r`, 'utf16le'))).toMatchObject({
      encoding: 'utf-16le',
      delimiter: '\t',
      counts: { created: 1 },
    });
    expect((await contact(a)).firstName).toBe('Jürgen');
    const file = Buffer.from(`email;Vorname\r\n${b};J\xfcrgen \x80\r\n`, 'latin1');
    expect(await imported(file)).toMatchObject({ encoding: 'windows-1252', counts: { created: 1 } });
    expect((await contact(b)).firstName).toBe('Jürgen €');
    expect(await imported(`\ufeffemail,first_name\n${c},Jürgen`)).toMatchObject({ encoding: 'utf-8' });
    expect((await contact(c)).firstName).toBe('Jürgen');
  });

  test('tells every refused line with its line, column, code and reason', async () => {
    const [a, b] = [fresh(), fresh()];
    const columns = encodeURIComponent(
      '{"n": "properties.n:number", "d": "properties.d:date", "b": "properties.b:boolean"}',
    );
    const file = [
      'email,first_name,n,d,b',
      `${a},"two\nlines",1,,`,
      'nobody,x,,,',
      ',x,,,',
      `"${fresh()}",x,one,2026-02-30,perhaps`,
      `${fresh()},x`,
      `${fresh()},"x"y,,,`,
      `${fresh()},${'x'.repeat(201)},,,`,
      `"${fresh()},open,,,`,
      `${b},x,,,`,
    ].join('\n');
    const done = await imported(file, `?columns=${columns}`);
    expect(done.counts).toEqual({ total: 9, created: 2, updated: 0, skipped: 0, failed: 7 });
    const errors = [
      [4, 1, 'invalid_email'],
      [5, 1, 'missing_email'],
      [6, 3, 'invalid_number'],
      [6, 4, 'invalid_date'],
      [6, 5, 'invalid_boolean'],
      [7, null, 'wrong_cell_count'],
      [8, 2, 'stray_quote'],
      [9, 2, 'text_too_long'],
      [10, 1, 'unclosed_quote'],
    ];
    expect(
      done.errors.map((error: { line: number; column: number; code: string }) => [
        error.line,
        error.column,
        error.code,
      ]),
    ).toEqual(errors);
    expect(done.errors[2].message).toBe('n: This is no number such as 42 or -1.5.');
    const { text, headers } = await get(`/v1/contacts/imports/${done.id}/errors`);
    expect(headers.get('content-type')).toStartWith('text/csv');
    const lines = text.trimEnd().split('\r\n');
    expect(lines[0]).toBe('line,column,code,message');
    expect(lines.slice(1).map((line) => line.split(',').slice(0, 3).join())).toEqual(
      errors.map(([line, column, code]) => [line, column ?? '', code].join()),
    );
    expect(await contact(b)).toMatchObject({ email: b });
  });

  test('tells the first 100 mistakes itself, and all of them as CSV', async () => {
    const file = `email\n${Array.from({ length: 2_500 }, (_, at) => `x${at}\n`).join('')}`;
    const done = await imported(file);
    expect(done.counts).toMatchObject({ total: 2_500, failed: 2_500 });
    expect(done.errors.map(({ line }: { line: number }) => line)).toEqual(
      Array.from({ length: 100 }, (_, at) => at + 2),
    );
    const { text } = await get(`/v1/contacts/imports/${done.id}/errors`);
    const lines = text.trimEnd().split('\r\n').slice(1);
    expect(lines.map((line) => Number(line.split(',')[0]))).toEqual(
      Array.from({ length: 2_500 }, (_, at) => at + 2),
    );
  });
});

describe('an address that is known', () => {
  test('is updated by what its row says, and keeps what an empty cell leaves out', async () => {
    const a = fresh();
    await imported(`email,first_name,plan,city\n${a},Ada,free,Rome\n`);
    const done = await imported(`email,first_name,plan,city\n${a.toUpperCase()},,pro,\n`);
    expect(done.counts).toEqual({ total: 1, created: 0, updated: 1, skipped: 0, failed: 0 });
    expect(await contact(a)).toMatchObject({
      email: a,
      firstName: 'Ada',
      properties: { plan: 'pro', city: 'Rome' },
    });
  });

  test('stays as it is with onConflict=skip', async () => {
    const a = fresh();
    await imported(`email,first_name\n${a},Ada\n`);
    const done = await imported(`email,first_name\n${a},Eve\n`, '?onConflict=skip');
    expect(done.counts).toEqual({ total: 1, created: 0, updated: 0, skipped: 1, failed: 0 });
    expect(await contact(a)).toMatchObject({ firstName: 'Ada' });
  });

  for (const [onConflict, counts, name] of [
    ['upsert', { total: 3, created: 1, updated: 2, skipped: 0, failed: 0 }, 'Third'],
    ['skip', { total: 3, created: 1, updated: 0, skipped: 2, failed: 0 }, 'First'],
  ] as const)
    test(`comes again in the file: onConflict=${onConflict} decides, in a dry run too`, async () => {
      const a = fresh();
      const file = `email,first_name\n${a},First\n${a.toUpperCase()},Second\n${a},Third\n`;
      const dry = await imported(file, `?onConflict=${onConflict}&dryRun=true`);
      expect(dry).toMatchObject({ status: 'completed', dryRun: true, counts });
      expect((await get(`/v1/contacts/${a}`)).status).toBe(404);
      expect(await imported(file, `?onConflict=${onConflict}`)).toMatchObject({ counts });
      expect(await contact(a)).toMatchObject({ firstName: name });
      const known = await imported(file, `?onConflict=${onConflict}&dryRun=true`);
      const changed = onConflict === 'upsert' ? { updated: 3, skipped: 0 } : { updated: 0, skipped: 3 };
      expect(known.counts).toEqual({ total: 3, created: 0, failed: 0, ...changed });
    });

  test('is refused where it would have too many properties, and an abort sees that beforehand', async () => {
    const a = fresh();
    const columns = (prefix: string) => Array.from({ length: 60 }, (_, at) => `${prefix}${at}`);
    const file = (prefix: string) =>
      `email,${columns(prefix)}\n${a},${columns(prefix)}\n${fresh()},${columns(prefix)}\n`;
    await imported(file('a'));
    for (const query of ['?dryRun=true', '?onError=abort', ''])
      expect(await imported(file('b'), query)).toMatchObject({
        counts: { total: 2, failed: 1 },
        errors: [{ line: 2, column: null, code: 'too_many_properties' }],
      });
    expect(Object.keys((await contact(a)).properties)).toHaveLength(60);
  });
});

describe('people who have left', () => {
  test('are never subscribed again', async () => {
    const [gone, bounced, absent] = [fresh(), fresh(), fresh()];
    await imported(`email\n${gone}\n`, '', otherKey);
    await service.ask({
      method: 'PATCH',
      path: `/v1/contacts/${gone}`,
      key: otherKey,
      body: { status: 'unsubscribed' },
    });
    for (const [address, reason] of [
      [bounced, 'bounced'],
      [absent, 'complained'],
    ] as const)
      await service.service.database.query(
        `insert into suppressions (workspace_id, address_key, address, reason, created_at) values ($1, $2, $2, $3, now())`,
        [service.workspaceId, address, reason],
      );
    const done = await imported(
      `email,first_name,status\n${gone},A,subscribed\n${bounced},B,\n${absent},C,\n`,
      '',
      otherKey,
    );
    expect(done.counts).toMatchObject({ created: 2, updated: 1, failed: 0 });
    expect(await contact(gone, otherKey)).toMatchObject({ status: 'unsubscribed', firstName: 'A' });
    expect(await contact(bounced, otherKey)).toMatchObject({ status: 'bounced' });
    expect(await contact(absent, otherKey)).toMatchObject({ status: 'complained' });
  });
});

describe('onError=abort', () => {
  test('writes nothing at all when any row is wrong', async () => {
    const [a, b] = [fresh(), fresh()];
    const done = await imported(`email\n${a}\n${b}\nnobody\n`, '?onError=abort');
    expect(done).toMatchObject({
      status: 'failed',
      failureReason: 'rows_refused',
      counts: { total: 3, created: 0, updated: 0, skipped: 2, failed: 1 },
      errors: [{ line: 4, column: 1, code: 'invalid_email' }],
    });
    for (const address of [a, b]) expect((await get(`/v1/contacts/${address}`)).status).toBe(404);
  });

  test('writes everything when none is', async () => {
    const [a, b] = [fresh(), fresh()];
    const done = await imported(`email\n${a}\n${b}\n`, '?onError=abort');
    expect(done).toMatchObject({
      status: 'completed',
      counts: { total: 2, created: 2, failed: 0 },
      progress: 1,
    });
    expect(await contact(b)).toMatchObject({ email: b });
  });
});

describe('a file that cannot be imported is refused at once', () => {
  const bytes = (...list: number[]) => new Uint8Array(list);
  const cases: readonly (readonly [string, string | Uint8Array, string, string])[] = [
    ['an empty body', '', '', '/body'],
    ['nothing but line ends', '\r\n\n', '', '/body'],
    ['no column with addresses', 'name,city\nAda,Rome\n', '', '/body'],
    ['two columns of one name', 'email,city,city\n', '', '/body'],
    ['two columns that become the same', 'email,e-mail\n', '', '/query/columns'],
    ['a header that no property may have', 'email,1st\n', '', '/body'],
    ['a header with a fault', '"email"x,name\n', '', '/body'],
    ['bytes that contradict the mark', bytes(0xef, 0xbb, 0xbf, 0x65, 0xff), '', '/body'],
    ['columns that are no JSON', 'email\n', '?columns=x', '/query/columns'],
    ['columns that are no object', 'email\n', '?columns=[]', '/query/columns'],
    ['columns that the file lacks', 'email\n', '?columns={"Mail":"email"}', '/query/columns'],
    ['an unknown target', 'email,a\n', '?columns={"a":"age"}', '/query/columns'],
    ['an unknown type', 'email,a\n', '?columns={"a":"properties.a:integer"}', '/query/columns'],
    ['an unknown query parameter', 'email\n', '?onConflit=skip', '/query/onConflit'],
    ['an unknown choice', 'email\n', '?onError=stop', '/query/onError'],
  ];
  for (const [what, body, query, path] of cases)
    test(`${what}: 422 at ${path}`, async () => {
      const told = await post(body, query.replace(/[{}"[\]]/g, encodeURIComponent));
      expect({ ...detailsOf(told), details: told.body.error.details[0].path }).toEqual({
        status: 422,
        details: path,
      });
    });

  test('another media type, an encoded body, too many bytes', async () => {
    expect((await post('{}', '', { 'content-type': 'application/json' })).status).toBe(415);
    expect((await post('email\n', '', { 'content-encoding': 'gzip' })).status).toBe(415);
    expect((await post(new Uint8Array(52_428_801))).status).toBe(413);
  });

  test('leaves no bytes behind', async () => {
    await eventually('no file', async () => {
      const [row] = await service.service.database.query<{ n: number }>(
        'select count(*)::integer as n from contact_import_chunks',
      );
      return row?.n === 0 ? true : undefined;
    });
  });
});

describe('an import as a resource', () => {
  test('is repeated by its Idempotency-Key, and no second one begins', async () => {
    const [a, b] = [fresh(), fresh()];
    const headers = { 'idempotency-key': `import ${a}`.replace(' ', '-') };
    const first = await post(`email\n${a}\n`, '', headers);
    const again = await post(`email\n${a}\n`, '', headers);
    expect(again).toMatchObject({ status: 202, body: first.body });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const other = await post(`email\n${b}\n`, '', headers);
    expect(other.body.error.code).toBe('IDEMPOTENCY_CONFLICT');
    expect((await post(`email\n${a}\n`, '?dryRun=true', headers)).status).toBe(409);
    await ended(first.body.data.id);
  });

  test('is seen in its own environment only', async () => {
    const done = await imported(`email\n${fresh()}\n`);
    for (const path of ['', '/errors'])
      expect((await get(`/v1/contacts/imports/${done.id}${path}`, otherKey)).status).toBe(404);
    const cancel = { method: 'POST', path: `/v1/contacts/imports/${done.id}/cancel` };
    expect((await service.ask({ ...cancel, key: otherKey })).status).toBe(404);
    const ids = async (by: string) =>
      (await get('/v1/contacts/imports?limit=100', by)).body.data.map(({ id }: { id: string }) => id);
    expect(await ids(key)).toContain(done.id);
    expect(await ids(otherKey)).not.toContain(done.id);
    expect((await service.ask({ ...cancel, key })).body.error.code).toBe('CONFLICT');
  });

  test('is listed newest first, by status', async () => {
    const { body } = await get('/v1/contacts/imports?status=failed');
    expect(new Set(body.data.map(({ status }: { status: string }) => status))).toEqual(new Set(['failed']));
    const all = (await get('/v1/contacts/imports?limit=100')).body.data.map(({ id }: { id: string }) => id);
    expect(all).toEqual([...all].sort().reverse());
  });
});
