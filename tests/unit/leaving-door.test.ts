import { expect, test } from 'bun:test';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { leaveAll, leavingDoor } from '../../src/sending/inbound/commands.ts';
import { leaveAddress } from '../../src/sending/tracking/api.ts';

const signer = createSigner('only-for-tests-only-for-tests-only');
const EMAIL = 'em_01m7xj1rwzprnwr10308attx';
const addressOf = (recipient: number, host = 'bounces.sender.example'): string =>
  leaveAddress({ emailId: EMAIL, recipient }, host, signer);

const mailOf = (...fields: string[]): Buffer =>
  Buffer.from([...fields, 'From: ada@customer.example', '', 'I am away.', ''].join('\r\n'));
const MAIL = mailOf('Subject: unsubscribe');

/** Counts who leaves; the recipients in `gone` are of emails that are not kept. */
function leaving(gone: readonly number[] = []) {
  const left: number[] = [];
  const leaveByMail = ({ recipient }: { readonly recipient: number }): Promise<boolean> => {
    left.push(recipient);
    return Promise.resolve(!gone.includes(recipient));
  };
  return { left, parts: { signer, leaveByMail } };
}

test('one mail has each recipient leave once, however many hosts it names them at', async () => {
  const { left, parts } = leaving();
  const hosts = Array.from({ length: 100 }, (_, n) => `h${n}.example`);
  const addresses = [...hosts.map((host) => addressOf(0, host).toUpperCase()), addressOf(1)];
  expect(await leaveAll(parts, addresses, MAIL)).toBe('left');
  expect(left).toEqual([0, 1]);
});

test('others leave also where the email of one is not kept any more', async () => {
  const { left, parts } = leaving([0]);
  expect(await leaveAll(parts, [addressOf(0), addressOf(1)], MAIL)).toBe('gone');
  expect(left).toEqual([0, 1]);
  const mail = { raw: MAIL, recipients: [addressOf(0)], client: '', helo: '', from: '' };
  expect(leavingDoor(parts).take(mail)).rejects.toThrow('use the link in the email');
});

test('other addresses have no one leave', async () => {
  const { left, parts } = leaving();
  expect(await leaveAll(parts, ['u+0@sender.example', 'support@sender.example'], MAIL)).toBe('none');
  expect(left).toEqual([]);
});

test.each([
  ['a bounce', ['Subject: Undelivered Mail', 'Content-Type: multipart/report; report-type=delivery-status']],
  ['a bounce with such a subject', ['Subject: unsubscribe', 'Content-Type: multipart/report; report-type=x']],
  ['a note that it was read', ['Subject: unsubscribe', 'Content-Type: message/disposition-notification']],
  ['an absence', ['Subject: Out of office', 'Auto-Submitted: auto-replied']],
  ['an absence of Exchange', ['Subject: Automatic reply: News', 'Auto-Submitted: auto-generated']],
  ['an absence of an old program', ['Subject: Re: unsubscribe', 'Precedence: auto_reply']],
  ['a mail server', ['Subject: failure notice', 'From: MAILER-DAEMON@mx.example']],
])('%s has no one leave, and is refused at the port', async (_, fields) => {
  const { left, parts } = leaving();
  const raw = mailOf(...fields);
  expect(await leaveAll(parts, [addressOf(0)], raw)).toBe('answer');
  const mail = { raw, recipients: [addressOf(0)], client: '', helo: '', from: '' };
  expect(leavingDoor(parts).take(mail)).rejects.toThrow('use the link in the email');
  expect(left).toEqual([]);
});

test.each([
  ['Apple Mail', ['Subject: unsubscribe', 'Auto-Submitted: auto-replied', 'X-Apple-Unsubscribe: true']],
  ['a program that writes no subject', ['Auto-Submitted: auto-generated']],
  ['a person', ['Subject: Please stop', 'Auto-Submitted: no']],
])('a mail of %s has its recipient leave', async (_, fields) => {
  const { left, parts } = leaving();
  expect(await leaveAll(parts, [addressOf(0)], mailOf(...fields))).toBe('left');
  expect(left).toEqual([0]);
});
