import { describe, expect, spyOn, test } from 'bun:test';
import fc from 'fast-check';
import {
  findUnstorable,
  hasTooManyValues,
  MOST_VALUES,
  parseJson,
} from '../../../src/http/body/json-text.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const find = (text: string) => findUnstorable(JSON.parse(text), text, '/body');
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describe('parsing JSON bodies', () => {
  test('what JSON.stringify writes is read back', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(parseJson(bytesOf(text))).toEqual({ value: JSON.parse(text), text });
      }),
    );
  });

  test.each([
    '',
    ' ',
    '{',
    '{"a":}',
    "{'a':1}",
    '{"a":1}x',
    '{"a":1,}',
    'NaN',
    '[1,2',
    '"\n"',
    '\u0000{}',
    'undefined',
  ])('%p is malformed', (text) => expect(parseJson(bytesOf(text))).toBeUndefined());

  test.each([[[0xff]], [[0x22, 0xc3, 0x22]], [[0x22, 0xed, 0xa0, 0x80, 0x22]], [[0x22, 0xc0, 0x80, 0x22]]])(
    'bytes %p are not UTF-8',
    (bytes) => expect(parseJson(new Uint8Array(bytes))).toBeUndefined(),
  );
});

describe('JSON that cannot be stored', () => {
  test('32 levels are taken, 33 are not, and 100,000 do not overflow the stack', () => {
    expect(find(nested(32))).toBeNull();
    expect(find(nested(33))).toEqual({
      path: `/body${'/0'.repeat(32)}`,
      message: 'Nest at most 32 levels deep.',
    });
    expect(find(nested(100_000))?.message).toBe('Nest at most 32 levels deep.');
    expect(find(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`)?.path).toBe(`/body${'/a'.repeat(32)}`);
  });

  test.each([
    ['{"a":["x","\\u0000"]}', '/body/a/1'],
    ['{"a":"\\ud800"}', '/body/a'],
    ['{"a":"\\udc00\\ud800"}', '/body/a'],
    ['{"a/b~c":"\\u0000"}', '/body/a~1b~0c'],
    ['{"o":{"\\u0000":1}}', '/body/o'],
    ['"\\u0000"', '/body'],
    ['{"n":1e999}', '/body/n'],
    ['[-1e999]', '/body/0'],
  ])('%s is found at %s', (text, path) => expect(find(text)?.path).toBe(path));

  test.each([
    '{"a":"\\ud83d\\ude00"}',
    '{"a":"\\u00e9"}',
    '{"a":"\\\\u0000"}',
    '{"a":"😀"}',
    'null',
    '1',
    '{}',
  ])('%s is fine', (text) => expect(find(text)).toBeNull());

  test.each([
    ['{"a":[1,9007199254740992]}', '/body/a/1'],
    ['{"a":{"b":-12345678901234567890}}', '/body/a/b'],
    ['9007199254740993', '/body'],
  ])('%s has an integer that loses digits', (text, path) => {
    expect(find(text)).toEqual({ path, message: expect.stringContaining('too large: integers lie between') });
  });

  test.each([
    '9007199254740991',
    '-9007199254740991',
    '1e300',
    '0.12345678901234567890',
    '{"a":"12345678901234567890"}',
  ])('%s keeps what it says', (text) => expect(find(text)).toBeNull());

  test('is judged by its depth before its numbers, however deep it is', () => {
    for (const depth of [33, 30_000, 120_000]) {
      const text = `{"n":1234567890123456,"m":12345678901234567890,"a":${nested(depth)}}`;
      expect(find(text)?.message).toBe('Nest at most 32 levels deep.');
    }
  });

  test('has its long integers found where they stand, and nowhere else', () => {
    const lost = 9_007_199_254_740_993n;
    const value = fc.letrec<{ any: unknown }>((tie) => ({
      any: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom(`${lost}`, `-${lost}0`, '9007199254740991', '1e16', '1234567890123456.5', '0'),
        fc.constantFrom('"12345678901234567890"', '"\\\\"', '"\\",12345678901234567890"', 'true', 'null'),
        fc.array(tie('any'), { maxLength: 4 }).map((items) => `[${items.join(' , ')}]`),
        fc
          .uniqueArray(fc.constantFrom('a', 'b:', 'c"', 'd\\', '{', '9007199254740993'), { maxLength: 4 })
          .chain((names) =>
            fc
              .array(tie('any'), { minLength: names.length, maxLength: names.length })
              .map(
                (items) => `{${items.map((item, at) => `${JSON.stringify(names[at])} : ${item}`).join()}}`,
              ),
          ),
      ),
    })).any as fc.Arbitrary<string>;
    fc.assert(
      fc.property(value, (text) => {
        const paths: string[] = [];
        const walk = (each: unknown, path: string): void => {
          if (each === 'lost') paths.push(path);
          else if (typeof each === 'object' && each !== null)
            for (const [name, member] of Object.entries(each))
              walk(member, `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
        };
        const mark = (_: string, each: unknown, context?: { readonly source?: string }) =>
          /^-?9007199254740993/.test(context?.source ?? '') ? 'lost' : each;
        walk(JSON.parse(text, mark as (key: string, each: unknown) => unknown), '/body');
        const found = find(text);
        if (paths.length === 0) expect(found).toBeNull();
        else expect(paths).toContain(found?.path ?? '');
      }),
      { numRuns: 500, seed: 7 },
    );
  });

  test('is pointed at by its parent when its name is endless', () => {
    expect(find(`{"a":{"${'x'.repeat(100_000)}":"\\u0000"}}`)?.path).toBe('/body/a');
  });
});

