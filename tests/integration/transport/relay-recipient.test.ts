import { describe, expect, test } from 'bun:test';
import { LimitBook } from '../../../src/mail/transport/limits/limit-book.ts';
import type { Endpoint } from '../../../src/mail/transport/smtp/endpoint.ts';
import { RelayTransport } from '../../../src/mail/transport/smtp/relay.ts';
import { startLimitedSmtp } from '../../support/limited-smtp.ts';
import { aMessage } from '../../unit/transport/a-message.ts';

/**
 * The careful pace after a rest of the server takes half a minute: mail that waited for it would be put off.
 */
const LIMITS = { signal: new AbortController().signal, deadlineMs: 5_000 };
const clocks = { now: Date.now, monotonic: () => performance.now() };
const REFUSED = 'refused@receiver.example';
const others = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, n) => `r${from + n}@receiver.example`);

/** Replies of a relay that always refuses one recipient, in the words of its limits. */
const REPLIES = [
  '452 4.5.3 too many recipients',
  '452 4.5.3 Too many recipients this session',
  '452 Too many recipients received this hour',
  '452 4.5.3 Too many messages sent',
  '451 4.7.0 Too many messages',
  '450 4.7.1 rate limited',
  '451 4.7.1 Rate limit exceeded, slow down',
  '451 4.7.500 Server busy. Please try again later',
  '432 4.3.2 Concurrent connections limit exceeded',
];

const open = async (reply: string, sessions: number) => {
  const server = await startLimitedSmtp({ recipient: { address: REFUSED, reply }, isPipelining: true });
  const endpoint: Endpoint = {
    host: '127.0.0.1',
    port: server.port,
    name: 'limited.test',
    verifyCertificate: true,
    tls: 'none',
    ca: null,
    ehloName: 'posthorn.test',
    credentials: null,
    connectMs: 5_000,
    silenceMs: 5_000,
  };
  const book = new LimitBook(clocks);
  const parts = { site: book.of({ transport: 'smtp', server: 'limited.test' }), monotonic: clocks.monotonic };
  const transport = new RelayTransport(endpoint, parts, {
    sessions,
    messagesPerSession: 1_000,
    idleMs: 30_000,
  });
  const send = async (recipients: readonly string[]) =>
    (await transport.send(aMessage({ recipients }), LIMITS)).map(({ outcome }) => outcome);
  return {
    server,
    book,
    send,
    async [Symbol.asyncDispose]() {
      await transport.close();
      await server[Symbol.asyncDispose]();
    },
  };
};

const MAILS = 15;

for (const reply of REPLIES)
  describe(`a relay refuses one recipient always: ${reply}`, () => {
    for (const sessions of [1, 2, 20])
      test(`its mail alone is put off, over ${sessions} sessions, and again in the next attempt`, async () => {
        await using relay = await open(reply, sessions);
        const { server, book, send } = relay;
        await send(others(1, 1_000));
        for (const attempt of [1, 2]) {
          server.refused = 0;
          server.taken.length = 0;
          const first = others(MAILS)
            .slice(0, 5)
            .map((one) => send([one]));
          const refused = send([REFUSED]);
          const last = others(MAILS)
            .slice(5)
            .map((one) => send([one]));
          expect((await Promise.all([...first, ...last])).flat()).toEqual(Array(MAILS).fill('accepted'));
          expect([attempt, await refused]).toEqual([attempt, ['deferred']]);
          expect(server.refused).toBeLessThanOrEqual(3);
          expect(server.taken.toSorted()).toEqual(others(MAILS).toSorted());
        }
        expect(book.entries.map(({ limits }) => Object.keys(limits))).toEqual([['octetsPerMail']]);
      });

    test('alone, it is put off soon, and the next mail goes at once', async () => {
      await using relay = await open(reply, 20);
      await relay.send(others(1));
      expect(await relay.send([REFUSED])).toEqual(['deferred']);
      expect(relay.server.refused).toBeLessThanOrEqual(3);
      expect(await relay.send(others(1, 1))).toEqual(['accepted']);
    });

    for (const at of [0, 2, 4])
      test(`of a mail to five, as number ${at + 1}, it alone is put off`, async () => {
        await using relay = await open(reply, 20);
        const recipients = others(4).toSpliced(at, 0, REFUSED);
        const outcomes = recipients.map((one) => (one === REFUSED ? 'deferred' : 'accepted'));
        expect(await relay.send(recipients)).toEqual(outcomes);
        expect(relay.server.refused).toBeLessThanOrEqual(3);
        expect(relay.book.entries.map(({ limits }) => Object.keys(limits))).toEqual([['octetsPerMail']]);
      });
  });
