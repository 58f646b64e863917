import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { createTransport } from 'nodemailer';
import type { SubmittedEnvelope } from '../../../src/mail/submission/envelope.ts';
import { openSubmissionServer } from '../../../src/mail/submission/submission-server.ts';
import { eventually } from '../../support/eventually.ts';
import { SmtpClient } from './smtp-client.ts';

interface Submitted {
  readonly raw: string;
  readonly envelope: SubmittedEnvelope;
}

let submitted: Submitted[] = [];
let raws: string[] = [];
/** The messages that are arriving. */
const room = 2 * 1024 * 1024;
const server = await openSubmissionServer({
  ...{ host: '127.0.0.1', port: 0, name: 'relay.test', tls: null, onError: () => {} },
  limits: { memory: { total: room, each: room } },
  mailReader: {
    submission: async (raw) => {
      raws.push(raw.toString('latin1'));
      return { email: { from: 'a@sender.example', to: [] }, idempotencyKey: null };
    },
  },
  onKey: async () => null,
  onSubmit: async (_key, _submission, _session, envelope) => {
    submitted.push({ raw: raws.at(-1) ?? '', envelope });
    return { id: 'em_1' };
  },
});
afterAll(() => server.close());
beforeEach(() => {
  submitted = [];
  raws = [];
});

const SIGN_IN = `AUTH PLAIN ${Buffer.from('\0svc\0key').toString('base64')}`;
const signedIn = async (): Promise<SmtpClient> => {
  const client = await SmtpClient.open(server.port);
  await client.say('EHLO client.test');
  await client.say(SIGN_IN);
  return client;
};
const first = async (client: SmtpClient, command: string): Promise<string> =>
  (await client.say(command))[0] ?? '';

test('the submission port announces what it honours, and nothing else', async () => {
  const client = await SmtpClient.open(server.port);
  const extensions = (await client.say('EHLO client.test')).slice(1).map((line) => line.slice(4));
  expect(extensions.toSorted()).toEqual(
    ['8BITMIME', 'AUTH PLAIN LOGIN', 'CHUNKING', 'DSN', 'ENHANCEDSTATUSCODES', 'PIPELINING']
      .concat('SIZE 26214400', 'SMTPUTF8')
      .toSorted(),
  );
  client.end();
});

/** A parameter of MAIL, and the code that answers it. */
const OF_MAIL: readonly (readonly [string, string])[] = [
  ['BODY=7BIT', '250 2.1.0'],
  ['BODY=8bitmime', '250 2.1.0'],
  ['BODY=BINARYMIME', '501 5.5.4'],
  ['BODY', '501 5.5.4'],
  ['BODY=8BITMIM+45', '501 5.5.4'],
  ['SIZE=0', '250 2.1.0'],
  ['SIZE=26214400', '250 2.1.0'],
  ['SIZE=26214401', '552 5.3.4'],
  ['SIZE=-1', '501 5.5.4'],
  ['SIZE=1e3', '501 5.5.4'],
  ['SIZE=', '501 5.5.4'],
  [`SIZE=${'9'.repeat(21)}`, '501 5.5.4'],
  ['SMTPUTF8', '250 2.1.0'],
  ['SMTPUTF8=', '501 5.5.4'],
  ['SMTPUTF8=yes', '501 5.5.4'],
  ['RET=FULL', '250 2.1.0'],
  ['ret=hdrs', '250 2.1.0'],
  ['RET=HEADERS', '501 5.5.4'],
  ['RET=', '501 5.5.4'],
  ['RET=FUL+4C', '501 5.5.4'],
  ['RET=FULL RET=HDRS', '501 5.5.4'],
  ['ENVID=QQ314159', '250 2.1.0'],
  ['ENVID=a+2Bb+20c+3D', '250 2.1.0'],
  [`ENVID=${'x'.repeat(100)}`, '250 2.1.0'],
  [`ENVID=${'x'.repeat(101)}`, '501 5.5.4'],
  ['ENVID=', '501 5.5.4'],
  ['ENVID=a=b', '501 5.5.4'],
  ['ENVID=a+b', '501 5.5.4'],
  ['ENVID=a+2b', '501 5.5.4'],
  ['ENVID=a+0D+0Ab', '501 5.5.4'],
  ['ENVID=a+C3+A9', '501 5.5.4'],
  ['ENVID=a+7F', '501 5.5.4'],
  ['ENVID=a ENVID=b', '501 5.5.4'],
  ['AUTH=<>', '250 2.1.0'],
  ['AUTH=a+3Db', '250 2.1.0'],
  ['NOTIFY=NEVER', '555 5.5.4'],
  ['MT-PRIORITY=3', '555 5.5.4'],
];

