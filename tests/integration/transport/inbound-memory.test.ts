import { afterAll, expect, test } from 'bun:test';
import { createTransport } from 'nodemailer';
import { createMailReader } from '../../../src/mail/reading/mail-reader.ts';
import { LARGEST_INBOUND, openInboundServer } from '../../../src/mail/received/inbound-server.ts';
import { messageMemory } from '../../../src/platform/config/message-memory.ts';

const mailReader = createMailReader();
afterAll(() => mailReader.close());

const LINE = 'A line of a message that is taken.\r\n';
const rawOf = (lines: number) => `From: a@b.example\r\nSubject: x\r\n\r\n${LINE.repeat(lines)}`;
const RAW = rawOf(2_000);

/** The reply to a message at a listener with so much memory for one client, and the octets that it took. */
async function deliver(
  each: number,
  raw = RAW,
): Promise<{ readonly reply: string; readonly octets: number }> {
  let octets = 0;
  const server = await openInboundServer<string>({
    isTogether: () => true,
    routeOf: (taker: string) => taker,
    host: '127.0.0.1',
    port: 0,
    name: 'mx.test',
    tls: null,
    mailReader,
    takesReports: () => false,
    takersOf: async () => ['a route'],
    onReport: async () => {},
    onMessage: async (message) => {
      octets = message.raw.length;
    },
    onError: () => {},
    limits: { memory: { total: Math.max(each, 10_000_000), each } },
  });
  const door = createTransport({ host: '127.0.0.1', port: server.port, ignoreTLS: true });
  try {
    const sent = await door
      .sendMail({ envelope: { from: 'a@b.example', to: 'c@d.example' }, raw })
      .catch((error: Error & { response: string }) => error);
    return { reply: sent.response, octets };
  } finally {
    door.close();
    await server.close();
  }
}

test('each octet of a message that a route takes counts in the memory of its client', async () => {
  const { reply, octets } = await deliver(5_000_000);
  expect(reply).toStartWith('250');
  expect(octets).toBe(RAW.length);
  expect((await deliver(octets)).reply).toStartWith('250');
  expect((await deliver(octets - 1)).reply).toStartWith('452 4.3.1 Too many large messages');
});

test('the smallest machine takes the largest message', async () => {
  const { each } = messageMemory(0).received;
  const raw = rawOf(Math.floor(LARGEST_INBOUND / LINE.length) - 2);
  const { reply, octets } = await deliver(each, raw);
  expect([reply.slice(0, 3), octets]).toEqual(['250', raw.length]);
});
