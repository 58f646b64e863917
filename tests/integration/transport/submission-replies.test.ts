import { afterAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { createMailReader } from '../../../src/mail/reading/mail-reader.ts';
import { openInboundServer } from '../../../src/mail/received/inbound-server.ts';
import { openSubmissionServer } from '../../../src/mail/submission/submission-server.ts';
import { TestCertificate } from './certificates.ts';
import { SmtpClient } from './smtp-client.ts';

const mailReader = createMailReader({
  own: { threads: 1, deadlineMs: 600_000, startMs: 600_000, mostWaiting: 256, idleMs: 60_000 },
});
const shared = { host: '127.0.0.1', port: 0, name: 'relay.test', onError: () => {}, mailReader };
const PAIR = new TestCertificate();
/** The keys that the servers were asked about. */
const asked: string[] = [];
const submission = (tls: TestCertificate | null, implicitTls = false) =>
  openSubmissionServer({
    ...shared,
    tls,
    implicitTls,
    onKey: async (key) => {
      asked.push(key);
      return key === 'good' ? { workspaceId: 'ws_1' } : { code: 'UNAUTHORIZED', message: 'No such key.' };
    },
    onSubmit: async () => ({ id: 'em_1' }),
  });
const doors = {
  starttls: await submission(PAIR),
  implicit: await submission(PAIR, true),
  clear: await submission(null),
  reports: await openInboundServer<never>({
    isTogether: () => true,
    routeOf: (taker: never) => taker,
    ...shared,
    tls: PAIR,
    takesReports: (address) => address.startsWith('b+'),
    takersOf: async () => [],
    onMessage: async () => {},
    onReport: async () => {},
  }),
};
afterAll(async () => {
  await Promise.all(Object.values(doors).map((door) => door.close()));
  mailReader.close();
});

const plain = (user: string, pass: string): string => Buffer.from(`\0${user}\0${pass}`).toString('base64');

const extensionsOf = async (client: SmtpClient) =>
  (await client.say('EHLO client.test')).slice(1).map((line) => line.slice(4));

describe('AUTH is announced where a password may be sent, and taken there alone', () => {
  test('before STARTTLS it is not announced, and refused before a password is asked for', async () => {
    const client = await SmtpClient.open(doors.starttls.port);
    const before = await extensionsOf(client);
    expect(before).toContain('STARTTLS');
    expect(before.filter((line) => /AUTH/i.test(line))).toEqual([]);
    for (const command of ['AUTH PLAIN', 'AUTH LOGIN', 'AUTH XOAUTH2', `AUTH PLAIN ${plain('svc', 'good')}`])
      expect((await client.say(command))[0]).toStartWith('538 5.7.11 ');
    expect(asked).toEqual([]);
    await client.startTls();
    const after = await extensionsOf(client);
    expect(after).toContain('AUTH PLAIN LOGIN');
    expect(after).not.toContain('STARTTLS');
    expect((await client.say(`AUTH PLAIN ${plain('svc', 'good')}`))[0]).toStartWith('235 2.7.0 ');
    client.end();
  });

  test('inside TLS from the start, and in clear text where no certificate is set', async () => {
    for (const [port, isTls] of [
      [doors.implicit.port, true],
      [doors.clear.port, false],
    ] as const) {
      const client = await SmtpClient.open(port, isTls);
      expect(await extensionsOf(client)).toContain('AUTH PLAIN LOGIN');
      client.end();
    }
  });

  test('the port of reports takes no password', async () => {
    const client = await SmtpClient.open(doors.reports.port);
    expect((await extensionsOf(client)).filter((line) => /AUTH/i.test(line))).toEqual([]);
    expect((await client.say('AUTH PLAIN'))[0]).toStartWith('500 5.5.2 ');
    client.end();
  });
});

/** Commands one after the other, with the beginning of each reply. */
const TALKS: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'a submission that goes well': [
    ['HELO client.test', '250 '],
    ['NOOP', '250 2.0.0'],
    ['HELP', '214 2.0.0'],
    ['VRFY svc', '252 2.5.0'],
    ['AUTH LOGIN', '334 '],
    [Buffer.from('svc').toString('base64'), '334 '],
    [Buffer.from('good').toString('base64'), '235 2.7.0'],
    ['MAIL FROM:<a@sender.example> SIZE=100 BODY=8BITMIME', '250 2.1.0'],
    ['RCPT TO:<b@receiver.example>', '250 2.1.5'],
    [`RCPT TO:<"b c"@receiver.example>`, '553 5.1.3'],
    [`RCPT TO:<"b.c"@receiver.example>`, '250 2.1.5'],
    ['RSET', '250 2.0.0'],
    ['MAIL FROM:<a@sender.example>', '250 2.1.0'],
    ['RCPT TO:<b@receiver.example>', '250 2.1.5'],
    ['DATA', '354 '],
    ['From: a@sender.example\r\nSubject: x\r\n\r\nx\r\n.', '250 2.0.0'],
    ['QUIT', '221 2.0.0'],
  ],
  'a client that has not signed in': [
    ['MAIL FROM:<a@sender.example>', '503 5.5.1'],
    ['EHLO client.test', '250-'],
    ['MAIL FROM:<a@sender.example>', '530 5.7.0'],
    ['RCPT TO:<b@receiver.example>', '530 5.7.0'],
    ['DATA', '530 5.7.0'],
    ['AUTH CRAM-MD5', '504 5.5.4'],
    [`AUTH PLAIN ${plain('svc', 'bad')}`, '535 5.7.8'],
    ['AUTH PLAIN', '334 '],
    ['*', '501 5.'],
  ],
  'commands that are wrong': [
    ['EHLO client.test', '250-'],
    [`AUTH PLAIN ${plain('svc', 'good')}`, '235 2.7.0'],
    ['AUTH PLAIN', '503 5.5.1'],
    ['NONSENSE', '500 5.5.2'],
    ['RCPT TO:<b@receiver.example>', '503 5.5.1'],
    ['DATA', '503 5.5.1'],
    ['MAIL FROM:a', '501 5.'],
    ['MAIL FROM:<a@sender.example> BY=120;R', '555 5.5.4'],
    ['MAIL FROM:<a@sender.example> REQUIRETLS', '5'],
    ['MAIL FROM:<a@sender.example> SIZE=99999999', '552 5.3.4'],
    ['MAIL FROM:<a@sender.example>', '250 2.1.0'],
    ['MAIL FROM:<a@sender.example>', '503 5.5.1'],
    ['RCPT TO:<b@receiver.example> RRVS=2014-04-03T23:01:00Z', '555 5.5.4'],
    ['RCPT TO:b@', '501 5.'],
    ['DATA', '503 5.5.1'],
  ],
};

