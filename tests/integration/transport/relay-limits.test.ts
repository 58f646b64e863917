import { describe, expect, test } from 'bun:test';
import { DirectTransport } from '../../../src/transport/direct/direct.ts';
import { mxGroupLimits } from '../../../src/transport/direct/mx-group.ts';
import { createResolver } from '../../../src/transport/dns/resolver.ts';
import { LimitBook } from '../../../src/transport/limits/limit-book.ts';
import type { Endpoint } from '../../../src/transport/smtp/endpoint.ts';
import { RelayTransport } from '../../../src/transport/smtp/relay.ts';
import type { Transport } from '../../../src/transport/transport.ts';
import { type LimitedSmtp, type ServerLimits, startLimitedSmtp } from '../../support/limited-smtp.ts';
import { aMessage } from '../../unit/transport/a-message.ts';
import { a, mx, startNameServer } from './name-server.ts';

const MAILS = 120;
const LIMITS = { signal: new AbortController().signal, deadlineMs: 10_000 };
const clocks = { now: Date.now, monotonic: () => performance.now() };

/** A transport to the server, with what it has learned. */
interface Sender extends AsyncDisposable {
  readonly transport: Transport;
  readonly book: LimitBook;
}

const relayTo = (server: LimitedSmtp, book = new LimitBook(clocks)): Sender => {
  const endpoint: Endpoint = {
    ...{ host: '127.0.0.1', port: server.port, name: 'limited.test', verifyCertificate: true },
    tls: 'none',
    ...{ ca: null, ehloName: 'posthorn.test', credentials: null, connectMs: 5_000, silenceMs: 5_000 },
  };
  const parts = { site: book.of({ transport: 'smtp', server: 'limited.test' }), monotonic: clocks.monotonic };
  const transport = new RelayTransport(endpoint, undefined, parts);
  return { transport, book, [Symbol.asyncDispose]: () => transport.close() };
};

const directTo = async (server: LimitedSmtp): Promise<Sender> => {
  const dns = await startNameServer();
  dns.zone = { 'receiver.example MX': [mx('limited.test', 10)], 'limited.test A': [a('127.0.0.1')] };
  const book = new LimitBook(clocks);
  const transport = new DirectTransport({
    ...{ monotonic: clocks.monotonic, port: server.port, random: () => 0, ehloName: 'posthorn.test', book },
    ...{ mayConnect: () => true, limits: mxGroupLimits(20, 60_000) },
    resolver: createResolver([dns.server], { timeoutMs: 5_000, rounds: 1 }),
  });
  return {
    ...{ transport, book },
    async [Symbol.asyncDispose]() {
      await transport.close();
      await dns[Symbol.asyncDispose]();
    },
  };
};

const TRANSPORTS: Readonly<Record<string, (server: LimitedSmtp) => Promise<Sender>>> = {
  'the relay': async (server) => relayTo(server),
  'a receiving server': directTo,
};

const addressOf = (n: number): string => `r${n}@receiver.example`;
const sendOne = async ({ transport }: Sender, n: number) =>
  (await transport.send(aMessage({ recipients: [addressOf(n)] }), LIMITS))[0];

/** Sends so many at once, and answers what was said of those that were not taken. */
const burst = async (sender: Sender, mails = MAILS, from = 0): Promise<object> => {
  const sent = await Promise.all(Array.from({ length: mails }, (_, n) => sendOne(sender, from + n)));
  return tallied(
    sent.map((one) => (one?.outcome === 'accepted' ? 'accepted' : `${one?.outcome}: ${one?.response}`)),
  );
};
const tallied = (words: readonly string[]): object =>
  Object.fromEntries([...Map.groupBy(words, (word) => word)].map(([word, { length }]) => [word, length]));
const everyone = (mails = MAILS): readonly string[] =>
  Array.from({ length: mails }, (_, n) => addressOf(n)).toSorted();
const learned = ({ book }: Sender) =>
  Object.fromEntries(
    book.entries.flatMap(({ limits }) => Object.entries(limits).map(([name, { value }]) => [name, value])),
  );

const SESSION = 3;
const CONNECTIONS = 4;

/** Each limit in each form that servers refuse in, with the number that is known afterwards. */
const CASES: readonly (readonly [string, ServerLimits, Readonly<Record<string, number>>])[] = [
  ...(
    [
      [
        '452 4.5.3 to MAIL, the session stays open',
        { at: 'mail', reply: '452 4.5.3 Too many messages sent' },
      ],
      [
        '421 to MAIL, the session stays open',
        { at: 'mail', reply: '421 too many messages in this connection' },
      ],
      ['421 to MAIL, and the end', { at: 'mail', reply: '421 4.7.0 Bye', closes: true }],
      ['451 4.7.1 to MAIL', { at: 'mail', reply: '451 4.7.1 Please try again later' }],
      ['450 to MAIL without words', { at: 'mail', reply: '450 no' }],
      ['454 to MAIL', { at: 'mail', reply: '454 4.3.0 Try again' }],
      [
        '452 4.5.3 to the first recipient',
        { at: 'rcpt', reply: '452 4.5.3 Too many recipients this session' },
      ],
      [
        '452 4.4.5 to DATA',
        { at: 'data', reply: '452 4.4.5 Maximum number of messages per session exceeded.' },
      ],
      ['421 after the dot', { at: 'dot', reply: '421 4.7.0 Maximum message count per session reached' }],
      ['the end without a word', { at: 'end' }],
    ] as const
  ).map(
    ([how, refusal]) =>
      [
        `mails a session: ${how}`,
        { mailsPerSession: { most: SESSION, refusal } },
        { mailsPerSession: SESSION },
      ] as const,
  ),
  ...(
    [
      [
        '421 instead of a greeting',
        { at: 'connect', how: 'greeting', reply: '421 Too many concurrent SMTP connections' },
      ],
      ['421 without a reason', { at: 'connect', how: 'greeting', reply: '421 limited.test' }],
      ['450 instead of a greeting', { at: 'connect', how: 'greeting', reply: '450 4.3.2 not now' }],
      ['the end at once', { at: 'connect', how: 'closed' }],
      ['a refused connection', { at: 'connect', how: 'refused' }],
      ['421 to MAIL', { at: 'mail', reply: '421 4.3.2 Concurrent connections limit exceeded', closes: true }],
      ['452 to MAIL, the session stays open', { at: 'mail', reply: '452 4.5.3 Too many sessions' }],
      ['451 4.7.1 to MAIL', { at: 'mail', reply: '451 4.7.1 Please try again later' }],
      ['432 after the dot', { at: 'dot', reply: '432 4.3.2 Concurrent connections limit exceeded.' }],
    ] as const
  ).map(
    ([how, refusal]) =>
      [
        `connections at once: ${how}`,
        { connections: { most: CONNECTIONS, refusal }, takesMs: 5 },
        { connections: CONNECTIONS },
      ] as const,
  ),
];

/** What the server does not get to see. */
const SILENT = /a refused connection|without a word/;

for (const [name, open] of Object.entries(TRANSPORTS))
  describe(`${name} has a limit, and puts no mail off for it`, () => {
    for (const [limit, limits, numbers] of CASES)
      test(limit, async () => {
        await using server = await startLimitedSmtp(limits);
        await using sender = await open(server);
        expect(await burst(sender)).toEqual({ accepted: MAILS });
        expect(server.taken.toSorted()).toEqual([...everyone()]);
        if (!SILENT.test(limit)) expect(server.refused).toBeGreaterThan(0);
        expect(learned(sender)).toMatchObject(numbers);
      });
  });
