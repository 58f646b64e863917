import { describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { type AddressInfo, createServer, Socket } from 'node:net';
import type { Endpoint } from '../../../src/mail/transport/smtp/endpoint.ts';
import { openSession, type Progress, type Session } from '../../../src/mail/transport/smtp/session.ts';

/** The replies of a server, by what it has just read. A reply of null ends the connection. */
type Answers = (read: string) => string | null;

interface Peer extends AsyncDisposable {
  readonly port: number;
  /** All that it has read, one entry for each packet. */
  readonly reads: string[];
}

/** A server that answers each packet as a whole. */
async function startPeer(answers: Answers): Promise<Peer> {
  const reads: string[] = [];
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.write('220 peer.test ESMTP\r\n');
    socket.on('data', (octets) => {
      const read = octets.toString('latin1');
      reads.push(read);
      const answer = read.startsWith('QUIT') ? '221 2.0.0 Bye\r\n' : answers(read);
      if (answer === null) socket.end();
      else if (answer !== '') socket.write(answer);
    });
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    reads,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      listener.close();
    },
  };
}

const endpoint = (port: number): Endpoint => ({
  host: '127.0.0.1',
  port,
  name: 'peer.test',
  tls: 'none',
  verifyCertificate: true,
  ca: null,
  ehloName: 'posthorn.test',
  credentials: null,
  connectMs: 30_000,
  silenceMs: 60_000,
});
const signal = new AbortController().signal;
const open = ({ port }: Peer): Promise<Session> => openSession(endpoint(port), signal);
const transmit = (session: Session, message: string) => transmitPieces(session, [message]);
const transmitPieces = (session: Session, pieces: readonly string[]) =>
  session.transmit(
    { from: 'a@sender.example', recipients: ['b@receiver.example'] },
    pieces.map((piece) => Buffer.from(piece, 'latin1')),
    signal,
  );
const steps = (progress: readonly Progress[]) =>
  progress.map(({ step, reply }) => `${step} ${reply?.slice(0, 3) ?? 'none'}`);

const PIPELINING = '250-peer.test\r\n250-PIPELINING\r\n250 8BITMIME\r\n';
const taking: Answers = (read) =>
  read.startsWith('EHLO')
    ? PIPELINING
    : read.startsWith('MAIL')
      ? '250 2.1.0 Ok\r\n250 2.1.5 Ok\r\n354 Go ahead\r\n'
      : '250 2.0.0 Ok: queued\r\n';

const MESSAGE = `Subject: x\r\n\r\n${'A line of the message.\r\n'.repeat(300)}`;