const OF_RCPT: readonly (readonly [string, string])[] = [
  ['NOTIFY=NEVER', '250 2.1.5'],
  ['NOTIFY=success,Delay,FAILURE', '250 2.1.5'],
  ['NOTIFY=NEVER,SUCCESS', '501 5.5.4'],
  ['NOTIFY=SUCCESS,NEVER', '501 5.5.4'],
  ['NOTIFY=NEVER,NEVER', '501 5.5.4'],
  ['NOTIFY=SUCCESS,', '501 5.5.4'],
  ['NOTIFY=,SUCCESS', '501 5.5.4'],
  ['NOTIFY=ALWAYS', '501 5.5.4'],
  ['NOTIFY=', '501 5.5.4'],
  ['NOTIFY', '501 5.5.4'],
  ['NOTIFY=NEVE+52', '501 5.5.4'],
  ['NOTIFY=SUCCESS NOTIFY=NEVER', '501 5.5.4'],
  ['ORCPT=rfc822;Bob@receiver.example', '250 2.1.5'],
  ['ORCPT=rfc822;bob+2Btag@receiver.example', '250 2.1.5'],
  ['ORCPT=x400;/S=user/C=us', '501 5.5.4'],
  ['ORCPT=utf-8;b\\x{FC}b@receiver.example', '250 2.1.5'],
  [`ORCPT=rfc822;${'x'.repeat(493)}`, '250 2.1.5'],
  [`ORCPT=rfc822;${'x'.repeat(494)}`, '501 5.5.4'],
  ['ORCPT=bob@receiver.example', '501 5.5.4'],
  ['ORCPT=rfc822;', '501 5.5.4'],
  ['ORCPT=;bob', '501 5.5.4'],
  ['ORCPT=rfc822;a+b', '501 5.5.4'],
  ['ORCPT=rfc822;a+2bb', '501 5.5.4'],
  ['ORCPT=rfc822;a+0D+0Ab', '501 5.5.4'],
  ['RET=FULL', '555 5.5.4'],
  ['SIZE=3', '555 5.5.4'],
];

describe('a parameter is taken as its RFC writes it, and nothing else is', () => {
  test('of MAIL', async () => {
    const client = await signedIn();
    for (const [parameter, begins] of OF_MAIL) {
      const reply = await first(client, `MAIL FROM:<a@sender.example> ${parameter}`);
      expect([parameter, reply.slice(0, begins.length)]).toEqual([parameter, begins]);
      await client.say('RSET');
    }
    client.end();
  });

  test('of RCPT', async () => {
    const client = await signedIn();
    await client.say('MAIL FROM:<a@sender.example>');
    for (const [index, [parameter, begins]] of OF_RCPT.entries()) {
      const reply = await first(client, `RCPT TO:<b${index}@receiver.example> ${parameter}`);
      expect([parameter, reply.slice(0, begins.length)]).toEqual([parameter, begins]);
    }
    client.end();
  });

  test('an address beyond ASCII needs SMTPUTF8 (RFC 6531)', async () => {
    const client = await signedIn();
    expect(await first(client, 'MAIL FROM:<zoë@sender.example>')).toStartWith('553 5.6.7 ');
    expect(await first(client, 'MAIL FROM:<a@sender.example>')).toStartWith('250 ');
    expect(await first(client, 'RCPT TO:<zoë@receiver.example>')).toStartWith('553 5.6.7 ');
    await client.say('RSET');
    expect(await first(client, 'MAIL FROM:<zoë@sender.example> SMTPUTF8')).toStartWith('250 ');
    expect(
      await first(client, 'RCPT TO:<zoë@receiver.example> ORCPT=utf-8;zoë@receiver.example'),
    ).toStartWith('250 ');
    client.sendOctets(Buffer.from('RCPT TO:<zo\xeb@receiver.example>\r\n', 'latin1'));
    expect((await client.read())[0]).toStartWith('501 5.5.2 ');
    client.end();
  });
});

