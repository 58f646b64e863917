import { describe, expect, test } from 'bun:test';
import { NotSubmittable } from '../../../src/mail/raw/raw-mail.ts';
import { readSubmission, type Submission } from '../../../src/mail/submission/submitted.ts';

const mail = (header: string, body = 'Hello') => Buffer.from(`${header}\n\n${body}`.replace(/\n/g, '\r\n'));
const read = async (raw: Buffer, ...recipients: string[]) => {
  const submission = await readSubmission(raw, recipients);
  if (submission instanceof NotSubmittable) throw new Error(submission.reason);
  return submission;
};
const reason = async (raw: Buffer, ...recipients: string[]) =>
  ((await readSubmission(raw, recipients)) as NotSubmittable).reason;
const PLAIN =
  'From: Shop <shop@sender.example>\nX-Svc-Template: hello\nTo: bob@receiver.example\nSubject: Receipt';

test('a mail that names a template becomes the plainest send request', async () => {
  expect(await read(mail(PLAIN), 'bob@receiver.example')).toEqual({
    idempotencyKey: null,
    email: {
      from: '"Shop" <shop@sender.example>',
      to: ['bob@receiver.example'],
      subject: 'Receipt',
      templateId: 'hello',
    },
  });
});

describe('the recipients of a submitted mail', () => {
  const HEADER = `${PLAIN.replace('To: bob@', 'To: "Bob, B." <Bob@')}>, ann@receiver.example\nCc: Team: cy@receiver.example, di@receiver.example;\nBcc: eve@receiver.example`;
  const who = async (header: string, ...recipients: string[]) => {
    const { to, cc, bcc } = (await read(mail(header), ...recipients)).email;
    return { to, cc, bcc };
  };

  test('the envelope decides, the header who sees whom', async () => {
    expect(await who(HEADER, 'bob@receiver.example', 'cy@receiver.example', 'zoe@receiver.example')).toEqual({
      to: ['"Bob, B." <Bob@receiver.example>'],
      cc: ['cy@receiver.example'],
      bcc: ['zoe@receiver.example'],
    });
  });
  test('copies move up when To is empty', async () => {
    expect(await who(HEADER, 'cy@receiver.example')).toEqual({
      to: ['cy@receiver.example'],
      cc: undefined,
      bcc: undefined,
    });
  });
  test('one hidden recipient sees its own address, several see none', async () => {
    expect(await who(HEADER, 'zoe@receiver.example')).toMatchObject({ to: ['zoe@receiver.example'] });
    expect(await who(HEADER, 'zoe@receiver.example', 'yan@receiver.example')).toEqual({
      to: [],
      cc: undefined,
      bcc: ['zoe@receiver.example', 'yan@receiver.example'],
    });
  });
});

test('a submitted mail keeps names, fields and Idempotency-Key, and loses what the service writes', async () => {
  const header = `Received: from a by b
DKIM-Signature: v=1
From: =?UTF-8?Q?J=C3=B6rg_=22J=22?= <shop@sender.example>
To: bob@receiver.example
Reply-To: Help <help@sender.example>
Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?=
Message-ID: <x@y>
Date: Fri, 20 Nov 2026 12:00:00 +0000
MIME-Version: 1.0
Idempotency-Key: order-7
X-Mailer: Framework
In-Reply-To: <z@y>
X-SES-Configuration-Set: evil
x-mailer: again`;
  expect(await read(mail(header), 'bob@receiver.example')).toMatchObject({
    idempotencyKey: 'order-7',
    email: {
      from: '"Jörg \\"J\\"" <shop@sender.example>',
      replyTo: ['"Help" <help@sender.example>'],
      subject: 'Grüße',
      headers: { 'X-Mailer': 'Framework', 'In-Reply-To': '<z@y>' },
    },
  });
});

test('a submitted mail loses fields that command a relay or are written by servers', async () => {
  const header = `${PLAIN}
X-Kept: 1
Return-Path: <a@b>
Delivered-To: bob@receiver.example
Resent-Bcc: evil@x.example
X-SES-Configuration-Set: evil
X-SMTPAPI: {"to":["evil@x.example"]}
X-MC-BccAddress: evil@x.example
X-Mailgun-Recipient-Variables: {}
X-MSYS-API: {"bcc":[{"email":"evil@x.example"}],"options":{"skip_suppression":true}}
X-PM-Message-Stream: broadcast
X-MJ-CustomID: 1
X-Mailin-Custom: 1`;
  const { email } = await read(mail(header), 'bob@receiver.example');
  expect(email.headers).toEqual({ 'X-Kept': '1' });
});

test('a submitted mail keeps name, type, content and place of attachments', async () => {
  const raw = mail(
    `${PLAIN}\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=m`,
    `--m
Content-Type: multipart/related; boundary=r

--r
Content-Type: text/html; charset=utf-8

<img src="cid:logo@x">
--r
Content-Type: image/png
Content-ID: <logo@x>
Content-Transfer-Encoding: base64

iVBORw==
--r--
--m
Content-Type: application/pdf; name="r.pdf"
Content-Disposition: attachment; filename="r.pdf"
Content-Transfer-Encoding: base64

JVBERg==
--m
Content-Type: message/rfc822

Subject: inner

text
--m--
`,
  );
  expect((await read(raw, 'bob@receiver.example')).email).toMatchObject({
    attachments: [
      { filename: 'attachment-1.png', contentType: 'image/png', content: 'iVBORw==', contentId: 'logo@x' },
      { filename: 'r.pdf', contentType: 'application/pdf', content: 'JVBERg==' },
      { filename: 'attachment-3.eml', contentType: 'message/rfc822' },
    ],
  });
});

test('a submitted mail without a sender is refused', async () => {
  expect(await reason(mail('To: bob@receiver.example'), 'bob@receiver.example')).toContain('From');
  expect(await reason(Buffer.from(''), 'bob@receiver.example')).toContain('From');
});

test('a submitted mail of random bytes never throws', async () => {
  let seed = 7;
  const octet = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % 256;
  };
  for (let n = 0; n < 1_000; n++) {
    const noise = Buffer.from(Array.from({ length: 200 }, octet));
    const result: Submission | NotSubmittable = await readSubmission(Buffer.concat([mail(PLAIN), noise]), [
      'bob@receiver.example',
    ]);
    expect(result).not.toBeInstanceOf(NotSubmittable);
  }
});
