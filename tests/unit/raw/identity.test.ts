import { describe, expect, test } from 'bun:test';
import { leavingMessage } from '../../../src/mail/raw/leaving.ts';
import { NotSubmittable, type RawMail } from '../../../src/mail/raw/raw-mail.ts';
import { readFile, readRaw } from '../../../src/mail/raw/read-raw.ts';
import { decodedOf } from '../../../src/mail/raw/transfer.ts';
import { readSubmission } from '../../../src/mail/submission/submitted.ts';
import { randomFrom } from '../../../src/ops/torture/random.ts';
import { generatedMail } from './generated-mail.ts';

const AT = Date.UTC(2026, 10, 27, 12);
const LEAVING = {
  id: 'em_1',
  acceptedAt: AT,
  came: null,
  date: AT,
  messageId: '<em_1@sender.example>',
  domains: ['sender.example'],
  unsubscribe: null,
  changes: [],
};

const read = async (message: Buffer | string): Promise<RawMail> => {
  const mail = await readRaw(Buffer.from(message as string, 'latin1'));
  if (mail instanceof NotSubmittable) throw new Error(mail.reason);
  return mail;
};
const left = (mail: RawMail, more: Partial<Parameters<typeof leavingMessage>[1]> = {}): string =>
  textOf(leavingMessage(Buffer.from(mail.octets), { ...LEAVING, ...more }));
const textOf = ({ composed, behind }: ReturnType<typeof leavingMessage>): string =>
  Buffer.concat([composed, behind]).toString('latin1');
const sent = async (message: string): Promise<string> => left(await read(message));

