import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect } from 'node:tls';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { issueKey } from '../../src/accounts/api-keys/issue.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';
import { AUTHORITY, CERTIFICATE, PRIVATE_KEY } from './transport/certificates.ts';

let service: LiveService;
let port: number;
let tlsPort: number;
const files = mkdtempSync(join(tmpdir(), 'posthorn-submission-'));

beforeAll(async () => {
  port = await freePort();
  tlsPort = await freePort();
  writeFileSync(join(files, 'cert.pem'), CERTIFICATE);
  writeFileSync(join(files, 'key.pem'), PRIVATE_KEY);
  service = await startLiveService({
    environment: {
      SUBMISSION_PORT: String(port),
      SUBMISSION_TLS_PORT: String(tlsPort),
      SUBMISSION_TLS_CERT: join(files, 'cert.pem'),
      SUBMISSION_TLS_KEY: join(files, 'key.pem'),
    },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(files, { recursive: true });
});

const MAIL: SendMailOptions = {
  from: 'Shop <shop@sender.example>',
  to: 'ada@example.com',
  subject: 'Your receipt',
  text: 'Thank you.',
};

/** Hands a mail in as a framework's mailer would; the server's last reply. */
async function submit(mail: SendMailOptions, pass: string, more: object = {}): Promise<string> {
  const mailer = createTransport({
    host: '127.0.0.1',
    port,
    requireTLS: true,
    tls: { ca: AUTHORITY, servername: 'relay.test' },
    auth: { user: 'svc', pass },
    ...more,
  });
  try {
    return (await mailer.sendMail(mail)).response;
  } catch (error) {
    return (error as Error & { response?: string }).response ?? String(error);
  } finally {
    mailer.close();
  }
}

const emailOf = async (reply: string, client = service.live): Promise<Email> =>
  (await client.get(`/v1/emails/${/em_\w+/.exec(reply)?.[0]}`)).body.data;

describe('SMTP submission', () => {
  test('accepts the same email as POST /v1/emails', async () => {
    const reply = await submit(
      {
        ...MAIL,
        cc: 'Bob <bob@example.com>',
        bcc: 'carol@example.com',
        replyTo: 'help@sender.example',
        html: '<p>Thank you.</p>',
        headers: { 'X-Order': '42' },
        attachments: [{ filename: 'a.txt', content: 'hello' }],
      },
      service.keys.live,
    );
    expect(reply).toMatch(/^250 2\.0\.0 Accepted as em_/);
    const email = await emailOf(reply);
    expect(email).toMatchObject({
      livemode: true,
      from: 'Shop <shop@sender.example>',
      to: ['ada@example.com'],
      cc: ['Bob <bob@example.com>'],
      bcc: ['carol@example.com'],
      replyTo: ['help@sender.example'],
      subject: 'Your receipt',
      headers: { 'X-Order': '42' },
      attachments: [{ filename: 'a.txt', size: 5 }],
    });
    await service.until(email.id, ({ status }) => status === 'delivered');
  });

  test('with a test key delivers to no one', async () => {
    const reply = await submit({ ...MAIL, to: 'bounced@simulator.svc.test' }, service.keys.test);
    const email = await emailOf(reply, service.test);
    expect([email.livemode, (await service.live.get(`/v1/emails/${email.id}`)).status]).toEqual([false, 404]);
  });

  test('with a repeated Idempotency-Key accepts once', async () => {
    const mail = { ...MAIL, headers: { 'Idempotency-Key': 'receipt-1' } };
    const first = await submit(mail, service.keys.live);
    expect(await submit(mail, service.keys.live)).toBe(first);
    expect(await submit({ ...mail, subject: 'Another' }, service.keys.live)).toMatch(/^554 /);
  });
});

test('a separate port is inside TLS from the first octet', async () => {
  const implicit = { port: tlsPort, secure: true };
  const reply = await submit(MAIL, service.keys.live, implicit);
  expect(reply).toMatch(/^250 2\.0\.0 Accepted as em_/);
  expect(service.service.ports).toMatchObject({ submission: port, submissionTls: tlsPort });
});

describe('SMTP submission refuses', () => {
  test.each([
    ['two lines', 'two\nlines'],
    ['two lines with CRLF', 'a\r\nb'],
    ['letters beyond ASCII', 'Passwörter'],
    ['white space', '\t'],
    ['400 letters', 'x'.repeat(400)],
    // A secret that `echo` wrote into a file.
    ['a key and the end of its line', `svc_test_${'x'.repeat(32)}\n`],
  ])('a password of %s, which is no key, and no trouble of the service', async (_, pass) => {
    expect(await submit(MAIL, pass)).toBe(
      '535 5.7.8 The password is not an API key, which is svc_live_ or svc_test_ and 32 letters or digits.',
    );
  });

  test('a message or a key with a line in the log: the client may drop the reply', async () => {
    const reply = await submit({ ...MAIL, from: 'shop@elsewhere.example' }, service.keys.live);
    expect(reply).toMatch(/^550 5\.7\.1 /);
    await submit(MAIL, 'no-key-of-ours');
    const lines = service
      .logged()
      .split('\n')
      .filter((line) => line.includes('Mail by SMTP was refused'));
    const told = lines.map((line) => JSON.parse(line));
    expect(told).toContainEqual(
      expect.objectContaining({
        what: 'message',
        client: '127.0.0.1',
        workspaceId: expect.any(String),
        reply,
      }),
    );
    expect(told).toContainEqual(
      expect.objectContaining({ what: 'key', workspaceId: null, reply: expect.stringMatching(/^535 /) }),
    );
    expect(service.logged()).not.toContain('no-key-of-ours');
  });

  test('an Idempotency-Key that no header could carry', async () => {
    const raw = [
      'From: shop@sender.example',
      'To: ada@example.com',
      'Subject: Hi',
      'Idempotency-Key: Schlüssel-日本',
      '',
      'Hello',
    ].join('\r\n');
    const envelope = { from: 'shop@sender.example', to: ['ada@example.com'] };
    expect(await submit({ raw, envelope }, service.keys.live)).toMatch(
      /^554 5\.6\.0 .* idempotency-key: Use 1 to 255 visible ASCII characters/,
    );
  });

  test('two senders, or two of another field that a message has once', async () => {
    const envelope = { from: 'shop@sender.example', to: ['ada@example.com'] };
    for (const [name, again] of [
      ['FROM', 'FROM: ceo@sender.example'],
      ['Subject', 'Subject : Another'],
      ['To', 'To: bob@example.com'],
    ] as const) {
      const raw = [
        'From: shop@sender.example',
        'To: ada@example.com',
        'Subject: Hi',
        'X-Own: 1',
        'X-Own: 2',
        again,
        '',
        'From: quoted@in.the.body',
        'From: quoted@in.the.body',
      ].join('\r\n');
      expect(await submit({ raw, envelope }, service.keys.live)).toBe(
        `554 5.6.0 The message has more than one ${name} field; RFC 5322 (3.6) allows one`,
      );
      expect(await submit({ raw: raw.replace(`${again}\r\n`, ''), envelope }, service.keys.live)).toStartWith(
        '250 ',
      );
    }
  });

  test('a key that is none, or was revoked', async () => {
    const replies = [
      await submit(MAIL, `svc_live_${'x'.repeat(32)}`),
      await submit(MAIL, 'secret'),
      await submit(MAIL, service.keys.live, { auth: { user: 'admin', pass: service.keys.live } }),
    ];
    expect(replies).toEqual([
      '535 5.7.8 The password is an API key that does not exist, or was revoked.',
      '535 5.7.8 The password is not an API key, which is svc_live_ or svc_test_ and 32 letters or digits.',
      '535 5.7.8 The user name is svc, the password an API key.',
    ]);
  });

  test('a key that may not send', async () => {
    const { engine, database } = service.service;
    const [workspace] = await database.query<{ id: string }>('select id from workspaces limit 1');
    const owner = { workspaceId: workspace?.id ?? '', livemode: true, name: 'Reader' };
    const reader = await issueKey(engine, { ...owner, permissions: ['emails:read'] }, Date.now());
    expect(await submit(MAIL, reader)).toMatch(/^550 5\.7\.1 .*emails:send/);
  });

  test('a sender whose domain is not verified', async () => {
    expect(await submit({ ...MAIL, from: 'a@elsewhere.example' }, service.keys.live)).toMatch(
      /^550 5\.7\.1 /,
    );
  });

  test('what the interface would answer with 422', async () => {
    const simulated = { ...MAIL, to: 'nonsense@simulator.svc.test' };
    expect(await submit(simulated, service.keys.test)).toMatch(/^554 5\.6\.0 .*simulator/);
  });

  test('a password over a connection that anybody can read', async () => {
    expect(await submit(MAIL, service.keys.live, { ignoreTLS: true, requireTLS: false })).toMatch(
      /^(530|538|500) /,
    );
  });

  test('parameters that it has not offered, and sizes that are none', async () => {
    const login = Buffer.from(`\0svc\0${service.keys.live}`).toString('base64');
    const sender = 'MAIL FROM:<shop@sender.example>';
    const [offered = '', , ...replies] = await dialogue([
      'EHLO client.example',
      `AUTH PLAIN ${login}`,
      `${sender} SIZE=abc`,
      `${sender} SIZE=999999999`,
      `${sender} HOLDFOR=60`,
      `${sender} MT-PRIORITY=3`,
      `${sender} REQUIRETLS`,
      `${sender} SIZE=1000 BODY=8BITMIME SMTPUTF8`,
      'RCPT TO:<ada@example.com> RRVS=2014-04-03T23:01:00Z',
      'RCPT TO:<ada@example.com>',
    ]);
    expect(offered).toContain('SIZE 26214400');
    expect(offered).not.toMatch(/REQUIRETLS|MT-PRIORITY|BINARYMIME/);
    expect(replies.map((reply) => reply.slice(0, 3))).toEqual([
      '501',
      '552',
      '555',
      '555',
      '555',
      '250',
      '555',
      '250',
    ]);
    expect(replies[2]).toBe('555 5.5.4 Unknown parameter HOLDFOR');
  });
});

/** Says these lines one by one on the port inside TLS; the replies, each of one or several lines. */
async function dialogue(lines: readonly string[]): Promise<readonly string[]> {
  const socket = connect({ port: tlsPort, host: '127.0.0.1', ca: AUTHORITY, servername: 'relay.test' });
  const replies: string[] = [];
  let reply = '';
  for await (const line of createInterface({ input: socket })) {
    reply += `${line}\n`;
    if (line[3] !== ' ') continue;
    replies.push(reply.trim());
    reply = '';
    const next = lines[replies.length - 1];
    if (next === undefined) break;
    socket.write(`${next}\r\n`);
  }
  socket.destroy();
  return replies.slice(1);
}
