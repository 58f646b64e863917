import { expect, test } from 'bun:test';
import { addressKeyOf, headerAddressKeys } from '../../../src/mail/received/address-keys.ts';
import { contentDigest, fieldsOf } from '../../../src/mail/received/header.ts';
import { namedRecipients } from '../../../src/mail/received/named-recipients.ts';

const message = (...fields: readonly string[]): Buffer =>
  Buffer.from(
    [...fields, 'From: ada@customer.example', 'To: list@other.example', '', 'Hello', ''].join('\r\n'),
  );

test.each([
  ['Delivered-To: support@shop.example'],
  ['X-Original-To: support@shop.example'],
  ['Envelope-to: support@shop.example'],
  ['X-Envelope-To: <support@shop.example>'],
  ['X-Delivered-to: support@shop.example'],
  ['X-Resolved-to: support@shop.example'],
  ['X-Real-To: <support@shop.example>'],
  ['X-Apparently-To: support@shop.example; Mon, 30 Nov 2026 08:00:00 +0000'],
  ['X-Rcpt-To: <support@shop.example>'],
  ['Original-recipient: rfc822;support@shop.example'],
])('the server of a mailbox names the recipient: %s', (field) => {
  const raw = message(field);
  const addresses = namedRecipients(raw).delivered.filter((word) => word.includes('@'));
  expect(addresses.map(addressKeyOf)).toEqual(['support@shop.example']);
  expect(headerAddressKeys(fieldsOf(raw))).toContain('support@shop.example');
});

test('a message is the same whatever the servers on its way and that of the mailbox have added', () => {
  const bare = contentDigest(message());
  const marks = ['X-IMAPbase: 1796025800 2', 'X-UID: 3', 'Status: RO', 'X-Status: A', 'X-Keywords:'];
  expect(contentDigest(message(...marks, 'Content-Length: 7'))).toBe(bare);
  expect(contentDigest(message('Envelope-to: a@b.example', 'Delivery-date: Mon, 30 Nov 2026'))).toBe(bare);
  expect(contentDigest(message('Subject: Another'))).not.toBe(bare);
});
