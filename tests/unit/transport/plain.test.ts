import { describe, expect, test } from 'bun:test';
import { composeAny } from '../../../src/mail/compose/compose.ts';
import { composePlain } from '../../../src/mail/compose/plain.ts';
import type { Mailbox, OutboundMessage } from '../../../src/mail/transport/transport.ts';
import { aMessage } from './a-message.ts';

// The composer of nodemailer is what the writer of plain mail is compared with, octet by octet.
const MAILS = 1_500;
const SEED = 20_261_122;

/** Mulberry32: the same mails in every run. */
function dice(seed: number) {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (n: number): number => Math.floor(next() * n);
  return { below, one: <T>(all: readonly T[]): T => all[below(all.length)] as T };
}
const { below, one } = dice(SEED);

const BITS = [
  'word',
  'Grüße',
  'naïve',
  '你好',
  'Привет',
  'שלום',
  '👋🏽',
  '\ud800',
  '"quoted"',
  'a,b;c:d',
  '(comment)',
  '<angle>',
  'back\\slash',
  '=?utf-8?Q?a?=',
  '=?',
  '?=',
  '=20',
  '.',
  '..',
  'From',
  'https://sender.example/a/rather/long/path?with=parameters&and=more#fragment',
  'l'.repeat(70),
  'm'.repeat(80),
  'n'.repeat(950),
  'ü'.repeat(60),
  '\u007f',
  '\u0001',
  'x\u00a0y',
  '\u2028',
  '-',
  "it's",
];
const GAPS = [' ', ' ', ' ', ' ', '  ', '\t', ' \t ', ''];
const ENDS = ['\n', '\r\n', '\r', '\n\n', ' \n', '\t\r\n', '\n.\n', '\r\r\n'];

const words = (most: number, gaps: readonly string[] = GAPS, bits: readonly string[] = BITS): string =>
  Array.from({ length: below(most + 1) }, () => one(bits) + one(gaps)).join('');
/** Mostly of one script, so that every encoding is chosen often. */
const body = (): string => {
  const bits = one([
    BITS,
    ['word', 'line', 'of', 'text'],
    ['short\n'],
    ['你好', '世界', 'a'],
    ['Grüße', 'Straße', 'und', 'so', 'weiter'],
  ]);
  const tail = one(['', '', '\n', ' ', '\t', ' \t ', '\r', '=']);
  return words(one([1, 5, 40, 200, 200, 4_000]), [...GAPS, ...one([GAPS, ENDS])], bits) + tail;
};
const name = (): string | null => one([null, '', 'Shop', 'Ada Lovelace', words(3), words(12)]);
const address = (): string =>
  one([
    'r1@receiver.example',
    'first.last+tag@sub.receiver.example',
    "o'neil@receiver.example",
    'Mixed.Case@Receiver.Example',
    'info@bücher.example',
    'info@xn--bcher-kva.example',
    'grüße@receiver.example',
    'a..b@receiver.example',
    'a b@receiver.example',
    'a@b@receiver.example',
    '"quoted local"@receiver.example',
    'r@[192.0.2.1]',
    'r@192.0.2.1',
    'r@1.2',
    'r@localhost',
    'r@under_score.example',
    'r@-dash.example',
    `${'l'.repeat(60)}@${'d'.repeat(50)}.example`,
    'x,y@receiver.example',
    '<r@receiver.example>',
    '',
  ]);
const mailbox = (): Mailbox => ({ name: name(), address: one([address(), 'r2@receiver.example']) });
const mailboxes = (most: number): readonly Mailbox[] => Array.from({ length: below(most + 1) }, mailbox);
const FIELDS = [
  'X-Campaign',
  'x-entity-ref-id',
  'X-SMTPAPI',
  'x-spam-md5',
  'ARC-Seal',
  'Feedback-ID',
  'In-Reply-To',
  'References',
  'List-Id',
  'List-Unsubscribe',
  'Auto-Submitted',
  'Priority',
  'X-MIME-Thing',
  'mime-thing',
  'dkim',
  'BIMI-Selector',
  'Otp',
  'x',
  "X-O'Dd_Name.1",
];
const header = () => ({
  name: one(FIELDS),
  value: one([
    words(3),
    words(30),
    '<a@sender.example> <b@sender.example>',
    'a@sender.example',
    '< a b >',
    '',
    ' ',
    'yes',
  ]),
});

