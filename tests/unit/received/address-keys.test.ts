import { expect, test } from 'bun:test';
import { addressKeyOf, headerAddressKeys } from '../../../src/mail/received/address-keys.ts';
import { fieldsOf } from '../../../src/mail/received/header.ts';
import { costMs } from '../../support/own-time.ts';

const keysOf = (value: string): readonly string[] =>
  headerAddressKeys(fieldsOf(Buffer.from(`From: ${value}\r\n\r\nHello\r\n`)));

test.each([
  ['plain', 'Ada <ada@good.example>'],
  ['quoted', '"ada"@good.example'],
  ['quoted with an escape', 'Ada <"a\\da"@good.example>'],
  ['with a comment', 'ada (x) @ good.example'],
  ['with comments in comments', 'ada(a (b \\) c))@(d)good . example (e)'],
  ['folded', 'ada\r\n @good.example'],
  ['behind a comment without an end', '( <ada@good.example>'],
  ['behind a quotation mark without an end', '" (x <ada@good.example>'],
  ['with blanks behind a quotation mark without an end', '"x" " <ada @ good.example>'],
])('an address is found that is %s', (_, value) => {
  expect(keysOf(value)).toContain('ada@good.example');
});

test('a name beside an address is no part of it', () => {
  expect(keysOf('"Lovelace" (Ada) <ada@good.example>, Dr. Bob <bob@good.example>')).toEqual([
    'ada@good.example',
    'bob@good.example',
  ]);
});

test('a field that a stranger has filled costs bounded time', () => {
  for (const filling of ['(', ' ', '"', '@ ', '\\"', 'a . '])
    expect(costMs(() => keysOf(filling.repeat(250_000 / filling.length)))).toBeLessThan(1_000);
});

test.each([
  ['"a..b"@good.example', 'a..b@good.example'],
  ['"Ada"@GOOD.example', 'ada@good.example'],
  ['"a\\da.@"@b\u00fccher.example', 'ada.@@xn--bcher-kva.example'],
  ['"john smith"@good.example', 'john smith@good.example'],
  ['postmaster', 'postmaster'],
])('one mailbox has one key: %s has %s', (address, key) => {
  expect(addressKeyOf(address)).toBe(key);
  // Of the forms without quotes, a parser of addresses takes the last `@` for the one that counts.
  expect(addressKeyOf(key)).toBe(key);
});

test.each([
  '"john smith"@good.example',
  'J <"john smith" (x) @ good.example>',
  '"x" <"john\\ smith"@good.example>',
])('a mailbox with a blank in its name is no other one: %s', (value) => {
  expect(keysOf(value)).toEqual(['john smith@good.example']);
});