test('what a client asks for is handed on with the message', async () => {
  const client = await signedIn();
  await client.say('MAIL FROM:<shop@sender.example> RET=HDRS ENVID=a+2Bb BODY=8BITMIME SMTPUTF8');
  await client.say(
    'RCPT TO:<ada@receiver.example> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;ada+2Bx@receiver.example',
  );
  await client.say('RCPT TO:<bob@receiver.example> NOTIFY=NEVER');
  await client.say('RCPT TO:<cid@receiver.example>');
  await client.say('DATA');
  expect(await first(client, 'Subject: x\r\n\r\nx\r\n.')).toBe('250 2.0.0 Accepted as em_1');
  expect(submitted[0]?.envelope).toEqual({
    sender: 'shop@sender.example',
    ...{ returned: 'HDRS', envelopeId: 'a+b', isEightBit: true, isSmtpUtf8: true },
    recipients: [
      {
        address: 'ada@receiver.example',
        notify: ['SUCCESS', 'FAILURE'],
        originalRecipient: 'rfc822;ada+x@receiver.example',
      },
      { address: 'bob@receiver.example', notify: [], originalRecipient: null },
      { address: 'cid@receiver.example', notify: null, originalRecipient: null },
    ],
  });
  // The next message has none of it.
  await client.say('MAIL FROM:<>');
  await client.say('RCPT TO:<ada@receiver.example>');
  await client.say('DATA');
  await client.say('Subject: x\r\n\r\nx\r\n.');
  expect(submitted[1]?.envelope).toEqual({
    ...{ sender: null, returned: null, envelopeId: null, isEightBit: false, isSmtpUtf8: false },
    recipients: [{ address: 'ada@receiver.example', notify: null, originalRecipient: null }],
  });
  client.end();
});

/** A transaction up to its message. */
const ready = async (): Promise<SmtpClient> => {
  const client = await signedIn();
  await client.say('MAIL FROM:<a@sender.example>');
  await client.say('RCPT TO:<b@receiver.example>');
  return client;
};
const chunk = (octets: string, last = false): Buffer =>
  Buffer.from(`BDAT ${octets.length}${last ? ' LAST' : ''}\r\n${octets}`, 'latin1');
const replies = async (client: SmtpClient, count: number): Promise<string[]> => {
  const lines: string[] = [];
  while (lines.length < count) lines.push((await client.read())[0] ?? '');
  return lines;
};

