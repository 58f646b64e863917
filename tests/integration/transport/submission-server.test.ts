import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { createMailReader } from '../../../src/mail/reading/mail-reader.ts';
import {
  openSubmissionServer,
  type SubmissionFailure,
  type SubmittedRaw,
} from '../../../src/mail/submission/submission-server.ts';
import type { BudgetLimits } from '../../../src/platform/async/keyed-budget.ts';
import { longestStall } from '../../support/own-time.ts';
import { swaksMissing } from '../../support/swaks.ts';
import { AUTHORITY, TestCertificate } from './certificates.ts';

const KEY = 'svc_live_0123456789abcdefghijklmnopqrstuv';
let submitted: { key: string; submission: SubmittedRaw }[] = [];
let answer: { id: string } | SubmissionFailure = { id: 'em_1' };
let lookUpKey = async (key: string): Promise<{ workspaceId: string } | SubmissionFailure> =>
  key === KEY ? { workspaceId: 'ws_1' } : { code: 'UNAUTHORIZED', message: 'No such key.' };

// As long as it takes: how fast a mail is read is not what is shown here.
const mailReader = createMailReader({
  own: { threads: 2, deadlineMs: 600_000, startMs: 600_000, mostWaiting: 256, idleMs: 60_000 },
});
const open = (tls: TestCertificate | null, memory?: BudgetLimits) =>
  openSubmissionServer({
    mailReader,
    ...(memory && { limits: { memory } }),
    host: '127.0.0.1',
    port: 0,
    name: 'relay.test',
    tls,
    onError: () => {},
    onKey: (key) => lookUpKey(key),
    onSubmit: async (key, submission) => {
      if ('mail' in submission) submitted.push({ key, submission });
      return answer;
    },
  });

const secure = await open(new TestCertificate());
const trusting = await open(null);
afterAll(async () => {
  await Promise.all([secure.close(), trusting.close()]);
  mailReader.close();
});

const checkKey = lookUpKey;
beforeEach(() => {
  submitted = [];
  answer = { id: 'em_1' };
  lookUpKey = checkKey;
});

const MAIL = {
  from: 'shop@sender.example',
  to: 'bob@receiver.example',
  subject: 'Receipt',
  text: 'Thank you',
};

/** Any framework's mailer, in the person of nodemailer. Gives what the server said last. */
const send = async (
  mail: object = MAIL,
  { port = secure.port, user = 'svc', pass = KEY, ...options }: Record<string, unknown> = {},
) => {
  const client = createTransport({
    host: '127.0.0.1',
    port: port as number,
    auth: { user: user as string, pass: pass as string },
    tls: { ca: AUTHORITY, servername: 'relay.test' },
    ...options,
  });
  return client
    .sendMail(mail)
    .then(({ response }) => response)
    .catch(({ response, message }: { response?: string; message: string }) => response ?? message);
};

test('the submission server accepts a mail over STARTTLS under its key', async () => {
  expect(await send()).toBe('250 2.0.0 Accepted as em_1');
  expect(submitted).toMatchObject([
    { key: KEY, submission: { recipients: ['bob@receiver.example'], mail: { subject: 'Receipt' } } },
  ]);
});

test('the submission server passes an attachment on whole', async () => {
  const content = Buffer.from(Array.from({ length: 100_000 }, (_, n) => (n * 7) % 256));
  await send({ ...MAIL, html: '<p>Hi</p>', attachments: [{ filename: 'a.bin', content }] });
  const { octets = new Uint8Array(), index } = submitted[0]?.submission.mail ?? {};
  expect(index?.attachments).toMatchObject([{ filename: 'a.bin', size: content.length }]);
  expect(Buffer.from(octets).toString('latin1').replaceAll('\r\n', '')).toContain(content.toString('base64'));
});

test('the submission server passes on the largest attachment without blocking the process', async () => {
  const content = Buffer.alloc(18 * 1024 * 1024, 'A catalogue, with pictures. ');
  await send();
  const inBase64 = content.toString('base64').replace(/.{76}/g, '$&\r\n');
  // The collector may take its time amid one mail, and does not amid each: reading here would cost every one
  // of them.
  let least = Number.POSITIVE_INFINITY;
  for (let mail = 1; mail <= 3 && least >= 4; mail++) {
    const longest = await longestStall(async () =>
      expect(await send({ ...MAIL, attachments: [{ filename: 'a.bin', content }] })).toStartWith('250'),
    );
    const received = Buffer.from(submitted[mail]?.submission.mail.octets ?? []);
    expect(received.includes(inBase64)).toBe(true);
    // Beside other work of this thread, which neighbours make slower too: to read the mail here would take
    // six times as long. nodemailer, which writes it in this process, included: on an idle machine both ends
    // take twice that.
    const encoding = await longestStall(async () => content.toString('base64').replace(/.{76}/g, '$&\r\n'));
    least = Math.min(least, longest / encoding);
  }
  expect(least).toBeLessThan(4);
});

test('the submission server puts off large messages beyond its room with 452', async () => {
  const narrow = await open(null, { total: 300_000, each: 200_000 });
  const submit = (octets: number) =>
    send({ ...MAIL, text: `${'x'.repeat(60)}\n`.repeat(octets / 61) }, { port: narrow.port });
  expect(await submit(190_000)).toStartWith('250');
  expect(await submit(205_000)).toStartWith('452 4.3.1');
  expect(await submit(190_000)).toStartWith('250');
  await narrow.close();
});

