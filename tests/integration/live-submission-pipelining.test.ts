import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { eventually } from '../support/eventually.ts';
import { type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { type Script, type ScriptedSmtp, startScriptedSmtp } from './transport/scripted-smtp.ts';

// Each of these has made a server or a client that pipelines lose mail, send an empty one, or fall out of
// step, as its public list of bugs says.

let service: LiveService;
let next: ScriptedSmtp;
let port: number;

beforeAll(async () => {
  port = await freePort();
  next = await startScriptedSmtp();
  service = await startLiveService({
    transport: relayTo(next.port),
    environment: { SUBMISSION_PORT: String(port) },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await next[Symbol.asyncDispose]();
});

interface Session {
  readonly socket: Socket;
  /** The first lines of the replies so far, and their last lines where they have several. */
  replies(): readonly string[];
  until(count: number): Promise<readonly string[]>;
}

async function greeted(): Promise<Session> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  let said = '';
  socket.on('data', (octets) => {
    said += String(octets);
  });
  const replies = () => said.match(/^\d{3} .*$/gm) ?? [];
  const until = (count: number) =>
    eventually(`${count} replies`, () => (replies().length >= count ? replies() : undefined));
  await until(1);
  return { socket, replies, until };
}

const login = () => `AUTH PLAIN ${Buffer.from(`\0svc\0${service.keys.live}`).toString('base64')}\r\n`;
const MAIL = 'MAIL FROM:<shop@sender.example>\r\n';
const rcpt = (who: string): string => `RCPT TO:<${who}@example.com>\r\n`;
const message = (subject: string): string =>
  `From: Shop <shop@sender.example>\r\nTo: a@example.com\r\nSubject: ${subject}\r\n\r\n..Hello\r\n`;
const codes = (replies: readonly string[]): string => replies.map((reply) => reply.slice(0, 3)).join(' ');
const sent = (subject: string): number =>
  next.messages.filter((one) => one.includes(`Subject: ${subject}\r\n`)).length;

/** The status of the email that a reply to a message names, once it has a final one. */
async function endOf(reply: string | undefined): Promise<string> {
  const id = /em_\w+/.exec(reply ?? '')?.[0] ?? '';
  return (await service.until(id, ({ status }) => !['queued', 'sending'].includes(status))).status;
}

describe('the port', () => {
  test('takes a whole session in one packet, sign-in included (33hops/xsibackup 12)', async () => {
    const { socket, until } = await greeted();
    socket.write(
      `EHLO client.test\r\n${login()}${MAIL}${rcpt('a')}DATA\r\n${message('one')}.\r\n${MAIL}${rcpt('b')}DATA\r\n${message('two')}.\r\nQUIT\r\n`,
    );
    const replies = await until(12);
    expect(codes(replies)).toBe('220 250 235 250 250 354 250 250 250 354 250 221');
    for (const reply of [replies[6], replies[10]]) expect(await endOf(reply)).toBe('sent');
    expect([sent('one'), sent('two')]).toEqual([1, 1]);
  });

  test('takes it wherever a packet ends, be it in a command (jstedfast/MailKit 1221, 587)', async () => {
    for (const size of [1, 7, 61]) {
      const { socket, until } = await greeted();
      const octets = `EHLO client.test\r\n${login()}${MAIL}${rcpt('a')}DATA\r\n${message(`cut ${size}`)}.\r\nQUIT\r\n`;
      for (let at = 0; at < octets.length; at += size) {
        socket.write(octets.slice(at, at + size));
        await new Promise(setImmediate);
      }
      const replies = await until(8);
      expect(codes(replies)).toBe('220 250 235 250 250 354 250 221');
      expect(await endOf(replies[6])).toBe('sent');
      expect(sent(`cut ${size}`)).toBe(1);
    }
  });

  test('answers each of hundreds of recipients in one group (jstedfast/MailKit 1498)', async () => {
    const { socket, until } = await greeted();
    const many = Array.from({ length: 300 }, (_, n) => rcpt(`many${n}`)).join('');
    socket.write(`EHLO client.test\r\n${login()}${MAIL}${many}RSET\r\n${MAIL}${rcpt('a')}DATA\r\n`);
    const replies = await until(3 + 302 + 3);
    expect(codes(replies.slice(4, 304))).toBe(`${'250 '.repeat(100)}${'452 '.repeat(200)}`.trim());
    expect(codes(replies.slice(304))).toBe('250 250 250 354');
    socket.destroy();
  });

  test('names the refused recipients, then refuses DATA, and takes the next message after RSET (haraka/Haraka 538, swiftmailer 1265)', async () => {
    const { socket, until } = await greeted();
    socket.write(
      `EHLO client.test\r\n${login()}${MAIL}RCPT TO:<a@>\r\nRCPT TO:<@>\r\nDATA\r\n${MAIL}RSET\r\n${MAIL}${rcpt('a')}DATA\r\n${message('after')}.\r\n`,
    );
    const replies = await until(13);
    expect(codes(replies)).toBe('220 250 235 250 501 501 503 503 250 250 250 354 250');
    expect(await endOf(replies[12])).toBe('sent');
    expect(sent('after')).toBe(1);
    socket.destroy();
  });

  test('answers unknown commands in a group (OpenSMTPD 214), and holds no reply back behind them (IndySockets/Indy 239)', async () => {
    const { socket, until } = await greeted();
    socket.write(`EHLO client.test\r\n${login()}${MAIL}RCPTO TO:<a@example.com>\r\nNOOP\r\n${rcpt('a')}`);
    expect(codes(await until(7))).toBe('220 250 235 250 500 250 250');
    socket.write('RSET\r\n');
    expect(codes(await until(8))).toEndWith('250 250');
    socket.destroy();
  });

  test('drops the chunk of a group whose recipients were refused (emersion/go-smtp 315)', async () => {
    const { socket, until } = await greeted();
    socket.write(`EHLO client.test\r\n${login()}${MAIL}RCPT TO:<a@>\r\nBDAT 6 LAST\r\nRSET\r\nNOOP\r\n`);
    expect(codes(await until(7))).toBe('220 250 235 250 501 503 250');
    socket.destroy();
  });

  test('sends nothing of a message whose client leaves before its end, and all of one whose client leaves after it', async () => {
    const first = await greeted();
    first.socket.write(`EHLO client.test\r\n${login()}${MAIL}${rcpt('a')}DATA\r\n${message('cut off')}`);
    await first.until(6);
    first.socket.destroy();
    const second = await greeted();
    second.socket.write(
      `EHLO client.test\r\n${login()}${MAIL}${rcpt('a')}DATA\r\n${message('left')}.\r\nQUIT\r\n`,
    );
    const replies = await second.until(8);
    expect(await endOf(replies[6])).toBe('sent');
    expect([sent('cut off'), sent('left')]).toEqual([0, 1]);
  });
});

describe('the next server', () => {
  /** Submits a message while the next server acts by a script, and tells its end. */
  async function submitted(script: Script, subject: string, recipients: readonly string[]): Promise<string> {
    next.script = script;
    const { socket, until } = await greeted();
    socket.write(
      `EHLO client.test\r\n${login()}${MAIL}${recipients.map(rcpt).join('')}DATA\r\n${message(subject)}.\r\nQUIT\r\n`,
    );
    const replies = await until(7 + recipients.length);
    const end = await endOf(replies[5 + recipients.length]);
    next.script = {};
    return end;
  }

  test('is asked for the next message where it has refused MAIL in a group', async () => {
    expect(await submitted({ mail: '550 5.7.1 Not from you' }, 'no sender', ['d'])).toBe('failed');
    expect(sent('no sender')).toBe(0);
    expect(await submitted({}, 'next sender', ['e'])).toBe('sent');
  });

  test('takes one command at a time where it does not say PIPELINING (nymea/nymea-plugins 724)', async () => {
    expect(await submitted({ ehlo: '250 scripted.test' }, 'step by step', ['f'])).toBe('sent');
    expect(sent('step by step')).toBe(1);
  });

  test('gets the message for those whom it takes, and for them alone (thunderbird-android 2388)', async () => {
    const rcptOf = (command: string) => (command.includes('<h@') ? '550 5.1.1 Unknown' : '250 2.1.5 Ok');
    await submitted({ rcpt: rcptOf }, 'some', ['g', 'h', 'i']);
    await eventually('both have left', () => sent('some') >= 2 || undefined);
    expect(sent('some')).toBe(2);
  });
});
