import { expect, test } from 'bun:test';
import { UnavailableError } from '../../../src/platform/errors/unavailable.ts';
import { type ContentRow, ContentWriter } from '../../../src/sending/received/content-writer.ts';

/** As `classify` makes of the statement timeout. */
const tookTooLong = (): UnavailableError =>
  new UnavailableError('The database ended a statement.', 'no', 1, { cause: { code: '57014' } });

const row = (id: string, parsed = 'YQ=='): ContentRow => ({
  id,
  workspaceId: 'ws_1',
  livemode: true,
  parsed,
  raw: 'YQ==',
  rawKey: null,
  until: null,
  addressKeys: ['ada@customer.example'],
});

/** A writer on a database that is given each statement as the ids of its rows, and the statements. */
function writer(answer: (ids: readonly string[]) => Promise<readonly string[]> = async (ids) => ids) {
  const statements: string[][] = [];
  const contents = new ContentWriter({
    async query<Row extends object>(_: string, [first, ...others]: readonly unknown[] = []): Promise<Row[]> {
      const ids =
        others.length > 0 ? [String(first)] : (JSON.parse(String(first)) as ContentRow[]).map(({ id }) => id);
      statements.push(ids);
      return (await answer(ids)).map((id) => ({ id })) as Row[];
    },
  });
  return { contents, statements };
}

test('contents that come while one is written share a statement', async () => {
  const { contents, statements } = writer();
  const first = contents.write(row('1'));
  await new Promise((resolve) => setImmediate(resolve));
  const others = ['2', '3', '4'].map((id) => contents.write(row(id)));
  expect(await Promise.all([first, ...others])).toEqual([true, true, true, true]);
  expect(statements).toEqual([['1'], ['2', '3', '4']]);
});

test('a content of more than a megabyte has a statement apart', async () => {
  const { contents, statements } = writer();
  await Promise.all([
    contents.write(row('1', 'A'.repeat(1_048_577))),
    contents.write(row('2')),
    contents.write(row('3')),
  ]);
  expect(statements).toEqual([['1'], ['2', '3']]);
});

test('each content learns whether it is stored', async () => {
  const { contents } = writer(async (ids) => ids.filter((id) => id !== '2'));
  expect(await Promise.all(['1', '2'].map((id) => contents.write(row(id))))).toEqual([true, false]);
});

test('a content that no table holds fails alone, and all fail while there is no database', async () => {
  const { contents } = writer(async (ids) => {
    if (ids.includes('2')) throw new Error('invalid byte sequence');
    return ids;
  });
  const written = await Promise.allSettled(['1', '2', '3'].map((id) => contents.write(row(id))));
  expect(written.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  const away = writer(() => Promise.reject(new UnavailableError('The database is away.')));
  const lost = await Promise.allSettled(['1', '2'].map((id) => away.contents.write(row(id))));
  expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(away.statements).toEqual([['1', '2']]);
});

test('a content of many addresses has a statement apart: each costs more than its letters', async () => {
  const { contents, statements } = writer();
  // 15,888 with 66 octets each, and 8 of the rest, are a megabyte without 40 octets.
  const many = (id: string, keys: number): ContentRow => ({
    ...row(id),
    addressKeys: Array.from({ length: keys }, () => 'a@'),
  });
  const small = [row('2'), row('3')];
  await Promise.all([many('1', 15_888), ...small, many('4', 15_887)].map((one) => contents.write(one)));
  expect(statements.map((ids) => ids.join()).toSorted()).toEqual(['1', '2,3', '4']);
});

test('a content that takes too long fails alone, and the next batch is half as large', async () => {
  const { contents, statements } = writer(async (ids) => {
    if (ids.includes('5')) throw tookTooLong();
    return ids;
  });
  const ids = ['1', '2', '3', '4', '5', '6', '7', '8'];
  const written = await Promise.allSettled(ids.map((id) => contents.write(row(id))));
  expect(written.flatMap(({ status }, at) => (status === 'rejected' ? ids[at] : []))).toEqual(['5']);
  expect(statements.map(({ length }) => length)).toEqual([8, 4, 4, 2, 1, 1, 2]);
  statements.length = 0;
  await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((id) => contents.write(row(id))));
  expect(statements.map(({ length }) => length)).toEqual([4, 2]);
});

test('a large content that takes too long leaves the batches of small ones as they are', async () => {
  const { contents, statements } = writer(async (ids) => {
    if (ids.includes('large')) throw tookTooLong();
    return ids;
  });
  const large = { ...row('large'), parsed: 'x'.repeat(1_048_577) };
  expect((await Promise.allSettled([contents.write(large)]))[0]?.status).toBe('rejected');
  statements.length = 0;
  await Promise.all(['1', '2', '3', '4', '5', '6'].map((id) => contents.write(row(id))));
  expect(statements).toEqual([['1', '2', '3', '4', '5', '6']]);
});

test('a database that takes too long for two contents alone is not asked for the others', async () => {
  const { contents, statements } = writer(() => Promise.reject(tookTooLong()));
  const ids = Array.from({ length: 400 }, (_, at) => String(at));
  const written = await Promise.allSettled(ids.map((id) => contents.write(row(id))));
  expect(written.filter(({ status }) => status === 'rejected').length).toBe(400);
  expect(statements.length).toBeLessThan(12);
});

test('a database that goes away while a batch is divided is not asked for each content', async () => {
  let asked = 0;
  const { contents } = writer(async () => {
    throw ++asked === 1 ? new Error('invalid byte sequence') : new UnavailableError('The database is away.');
  });
  const written = await Promise.allSettled(['1', '2', '3', '4'].map((id) => contents.write(row(id))));
  expect([written.map(({ status }) => status), asked]).toEqual([Array(4).fill('rejected'), 2]);
});

test('small contents do not wait for large ones, of which three are written at once', async () => {
  const open = Promise.withResolvers<void>();
  const { contents, statements } = writer(async (ids) => {
    if (ids.some((id) => id.startsWith('large'))) await open.promise;
    return ids;
  });
  const large = ['1', '2', '3', '4'].map((id) => contents.write(row(`large ${id}`, 'A'.repeat(1_048_577))));
  expect(await contents.write(row('small'))).toBe(true);
  expect(statements.flat().toSorted()).toEqual(['large 1', 'large 2', 'large 3', 'small']);
  open.resolve();
  expect(await Promise.all(large)).toEqual([true, true, true, true]);
});
