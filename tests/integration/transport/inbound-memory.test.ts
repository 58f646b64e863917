import { afterAll, expect, test } from 'bun:test';
import { createTransport } from 'nodemailer';
import { createMailReader } from '../../../src/mail/reading/mail-reader.ts';
import { openInboundServer } from '../../../src/mail/received/inbound-server.ts';

const mailReader = createMailReader();
afterAll(() => mailReader.close());

const RAW = `From: a@b.example\r\nSubject: x\r\n\r\n${'A line of a message that is taken.\r\n'.repeat(2_000)}`;

/** The reply to a message at a listener with so much memory for one client, and the octets that it took. */
async function deliver(each: number): Promise<{ readonly reply: string; readonly octets: number }> {
  let octets = 0;
  const server = await openInboundServer<string>({
    ...{ isTogether: () => true, routeOf: (taker: string) => taker },
    ...{ host: '127.0.0.1', port: 0, name: 'mx.test', tls: null, mailReader },
    takesReports: () => false,
    takersOf: async () => ['a route'],
    onReport: async () => {},
    onMessage: async ({ raw }) => {
      octets = raw.length;
    },
    onError: () => {},
    limits: { memory: { total: 10_000_000, each } },
  });
  const door = createTransport({ host: '127.0.0.1', port: server.port, ignoreTLS: true });
  try {
    const sent = await door
      .sendMail({ envelope: { from: 'a@b.example', to: 'c@d.example' }, raw: RAW })
      .catch((error: Error & { response: string }) => error);
    return { reply: sent.response, octets };
  } finally {
    door.close();
    await server.close();
  }
}

test('each octet of a message that a route takes counts four times in the memory of its client', async () => {
  const { reply, octets } = await deliver(5_000_000);
  expect(reply).toStartWith('250');
  expect(octets).toBe(RAW.length);
  expect((await deliver(4 * octets)).reply).toStartWith('250');
  expect((await deliver(4 * octets - 1)).reply).toStartWith('452 4.3.1 Too many large messages');
});
