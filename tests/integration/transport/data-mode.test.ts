import { afterAll, beforeEach, expect, spyOn, test } from 'bun:test';
import { randomFrom } from '../../../src/ops/torture/random.ts';
import type { SmtpClient } from './smtp-client.ts';
import { openSubmissionSink } from './submission-sink.ts';

const { server, submitted, signedIn } = await openSubmissionSink(64 * 1024 * 1024);
afterAll(() => server.close());
beforeEach(() => void submitted.splice(0));

const begin = async (client: SmtpClient): Promise<void> => {
  await client.say('MAIL FROM:<a@sender.example>');
  await client.say('RCPT TO:<b@receiver.example>');
  expect((await client.say('DATA'))[0]).toStartWith('354 ');
};
/** RFC 5321 4.5.2. */
const stuffed = (message: string): string => message.replace(/(?<=^|\n)\./g, '..');

test('a message after DATA is what was sent, however it is cut: no end of line but CRLF, dot, CRLF ends it', async () => {
  const random = randomFrom(21);
  const words = ['\r\n', '\n', '\r', '.', '..', 'x', '\r\n..', '\n.\r', '\n.\n', '\r.\r', '.\r\n.', 'QUIT'];
  const client = await signedIn();
  for (let round = 0; round < 300; round++) {
    const of = Array.from({ length: random.between(0, 40) }, () => random.pick(words));
    const message = `${of.join('')}\r\n`;
    // A line that begins with a dot is stuffed where CRLF or LF is before it, as clients do.
    const sent = `${stuffed(message)}.\r\n`;
    await begin(client);
    const reply = client.read();
    const size = random.between(1, 9);
    for (let at = 0; at < sent.length; at += size) {
      client.sendOctets(Buffer.from(sent.slice(at, at + size), 'latin1'));
      if (round % 3 === 0) await new Promise(setImmediate);
    }
    expect((await reply)[0]).toBe('250 2.0.0 Accepted as em_1');
    expect([round, submitted.pop()?.raw]).toEqual([round, message]);
  }
  client.end();
});

test.each([
  ['', '.\r\n'],
  ['.\r\n', '..\r\n.\r\n'],
  ['.x\r\n', '.x\r\n.\r\n'],
  ['\n.\r\n', '\n.\r\n.\r\n'],
])('the message %p and what follows it in one packet are told apart', async (message, sent) => {
  const client = await signedIn();
  await client.say('MAIL FROM:<a@sender.example>');
  await client.say('RCPT TO:<b@receiver.example>');
  client.sendOctets(Buffer.from(`DATA\r\n${sent}NOOP\r\nNOOP\r\n`));
  const replies: string[] = [];
  while (replies.length < 4) replies.push((await client.read())[0]?.slice(0, 3) ?? '');
  expect(replies).toEqual(['354', '250', '250', '250']);
  expect(submitted.map(({ raw }) => raw)).toEqual([message]);
  client.end();
});

test('lines of dots take no turn of the event loop each', async () => {
  const lines = 50_000;
  const client = await signedIn();
  await begin(client);
  const turns = spyOn(globalThis, 'setImmediate');
  client.sendOctets(Buffer.from(`${'..\r\n'.repeat(lines)}.\r\n`));
  expect((await client.read())[0]).toStartWith('250 ');
  expect(turns.mock.calls.length).toBeLessThan(1_000);
  turns.mockRestore();
  expect(submitted[0]?.raw).toBe('.\r\n'.repeat(lines));
  client.end();
});
