import { describe, expect, test } from 'bun:test';
import { LARGEST_HEADER } from '../../../src/mail/raw/header-editor.ts';
import {
  contentDigest,
  fieldsOf,
  hasLargeHeader,
  headerFacts,
  LineEnds,
  namedRoot,
  withSingleReturns,
} from '../../../src/mail/received/header.ts';
import { costMs } from '../../support/own-time.ts';

const factsOf = (...fields: readonly string[]) =>
  headerFacts(fieldsOf(Buffer.from(`${fields.join('\r\n')}\r\n\r\nHello\r\n`)));

describe('mail that no person wrote', () => {
  test.each([
    ['an answer while someone is away (RFC 3834)', 'Auto-Submitted: auto-replied'],
    ['a message of a program', 'auto-submitted: auto-generated (cron)'],
    ['a notification with a parameter', 'Auto-Submitted: auto-notified; owner-email="a@b.example"'],
    ['a keyword of the future', 'Auto-Submitted: auto-something'],
    ['bulk mail', 'Precedence: bulk'],
    ['a list by its precedence', 'Precedence: List'],
    ['an answer of vacation', 'Precedence: auto_reply'],
    ['the same of a helpdesk', 'X-Precedence: bulk'],
    ['an answer of cPanel', 'X-Autoresponse: 1'],
    ['an answer that names its mailbox', 'X-Autoreply-From: a@b.example'],
    ['an answer of a hosted mailbox', 'X-Mail-Autoreply: auto'],
    ['a mailing list (RFC 2919)', 'List-Id: <news.acme.example>'],
    ['a newsletter', 'List-Unsubscribe: <https://acme.example/u>'],
    ['an old autoresponder', 'X-Autoreply: yes'],
    ['a bounce of Exim', 'X-Failed-Recipients: bob@receiver.example'],
    ['a delivery report', 'Content-Type: multipart/report; report-type=delivery-status; boundary=x'],
    ['a reading receipt', 'Content-Type: multipart/report;\r\n report-type=disposition-notification'],
    ['a report without its envelope', 'Content-Type: message/delivery-status'],
    ['a reading receipt alone', 'Content-Type: message/disposition-notification'],
  ])('%s', (_, field) => {
    expect(factsOf('From: a@b.example', field).isAutomatic).toBe(true);
  });

  test.each([
    ['a plain message', 'Subject: Hello'],
    ['a message that says so', 'Auto-Submitted: no'],
    ['a message that says so with a comment', 'Auto-Submitted: No (a person)'],
    ['a message of first class', 'Precedence: first-class'],
    ['a message from Outlook', 'X-Auto-Response-Suppress: DR, OOF'],
    ['a message with a file', 'Content-Type: multipart/mixed; boundary=report'],
    ['a subject about lists', 'Subject: List-Id: <x>'],
  ])('%s is of a person', (_, field) => {
    expect(factsOf('From: a@b.example', field).isAutomatic).toBe(false);
  });
});

describe('the author MAILER-DAEMON is a program, also with an envelope sender', () => {
  test.each([
    'Mail Delivery System <MAILER-DAEMON@mx.example>',
    'mailer-daemon@mx.example',
    'MAILER-DAEMON (Mail Delivery System)',
    '<Mailer-Daemon>',
  ])('%s', (from) => {
    expect(factsOf(`From: ${from}`).isAutomatic).toBe(true);
  });

  test.each([
    '"MAILER-DAEMON@mx.example" <ada@b.example>',
    'Postmaster <postmaster@b.example>',
    'mailer-daemon-team@b.example',
  ])('%s is a person', (from) => {
    expect(factsOf(`From: ${from}`).isAutomatic).toBe(false);
  });
});