describe('every reply has a status, and what is not honoured is not announced', () => {
  for (const [name, talk] of Object.entries(TALKS))
    test(name, async () => {
      const client = await SmtpClient.open(doors.clear.port);
      const said: string[] = [];
      for (const [command] of talk) said.push((await client.say(command))[0] ?? '');
      client.end();
      expect(said.map((reply, index) => reply.slice(0, talk[index]?.[1].length))).toEqual(
        talk.map(([, begins]) => begins),
      );
      for (const reply of said.filter((one) => !/^(3|250-|250 relay)/.test(one)))
        expect(reply).toMatch(/^([245])\d\d \1\.\d{1,3}\.\d{1,3} \S/);
    });

  test('at each port', async () => {
    for (const { port } of [doors.starttls, doors.clear, doors.reports]) {
      const client = await SmtpClient.open(port);
      const extensions = await extensionsOf(client);
      expect(extensions).toContain('ENHANCEDSTATUSCODES');
      expect(extensions.filter((line) => /^(REQUIRETLS|BINARYMIME|XCLIENT|XFORWARD)/.test(line))).toEqual([]);
      client.end();
    }
  });

  test('the port of reports', async () => {
    const client = await SmtpClient.open(doors.reports.port);
    expect((await extensionsOf(client)).filter((line) => /^(DSN|CHUNKING)/.test(line))).toEqual(['CHUNKING']);
    expect((await client.say('MAIL FROM:<> RET=HDRS'))[0]).toStartWith('555 5.5.4 ');
    expect((await client.say('BDAT 0'))[0]).toStartWith('503 5.5.1 ');
    expect((await client.say('MAIL FROM:<>'))[0]).toStartWith('250 2.1.0 ');
    expect((await client.say('RCPT TO:<x@elsewhere.test>'))[0]).toStartWith('550 5.1.1 ');
    expect((await client.say('RCPT TO:<b+x@bounces.test>'))[0]).toStartWith('250 2.1.5 ');
    client.end();
  });

  test('to a connection too many', async () => {
    const clients = await Promise.all(Array.from({ length: 50 }, () => SmtpClient.open(doors.reports.port)));
    const socket = connect({ port: doors.reports.port, host: '127.0.0.1' });
    expect((await new SmtpClient(socket).read())[0]).toStartWith('421 4.7.0 ');
    for (const client of clients) client.end();
  });
});
