import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { createTransport } from 'nodemailer';
import type { Feedback } from '../../../src/mail/inbound/feedback.ts';
import type { SmtpServerLimits } from '../../../src/mail/inbound/smtp-server.ts';
import { tokenOf } from '../../../src/mail/inbound/verp.ts';
import { createMailReader } from '../../../src/mail/reading/mail-reader.ts';
import { openInboundServer } from '../../../src/mail/received/inbound-server.ts';
import { RelayTransport } from '../../../src/mail/transport/smtp/relay.ts';
import { openSession } from '../../../src/mail/transport/smtp/session.ts';
import { eventually } from '../../support/eventually.ts';
import { leastStall } from '../../support/own-time.ts';
import { poolParts } from '../../support/pool-parts.ts';
import { aMessage } from '../../unit/transport/a-message.ts';
import { dsn, POSTFIX } from '../../unit/transport/reports.ts';
import { AUTHORITY, TestCertificate } from './certificates.ts';
import { postfixMissing, startPostfix } from './postfix.ts';
import { startScriptedSmtp } from './scripted-smtp.ts';
import { SmtpClient } from './smtp-client.ts';

let reports: (readonly Feedback[])[] = [];
let onReport = async (_: readonly Feedback[]) => {};
const mailReader = createMailReader();
const openSmtpServer = (limits: Partial<SmtpServerLimits> = {}) =>
  openInboundServer<never>({
    isTogether: () => true,
    routeOf: (taker: never) => taker,
    host: '127.0.0.1',
    port: 0,
    name: 'relay.test',
    tls: new TestCertificate(),
    takesReports: (address) => tokenOf(address) !== null || address === 'complaints@sender.example',
    takersOf: async () => [],
    onMessage: async () => {},
    mailReader,
    onReport: async (feedback) => {
      await onReport(feedback);
      reports.push(feedback);
    },
    onError: () => {},
    limits,
  });
const door = await openSmtpServer();
afterAll(async () => {
  await door.close();
  mailReader.close();
});
beforeEach(() => {
  reports = [];
  onReport = async () => {};
});

const endpoint = {
  host: '127.0.0.1',
  port: door.port,
  name: 'relay.test',
  tls: 'opportunistic',
  verifyCertificate: true,
  ca: AUTHORITY,
  ehloName: 'mx.receiver.example',
  credentials: null,
  connectMs: 5_000,
  silenceMs: 20_000,
} as const;

/** The reply of the receiver to a mail for these addresses. */
const deliver = (raw: Buffer, ...recipients: string[]) => deliverTo(door.port, raw, ...recipients);
const deliverTo = async (port: number, raw: Buffer, ...recipients: string[]) => {
  const { signal } = new AbortController();
  const session = await openSession({ ...endpoint, port }, signal);
  const progress = await session.transmit({ from: '', recipients }, [raw], signal);
  session.quit();
  return progress.map(({ step, reply }) => `${step} ${reply}`);
};

const BOUNCE = 'b+token-1@bounces.sender.example';

test('the bounce receiver accepts a bounce over TLS', async () => {
  expect(await deliver(dsn({ status: POSTFIX }), BOUNCE)).toEqual(['DOT 250 2.0.0 Thank you']);
  expect(reports).toMatchObject([[{ kind: 'bounced', reference: { token: 'token-1' } }]]);
});

test('the bounce receiver refuses mail for anyone else: it is no relay', async () => {
  expect(await deliver(dsn({ status: POSTFIX }), 'someone@elsewhere.example', BOUNCE)).toEqual([
    'RCPT 550 5.1.1 No such mailbox here',
    'DOT 250 2.0.0 Thank you',
  ]);
});

