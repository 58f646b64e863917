import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createTransport } from 'nodemailer';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';
import { type S3, startS3 } from '../support/s3.ts';

let service: LiveService;
let s3: S3;
let port: number;

beforeAll(async () => {
  [port, s3] = [await freePort(), await startS3()];
  service = await startLiveService({ environment: { SUBMISSION_PORT: String(port), ...s3.environment } });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
});

const ask = (path: string, init: RequestInit = {}, key = service.keys.live): Promise<Response> =>
  fetch(new URL(path, service.url), {
    ...init,
    headers: { authorization: `Bearer ${key}`, ...init.headers },
  });

const post = async (
  message: string | Buffer,
  query = '',
  key = service.keys.live,
  more: Record<string, string> = {},
): Promise<{ status: number; body: Email }> => {
  const headers = { 'content-type': 'message/rfc822', ...more };
  const init = { method: 'POST', headers, body: Buffer.from(message as string, 'latin1') };
  const answer = await ask(`/v1/emails/raw${query}`, init, key);
  return { status: answer.status, body: await answer.json() };
};

const octetsOf = async (path: string): Promise<string> =>
  Buffer.from(await (await ask(path)).arrayBuffer()).toString('latin1');

/** The copies that left, in latin1, by their recipients. */
async function leftOf(id: string): Promise<ReadonlyMap<string, string>> {
  await service.until(id, ({ status }) => status === 'delivered');
  const rows = await service.service.database.query<{ recipient: string; raw: string }>(
    `select recipient, encode(raw, 'base64') as raw from captured where email_id = $1`,
    [id],
  );
  return new Map(
    rows.map(({ recipient, raw }) => [
      recipient,
      Buffer.from(Bun.zstdDecompressSync(Buffer.from(raw, 'base64'))).toString('latin1'),
    ]),
  );
}

/** The bodies of an email that lie in the store. */
const bodiesOf = (id: string): Promise<readonly unknown[]> =>
  service.service.database.query('select key from email_bodies where email_id = $1', [id]);

/** The message without the fields that are added on top of it. */
const below = (message: string): string =>
  message.replace(/^(?:(?:DKIM-Signature|Received):[^\r]*\r\n(?:[ \t][^\r]*\r\n)*)+/, '');

const FIELDS = [
  'From: Shop <shop@sender.example>',
  'To: Ada <ada@example.com>, not-in-the-envelope@example.com',
  'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
  'Date: Fri, 27 Nov 2026 10:00:00 +0100',
  'Message-ID: <thread-7@forum.example>',
  'X-Raw: Gr\xfc\xdfe',
  'MIME-Version: 1.0',
];
const MIXED = [
  'Content-Type: multipart/mixed; boundary="b"',
  '',
  '--b',
  'Content-Type: text/html; charset=iso-8859-1',
  '',
  '<p>Gr\xfc\xdfe <a href="https://shop.example/a?b=1&amp;c=2">here</a></p>',
  '--b',
  'Content-Type: text/calendar; method=REQUEST; charset=utf-8; name="invite.ics"',
  '',
  'BEGIN:VCALENDAR',
  'END:VCALENDAR',
  '--b',
  'Content-Type: application/pdf; name="a/b.pdf"; x-own=1',
  'Content-Disposition: attachment',
  'Content-Transfer-Encoding: base64',
  '',
];
const written = (...lines: readonly string[]): string => lines.map((line) => `${line}\r\n`).join('');
const withFile = (octets: number): string =>
  written(
    ...FIELDS,
    ...MIXED,
    Buffer.alloc(octets, 'file').toString('base64').replace(/.{76}/g, '$&\r\n'),
    '--b--',
  );

