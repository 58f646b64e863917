import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { CONTACT_COLUMNS, contactFile } from '../support/contact-file.ts';
import { pathsOf } from './ask.ts';
import { type ImportClient, importClient } from './import-client.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
let key: string;
let otherKey: string;
let number = 0;
let client: ImportClient;

beforeAll(async () => {
  service = await startRealService();
  key = await service.keyWith('test', ['*']);
  otherKey = await service.keyWith('live', ['*']);
  client = importClient(service, key);
});
afterAll(() => service[Symbol.asyncDispose]());

const post: ImportClient['post'] = (...args) => client.post(...args);
const get: ImportClient['get'] = (...args) => client.get(...args);
const ended: ImportClient['ended'] = (...args) => client.ended(...args);
const imported: ImportClient['imported'] = (...args) => client.imported(...args);
const contact: ImportClient['contact'] = (...args) => client.contact(...args);
/** An address that no other test uses. */
const fresh = (name = 'person') => `${name}${++number}@import.example`;
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
      `${a},"two\nlines ${'😀'.repeat(190)}",1,,`,
      'nobody,x,,,',
      ',x,,,',
      `"${fresh()}",x,one,2026-02-30,perhaps`,
      `${fresh()},x,,,,more`,
      `${fresh()},"x"y,,,`,
      `${fresh()},${'😀'.repeat(201)},,,`,
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
    expect(done.errors.at(-1).message).toContain('is not closed within 100 lines and 65,536 characters');
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

  test('takes the name before an address where it has none, and keeps any that it has', async () => {
    const [a, b, c] = [fresh(), fresh(), fresh()];
    await imported(`email,first_name,last_name\n${a},Grace,\n${b},,Hopper\n${c},,\n`);
    const done = await imported(`email,city\n${[a, b, c].map((each) => `G. <${each}>,Rome`).join('\n')}\n`);
    expect(done.counts).toEqual({ total: 3, created: 0, updated: 3, skipped: 0, failed: 0 });
    const names = [];
    for (const each of [a, b, c]) {
      const { firstName, lastName, properties } = await contact(each);
      names.push([firstName, lastName, properties.city]);
    }
    expect(names).toEqual([
      ['Grace', null, 'Rome'],
      [null, 'Hopper', 'Rome'],
      ['G.', null, 'Rome'],
    ]);
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

describe('audienceId', () => {
  const audience = async (id: string, type = 'static', confirm = false) => {
    await service.service.database.query(
      `insert into audiences (workspace_id, livemode, id, name, type, filter, public, confirm, filter_since, created_at, updated_at)
       values ($1, false, $2, 'Readers', $3, $4::text::json, false, $5::boolean, now(), now(), now())`,
      [service.workspaceId, id, type, type === 'dynamic' ? '{}' : null, confirm],
    );
    return id;
  };
  const named = (rest: string) => `aud_01m7xj1rwzprnwr10308${rest}`;

  test('adds the contacts of the file to the audience, but for those who have left it', async () => {
    const id = await audience(named('att1'));
    const [a, b, gone] = [fresh(), fresh(), fresh()];
    await imported(`email\n${gone}\n${b}\n`);
    const left = await contact(gone);
    await service.service.database.query(
      `insert into contact_activity (contact_id, id, livemode, type, at, subject) values ($1, $2, false, 'left', now(), $3)`,
      [left.id, 'act_01m7xj1rwzprnwr10308attx', id],
    );
    for (const query of ['', '&onConflict=skip']) {
      const done = await imported(`email\n${a}\n${b}\n${gone}\nnobody\n`, `?audienceId=${id}${query}`);
      expect(done).toMatchObject({ audienceId: id, counts: { total: 4, failed: 1 } });
    }
    expect((await contact(a)).audienceIds).toEqual([id]);
    expect((await contact(b)).audienceIds).toEqual([id]);
    expect((await contact(gone)).audienceIds).toEqual([]);
    const { body } = await get(`/v1/contacts/${b}/activity`);
    expect(body.data.map(({ type }: { type: string }) => type).sort()).toEqual([
      'imported',
      'imported',
      'joined',
    ]);
  });

  test('is refused for an audience that takes no members', async () => {
    const dynamic = await audience(named('att2'), 'dynamic');
    const confirming = await audience(named('att3'), 'static', true);
    for (const id of [dynamic, confirming])
      expect(pathsOf(await post('email\n', `?audienceId=${id}`))).toEqual(['/query/audienceId']);
    expect((await post('email\n', `?audienceId=${named('att4')}`)).status).toBe(404);
    expect((await post('email\n', `?audienceId=${named('att1')}`, {}, otherKey)).status).toBe(404);
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

describe('an import as a resource', () => {
  test('is cancelled on the way, keeps what was written, and leaves no file', async () => {
    const file = contactFile(40_000);
    const told = await post(file.content, `?columns=${CONTACT_COLUMNS}`);
    const { id } = told.body.data;
    const cancel = { method: 'POST', path: `/v1/contacts/imports/${id}/cancel`, key };
    const { body } = await service.ask(cancel);
    expect(body.data).toMatchObject({ id, status: 'cancelled', endedAt: expect.any(String) });
    expect((await service.ask(cancel)).status).toBe(200);
    const after = (await get(`/v1/contacts/imports/${id}`)).body.data;
    expect(after.counts.total).toBeLessThan(40_000);
    const [row] = await service.service.database.query<{ n: number; chunks: number }>(
      `select (select count(*) from contacts where email like 'person%@contacts.example')::integer as n,
        (select count(*) from contact_import_chunks)::integer as chunks`,
    );
    expect(row).toEqual({ n: after.counts.created, chunks: 0 });
  });

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