describe('the place in a thread', () => {
  test('the first reference names the thread, then In-Reply-To', () => {
    const own = 'Message-ID: <3@b.example>';
    expect(
      namedRoot(factsOf(own, 'In-Reply-To: <2@b.example>', 'References: <1@b.example>\r\n <2@b.example>')),
    ).toBe('<1@b.example>');
    expect(namedRoot(factsOf(own, 'In-Reply-To: <2@b.example>'))).toBe('<2@b.example>');
    expect(namedRoot(factsOf(own))).toBeNull();
  });

  test('ids are read with comments and words around them', () => {
    const facts = factsOf(
      'Message-ID: \t<a.b@c.example> (added)',
      'In-Reply-To: Your message of Monday <q@c.example>',
      'References: <q@c.example> <r@c.example> <q@c.example>',
    );
    expect(facts).toMatchObject({
      messageId: '<a.b@c.example>',
      inReplyTo: '<q@c.example>',
      references: ['<q@c.example>', '<r@c.example>'],
    });
  });

  test('an id with a control character is none', () => {
    expect(factsOf('Message-ID: <a\0b@c.example>').messageId).toBeNull();
  });

  test('an id that is too long for a line of its writer, Python, is read from encoded words', () => {
    const id = '<AM0PR04MB1234567890ABCDEFGHIJKLMNOPQR0123456789@AM0PR04MB1234567.eurprd04.prod.outlook.com>';
    const facts = factsOf(
      'In-Reply-To: =?utf-8?q?=3CAM0PR04MB1234567890ABCDEFGHIJKLMNOPQR0123456789=40?=\r\n =?utf-8?q?AM0PR04MB1234567=2Eeurprd04=2Eprod=2Eoutlook=2Ecom=3E?=',
      'References: <a@x.example> =?utf-8?q?=3CAM0PR04MB1234567890ABCDEFGHIJKLMNOPQR?=\r\n =?utf-8?q?0123456789=40AM0PR04MB1234567=2Eeurprd04=2Eprod=2Eoutlook=2Ecom?=\r\n =?utf-8?q?=3E_=3Cb=40x=2Eexample=3E?=',
    );
    expect(facts).toMatchObject({ inReplyTo: id, references: ['<a@x.example>', id, '<b@x.example>'] });
  });

  test('of a long thread the first message and the last 99 are kept', () => {
    const ids = Array.from({ length: 500 }, (_, number) => `<${number}@c.example>`);
    const { references } = factsOf(`References: ${ids.join('\r\n ')}`);
    expect(references).toEqual(['<0@c.example>', ...ids.slice(-99)]);
  });

  test('each server on the way is counted', () => {
    expect(factsOf(...Array.from({ length: 51 }, () => 'Received: from a by b')).hops).toBe(51);
  });
});

test.each([
  ['', false],
  ['a\r\nb\r\n', false],
  ['\r\n', false],
  ['a\nb\r\n', true],
  ['\na', true],
  ['a\rb\r\n', true],
  ['a\r\n.\r', true],
  ['a\n\r\n', true],
  ['a\r\rb\r\n', true],
  ['a\r\r', true],
  ['a\r\r\n', false],
  ['\r\r\r\n\r\n', false],
])('a bare line end in %j: %p', (text, isBare) => {
  expect(withSingleReturns(Buffer.from(text)) === null).toBe(isBare);
  // However the octets are divided into chunks.
  for (const size of [1, 2, 3]) {
    const ends = new LineEnds();
    for (let at = 0; at < text.length; at += size) ends.add(Buffer.from(text.slice(at, at + size)));
    expect(ends.hasBare()).toBe(isBare);
    const ordered = ends.withSingleReturns(Buffer.from(text));
    expect(ordered?.toString()).toBe(isBare ? undefined : text.replaceAll(/\r+\n/g, '\r\n'));
  }
});

describe('a header', () => {
  const ofOctets = (octets: number) => Buffer.from('a:\r\n'.repeat(octets / 4));

  test('may have 256 KiB before its empty line', () => {
    expect(hasLargeHeader(ofOctets(LARGEST_HEADER))).toBe(false);
    expect(hasLargeHeader(Buffer.concat([ofOctets(LARGEST_HEADER), Buffer.from('\r\nHello\r\n')]))).toBe(
      false,
    );
    expect(hasLargeHeader(Buffer.concat([ofOctets(LARGEST_HEADER), Buffer.from('a:\r\n\r\nHello')]))).toBe(
      true,
    );
    expect(hasLargeHeader(Buffer.concat([Buffer.from('a: b\r\n\r\n'), ofOctets(4 * LARGEST_HEADER)]))).toBe(
      false,
    );
  });

  test('is divided as far as it is read, however many lines follow', () => {
    const raw = ofOctets(32 * 1024 * 1024);
    // Relative to a plain hash of the octets: dividing all of them took hundreds of times as long.
    const most = 20 * costMs(() => new Bun.CryptoHasher('sha256').update(raw).digest()) + 200;
    const divided = costMs(() => {
      contentDigest(raw);
      hasLargeHeader(raw);
    });
    expect(divided).toBeLessThan(most);
    const ends = Buffer.from('\r\n'.repeat(16 * 1024 * 1024));
    expect(costMs(() => expect(withSingleReturns(ends)).toBe(ends))).toBeLessThan(most);
  });
});

describe('the fingerprint of a message', () => {
  const message = (trace: string, rest = 'Subject: Hello\r\n\r\nHello\r\n') => Buffer.from(trace + rest);

  test('is the same by another way', () => {
    const direct = contentDigest(message('Received: from a by b; Mon, 1 Jan 2026 00:00:00 +0000\r\n'));
    expect(contentDigest(message('Return-Path: <x@y.example>\r\nReceived: by c\r\nReceived: by d\r\n'))).toBe(
      direct,
    );
  });

  test('is another one with another subject, body or end of the header', () => {
    const digests = [
      message(''),
      message('', 'Subject: Hello!\r\n\r\nHello\r\n'),
      message('', 'Subject: Hello\r\n\r\nHello!\r\n'),
      message('', 'Subject: Hello\r\nHello: x\r\n\r\n'),
    ].map(contentDigest);
    expect(new Set(digests).size).toBe(4);
  });
});
