import { expect, test } from 'bun:test';
import { endForStop } from '../../../src/mail/inbound/connection.ts';
import { takeChunks } from '../../../src/mail/inbound/port/chunking.ts';
import {
  NO_EXTENSIONS,
  openSmtpServer,
  type SmtpServerLimits,
} from '../../../src/mail/inbound/smtp-server.ts';
import { SmtpClient } from '../transport/smtp-client.ts';

const open = (taken: string[], onOctets = () => {}, limits: Partial<SmtpServerLimits> = {}) =>
  openSmtpServer(
    { host: '127.0.0.1', port: 0, name: 'relay.test', tls: null, onError: () => {}, limits },
    () => ({
      authOptional: true,
      extensions: {
        ...NO_EXTENSIONS,
        keywords: ['CHUNKING'],
        extend: (connection, arrival) =>
          takeChunks(connection, { largest: 1_000, arrival, needsUser: false }),
      },
      onData: (stream, _, done) => {
        let message = '';
        stream.on('error', done);
        stream.on('error', done);
        stream.on('data', (chunk: Buffer) => {
          message += chunk.toString();
          onOctets();
        });
        stream.on('end', () => {
          taken.push(message);
          done(null, '2.0.0 Taken');
        });
      },
    }),
  );

test('a client that keeps its connection for later messages does not hold a stop up, and a message that is arriving is taken', async () => {
  const taken: string[] = [];
  const server = await open(taken);
  const [idle, sending] = [await SmtpClient.open(server.port), await SmtpClient.open(server.port)];
  for (const command of ['EHLO shop.test', 'MAIL FROM:<shop@sender.example>', 'RCPT TO:<ada@example.com>'])
    for (const client of [idle, sending]) await client.say(command);
  await sending.say('DATA');
  sending.sendOctets(Buffer.from('Subject: Hello\r\n\r\nHel'));
  await sending.flushed();
  const closed = server.close();
  expect((await idle.read())[0]).toStartWith('421 4.3.2 ');
  await idle.ended;
  idle.end();
  expect(await sending.say('lo.\r\n.')).toEqual(['250 2.0.0 Taken']);
  expect((await sending.read())[0]).toStartWith('421 4.3.2 ');
  await sending.ended;
  sending.end();
  await closed;
  expect(taken).toEqual(['Subject: Hello\r\n\r\nHello.\r\n']);
});

test('a message that is arriving as a chunk is taken', async () => {
  const taken: string[] = [];
  const begun = Promise.withResolvers<void>();
  const server = await open(taken, begun.resolve);
  const sending = await SmtpClient.open(server.port);
  for (const command of ['EHLO shop.test', 'MAIL FROM:<shop@sender.example>', 'RCPT TO:<ada@example.com>'])
    await sending.say(command);
  sending.sendOctets(Buffer.from('BDAT 24 LAST\r\nSubject: Hello\r\n\r\nHel'));
  await begun.promise;
  const closed = server.close();
  sending.sendOctets(Buffer.from('lo.'));
  expect(await sending.read()).toEqual(['250 2.0.0 Taken']);
  expect((await sending.read())[0]).toStartWith('421 4.3.2 ');
  await sending.ended;
  sending.end();
  await closed;
  expect(taken).toEqual(['Subject: Hello\r\n\r\nHello.']);
});

test.each([
  ['in the middle of DATA', 'DATA\r\nSubject: Hello\r\n\r\nHel'],
  ['in the middle of a chunk', 'BDAT 24 LAST\r\nSubject: Hello\r\n\r\nHel'],
  ['between two chunks', 'BDAT 4\r\nSubj'],
])('a client that falls silent %s does not hold a stop up', async (_, octets) => {
  const taken: string[] = [];
  const begun = Promise.withResolvers<void>();
  const server = await open(taken, begun.resolve, { silenceAtStopMs: 1 });
  const silent = await SmtpClient.open(server.port);
  for (const command of ['EHLO shop.test', 'MAIL FROM:<shop@sender.example>', 'RCPT TO:<ada@example.com>'])
    await silent.say(command);
  silent.sendOctets(Buffer.from(octets));
  await begun.promise;
  await server.close();
  const replies = [];
  for (let reply = ''; !reply.startsWith('421'); replies.push(reply)) [reply = ''] = await silent.read();
  expect(replies.at(-1)).toContain('Timeout');
  silent.end();
  expect(taken).toEqual([]);
});

test('a client that never closes its side does not hold a stop up', () => {
  const said: unknown[] = [];
  const connection = {
    _dataStream: false as const,
    _upgrading: false,
    send: (code: number) => said.push(code),
    _armTimeout: () => {},
    _onTimeout: () => {},
  };
  const _socket = { destroySoon: () => said.push('closed'), setTimeout: () => {} };
  endForStop({ ...connection, _socket }, 1);
  expect(said).toEqual([421, 'closed']);
});