test('the bounce receiver takes mail of programs that is no report at a return path alone', async () => {
  const away = Buffer.from('Subject: Out of office\r\n\r\nBack on Monday.\r\n');
  expect(await deliver(away, BOUNCE)).toEqual(['DOT 250 2.0.0 Thank you']);
  expect(reports).toMatchObject([
    [{ kind: 'unread', subject: 'Out of office', reference: { token: 'token-1' } }],
  ]);
  expect(await deliver(away, 'complaints@sender.example')).toEqual([
    'DOT 550 5.7.1 This address takes reports alone (bounces, complaints, DMARC, TLS), and this is none that can be read; write to another address',
  ]);
  // A report without a fact, such as one of a failed signature (RFC 6591).
  const failure = 'Content-Type: multipart/report; report-type=feedback-report; boundary=b\r\n\r\n--b--\r\n';
  expect(await deliver(Buffer.from(failure), 'complaints@sender.example')).toEqual([
    'DOT 250 2.0.0 Thank you',
  ]);
});

test('the bounce receiver answers 4xx when a report cannot be stored', async () => {
  onReport = () => Promise.reject(new Error('no database'));
  expect(await deliver(dsn({ status: POSTFIX }), BOUNCE)).toEqual([
    'DOT 451 4.3.0 Cannot take this now, please try again',
  ]);
  expect(reports).toEqual([]);
});

test('the bounce receiver refuses a report that is too large, announced or not', async () => {
  const huge = Buffer.concat([dsn({ status: POSTFIX }), Buffer.alloc(34_000_000, `${'x'.repeat(70)}\r\n`)]);
  expect(await deliver(huge, BOUNCE)).toEqual([expect.stringContaining('MAIL 552')]);
  expect(await deliverUnannounced(huge)).toBe('552 5.3.4 The message is too large');
  expect(reports).toEqual([]);
});

/** Without SIZE, as a client may. */
const deliverUnannounced = (raw: Buffer) => {
  const client = createTransport({ host: '127.0.0.1', port: door.port, ignoreTLS: true });
  return client.sendMail({ raw: Readable.from([raw]), envelope: { from: '', to: [BOUNCE] } }).then(
    ({ response }) => response,
    ({ response }: { response: string }) => response,
  );
};