const mail = (n: number): OutboundMessage =>
  aMessage({
    emailId: `em_${n.toString(36).padStart(24, '0')}`,
    from: mailbox(),
    to: one([[], mailboxes(1), mailboxes(4)]),
    cc: one([[], [], mailboxes(2)]),
    replyTo: one([[], [], mailboxes(2)]),
    subject: one(['', 'Your receipt', words(4), words(40), 's'.repeat(998)]),
    text: one([null, '', body(), body()]),
    html: one([null, '', `<p>${body()}</p>`]),
    headers: Array.from({ length: below(3) * below(3) }, header),
    messageId: one([
      '<em_1@sender.example>',
      `<${'i'.repeat(70)}@sender.example>`,
      `<${'i'.repeat(200)}@sender.example>`,
    ]),
    date: below(2 ** 31) * 1_000 + below(1_000),
    unsubscribe: one([
      null,
      { url: 'https://t.sender.example/u/token', mailto: null },
      { url: `https://t.sender.example/u/${'k'.repeat(120)}`, mailto: 'leave@sender.example' },
    ]),
  });

test(`the writer of plain mail gives the composer's octets for ${MAILS} generated mails`, async () => {
  const used = { '7bit': 0, 'quoted-printable': 0, base64: 0 };
  let plain = 0;
  for (let n = 0; n < MAILS; n++) {
    const message = mail(n);
    const written = composePlain(message);
    if (written === null) continue;
    plain++;
    const expected = await composeAny(message);
    if (!written.equals(expected)) {
      expect({ n, written: written.toString() }).toEqual({ n, written: expected.toString() });
      throw new Error(`Mail ${n} differs in its octets alone.`);
    }
    for (const encoding of Object.keys(used) as (keyof typeof used)[])
      if (written.includes(`Content-Transfer-Encoding: ${encoding}\r\n`)) used[encoding]++;
  }
  // A reader that decodes nothing would pass: most mails are plain, and each encoding is well met.
  expect(plain).toBeGreaterThan(MAILS * 0.6);
  for (const times of Object.values(used)) expect(times).toBeGreaterThan(MAILS / 20);
});

describe('mail that is not plain is left to the composer:', () => {
  const file = { filename: 'a.txt', content: new Uint8Array([1]), contentType: null, contentId: null };
  const cases: Readonly<Record<string, Partial<OutboundMessage>>> = {
    'with an attachment': { attachments: [file] },
    'without a body': { text: null, html: null },
    'with an empty body': { text: '', html: '' },
    'with a part of 65,537 octets': { text: `${'ü'.repeat(32_768)}x` },
    'with a field that the composer writes': { headers: [{ name: 'Subject', value: 'another' }] },
    'with a content field': { headers: [{ name: 'Content-Language', value: 'de' }] },
    'with a field name that could break out': {
      headers: [{ name: 'X-A\r\nBcc', value: 'eve@evil.example' }],
    },
    'with a message id that could break out': { messageId: '<a@b>\r\nBcc: eve@evil.example' },
    'with an id that could break a boundary': { emailId: 'em_1"\r\n' },
  };
  for (const [what, changes] of Object.entries(cases))
    test(what, () => expect(composePlain(aMessage(changes))).toBeNull());
  test('but a part of 65,536 octets is plain, and equal', async () => {
    for (const text of [
      'ü'.repeat(32_768),
      'x'.repeat(65_536),
      `${' '.repeat(65_535)}x`,
      ' '.repeat(65_536),
    ]) {
      const message = aMessage({ text });
      expect(composePlain(message)).toEqual(await composeAny(message));
    }
  });
});