describe('a raw message', () => {
  test.each([
    ['in the row of its email', 300],
    ['in the body store', 200_000],
  ])('that lies %s leaves as it came, and is shown as its readers see it', async (_, octets) => {
    const message = withFile(octets);
    const { status, body } = await post(
      message,
      '?recipients=ada@example.com&recipients=bob@example.com&tag=a:b',
    );
    expect([status, body.error]).toEqual([202, undefined]);
    const { id } = body.data;
    const left = await leftOf(id);
    expect([...left.keys()].toSorted()).toEqual(['ada@example.com', 'bob@example.com']);
    for (const [recipient, copy] of left) {
      expect(below(copy) === message).toBe(true);
      expect(copy).toMatch(
        /^(?:DKIM-Signature:[\s\S]*?\r\n(?! ))+Received: from \[127\.0\.0\.1\] by \S+ with HTTP id\s+em_/,
      );
      expect((await octetsOf(`/v1/emails/${id}/raw?recipient=${recipient}`)) === copy).toBe(true);
    }
    expect((await service.live.get(`/v1/emails/${id}`)).body.data).toMatchObject({
      from: 'Shop <shop@sender.example>',
      to: ['Ada <ada@example.com>'],
      bcc: ['bob@example.com'],
      subject: 'Grüße',
      messageId: '<thread-7@forum.example>',
      tags: [{ name: 'a', value: 'b' }],
      html: expect.stringContaining('Grüße <a'),
      headers: { 'X-Raw': expect.any(String) },
      attachments: [
        { filename: 'invite.ics', contentType: 'text/calendar' },
        { filename: 'a_b.pdf', contentType: 'application/pdf', size: octets },
      ],
    });
    const file = await ask(`/v1/emails/${id}/attachments/1`);
    expect([file.headers.get('content-type'), file.headers.get('content-disposition')]).toEqual([
      'application/pdf',
      "attachment; filename*=UTF-8''a_b.pdf",
    ]);
    expect(Buffer.from(await file.arrayBuffer()).equals(Buffer.alloc(octets, 'file'))).toBe(true);
    expect((await ask(`/v1/emails/${id}/attachments/2`)).status).toBe(404);
  });

  test.each([30, 100_000])('of %i octets keeps nothing of a recipient who is forgotten', async (octets) => {
    const address = `forget-${octets}@example.com`;
    await service.live.post('/v1/contacts', { email: address });
    const message = withFile(octets).replace('ada@example.com', address);
    const { body } = await post(message, `?recipients=${address}`);
    const { id } = body.data;
    expect([...(await leftOf(id)).values()].join()).toContain(address);
    expect((await bodiesOf(id)).length > 0).toBe(octets > 65_536);
    expect((await service.live.delete(`/v1/contacts/${address}`)).status).toBe(204);
    await service.until(id, ({ to }) => !JSON.stringify(to).includes(address));
    expect(await octetsOf(`/v1/emails/${id}/raw`)).not.toContain(address);
    expect(JSON.stringify((await service.live.get(`/v1/emails/${id}`)).body.data)).not.toContain(address);
    expect(await bodiesOf(id)).toEqual([]);
  });

  test('keeps its octets where only its text has a placeholder, also for those who unsubscribed', async () => {
    const html = Buffer.from('<p>Hello</p>').toString('base64').replace(/.{4}/g, '$&\r\n');
    const message = written(
      ...FIELDS,
      'Content-Type: multipart/alternative; boundary=a',
      '',
      '--a',
      'Content-Type: text/plain',
      '',
      'Leave: {{unsubscribeUrl}}',
      '--a',
      'Content-Type: text/html',
      'Content-Transfer-Encoding: base64',
      '',
      html,
      '--a--',
    );
    const suppression = { address: 'left@example.com', reason: 'unsubscribed' };
    expect((await service.live.post('/v1/suppressions', suppression)).status).toBe(201);
    const { body } = await post(message, '?recipients=ada@example.com&recipients=left@example.com');
    const copies = [...(await leftOf(body.data.id)).values()];
    expect(copies.map(below)).toEqual([message, message]);
  });

  test('is tracked only where that is asked for, in its html alone', async () => {
    const message = withFile(30);
    const { body } = await post(message, '?recipients=ada@example.com&trackOpens=true&trackClicks=true');
    const [copy = ''] = (await leftOf(body.data.id)).values();
    const html = /<p>[^\r]*/.exec(copy)?.[0] ?? '';
    expect(html).toMatch(
      /^<p>Gr\xfc\xdfe <a href="[^"]+\/t\/c\/[^"]+">here<\/a><\/p><img src="[^"]+\/t\/o\/[^"]+"/,
    );
    const [before = '', after = ''] = message.split(/<p>[^\r]*/);
    expect(below(copy).startsWith(before) && copy.endsWith(after)).toBe(true);
    const shown = await octetsOf(`/v1/emails/${body.data.id}/raw`);
    expect(shown).toContain('/t/c/');
    expect(shown.includes(/\/t\/c\/[^"]+/.exec(copy)?.[0] ?? '')).toBe(false);
  });

  test('is never tracked where it is signed, and says so', async () => {
    const signed = (words: string) =>
      written(
        ...FIELDS,
        'Content-Type: multipart/signed; boundary=s; protocol="application/pgp-signature"',
        '',
        '--s',
        'Content-Type: text/html',
        '',
        `<a href="https://shop.example/">${words}</a>`,
        '--s',
        'Content-Type: application/pgp-signature',
        '',
        'x',
        '--s--',
      );
    expect((await post(signed('{{unsubscribeUrl}}'), '?recipients=ada@example.com')).status).toBe(422);
    const message = signed('Shop');
    const { body } = await post(message, '?recipients=ada@example.com&trackClicks=true');
    const [copy = ''] = (await leftOf(body.data.id)).values();
    expect(below(copy)).toBe(message);
    const { evidence } = (await service.live.get(`/v1/emails/${body.data.id}/explain`)).body.data;
    expect(evidence.map(({ text }: Email) => text)).toContain(
      'Tracking or a link to unsubscribe was asked for, and the html was not changed: a signature covers its octets.',
    );
  });

  test('offers to unsubscribe where its html asks for it', async () => {
    const html = '<a href="{{ unsubscribeUrl }}">Leave</a>';
    const message = written(...FIELDS, 'Content-Type: text/html; charset=utf-8', '', html);
    const { body } = await post(message, '?recipients=ada@example.com');
    const [copy = ''] = (await leftOf(body.data.id)).values();
    expect(copy).toMatch(
      /\r\nList-Unsubscribe: <http[^>]+\/t\/u\/[^>]+>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n\r\n<a href="http[^"]+\/t\/u\//,
    );
  });

  test('is refused where its sender is not ours, and where it names no recipient', async () => {
    const from = (value: string) => withFile(3).replace(FIELDS[0] ?? '', `From: ${value}`);
    expect((await post(from('a@elsewhere.example'))).status).toBe(403);
    // Of two senders both count.
    expect((await post(from('shop@sender.example, a@elsewhere.example'))).status).toBe(403);
    expect((await post(from('nobody'))).status).toBe(422);
    expect((await post(withFile(3).replace(FIELDS[1] ?? '', 'X-No: to'))).body.error.details).toEqual([
      {
        path: '/query/recipients',
        message: 'Must name a recipient, or the message must have one in To, Cc or Bcc.',
      },
    ]);
    expect((await post('', '', service.keys.live, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post(Buffer.alloc(25 * 1024 * 1024 + 1))).status).toBe(413);
  });

  test('of a test key is simulated; scheduled it can be cancelled, and repeated it is one', async () => {
    const simulated = await post(withFile(3), '?recipients=bounced@simulator.svc.test', service.keys.test);
    expect(simulated.status).toBe(202);
    const key = { 'idempotency-key': 'raw-1' };
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const query = `?recipients=ada@example.com&scheduledAt=${encodeURIComponent(at)}`;
    const first = await post(withFile(3), query, service.keys.live, key);
    expect((await post(withFile(3), query, service.keys.live, key)).body).toEqual(first.body);
    expect((await service.live.delete(`/v1/emails/${first.body.data.id}`)).body.data.status).toBe(
      'cancelled',
    );
  });
});

describe('what left', () => {
  test('is shown of composed mail too, and files of it', async () => {
    const attachments = [{ filename: 'ü "q".txt', content: Buffer.from('hello').toString('base64') }];
    const id = await service.send({ subject: 'Composed', attachments });
    const [copy = ''] = (await leftOf(id)).values();
    expect(await octetsOf(`/v1/emails/${id}/raw`)).toBe(copy);
    const file = await ask(`/v1/emails/${id}/attachments/0`);
    expect([await file.text(), file.headers.get('content-disposition')]).toEqual([
      'hello',
      "attachment; filename*=UTF-8''%C3%BC%20%22q%22.txt",
    ]);
  });

  test('is found by either spelling of a recipient’s domain', async () => {
    const id = await service.send({ subject: 'Both', to: 'ada@bücher.example' });
    for (const recipient of ['ADA@bücher.example', 'ada@xn--bcher-kva.example'])
      expect((await ask(`/v1/emails/${id}/raw?recipient=${encodeURIComponent(recipient)}`)).status).toBe(200);
  });

  test('is shown to its owner alone', async () => {
    const id = await service.send({ subject: 'Mine' });
    for (const path of [`/v1/emails/${id}/raw`, `/v1/emails/${id}/attachments/0`])
      expect((await ask(path, {}, service.keys.test)).status).toBe(404);
    expect((await ask(`/v1/emails/${id}/raw?recipient=other@example.com`)).status).toBe(404);
  });
});

describe('a message over SMTP', () => {
  const submit = async (message: string): Promise<string> => {
    const auth = { user: 'svc', pass: service.keys.live };
    const mailer = createTransport({ host: '127.0.0.1', port, auth });
    const envelope = { from: 'shop@sender.example', to: ['ada@example.com'] };
    const { response } = await mailer.sendMail({ envelope, raw: Buffer.from(message, 'latin1') });
    mailer.close();
    return /em_\w+/.exec(response)?.[0] ?? response;
  };
  const NAMELESS = FIELDS.filter((field) => !field.startsWith('Subject'));

  test.each([
    ['an attachment alone', withFile(3)],
    ['neither text nor subject', written(...NAMELESS, 'Content-Type: application/pdf', '', 'x')],
    [
      'forty own fields',
      written(...FIELDS, ...Array.from({ length: 40 }, (_, n) => `X-Own-${n}: =?utf-8?q?=C3=BC?=`), '', 'x'),
    ],
    [
      'long References',
      written(
        ...FIELDS,
        `References: ${'<id-of-a-long-thread@forum.example>\r\n '.repeat(200)}<z@y>`,
        '',
        'x',
      ),
    ],
    [
      'raw octets and lines of dots',
      written(...FIELDS, 'Content-Type: text/plain; charset=iso-8859-1', '', 'Gr\xfc\xdfe', '.', '..', ''),
    ],
    [
      'a bounce',
      written(
        ...FIELDS,
        'Content-Type: multipart/report; report-type=delivery-status; boundary=r',
        '',
        '--r',
        '',
        'Failed.',
        '--r',
        'Content-Type: message/delivery-status',
        '',
        'Reporting-MTA: dns; a',
        '',
        '--r--',
      ),
    ],
  ])('with %s leaves as it came', async (_, message) => {
    const [copy = ''] = (await leftOf(await submit(message))).values();
    expect(below(copy)).toBe(message);
    expect(copy).toMatch(/\r\nReceived: from \S+ \(\[127\.0\.0\.1\]\) by \S+ with ESMTPA id\s+em_/);
  });
});
