import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { findUnstorable, parseJson } from '../../../src/http/json-text.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const find = (text: string) => findUnstorable(JSON.parse(text), text, '/body');
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describe('parsing', () => {
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

describe('what cannot be stored', () => {
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

  test('a wrong member with an endless name is pointed at by its parent', () => {
    expect(find(`{"a":{"${'x'.repeat(100_000)}":"\\u0000"}}`)?.path).toBe('/body/a');
  });
});
