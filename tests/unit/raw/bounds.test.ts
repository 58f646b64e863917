import { describe, expect, test } from 'bun:test';
import { leavesOf } from '../../../src/mail/raw/mime-tree.ts';
import { NotSubmittable, type RawMail } from '../../../src/mail/raw/raw-mail.ts';
import { readRaw } from '../../../src/mail/raw/read-raw.ts';
import { isWithin } from '../../../src/mail/reading/mail-size.ts';
import { Failure } from '../../../src/platform/errors/failure.ts';
import { copyChanges, rawOctets } from '../../../src/sending/emails/raw/raw-message.ts';
import { readRawRequest } from '../../../src/sending/emails/raw/raw-request.ts';

const CAME = { helo: null, client: '192.0.2.1', by: 'mail.example', protocol: 'HTTP' };
const HEAD = 'To: c@d.example\r\nSubject: Hi\r\n';
const reasonOf = async (message: string): Promise<string | null> => {
  const mail = await readRaw(Buffer.from(message, 'latin1'));
  return mail instanceof NotSubmittable ? mail.reason : null;
};
const read = async (message: string): Promise<RawMail> => {
  const mail = await readRaw(Buffer.from(message, 'latin1'));
  if (mail instanceof NotSubmittable) throw new Error(mail.reason);
  return mail;
};
/** The senders as they are checked against the verified domains; null where the message is refused before. */
async function sendersOf(from: string): Promise<readonly string[] | null> {
  const mail = await readRaw(Buffer.from(`From: ${from}\r\n${HEAD}\r\nx\r\n`));
  if (mail instanceof NotSubmittable) return null;
  const request = readRawRequest({ mail, recipients: null, came: CAME }, { to: [] } as never, {
    now: 0,
    simulatorDomain: 'simulator.test',
  });
  return request instanceof Failure ? null : (request.raw?.senders.map(({ domain }) => domain) ?? null);
}

describe('From', () => {
  test.each([
    '<ceo@bank.example,x@verified.example>',
    '"CEO" <ceo@bank.example x@verified.example>',
    '<ceo@bank.example;x@verified.example>',
    'ceo@bank.example@verified.example',
    '<ceo@bank.example\0@verified.example>',
    '=?utf-8?q?ceo=40bank.example?=, a@verified.example',
    `<${'a'.repeat(1_100)}@verified.example>`,
    Array.from({ length: 51 }, (_, n) => `a${n}@verified.example`).join(', '),
  ])('that programs could read in several ways is refused: %p', async (from) => {
    expect(await sendersOf(from)).toBeNull();
  });

  test('names every sender to be checked', async () => {
    expect(await sendersOf('a.b+c@one.example, Two <c+d@two.example>')).toEqual([
      'one.example',
      'two.example',
    ]);
  });
});

test('a second From whose name is before a fold is refused', async () => {
  expect(await reasonOf(`From: a@d.example\r\n${HEAD}From\r\n : ceo@bank.example\r\n\r\nx\r\n`)).toMatch(
    /^The message has more than one From field/i,
  );
});

test('every Bcc field names recipients, since clients write one for each', async () => {
  const { bcc } = await read(
    `From: a@d.example\r\n${HEAD}Bcc: b@d.example\r\nBCC : Cé <c@d.example>,\r\n e@d.example\r\n\r\nx\r\n`,
  );
  expect(bcc.map(({ address }) => address)).toEqual(['b@d.example', 'c@d.example', 'e@d.example']);
});

describe('the bounds of a raw message', () => {
  test('a bare CR counts as the line end that it becomes', () => {
    const limits = { lines: 10, delimiters: 2 };
    const of = (end: string, line: string, count: number) =>
      isWithin(Buffer.from(`x${end}${`${line}${end}`.repeat(count)}`), limits);
    for (const end of ['\r\n', '\n', '\r'])
      expect([of(end, 'a', 9), of(end, 'a', 10), of(end, '--b', 2), of(end, '--b', 3)]).toEqual([
        true,
        false,
        true,
        false,
      ]);
  });

  test('a delimiter that one line repeats is looked at once', () => {
    const message = Buffer.from(
      `Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n${'--b'.repeat(300_000)}\r\n--b--\r\n`,
    );
    let searches = 0;
    const { indexOf } = Buffer.prototype;
    Buffer.prototype.indexOf = function search(this: Buffer, ...given: Parameters<typeof indexOf>) {
      searches += given[0] === '\n' ? 1 : 0;
      return indexOf.apply(this, given);
    } as typeof indexOf;
    try {
      expect(leavesOf(message)).toHaveLength(1);
    } finally {
      Buffer.prototype.indexOf = indexOf;
    }
    expect(searches).toBeLessThan(10);
  });

  test('a header has 256 KiB at most', async () => {
    const of = (octets: number) => {
      const head = `From: a@v.example\r\n${HEAD}X-A: `;
      return reasonOf(`${head}${'x'.repeat(octets - head.length - 2)}\r\n\r\nx\r\n`);
    };
    expect(await of(262_144)).toBeNull();
    expect(await of(262_145)).toContain('256 KiB');
  });
});