/** The number of names that became parts of a pointer during its search. */
function namesPointedAt(text: string): { readonly path: string | undefined; readonly names: number } {
  const value = JSON.parse(text);
  // The two replacements that make one name a segment (RFC 6901, 3).
  const replaceAll = spyOn(String.prototype, 'replaceAll');
  const path = findUnstorable(value, text, '/body')?.path;
  const names = replaceAll.mock.calls.filter(([from]) => from === '~').length;
  replaceAll.mockRestore();
  return { path, names };
}

describe('a large body', () => {
  test('of values that are all fine has no pointer made', () => {
    const fine = JSON.stringify({ list: Array.from({ length: 5_000 }, () => ({ a: 1, b: [null, 'é'] })) });
    expect(namesPointedAt(fine)).toEqual({ path: undefined, names: 0 });
    expect(namesPointedAt(fine.replaceAll('é', '\\u00e9'))).toEqual({ path: undefined, names: 0 });
  });

  test('with one wrong value has one pointer made, of the members that lead to it', () => {
    const many = Array.from({ length: 5_000 }, () => ({ a: 1 }));
    const text = JSON.stringify({ list: [...many, { 'x/y': ['ok', '\0'] }, ...many] });
    expect(namesPointedAt(text)).toEqual({ path: '/body/list/5000/x~1y/1', names: 2 });
  });

  test('may hold 250,000 values and no more, whatever they are', () => {
    const commas = (count: number) => bytesOf(`[${'1,'.repeat(count - 1)}1]`);
    expect(MOST_VALUES).toBe(250_000);
    expect(hasTooManyValues(commas(MOST_VALUES))).toBe(false);
    expect(hasTooManyValues(commas(MOST_VALUES + 1))).toBe(true);
    expect(hasTooManyValues(bytesOf(nested(MOST_VALUES)))).toBe(false);
    expect(hasTooManyValues(bytesOf(nested(MOST_VALUES + 1)))).toBe(true);
    expect(hasTooManyValues(bytesOf('{'.repeat(MOST_VALUES + 1)))).toBe(true);
  });

  test('leaves its strings out of the count, whatever they contain and however they end', () => {
    const inside = '{[,'.repeat(200_000);
    for (const text of [`["${inside}"]`, `["\\"${inside}"]`, `["a\\\\","${inside}"]`, `["${inside}`])
      expect([text.slice(0, 12), hasTooManyValues(bytesOf(text))]).toEqual([text.slice(0, 12), false]);
    // Here the string ends before it all: its last backslash is escaped by the one before.
    for (const text of [`["a\\\\"${inside}"]`, `["",${inside}]`])
      expect([text.slice(0, 12), hasTooManyValues(bytesOf(text))]).toEqual([text.slice(0, 12), true]);
  });

  test('is counted as JSON.parse sees it', () => {
    const count = (value: unknown): number =>
      typeof value !== 'object' || value === null
        ? 0
        : 1 +
          Math.max(0, Object.keys(value).length - 1) +
          Object.values(value)
            .map(count)
            .reduce((a, b) => a + b, 0);
    const beside = (others: number, text: string): boolean =>
      hasTooManyValues(bytesOf(`[${'0,'.repeat(others)}${text}]`));
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        // The room that is left for others beside the value, with the array that holds them all.
        const room = MOST_VALUES - 1 - count(JSON.parse(text));
        expect([beside(room, text), beside(room + 1, text)]).toEqual([false, true]);
      }),
      { numRuns: 25 },
    );
  });
});

test('of two members with one name the last one counts', () => {
  // Refusing them would take a second scan of every body, as long as the parse of a small one (measured: 5 µs
  // beside 4).
  expect(parseJson(bytesOf('{"to":"a","to":"b"}'))?.value).toEqual({ to: 'b' });
});