describe('a message in chunks (RFC 3030)', () => {
  // Lines of dots, octets beyond ASCII, an end of line that two chunks share, and the words of commands.
  const MESSAGE = 'Subject: x\r\n\r\n.\r\n..\r\n\xe9\x00\r\nQUIT\r\n.\r\nRSET\r\nend\r\n';

  test('arrives octet by octet, however it is cut and sent', async () => {
    for (const size of [1, 2, 3, 7, 16, MESSAGE.length]) {
      const pieces = Array.from({ length: Math.ceil(MESSAGE.length / size) }, (_, index) =>
        MESSAGE.slice(index * size, (index + 1) * size),
      );
      const client = await ready();
      // Everything at once, as a client with PIPELINING may; then the last chunk, which is empty.
      client.sendOctets(Buffer.concat([...pieces.map((piece) => chunk(piece)), chunk('', true)]));
      const said = await replies(client, pieces.length + 1);
      expect(said.at(-1)).toBe('250 2.0.0 Accepted as em_1');
      expect(said[0]).toBe(`250 2.0.0 ${pieces[0]?.length} octets received`);
      expect(submitted.at(-1)?.raw).toBe(MESSAGE);
      client.end();
    }
  });

  test('arrives when its octets come one by one, and the next message of the session too', async () => {
    const client = await ready();
    for (const octet of chunk(MESSAGE, true)) client.sendOctets(Buffer.of(octet));
    expect((await client.read())[0]).toBe('250 2.0.0 Accepted as em_1');
    await client.say('MAIL FROM:<a@sender.example>');
    await client.say('RCPT TO:<b@receiver.example>');
    client.sendOctets(chunk('Subject: y\r\n\r\n', true));
    expect((await client.read())[0]).toBe('250 2.0.0 Accepted as em_1');
    expect(submitted.map(({ raw }) => raw)).toEqual([MESSAGE, 'Subject: y\r\n\r\n']);
    client.end();
  });

  /** What a client sends in one piece behind a session that has signed in, and how each of it is answered. */
  const REFUSED: Readonly<Record<string, readonly [string, readonly string[]]>> = {
    'without MAIL': ['BDAT 6 LAST\r\nQUIT\r\nNOOP\r\n', ['503 5.5.1', '250 2.0.0']],
    'without a recipient that was taken': [
      'MAIL FROM:<a@sender.example>\r\nRCPT TO:<b@>\r\nBDAT 6 LAST\r\nQUIT\r\nNOOP\r\n',
      ['250 2.1.0', '501 5.', '503 5.5.1', '250 2.0.0'],
    ],
    'with a word that is not LAST': [
      'MAIL FROM:<a@sender.example>\r\nRCPT TO:<b@r.example>\r\nBDAT 6 FIRST\r\nQUIT\r\nBDAT 6 LAST\r\nQUIT\r\nRSET\r\nNOOP\r\n',
      ['250 2.1.0', '250 2.1.5', '501 5.5.4', '503 5.5.1', '250 2.0.0', '250 2.0.0'],
    ],
    'with DATA or a recipient in the middle': [
      'MAIL FROM:<a@sender.example>\r\nRCPT TO:<b@r.example>\r\nBDAT 1\r\nxDATA\r\nRCPT TO:<c@r.example>\r\nMAIL FROM:<>\r\nBDAT 0 LAST\r\n',
      ['250 2.1.0', '250 2.1.5', '250 2.0.0', '503 5.5.1', '503 5.5.1', '503 5.5.1', '250 2.0.0'],
    ],
    'taken back with RSET': [
      'MAIL FROM:<a@sender.example>\r\nRCPT TO:<b@r.example>\r\nBDAT 1\r\nxRSET\r\nBDAT 1 LAST\r\nxNOOP\r\n',
      ['250 2.1.0', '250 2.1.5', '250 2.0.0', '250 2.0.0', '503 5.5.1', '250 2.0.0'],
    ],
  };
  for (const [name, [sent, begins]] of Object.entries(REFUSED))
    test(`${name} is answered in step, and its octets are no commands`, async () => {
      const client = await signedIn();
      client.sendOctets(Buffer.from(sent));
      const said = await replies(client, begins.length);
      expect(said.map((reply, index) => reply.slice(0, begins[index]?.length))).toEqual([...begins]);
      client.end();
    });

  test('without a number, or without a password, ends the session', async () => {
    for (const [isSignedIn, command, begins] of [
      [true, 'BDAT', '501 5.5.4'],
      [true, 'BDAT x LAST', '501 5.5.4'],
      [true, 'BDAT -1', '501 5.5.4'],
      [true, 'BDAT 1234567890123456', '501 5.5.4'],
      [false, 'BDAT 6 LAST', '530 5.7.0'],
    ] as const) {
      const client = isSignedIn ? await signedIn() : await SmtpClient.open(server.port);
      expect(await first(client, command)).toStartWith(begins);
      await client.ended;
    }
  });

  test('beyond its largest size is refused at the chunk that goes beyond, and the session goes on', async () => {
    const client = await ready();
    client.sendOctets(chunk('x'.repeat(1_000)));
    expect((await client.read())[0]).toStartWith('250 ');
    // The octets are dropped as they come.
    client.sendOctets(chunk('x'.repeat(25 * 1024 * 1024 - 999)));
    expect((await client.read())[0]).toStartWith('552 5.3.4 ');
    client.sendOctets(chunk('x', true));
    expect((await client.read())[0]).toStartWith('503 5.5.1 ');
    expect(await first(client, 'RSET')).toStartWith('250 ');
    expect(submitted).toEqual([]);
    client.end();
  });

  test('gives its room back when the client goes, or gives it up', async () => {
    const large = 'x'.repeat(room - 200_000);
    for (const leave of [
      (client: SmtpClient) => client.end(),
      (client: SmtpClient) => void client.say('RSET'),
    ]) {
      const client = await ready();
      client.sendOctets(chunk(large));
      expect((await client.read())[0]).toStartWith('250 ');
      leave(client);
      await eventually('room for another one', async () => {
        const next = await ready();
        next.sendOctets(chunk(large, true));
        const [reply = ''] = await next.read();
        next.end();
        return reply.startsWith('250 ') || undefined;
      });
      client.end();
    }
  });
});