describe('the bounce receiver bounds what anybody may send:', () => {
  const ORIGINAL = `Return-Path: <b+token-1@bounces.sender.example>\nMessage-ID: <em_1@sender.example>\n\n`;
  const LONG = `${ORIGINAL}${`${'x'.repeat(70)}\n`.repeat(400_000)}`;

  test('of a long report only its ends are read, with the message behind the report or before it', async () => {
    const behind = dsn({ status: POSTFIX, original: LONG });
    const [head = '', before = '', status = '', returned = ''] = behind.toString().split('--B/1\r\n');
    const inFront = Buffer.from(
      [head, before, returned.replace('--B/1--\r\n', ''), `${status}--B/1--\r\n`].join('--B/1\r\n'),
    );
    for (const raw of [behind, inFront]) {
      expect(raw.length).toBeGreaterThan(28_000_000);
      expect(await deliver(raw, 'complaints@sender.example')).toEqual(['DOT 250 2.0.0 Thank you']);
    }
    const told = {
      kind: 'bounced',
      recipient: 'bob+shop@receiver.example',
      reference: { token: 'token-1', messageId: '<em_1@sender.example>' },
    };
    expect(reports).toMatchObject([[told], [told]]);
  });

  test('a mail of parts without end delays no other', async () => {
    const bomb = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(800_000)}`;
    await deliver(dsn({ status: POSTFIX }), BOUNCE);
    const stall = await leastStall(500, async () =>
      expect(await deliver(Buffer.from(bomb), BOUNCE)).toEqual(['DOT 250 2.0.0 Thank you']),
    );
    // It was 9.6 s at a stretch.
    expect(stall).toBeLessThan(500);
  });

  test('one address has so many connections, and may come back when one of them has ended', async () => {
    const narrow = await openSmtpServer({ connections: 2 });
    const greeted = async (): Promise<{ readonly socket: Socket; readonly said: string }> => {
      const socket = connect(narrow.port, '127.0.0.1');
      const [said] = (await once(socket, 'data')) as [Buffer];
      return { socket, said: said.toString() };
    };
    const first = await greeted();
    const second = await greeted();
    const third = await greeted();
    expect([first, second].map(({ said }) => said.slice(0, 4))).toEqual(['220 ', '220 ']);
    expect(third.said).toBe('421 4.7.0 Too many connections from your address, please try again later\r\n');
    first.socket.destroy();
    const fourth = await eventually('there is a place again', async () => {
      const next = await greeted();
      return next.said.startsWith('220') ? next : undefined;
    });
    for (const { socket } of [second, third, fourth]) socket.destroy();
    await narrow.close();
  });

  test('a message that does not arrive in time ends the connection, however often an octet comes', async () => {
    const narrow = await openSmtpServer({ arrival: { everyMs: 300, octets: 0, mostMs: 300 } });
    const dripping = async () => {
      const client = await SmtpClient.open(narrow.port);
      await client.say('EHLO client.example');
      await client.say('MAIL FROM:<>');
      await client.say(`RCPT TO:<${BOUNCE}>`);
      expect((await client.say('DATA'))[0]).toStartWith('354 ');
      const answer = client.read();
      const drip = setInterval(() => client.sendOctets(Buffer.from('x')), 20);
      expect((await answer)[0]).toStartWith('421 4.4.2 ');
      clearInterval(drip);
      await client.ended;
      client.end();
    };
    await dripping();
    // A message that has arrived is answered, whenever its handler ends: here behind the whole time of
    // another one.
    onReport = dripping;
    expect(await deliverTo(narrow.port, dsn({ status: POSTFIX, original: ORIGINAL }), BOUNCE)).toEqual([
      'DOT 250 2.0.0 Thank you',
    ]);
    await narrow.close();
  });

  test('large messages beyond its room are put off with 452', async () => {
    const KIB = 1_024;
    const size = dsn({ status: POSTFIX, original: ORIGINAL }).length;
    const of = (octets: number) =>
      dsn({ status: POSTFIX, original: `${ORIGINAL}${'x'.repeat(octets - size - 2)}\n` });
    const narrow = await openSmtpServer({ memory: { total: 100 * KIB, each: 100 * KIB } });
    expect(await deliverTo(narrow.port, of(100 * KIB), BOUNCE)).toEqual(['DOT 250 2.0.0 Thank you']);
    expect(await deliverTo(narrow.port, of(100 * KIB + 1), BOUNCE)).toEqual([
      'DOT 452 4.3.1 Too many large messages are arriving, please try again later',
    ]);
    expect(await deliverTo(narrow.port, of(100 * KIB), BOUNCE)).toEqual(['DOT 250 2.0.0 Thank you']);
    expect(reports.length).toBe(2);
    await narrow.close();
  });
});

const reason = postfixMissing();
if (reason !== null) console.log(`Not shown here, since ${reason}: the bounce of a real Postfix.`);

describe.if(reason === null)('the bounce of a real Postfix', () => {
  test('finds its way back by the VERP address', async () => {
    await using refusing = await startScriptedSmtp({ rcpt: '550 5.1.1 No such user' });
    await using postfix = await startPostfix({ relaysTo: refusing.port, bouncesTo: door.port });
    const relay = new RelayTransport({ ...endpoint, port: postfix.port, tls: 'none' }, poolParts());
    const [outcome] = await relay.send(
      aMessage({ recipients: ['gone+1@elsewhere.test'], returnPath: 'b+token-9@bounces.sender.example' }),
      {
        signal: new AbortController().signal,
        deadlineMs: 20_000,
      },
    );
    await relay.close();
    expect(outcome?.outcome).toBe('accepted');
    await eventually('the bounce came', async () => reports[0]);
    expect(reports).toMatchObject([
      [
        {
          kind: 'bounced',
          permanent: true,
          fault: 'recipient',
          subType: 'NoEmail',
          enhancedCode: '5.1.1',
          suppresses: true,
          recipient: 'gone+1@elsewhere.test',
          reference: { token: 'token-9', messageId: aMessage().messageId },
        },
      ],
    ]);
  });
});