describe('a message that was submitted', () => {
  test('leaves octet for octet as it came, but for the fields that are listed', async () => {
    const random = randomFrom(37);
    for (let round = 0; round < 2_000; round++) {
      const { message, removed, ...has } = generatedMail(random);
      let expected = message.toString('latin1');
      for (const field of removed) expected = expected.replace(`${field}\r\n`, '');
      const added = [
        ...(has.hasDate ? [] : ['Date: Fri, 27 Nov 2026 12:00:00 +0000']),
        ...(has.hasMessageId ? [] : ['Message-ID: <em_1@sender.example>']),
        ...(has.hasMimeVersion ? [] : ['MIME-Version: 1.0']),
      ];
      const end = expected.indexOf('\r\n\r\n') + 2;
      expected = `${expected.slice(0, end)}${added.map((one) => `${one}\r\n`).join('')}${expected.slice(end)}`;
      const came = await read(message);
      expect(Buffer.from(came.octets).equals(message)).toBe(true);
      if (left(came) !== expected) expect(left(came)).toBe(expected);
    }
  });

  test('shows the ids and links that its writer, Python, has put into encoded words', async () => {
    const written = [
      'From: a@sender.example',
      'References: <a@x.example> =?utf-8?q?=3CAM0PR04MB1234567890ABCDEFGHIJKLMNOPQR?=\r\n =?utf-8?q?0123456789=40AM0PR04MB1234567=2Eeurprd04=2Eprod=2Eoutlook=2Ecom?=\r\n =?utf-8?q?=3E?=',
      'List-Unsubscribe: =?utf-8?q?=3Chttps=3A//news=2Eexample/leave/01234567890123?=\r\n =?utf-8?q?456789012345678901234567890123456789012345678901=3E?=',
      'List-Help: =?utf-8?b?w6Q=?=',
      'List-Owner: <https://news.example/?q=?a?b?QQ==?=>',
      'Subject: =?utf-8?q?a?=',
    ];
    const message = await sent(`${written.join('\r\n')}\r\n\r\nx\r\n`);
    expect(message).toContain(
      '\r\nReferences: <a@x.example> <AM0PR04MB1234567890ABCDEFGHIJKLMNOPQR0123456789@AM0PR04MB1234567.eurprd04.prod.outlook.com>\r\n',
    );
    expect(message).toContain(
      '\r\nList-Unsubscribe: <https://news.example/leave/01234567890123456789012345678901234567890123456789012345678901>\r\n',
    );
    expect(message).toContain(`\r\n${written.slice(3).join('\r\n')}\r\n`);
  });

  test('keeps encoded words where the link is longer than a line, and where the signature of another domain covers them', async () => {
    const inWords = (text: string) =>
      (text.match(/.{1,40}/g) ?? []).map((piece) => `=?utf-8?b?${btoa(piece)}?=`).join('\r\n ');
    const leaving = (link: string, signature: string) => {
      const field = `List-Unsubscribe: ${inWords(`<https://news.example/${link}>`)}`;
      return [`From: a@sender.example\r\n${signature}${field}\r\n\r\nx\r\n`, `\r\n${field}\r\n`] as const;
    };
    const signedBy = (domain: string, names: string) =>
      `DKIM-Signature: v=1; d=${domain}; s=a; bh=; h=From:\r\n ${names}; b=\r\n`;
    const isKept = async (link: string, signature = '') => {
      const [message, field] = leaving(link, signature);
      return (await sent(message)).includes(field);
    };
    expect(await isKept('a'.repeat(900))).toBe(false);
    expect(await isKept('a'.repeat(1_000))).toBe(true);
    expect(await isKept('a', signedBy('relay.example', 'List-Unsubscribe : Subject'))).toBe(true);
    expect(await isKept('a', signedBy('relay.example', 'Subject'))).toBe(false);
    expect(await isKept('a', signedBy('sender.example', 'List-Unsubscribe'))).toBe(false);
  });

  test('shows that one click is enough, and keeps words whose letters are not known', async () => {
    const of = async (...fields: readonly string[]) => {
      const message = await sent(`From: a@sender.example\r\n${fields.join('\r\n')}\r\n\r\nx\r\n`);
      return message.slice(0, message.indexOf('\r\nDate:')).split('\r\n').slice(1).join('\r\n');
    };
    const link = 'List-Unsubscribe: =?utf-8?q?=3Chttps=3A//news=2Eexample/=3E?=';
    const click = 'List-Unsubscribe-Post: =?utf-8?q?List-Unsubscribe=3D?=\r\n =?utf-8?q?One-Click?=';
    const shown =
      'List-Unsubscribe: <https://news.example/>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click';
    expect(await of(link, click)).toBe(shown);
    const signature = 'DKIM-Signature: v=1; d=relay.example; s=a; bh=; b=; h=From:List-Unsubscribe-Post';
    expect(await of(signature, click)).toBe(`${signature}\r\n${click}`);
    expect(await of('References: =?US-ASCII*en?Q?=3Ca=40x=3E?=')).toBe('References: <a@x>');
    expect(await of('References: =?iso-2022-jp?b?PGFAeD4=?=')).toBe('References: <a@x>');
    for (const field of [
      'List-Unsubscribe: =?utf-7?q?+ADw-https://x.example/u+AD4-?=',
      'List-Unsubscribe: =?hz-gb-2312?q?=3Chttps://x.example/u=3E?=',
      'References: =?klingon?q?=3Ca=40x=3E?=',
      'References: =?utf-16?b?PABhAEAAeAA+AA==?=',
      'References: =?utf-8?q?=3Ca=40x=3E?=\r\n =?klingon?q?=3Cb=40x=3E?=',
      'References: <a@x>\r\n =?klingon?q?=3Cb=40x=3E?=',
    ])
      expect(await of(field)).toBe(field);
  });

  test('is read with the orders that its writer, PHPMailer, has put into encoded words', async () => {
    const key = 'black-friday-2026/newsletter-for-customers/0000042';
    const message = [
      'From: a@sender.example',
      'Idempotency-Key: =?us-ascii?Q?black-friday-2026/newsletter-for-customers/00000?=\r\n =?us-ascii?Q?42?=',
      'X-Svc-Tag: =?us-ascii?Q?campaign:black-friday-2026-newsletter-for-custom?=\r\n =?us-ascii?Q?ers?=',
      '\r\nx\r\n',
    ].join('\r\n');
    expect((await read(message)).controls).toMatchObject({
      idempotencyKey: key,
      tags: ['campaign:black-friday-2026-newsletter-for-customers'],
    });
    expect(await readSubmission(Buffer.from(message), ['ada@customer.example'])).toMatchObject({
      idempotencyKey: key,
    });
  });

  test('gets a date and an id only where its own are missing or malformed', async () => {
    const of = (fields: string) => sent(`From: a@sender.example\r\n${fields}\r\n\r\nx\r\n`);
    for (const date of [
      'Fri, 27 Nov 2026 10:00:00 +0100',
      '27 nov 26 10:00 GMT',
      'Fri, 27 Nov 2026\r\n 10:00:60 -0000 (a (nested) comment)',
      'Sat, 29 Feb 2024 00:00:00 +0000',
    ])
      expect(await of(`Date: ${date}`)).toContain(`\r\nDate: ${date}\r\n`);
    for (const date of [
      '',
      'now',
      '2026-11-27T10:00:00Z',
      'Sun, 29 Feb 2026 00:00:00 +0000',
      '27 Nov 2026 25:00 GMT',
    ])
      expect((await of(`Date: ${date}`)).match(/^Date:.*$/gm)).toEqual([
        'Date: Fri, 27 Nov 2026 12:00:00 +0000',
      ]);
    for (const [id, known] of [
      ['<a@b>', '<a@b>'],
      ['<!&!AAA=@x.example>', '<!&!AAA=@x.example>'],
      ['\r\n <a@[192.0.2.1]> (comment)', '<a@[192.0.2.1]>'],
      // RFC 5322 A.6.3: an obsolete form is read by all.
      ['<1234   @   local(blah)  .machine .example>', '<1234@local.machine.example>'],
      ['(a) <\r\n\ta . b @ (c (d)) e >', '<a.b@e>'],
      ['<"a (b) c"@d>', '<"a (b) c"@d>'],
      // RFC 5322 3.2.1: a backslash quotes what follows, in a quoted string and in a comment.
      ['<"a\\"(b"@c>', '<"a\\"(b"@c>'],
      ['<"a\\\\"@c> (b)', '<"a\\\\"@c>'],
      ['<a@b> (c \\) d)', '<a@b>'],
      ['<a@b> (c \\( d)', '<a@b>'],
    ] as const) {
      const message = `From: a@sender.example\r\nMessage-ID: ${id}\r\n\r\nx\r\n`;
      expect(await sent(message)).toContain(`\r\nMessage-ID: ${id}\r\n`);
      expect((await read(message)).messageId).toBe(known);
    }
    for (const id of ['', 'a@b', '<a b@c>', '<ab>', '<\xfc@b>', '<a@b> <c@d>', '<a@b c>', '<"a"@b> "c"'])
      expect((await of(`Message-Id: ${id}`)).match(/^Message-I.*$/gim)).toEqual([
        'Message-ID: <em_1@sender.example>',
      ]);
  });

  test('gets CRLF for bare CR and LF and for several CR before an LF, and an end', async () => {
    const whole =
      'From: a@sender.example\r\nDate: 27 Nov 2026 10:00 GMT\r\nMessage-ID: <a@b>\r\n\r\na\r\nb\r\n\r\nc\r\n';
    for (const bare of [
      whole.replaceAll('\r\n', '\n'),
      whole.replaceAll('\r\n', '\r'),
      whole.replaceAll('\r\n', '\r\r\n'),
      whole.replaceAll('\r\n', '\r\r\r\n'),
      whole.replace('a\r\n', 'a\n'),
      whole.trimEnd(),
    ])
      expect(await sent(bare)).toBe(whole);
  });

  const HEAD =
    'From: a@sender.example\r\nDate: 27 Nov 2026 10:00 GMT\r\nMessage-ID: <a@b>\r\nMIME-Version: 1.0\r\n';
  const LONG = `Gr\xfc\xdfe ${'x'.repeat(1_200)} `;

  test('gets other lines in a leaf alone whose lines are too long', async () => {
    expect(await sent(`${HEAD}\r\n${'x'.repeat(998)}\r\n`)).toBe(`${HEAD}\r\n${'x'.repeat(998)}\r\n`);
    const parts = (leaf: string) =>
      `${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nshort \r\n--b\r\n${leaf}\r\n--b--\r\n`;
    const changed = await sent(
      parts(
        `Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: 8bit\r\nX-Own: a\r\n\r\n${LONG}`,
      ),
    );
    const [, leaf = ''] = /--b\r\n(Content-Type[\s\S]*)\r\n--b--/.exec(changed) ?? [];
    expect(changed).toBe(parts(leaf));
    const [header = '', body = ''] = leaf.split('\r\n\r\n');
    expect(header).toBe(
      'Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\nX-Own: a',
    );
    expect(decodedOf(Buffer.from(body), 'quoted-printable').toString('latin1')).toBe(LONG);
    for (const line of body.split('\r\n')) expect(line.length).toBeLessThanOrEqual(76);
    const base64 = Buffer.from(LONG, 'latin1').toString('base64');
    const file = 'Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n';
    expect(await sent(parts(file + base64))).toBe(parts(file + base64.replace(/.{76}/g, '$&\r\n')));
    const signed = parts(`Content-Type: multipart/signed; boundary=s\r\n\r\n--s\r\n\r\n${LONG}\r\n--s--`);
    expect(await sent(signed)).toBe(signed);
    // RFC 2046 5.2.2.1 and 5.2.3 allow no encoding for these: the pieces would no longer make a message.
    for (const type of ['partial; id="a"; number=1; total=2', 'external-body; access-type=URL']) {
      const piece = `${HEAD}Content-Type: message/${type}\r\n\r\nSubject: whole\r\n\r\n${LONG}\r\n`;
      expect(await sent(piece)).toBe(piece);
    }
  });

  test('gets folds in the header of a part, also of a container, and none within a signature', async () => {
    const words = 'word '.repeat(300);
    const within = (type: string, header: string) =>
      `${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: multipart/${type}; boundary=c\r\n${header}\r\n--c\r\nX-Leaf: ${words}\r\n\r\nshort \r\n--c--\r\n--b--\r\n`;
    const message = within('mixed', `X-Container: ${words}\r\n`);
    const changed = await sent(message);
    expect(changed.split('\r\n').every((line) => line.length <= 80)).toBe(true);
    expect(changed.replaceAll('\r\n word', ' word')).toBe(message);
    const signed = within('signed', `X-Container: ${words}\r\n`);
    const left = await sent(signed);
    expect(left).toContain(`\r\nX-Leaf: ${words}\r\n`);
    expect(left).not.toContain(`X-Container: ${words}`);
  });

  test('leaves with the name of its client, and with none of its secrets', async () => {
    const came = {
      helo: 'laptop (\r\n evil)',
      client: '2001:db8:1:2::/64',
      by: 'mail.example',
      protocol: 'ESMTPSA',
    };
    const message = left(await read(`${HEAD}\r\nx\r\n`), { came });
    expect(message).toBe(
      `Received: from laptop-----evil- ([IPv6:2001:db8:1:2::]) by mail.example\r\n with ESMTPSA id em_1; Fri, 27 Nov 2026 12:00:00 +0000\r\n${HEAD}\r\nx\r\n`,
    );
  });

  test('names the TLS that it came by (RFC 8314 4.3)', async () => {
    const came = { helo: 'laptop', client: '192.0.2.7', by: 'mail.example', protocol: 'ESMTPSA' };
    const tls = 'TLS_AES_128_GCM_SHA256 (TLSv1.3)';
    expect(left(await read(`${HEAD}\r\nx\r\n`), { came: { ...came, tls } })).toStartWith(
      'Received: from laptop ([192.0.2.7]) by mail.example with ESMTPSA id em_1\r\n tls TLS_AES_128_GCM_SHA256 (TLSv1.3); Fri, 27 Nov 2026 12:00:00 +0000\r\n',
    );
    expect(left(await read(`${HEAD}\r\nx\r\n`), { came: { ...came, tls: null } })).not.toContain(' tls ');
  });

  test('is refused with too many fields, and as a loop with more than fifty Received', async () => {
    const of = (count: number, field: string) =>
      readRaw(Buffer.from(`${HEAD}${field.repeat(count)}\r\nx\r\n`));
    expect(await of(996, 'X-A: b\r\n')).not.toBeInstanceOf(NotSubmittable);
    expect(await of(997, 'X-A: b\r\n')).toMatchObject({ status: '5.6.0' });
    expect(await of(50, 'Received: by a\r\n')).not.toBeInstanceOf(NotSubmittable);
    for (const loop of [51, 60])
      expect(await of(loop, 'Received: by a\r\n')).toMatchObject({ status: '5.4.6' });
  });

  test('shows its readers what was lost or refused before', async () => {
    const mail = await read(
      `From: "One" <a@sender.example>, b@sender.example\r\nTo: c@d.example\r\nX-Twice: =?utf-8?q?=C3=BC?=\r\n${HEAD.slice(24)}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/calendar; method=REQUEST; charset=utf-8\r\n\r\nBEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n--b\r\nContent-Type: application/pdf; name="a/b.pdf"\r\nContent-Disposition: attachment\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--b--\r\n`,
    );
    expect(mail).toMatchObject({
      from: [{ name: 'One', address: 'a@sender.example' }, { address: 'b@sender.example' }],
      subject: '',
      text: null,
      html: null,
      messageId: '<a@b>',
      index: {
        headers: [{ name: 'X-Twice', value: 'ü' }],
        html: 'no html',
        attachments: [
          { filename: 'attachment-1.ics', contentType: 'text/calendar', size: 30 },
          { filename: 'a_b.pdf', contentType: 'application/pdf', size: 3 },
        ],
      },
    });
    const calendar = await readFile(Buffer.from(mail.octets), 0);
    expect(Buffer.from(calendar?.octets ?? []).toString()).toBe('BEGIN:VCALENDAR\r\nEND:VCALENDAR');
  });
});