test('nodemailer asks for reports', async () => {
  const client = createTransport({
    host: '127.0.0.1',
    port: server.port,
    auth: { user: 'svc', pass: 'key' },
  });
  await client.sendMail({
    ...{ from: 'shop@sender.example', to: 'ada@receiver.example', subject: 'x', text: 'x' },
    dsn: { id: 'order=1', return: 'headers', notify: ['success', 'delay'], recipient: 'shop@sender.example' },
  });
  client.close();
  expect(submitted[0]?.envelope).toMatchObject({
    ...{ sender: 'shop@sender.example', returned: 'HDRS', envelopeId: 'order=1' },
    recipients: [{ notify: ['SUCCESS', 'DELAY'], originalRecipient: 'rfc822;shop@sender.example' }],
  });
});

/** Runs a program with a message on its standard input; answers its code and what it said. */
const run = async (command: readonly string[], input: string) => {
  const child = Bun.spawn([...command], { stdin: Buffer.from(input), stdout: 'pipe', stderr: 'pipe' });
  const said = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, said: said.join('') };
};
const MAIL = 'From: shop@sender.example\nTo: ada@receiver.example\nSubject: x\n\nx\n';

const PYTHON = `
import smtplib, sys
with smtplib.SMTP('127.0.0.1', int(sys.argv[1])) as client:
    client.login('svc', 'key')
    client.sendmail('', ['ada@receiver.example'], sys.stdin.read().encode(),
        mail_options=['RET=FULL', 'ENVID=x+2By'], rcpt_options=['NOTIFY=FAILURE,DELAY'])
`;

const PROGRAMS: Readonly<Record<string, readonly [readonly string[], object]>> = {
  python3: [
    ['python3', '-c', PYTHON, String(server.port)],
    {
      ...{ sender: null, returned: 'FULL', envelopeId: 'x+y' },
      recipients: [{ notify: ['FAILURE', 'DELAY'] }],
    },
  ],
  msmtp: [
    [
      ...['msmtp', '--host=127.0.0.1', `--port=${server.port}`, '--auth=plain', '--user=svc', '--tls=off'],
      ...['--passwordeval=echo key', '--from=shop@sender.example', '--dsn-notify=success,failure'],
      ...['--dsn-return=headers', 'ada@receiver.example'],
    ],
    { sender: 'shop@sender.example', returned: 'HDRS', recipients: [{ notify: ['SUCCESS', 'FAILURE'] }] },
  ],
  swaks: [
    [
      ...['swaks', '--server', '127.0.0.1', '--port', String(server.port), '--auth', 'PLAIN'],
      ...['--auth-user', 'svc', '--auth-password', 'key', '--from', '<>', '--to', 'ada@receiver.example'],
      ...['--data', '-'],
    ],
    { sender: null, recipients: [{ notify: null }] },
  ],
};

for (const [program, [command, envelope]] of Object.entries(PROGRAMS)) {
  const isMissing = Bun.which(program) === null;
  if (isMissing) console.log(`Not shown here, since ${program} is not installed: what it asks for.`);
  test.if(!isMissing)(`${program} hands its envelope in`, async () => {
    const { code, said } = await run(command, MAIL);
    expect(code, said).toBe(0);
    expect(submitted[0]?.envelope).toMatchObject(envelope);
  });
}
