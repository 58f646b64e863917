import { expect, test } from 'bun:test';
import { isShownAuthor } from '../../../src/mail/authentication/shown-author.ts';

const message = (...fields: readonly string[]): Buffer =>
  Buffer.from(`${fields.join('\r\n')}\r\nSubject: x\r\n\r\nFrom: eve@elsewhere.test\r\n`);

test.each([
  ['reader.test', 'From: Ada <ada@Reader.test>'],
  ['reader.test', 'From: ada@reader.test>'],
  ['reader.test', 'From: Lovelace, Ada <ada@reader.test>'],
  ['reader.test', 'From: Team: ada@reader.test, bob@elsewhere.test;'],
  ['xn--bcher-kva.test', 'From: ada@bücher.test'],
  ['reader.test', 'From: Ada <ada@reader.test (at home)>'],
  ['reader.test', 'From: ada @ reader.test'],
  ['reader.test', 'From: <ada@reader. test>'],
  ['my_reader.test', 'From: ada@my_reader.test'],
  ['bücher.test', 'From: ada@xn--bcher-kva.test'],
])('the domain %s is that of the author in %s', async (domain, from) => {
  expect(await isShownAuthor(domain, message(from))).toBe(true);
});

test.each([
  ['another address', ['From: eve@elsewhere.test']],
  ['a name that looks like the address', ['From: "ada@reader.test" <eve@elsewhere.test>']],
  ['another field before it', ['From: eve@elsewhere.test', 'From: ada@reader.test']],
  ['two addresses in one', ['From: <ceo@bank.test,eve@reader.test>']],
  ['two addresses and a colon', ['From: <ceo@bank.test:eve@reader.test>']],
  ['two addresses and a semicolon', ['From: <ceo@bank.test;eve@reader.test>']],
  ['a way to the address', ['From: <@bank.test:eve@reader.test>']],
  ['an address in the name of the mailbox', ['From: "ceo@bank.test eve"@reader.test']],
  ['an address in the name without a space', ['From: "ceo@bank.test"@reader.test']],
  ['a space in the name of the mailbox', ['From: "bank.test eve"@reader.test']],
  ['a comment within a comment', ['From: <ada@reader.test (a (b))>']],
  ['a dot as a code', ['From: ada@reader%2etest']],
  ['a path behind the domain', ['From: ada@reader.test/bank.test']],
  ['a question behind the domain', ['From: ada@reader.test?bank.test']],
  ['a fragment behind the domain', ['From: ada@reader.test#bank.test']],
  ['no field', ['To: ada@reader.test']],
])('a proof of reader.test is none for a message that shows %s', async (_, fields) => {
  expect(await isShownAuthor('reader.test', message(...fields))).toBe(false);
});