describe('a message', () => {
  test('is two packets where the server pipelines: its envelope, and all its octets with the final dot', async () => {
    await using peer = await startPeer(taking);
    const session = await open(peer);
    for (const message of [MESSAGE, 'Subject: no end of line', '']) {
      peer.reads.length = 0;
      expect(steps(await transmit(session, message))).toEqual(['DOT 250']);
      const end = message.endsWith('\n') ? '.\r\n' : '\r\n.\r\n';
      expect(peer.reads).toEqual([
        'MAIL FROM:<a@sender.example>\r\nRCPT TO:<b@receiver.example>\r\nDATA\r\n',
        `${message}${end}`,
      ]);
    }
    session.quit();
  });

  // A message that is a header alone has an empty last piece. What is larger than 64 KiB is written by
  // nodemailer.
  test.each([
    ['in one write', 'Subject: x\r\n\r\n'],
    ['larger than that', `Subject: x\r\n\r\n${'A line of the message.\r\n'.repeat(4_000)}`],
  ])('in pieces ends once, at its last octet: %s', async (_, begin) => {
    // It reads a message up to its final dot, in any number of packets.
    let sent = '';
    await using peer = await startPeer((read) => {
      if (/^(?:EHLO|MAIL)/.test(read)) return taking(read);
      sent += read;
      return sent.endsWith('\r\n.\r\n') ? '250 2.0.0 Ok: queued\r\n' : '';
    });
    const session = await open(peer);
    for (const [last, end] of [
      [[''], ''],
      [['', ''], ''],
      [['x\r\n', ''], ''],
      [['x', '', ''], '\r\n'],
      [['x\r', '\n'], ''],
      [['Without an end'], '\r\n'],
      [['x\r\n', 'y'], '\r\n'],
      [['y'], '\r\n'],
    ] as const) {
      sent = '';
      expect(steps(await transmitPieces(session, [begin, ...last]))).toEqual(['DOT 250']);
      expect(sent.slice(begin.length)).toBe(`${last.join('')}${end}.\r\n`);
      expect(sent.startsWith(begin)).toBeTrue();
    }
    session.quit();
  });

  test('keeps its octets where a line begins with a dot or ends otherwise, and ends once', async () => {
    await using peer = await startPeer(taking);
    const session = await open(peer);
    for (const [message, sent] of [
      ['.\r\n..\r\nx\r\n', '..\r\n...\r\nx\r\n.\r\n'],
      ['x\n.\ny\r.\r', 'x\r\n..\r\ny\r\n..\r\n.\r\n'],
    ] as const) {
      peer.reads.length = 0;
      expect(steps(await transmit(session, message))).toEqual(['DOT 250']);
      expect(peer.reads.slice(1).join('')).toBe(sent);
    }
    session.quit();
  });

  test('sends one command at a time where the server does not pipeline', async () => {
    await using peer = await startPeer((read) =>
      read.startsWith('EHLO') ? '250 peer.test\r\n' : read.startsWith('DATA') ? '354 Go\r\n' : '250 Ok\r\n',
    );
    const session = await open(peer);
    peer.reads.length = 0;
    expect(steps(await transmit(session, MESSAGE))).toEqual(['DOT 250']);
    expect(peer.reads.map((read) => read.slice(0, 4))).toEqual(['MAIL', 'RCPT', 'DATA', 'Subj']);
    session.quit();
  });

  test('is in doubt once its octets have left, and not before', async () => {
    for (const [answers, told] of [
      [(read: string) => (read.startsWith('EHLO') ? PIPELINING : null), 'SESSION none'],
      [(read: string) => (/^(?:EHLO|MAIL)/.test(read) ? taking(read) : null), 'DOT none'],
    ] as const) {
      await using peer = await startPeer(answers);
      expect(steps(await transmit(await open(peer), MESSAGE))).toEqual([told]);
    }
  });

  test('is in doubt where it is given up in the moment in which its octets leave', async () => {
    await using peer = await startPeer(taking);
    const session = await open(peer);
    const given = new AbortController();
    const { write } = Socket.prototype;
    Socket.prototype.write = function (this: Socket, ...octets: Parameters<typeof write>) {
      const isTaken = write.apply(this, octets);
      if (String(octets[0]).startsWith('Subject: given up')) given.abort();
      return isTaken;
    } as typeof write;
    try {
      const envelope = { from: 'a@sender.example', recipients: ['b@receiver.example'] };
      const message = [Buffer.from('Subject: given up\r\n\r\nx\r\n')];
      expect(steps(await session.transmit(envelope, message, given.signal))).toEqual(['DOT none']);
    } finally {
      Socket.prototype.write = write;
    }
  });

  // RFC 2920 3.1. jstedfast/MailKit 1459 sent an empty message to those who were not refused;
  // chatmail/filtermail 146 asks for the single dot.
  test('does not leave where the server says 354 and has refused all recipients, or the sender', async () => {
    const refusing = (replies: string): Answers => {
      return (read) =>
        read.startsWith('EHLO')
          ? PIPELINING
          : read.startsWith('MAIL')
            ? replies
            : '554 5.5.1 No recipients\r\n';
    };
    {
      await using peer = await startPeer(refusing('250 2.1.0 Ok\r\n550 5.1.1 Unknown\r\n354 Go ahead\r\n'));
      const session = await open(peer);
      expect(steps(await transmit(session, MESSAGE))).toEqual(['RCPT 550']);
      expect(peer.reads.slice(2)).toEqual(['.\r\n']);
      session.quit();
    }
    await using peer = await startPeer(refusing('550 5.7.1 Not you\r\n503 5.5.1 No\r\n354 Go ahead\r\n'));
    const session = await open(peer);
    expect(steps(await transmit(session, MESSAGE))).toEqual(['MAIL 550']);
    await session.ended;
    expect(peer.reads.slice(2)).toEqual([]);
  });
});
