import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { openSubmissionServer } from '../../../src/mail/submission/submission-server.ts';
import { AUTHORITY, TestCertificate } from './certificates.ts';
import { SmtpClient } from './smtp-client.ts';
import { firstLine, openSubmissionSink } from './submission-sink.ts';

// Faults that were reported of other submission servers, tried at this one.

const { server, submitted, signedIn } = await openSubmissionSink(64 * 1024 * 1024);
const secure = await openSubmissionServer({
  host: '127.0.0.1',
  port: 0,
  name: 'relay.test',
  onError: () => {},
  tls: new TestCertificate(),
  mailReader: { submission: () => Promise.reject(new Error('No message comes.')) },
  onKey: async () => ({ workspaceId: 'ws_1' }),
  onSubmit: async () => ({ id: 'em_1' }),
});
afterAll(() => Promise.all([server.close(), secure.close()]));
beforeEach(() => void submitted.splice(0));

/** All that a server says to octets that come at once, up to its end of the connection or `count` replies. */
async function repliesTo(octets: string, count: number): Promise<readonly string[]> {
  const client = await signedIn();
  client.sendOctets(Buffer.from(octets, 'latin1'));
  const replies: string[] = [];
  while (replies.length < count) replies.push((await client.read()).join('\n'));
  client.end();
  return replies;
}

describe('an attacker', () => {
  test('cannot have commands before the handshake of STARTTLS carried out after it (CVE-2011-0411)', async () => {
    const socket = connect(secure.port, '127.0.0.1');
    await once(socket, 'data');
    socket.write('EHLO client.test\r\n');
    await once(socket, 'data');
    socket.write('STARTTLS\r\nEHLO injected.test\r\nNOOP injected\r\n');
    expect(String(await once(socket, 'data'))).toStartWith('220 ');
    const inside = connectTls({ socket, ca: AUTHORITY, servername: 'relay.test' });
    const said: string[] = [];
    inside.on('data', (octets) => said.push(String(octets)));
    inside.on('error', () => {});
    const handshake = await Promise.race([
      once(inside, 'secureConnect').then(() => 'secure'),
      once(inside, 'close').then(() => 'closed'),
    ]);
    if (handshake === 'secure') {
      inside.write('QUIT\r\n');
      await once(inside, 'end').catch(() => {});
      expect(said.join('').match(/^\d{3} /gm)).toEqual(['221 ']);
    }
    socket.destroy();
  });

  test.each(['\n.\n', '\n.\r\n', '\r\n.\n', '\r.\r', '\r\n.\r', '\r.\r\n', '\r\n\0.\r\n'])(
    'cannot end a message with %p, and hide another one behind it (CVE-2023-51764)',
    async (end) => {
      const hidden = `Subject: x\r\n\r\ntext${end}MAIL FROM:<b@sender.example>\r\nRCPT TO:<c@r.example>\r\nDATA\r\nhidden`;
      const replies = await repliesTo(
        `MAIL FROM:<a@sender.example>\r\nRCPT TO:<b@r.example>\r\nDATA\r\n${hidden}\r\n.\r\nNOOP\r\n`,
        5,
      );
      expect(replies.map((reply) => reply.slice(0, 3))).toEqual(['250', '250', '354', '250', '250']);
      expect(submitted.map(({ raw }) => raw)).toEqual([`${hidden}\r\n`]);
    },
  );

  test.each([
    'MAIL FROM:<a@sender.example\0>',
    'MAIL FROM:<a@sender.example>\rRCPT TO:<x@y.example>',
    'MAIL FROM:<a b@sender.example>',
    'MAIL FROM:<<a@sender.example>>',
    `MAIL FROM:<${'a'.repeat(2_000)}@sender.example>`,
  ])('cannot put more than an address into %p', async (command) => {
    const client = await signedIn();
    expect(await firstLine(client, command)).toMatch(/^5\d\d 5\./);
    client.end();
  });

  test('is not let in by a broken, cancelled or repeated AUTH, and says nothing of other sessions', async () => {
    const client = await SmtpClient.open(server.port);
    await client.say('EHLO client.test');
    for (const [command, begins] of [
      ['AUTH PLAIN =', '5'],
      ['AUTH PLAIN AHN2Yw==', '5'],
      [`AUTH PLAIN ${Buffer.from('\0admin\0ws_1').toString('base64')}`, '535 5.7.8'],
      ['AUTH CRAM-MD5', '504'],
      ['MAIL FROM:<a@sender.example>', '530'],
    ] as const)
      expect([command, await firstLine(client, command)]).toEqual([
        command,
        expect.stringMatching(new RegExp(`^${begins}`)),
      ]);
    await client.say('AUTH LOGIN');
    expect(await firstLine(client, '*')).toStartWith('501 5.');
    client.end();
    const known = await signedIn();
    expect(await firstLine(known, 'AUTH PLAIN AHN2YwB4')).toStartWith('503 5.5.1');
    for (const command of ['VRFY root', 'EXPN staff', 'XCLIENT ADDR=192.0.2.1', 'XFORWARD NAME=x'])
      expect(await firstLine(known, command)).not.toMatch(/^250/);
    known.end();
  });

  test('cannot make a session keep a line that never ends', async () => {
    const client = await signedIn();
    client.sendOctets(Buffer.alloc(1024 * 1024, 'x'));
    expect((await client.read())[0]).toMatch(/^[45]\d\d /);
    await client.ended;
    client.end();
  });
});