test('the submission server takes a mail of parts without end, and shows its first text', async () => {
  const raw = `From: a@sender.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(400_000)}`;
  const envelope = { from: 'a@sender.example', to: 'b@receiver.example' };
  expect(await send({ raw, envelope })).toStartWith('250');
  expect(submitted.at(-1)?.submission.mail).toMatchObject({ text: 'x\n', index: { attachments: [] } });
});

describe('the submission server refuses', () => {
  test('a wrong password, a wrong user', async () => {
    expect(await send(MAIL, { pass: 'x' })).toBe('535 5.7.8 No such key.');
    expect(await send(MAIL, { user: 'admin' })).toStartWith('535 5.7.8 The user name is svc');
    expect(submitted).toEqual([]);
  });
  test('a mail without a password', async () => {
    expect(await send(MAIL, { auth: null })).toStartWith('530');
  });
  test('a password in clear text where TLS is offered', async () => {
    expect(await send(MAIL, { ignoreTLS: true })).toMatch(/^(538|530)|Invalid login|Missing/);
    expect(submitted).toEqual([]);
  });
  test('a mail over 25 MiB', async () => {
    const content = Buffer.alloc(20 * 1024 * 1024);
    expect(await send({ ...MAIL, attachments: [{ filename: 'big', content }] })).toStartWith('552');
    expect(submitted).toEqual([]);
  });
  test('the hundred-and-first recipient', async () => {
    const to = Array.from({ length: 101 }, (_, n) => `r${n}@receiver.example`);
    await send({ ...MAIL, to });
    expect(submitted[0]?.submission.recipients.length).toBe(100);
  });
});

describe('the submission server maps refusals of the service to SMTP codes', () => {
  const cases: [SubmissionFailure, string][] = [
    [{ code: 'FORBIDDEN', message: 'Verify the domain.' }, '550 5.7.1 Verify the domain.'],
    [{ code: 'QUOTA_EXCEEDED', message: 'Spent.' }, '550 5.7.1 Spent.'],
    [{ code: 'RATE_LIMITED', message: 'Slow down.' }, '451 4.7.1 Slow down.'],
    [{ code: 'SERVICE_UNAVAILABLE', message: 'Later.' }, '451 4.3.0 Later.'],
    [{ code: 'PAYLOAD_TOO_LARGE', message: 'Large.' }, '552 5.3.4 Large.'],
    [
      {
        code: 'VALIDATION_ERROR',
        message: 'Wrong.',
        extra: { details: [{ path: '/body/to/0', message: 'No\r\n250 address.' }] },
      },
      '554 5.6.0 Wrong. to/0: No 250 address.',
    ],
  ];
  for (const [failure, reply] of cases)
    test(reply, async () => {
      answer = failure;
      expect(await send()).toBe(reply);
    });

  test('the submission server answers 4xx when the service does not answer', async () => {
    lookUpKey = () => Promise.reject(new Error('no database'));
    expect(await send()).toStartWith('454 4.7.0');
  });
});

test('the submission server without a certificate takes the password in clear text', async () => {
  expect(await send(MAIL, { port: trusting.port })).toBe('250 2.0.0 Accepted as em_1');
});

const missing = swaksMissing({ tls: true });
if (missing !== null) console.log(`Not shown here, since ${missing}: submission by swaks.`);

describe.if(missing === null)('swaks', () => {
  const swaks = async (...options: string[]) => {
    const child = Bun.spawn(
      [
        'swaks',
        '--server',
        '127.0.0.1',
        '--from',
        'a@sender.example',
        '--to',
        'b@receiver.example',
        '--timeout',
        '20',
        ...options,
      ],
      { stdout: 'pipe', stderr: 'pipe' },
    );
    const said = await new Response(child.stdout).text();
    return { code: await child.exited, said };
  };
  const port = ['--port', String(secure.port)];
  const login = (pass: string) => ['--auth', 'PLAIN', '--auth-user', 'svc', '--auth-password', pass];

  test('with STARTTLS', async () => {
    const { code, said } = await swaks(...port, '--tls', ...login(KEY));
    expect([code, said.includes('Accepted as em_1')]).toEqual([0, true]);
  });
  test('with STARTTLS and LOGIN', async () => {
    expect(
      (await swaks(...port, '--tls', '--auth', 'LOGIN', '--auth-user', 'svc', '--auth-password', KEY)).code,
    ).toBe(0);
  });
  test('without STARTTLS is refused', async () => {
    expect((await swaks(...port, ...login(KEY))).code).not.toBe(0);
    expect(submitted).toEqual([]);
  });
  test('without STARTTLS where no certificate is set', async () => {
    expect((await swaks('--port', String(trusting.port), ...login(KEY))).code).toBe(0);
  });
  test('with a wrong password is refused', async () => {
    const { code, said } = await swaks(...port, '--tls', ...login('wrong'));
    expect([code, said.includes('535 5.7.8')]).toEqual([28, true]);
  });
  test('with a mail too large is refused', async () => {
    const home = await mkdtemp(join(tmpdir(), 'posthorn-swaks-'));
    const body = join(home, 'body');
    await Bun.write(body, `${'x'.repeat(70)}\n`.repeat(400_000));
    const { code, said } = await swaks(...port, '--tls', ...login(KEY), '--body', `@${body}`);
    await rm(home, { recursive: true });
    expect([code, /552 5\.3\.4/.test(said)]).toEqual([26, true]);
  });
});
