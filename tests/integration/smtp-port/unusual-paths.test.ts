import { afterAll, expect, test } from 'bun:test';
import { openInboundSink } from './inbound-sink.ts';

const asked: string[] = [];
const sink = await openInboundSink({
  takersOf: async (address) => {
    asked.push(address);
    return [address];
  },
});
afterAll(() => sink[Symbol.asyncDispose]());

test.each([
  ['"john smith"@sender.example', '"john smith"@sender.example'],
  ['"a@b"@sender.example', '"a@b"@sender.example'],
  [String.raw`"a\"b\\c\ d"@sender.example`, String.raw`"a\"b\\c d"@sender.example`],
  ['"john.smith"@sender.example', 'john.smith@sender.example'],
  [String.raw`"jo\hn"@sender.example`, 'john@sender.example'],
  ['"a..b"@sender.example', '"a..b"@sender.example'],
  ['""@sender.example', '""@sender.example'],
  ['@relay.example:"john smith"@sender.example', '"john smith"@sender.example'],
  ['"x SIZE=9"@[127.0.0.1]', '"x SIZE=9"@[127.0.0.1]'],
  // Addresses of Japanese networks, and of machines whose name has an underscore.
  ['a..b.@sender.example', 'a..b.@sender.example'],
  ['.a@sender.example', '.a@sender.example'],
  ['root@web_01.sender.example', 'root@web_01.sender.example'],
  ['"a b"@web_01.sender.example', '"a b"@web_01.sender.example'],
  // Spam filters look SPF up at the name in ASCII.
  ['ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
  ['"a b"@xn--bcher-kva.example', '"a b"@xn--bcher-kva.example'],
  ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
])('<%s> is taken', async (path, address) => {
  const client = await sink.greeted();
  expect((await client.say(`MAIL FROM:<${path}> SIZE=20 BODY=8BITMIME`))[0]).toStartWith('250 ');
  expect((await client.say(`RCPT TO:<${path}>`))[0]).toStartWith('250 ');
  await client.say('DATA');
  await client.say('Subject: x\r\n\r\nHello\r\n.');
  expect([sink.messages.pop()?.envelopeFrom, asked.pop()]).toEqual([address, address]);
  // The next transaction is read as ever.
  await client.say('MAIL FROM:<plain@sender.example>');
  expect((await client.say('RCPT TO:<plain@sender.example>'))[0]).toStartWith('250 ');
  expect(asked.pop()).toBe('plain@sender.example');
  client.end();
});

test.each([
  '"john smith@sender.example',
  '"john@sender.example',
  'john"@sender.example',
  'jo"hn@sender.example',
  '"jöhn@sender.example',
  'john" "smith@sender.example',
  '"john>"@sender.example',
  '"john\u0001"@sender.example',
  '"john"@',
  'john@web_01..example',
  '"john"@a@sender.example',
  `"${'x y'.repeat(22)}"@sender.example`,
])('<%s> is no address', async (path) => {
  const client = await sink.greeted();
  expect((await client.say(`MAIL FROM:<${path}>`))[0]).toStartWith('501 5.1.7 ');
  await client.say('MAIL FROM:<>');
  expect((await client.say(`RCPT TO:<${path}>`))[0]).toStartWith('501 5.1.3 ');
  client.end();
});

// Reported of cosullivan/SmtpServer (166, 219) and Papercut (183): disk controllers, printers and old
// programs.
test.each([
  ['MAIL FROM:bo.b+x@sender.example', 'RCPT TO:ada@sender.example'],
  ['mail from: bo.b+x@sender.example SIZE=20', 'Rcpt To: ada@sender.example '],
])('%s, without angle brackets, is taken', async (mail, rcpt) => {
  const client = await sink.greeted();
  expect((await client.say(mail))[0]).toStartWith('250 ');
  expect((await client.say(rcpt))[0]).toStartWith('250 ');
  await client.say('DATA');
  await client.say('Subject: x\r\n\r\nHello\r\n.');
  expect([sink.messages.pop()?.envelopeFrom, asked.pop()]).toEqual([
    'bo.b+x@sender.example',
    'ada@sender.example',
  ]);
  client.end();
});

test.each([
  'bob@sender.example>',
  'Bob <bob@sender.example>',
  'bob@sender.example, ada@sender.example',
  'bob',
  '"john smith"@sender.example',
])('%s is no address without angle brackets', async (path) => {
  const client = await sink.greeted();
  expect((await client.say(`MAIL FROM:${path}`))[0]).toStartWith('501 5.1.7 ');
  client.end();
});

test('a parameter is no part of the path, and is looked at', async () => {
  const client = await sink.greeted();
  expect((await client.say('MAIL FROM:<"john smith"@sender.example> X=1'))[0]).toStartWith('555 ');
  expect((await client.say('MAIL FROM:<"john smith"@sender.example>x'))[0]).toStartWith('501 ');
  client.end();
});

// Reported of Haraka (3111).
test('the postmaster without a domain is the one of this server', async () => {
  const client = await sink.greeted();
  await client.say('MAIL FROM:<>');
  expect((await client.say('RCPT TO:<Postmaster>'))[0]).toStartWith('250 ');
  expect(asked.pop()).toBe('Postmaster@relay.test');
  client.end();
});

test('the postmaster without a domain is refused at RCPT where no route takes its mail, though reports come to it by its whole address', async () => {
  await using reports = await openInboundSink({
    takersOf: async () => [],
    takesReports: (address) => address.toLowerCase() === 'postmaster@relay.test',
  });
  const client = await reports.greeted();
  await client.say('MAIL FROM:<ada@sender.example>');
  expect((await client.say('RCPT TO:<Postmaster>'))[0]).toStartWith('550 5.1.1 ');
  expect((await client.say('RCPT TO:<postmaster@relay.test>'))[0]).toStartWith('250 ');
  client.end();
});
