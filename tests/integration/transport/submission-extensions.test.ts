import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { createTransport } from 'nodemailer';
import { SmtpClient } from './smtp-client.ts';
import { firstLine, openSubmissionSink } from './submission-sink.ts';

const { server, submitted, signedIn } = await openSubmissionSink(32 * 1024 * 1024);
afterAll(() => server.close());
beforeEach(() => void submitted.splice(0));

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
      const reply = await firstLine(client, `MAIL FROM:<a@sender.example> ${parameter}`);
      expect([parameter, reply.slice(0, begins.length)]).toEqual([parameter, begins]);
      await client.say('RSET');
    }
    client.end();
  });

  test('of RCPT', async () => {
    const client = await signedIn();
    await client.say('MAIL FROM:<a@sender.example>');
    for (const [index, [parameter, begins]] of OF_RCPT.entries()) {
      const reply = await firstLine(client, `RCPT TO:<b${index}@receiver.example> ${parameter}`);
      expect([parameter, reply.slice(0, begins.length)]).toEqual([parameter, begins]);
    }
    client.end();
  });

  test('an address beyond ASCII needs SMTPUTF8 (RFC 6531)', async () => {
    const client = await signedIn();
    expect(await firstLine(client, 'MAIL FROM:<zoë@sender.example>')).toStartWith('553 5.6.7 ');
    expect(await firstLine(client, 'MAIL FROM:<a@sender.example>')).toStartWith('250 ');
    expect(await firstLine(client, 'RCPT TO:<zoë@receiver.example>')).toStartWith('553 5.6.7 ');
    await client.say('RSET');
    expect(await firstLine(client, 'MAIL FROM:<zoë@sender.example> SMTPUTF8')).toStartWith('250 ');
    expect(
      await firstLine(client, 'RCPT TO:<zoë@receiver.example> ORCPT=utf-8;zoë@receiver.example'),
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
  expect(await firstLine(client, 'Subject: x\r\n\r\nx\r\n.')).toBe('250 2.0.0 Accepted as em_1');
  expect(submitted[0]?.envelope).toEqual({
    sender: 'shop@sender.example',
    returned: 'HDRS',
    envelopeId: 'a+b',
    isEightBit: true,
    isSmtpUtf8: true,
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
    sender: null,
    returned: null,
    envelopeId: null,
    isEightBit: false,
    isSmtpUtf8: false,
    recipients: [{ address: 'ada@receiver.example', notify: null, originalRecipient: null }],
  });
  client.end();
});

test('nodemailer asks for reports', async () => {
  const client = createTransport({
    host: '127.0.0.1',
    port: server.port,
    auth: { user: 'svc', pass: 'key' },
  });
  await client.sendMail({
    from: 'shop@sender.example',
    to: 'ada@receiver.example',
    subject: 'x',
    text: 'x',
    dsn: { id: 'order=1', return: 'headers', notify: ['success', 'delay'], recipient: 'shop@sender.example' },
  });
  client.close();
  expect(submitted[0]?.envelope).toMatchObject({
    sender: 'shop@sender.example',
    returned: 'HDRS',
    envelopeId: 'order=1',
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
      sender: null,
      returned: 'FULL',
      envelopeId: 'x+y',
      recipients: [{ notify: ['FAILURE', 'DELAY'] }],
    },
  ],
  msmtp: [
    [
      'msmtp',
      '--host=127.0.0.1',
      `--port=${server.port}`,
      '--auth=plain',
      '--user=svc',
      '--tls=off',
      '--passwordeval=echo key',
      '--from=shop@sender.example',
      '--dsn-notify=success,failure',
      '--dsn-return=headers',
      'ada@receiver.example',
    ],
    { sender: 'shop@sender.example', returned: 'HDRS', recipients: [{ notify: ['SUCCESS', 'FAILURE'] }] },
  ],
  swaks: [
    [
      'swaks',
      '--server',
      '127.0.0.1',
      '--port',
      String(server.port),
      '--auth',
      'PLAIN',
      '--auth-user',
      'svc',
      '--auth-password',
      'key',
      '--from',
      '<>',
      '--to',
      'ada@receiver.example',
      '--data',
      '-',
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
