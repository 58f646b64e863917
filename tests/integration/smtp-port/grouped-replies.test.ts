import { afterAll, describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { openSmtpServer, Refusal } from '../../../src/mail/inbound/smtp-server.ts';
import { eventually } from '../../support/eventually.ts';
import { AUTHORITY, TestCertificate } from '../transport/certificates.ts';

// RFC 2920 3.2: the replies to pipelined commands leave together, and none waits for a command that has not
// come or that takes its time.

/** Answers the recipient slow@receiver.example; absent while it has not come. */
let answerSlow: (() => void) | undefined;
const taken: string[] = [];
const server = await openSmtpServer(
  { host: '127.0.0.1', port: 0, name: 'relay.test', tls: new TestCertificate(), onError: () => {} },
  () => ({
    authOptional: true,
    onRcptTo: ({ address }, { envelope }, done) => {
      if (address.startsWith('slow')) answerSlow = () => done(null);
      else done(envelope.rcptTo.length < 3 ? null : new Refusal(452, '4.5.3 Too many recipients'));
    },
    onData: (stream, _session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        taken.push(Buffer.concat(chunks).toString());
        done(null, '2.0.0 Accepted');
      });
    },
  }),
);
afterAll(() => server.close());

/** A client, with all that it reads: one entry for each packet, or record of TLS, in which it came. */
interface Reader {
  readonly socket: Socket | TLSSocket;
  readonly reads: string[];
  /** The codes of the replies so far. */
  codes(): readonly string[];
  /** Waits for so many replies. */
  until(count: number): Promise<void>;
}

function readerOf(socket: Socket | TLSSocket): Reader {
  const reads: string[] = [];
  socket.on('data', (octets: Buffer) => reads.push(octets.toString()));
  const codes = () => reads.join('').match(/^\d{3}(?= )/gm) ?? [];
  const until = (count: number) =>
    eventually(`${count} replies`, () => codes().length >= count || undefined).then(() => {});
  return { socket, reads, codes, until };
}

async function greeted(isTls: boolean): Promise<Reader> {
  const plain = connect(server.port, '127.0.0.1');
  const first = readerOf(plain);
  await first.until(1);
  plain.write('EHLO client.test\r\n');
  await first.until(2);
  first.reads.length = 0;
  if (!isTls) return first;
  plain.write('STARTTLS\r\n');
  await first.until(1);
  plain.removeAllListeners('data');
  const secure = connectTls({ socket: plain, ca: AUTHORITY, servername: 'relay.test' });
  await once(secure, 'secureConnect');
  const second = readerOf(secure);
  secure.write('EHLO client.test\r\n');
  await second.until(1);
  second.reads.length = 0;
  return second;
}

const MAIL = 'MAIL FROM:<a@sender.example>\r\n';
const rcpt = (who: string): string => `RCPT TO:<${who}@receiver.example>\r\n`;

describe('the replies to pipelined commands', () => {
  for (const isTls of [false, true])
    test(`leave in one ${isTls ? 'record of TLS' : 'packet'}, in the order of the commands`, async () => {
      const { socket, reads, codes, until } = await greeted(isTls);
      socket.write(`RSET\r\n${MAIL}${['b', 'c', 'd', 'e', '.'].map(rcpt).join('')}DATA\r\n`);
      await until(8);
      expect(codes()).toEqual(['250', '250', '250', '250', '250', '452', '501', '354']);
      expect(reads.length).toBe(1);
      reads.length = 0;
      // The message, and the next envelope behind it: of the two groups the first ends with the reply to the
      // message.
      socket.write(`Subject: x\r\n\r\n.\r\n${MAIL}${rcpt('b')}DATA\r\nSubject: y\r\n\r\n.\r\nQUIT\r\n`);
      await until(6);
      expect(codes()).toEqual(['250', '250', '250', '354', '250', '221']);
      expect(taken.splice(0)).toEqual(['Subject: x\r\n\r\n', 'Subject: y\r\n\r\n']);
      socket.destroy();
    });

  test('do not wait for a command of which the end has not come', async () => {
    const { socket, reads, until } = await greeted(false);
    socket.write(`${MAIL}${rcpt('b')}RCPT TO:<c@receiver.exa`);
    await until(2);
    expect(reads.join('')).toMatch(/^250 2\.1\.0 .*\r\n250 2\.1\.5 .*\r\n$/);
    socket.write('mple>\r\n');
    await until(3);
    socket.destroy();
  });

  test('do not wait for a recipient whose look-up takes its time, and keep their order', async () => {
    const { socket, codes, until } = await greeted(false);
    answerSlow = undefined;
    socket.write(`${MAIL}${rcpt('b')}${rcpt('slow')}${rcpt('c')}DATA\r\n`);
    await until(2);
    const answer = await eventually('the slow one has come', () => answerSlow);
    expect(codes()).toEqual(['250', '250']);
    answer();
    await until(5);
    expect(codes()).toEqual(['250', '250', '250', '250', '354']);
    socket.destroy();
  });

  test('leave before a command that is not of a group, STARTTLS among them', async () => {
    const { socket, codes, until } = await greeted(false);
    socket.write(`${MAIL}STARTTLS\r\n`);
    await until(2);
    expect(codes()).toEqual(['250', '220']);
    socket.removeAllListeners('data');
    const secure = connectTls({ socket, ca: AUTHORITY, servername: 'relay.test' });
    await once(secure, 'secureConnect');
    const inside = readerOf(secure);
    secure.write(`EHLO client.test\r\nRSET\r\nNOOP\r\n${rcpt('b')}${MAIL}`);
    await inside.until(5);
    expect(inside.codes()).toEqual(['250', '250', '250', '503', '250']);
    secure.destroy();
  });

  test('all leave before the server ends the session, with 421 and after QUIT', async () => {
    const many = await greeted(false);
    many.socket.write(`${MAIL}${'BAD\r\n'.repeat(5)}${MAIL}${'BAD\r\n'.repeat(5)}${MAIL}`);
    await once(many.socket, 'end');
    const bad = (count: number) => Array.from({ length: count }, () => '500');
    expect(many.codes()).toEqual(['250', ...bad(5), '503', ...bad(4), '421']);
    const quit = await greeted(false);
    quit.socket.write(`${MAIL}${rcpt('b')}QUIT\r\n${MAIL}`);
    await once(quit.socket, 'end');
    expect(quit.codes()).toEqual(['250', '250', '221']);
  });

  test('are read on by a client that sends 20,000 commands before it reads the first reply', async () => {
    const { socket, codes, until } = await greeted(false);
    socket.pause();
    socket.write('RSET\r\n'.repeat(20_000));
    socket.resume();
    await until(20_000);
    expect(new Set(codes())).toEqual(new Set(['250']));
    socket.destroy();
  });
});