describe('a repeated Idempotency-Key', () => {
  const digest = async (more: string, body = 'x') =>
    (await read(`From: a@v.example\r\nIdempotency-Key: one\r\n${HEAD}${more}\r\n${body}\r\n`)).digest;
  test('represents all that readers see', async () => {
    const long = 'x'.repeat(1_048_576);
    const all = [
      await digest(''),
      await digest('Reply-To: b@v.example\r\n'),
      await digest('Cc: b@v.example\r\n'),
      await digest('', long),
      await digest('', `${long}y`),
    ];
    expect(new Set(all).size).toBe(all.length);
    expect(await digest('')).toBe(await digest('Message-ID: <another@v.example>\r\n'));
    expect(await digest('')).toBeString();
  });
});

describe('a placeholder of the link to unsubscribe', () => {
  const personalise = (parts: { text: string | null; html: string | null }) => ({
    text: parts.text?.replaceAll('{{unsubscribeUrl}}', 'https://exit.example') ?? null,
    html: parts.html?.replaceAll('{{unsubscribeUrl}}', 'https://exit.example') ?? null,
    unsubscribe: { url: 'https://exit.example', mailto: 'u+1@exit.example' },
  });
  async function left(message: string): Promise<string> {
    const { octets, index } = await read(message);
    const raw = { octets: Buffer.from(octets), index: { ...index, came: null } };
    const changes = copyChanges(raw, { opens: false, clicks: false }, personalise);
    const outbound = {
      emailId: 'em_01jd3x7q8zabcdefghjkmnpq',
      from: { name: null, address: 'a@v.example' },
      messageId: '<1@v.example>',
      date: 0,
      dkim: [],
    };
    const { composed, behind = '' } = rawOctets(raw, outbound, changes);
    return `${composed.toString('latin1')}${behind.toString('latin1')}`;
  }

  test('is filled in in the html alone, and makes a header there', async () => {
    const part = (type: string, body: string) => `--b\r\nContent-Type: text/${type}\r\n\r\n${body}\r\n`;
    const exit = 'Leave: {{unsubscribeUrl}} now';
    for (const body of [
      `Content-Type: text/html\r\n\r\n<p>${exit}</p>\r\n`,
      `Content-Type: multipart/alternative; boundary=b\r\n\r\n${part('plain', exit)}${part('html', `<p>${exit}</p>`)}--b--\r\n`,
    ]) {
      const message = await left(`From: a@v.example\r\n${HEAD}MIME-Version: 1.0\r\n${body}`);
      expect(message).toContain('<p>Leave: https://exit.example now</p>');
      expect(message.includes(part('plain', exit))).toBe(body.includes('text/plain'));
      expect(message).toContain(
        '\r\nList-Unsubscribe: <https://exit.example>,\r\n <mailto:u+1@exit.example>\r\n',
      );
    }
  });

  test('is a word like any other in a text, and in html that is signed it is refused', async () => {
    const part = (type: string, body: string) => `--b\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`;
    const of = (type: string, ...parts: readonly string[]) =>
      `Date: 27 Nov 2026 10:00 GMT\r\nMessage-ID: <a@b>\r\nFrom: a@v.example\r\n${HEAD}MIME-Version: 1.0\r\nContent-Type: ${type}; boundary=b\r\n\r\n${parts.join('')}--b--\r\n`;
    const text = part('text/plain', 'Leave: {{ unsubscribeUrl }}');
    const signature = part('application/pgp-signature', 'x');
    for (const message of [
      of('text/plain', 'Write {{unsubscribeUrl}} into it.\r\n'),
      of('multipart/alternative', text, part('text/html', '<p>None</p>')),
      of('multipart/mixed', part('text/html', '<p>None</p>'), text),
      of('multipart/signed', text, signature),
    ])
      expect(await left(message)).toBe(message);
    const signed = of('multipart/signed', part('text/html', '<p>{{ unsubscribeUrl }}</p>'), signature);
    expect(await reasonOf(signed)).toContain('{{unsubscribeUrl}}');
  });
});
