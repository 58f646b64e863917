import { describe, expect, test } from 'bun:test';
import { createResolver } from '../../../src/mail/dns/resolver.ts';
import { DirectTransport } from '../../../src/mail/transport/direct/direct.ts';
import { mxGroupLimits } from '../../../src/mail/transport/direct/mx-group.ts';
import { LimitBook } from '../../../src/mail/transport/limits/limit-book.ts';
import type { Endpoint } from '../../../src/mail/transport/smtp/endpoint.ts';
import { FailoverTransport } from '../../../src/mail/transport/smtp/failover.ts';
import { RelayTransport } from '../../../src/mail/transport/smtp/relay.ts';
import type { Transport } from '../../../src/mail/transport/transport.ts';
import { eventually } from '../../support/eventually.ts';
import { type LimitedSmtp, type ServerLimits, startLimitedSmtp } from '../../support/limited-smtp.ts';
import { aMessage } from '../../unit/transport/a-message.ts';
import { a, mx, startNameServer } from './name-server.ts';

/**
 * Twenty sessions of three mails twice, and some more: sessions that end without a word all at once say
 * nothing before others do as well.
 */
const MAILS = 130;
/**
 * These tests are about limits, which a busy machine meets as well, and none is about a server that does not
 * answer.
 */
const PATIENT_MS = 120_000;
const LIMITS = { signal: new AbortController().signal, deadlineMs: PATIENT_MS };
const clocks = { now: Date.now, monotonic: () => performance.now() };

/** A transport to the server, with what it has learned. */
interface Sender extends AsyncDisposable {
  readonly transport: Transport;
  readonly book: LimitBook;
}

const relayTo = (server: LimitedSmtp, book = new LimitBook(clocks)): Sender => {
  const endpoint: Endpoint = {
    host: '127.0.0.1',
    port: server.port,
    name: 'limited.test',
    verifyCertificate: true,
    tls: 'none',
    ca: null,
    ehloName: 'posthorn.test',
    credentials: null,
    connectMs: PATIENT_MS,
    silenceMs: PATIENT_MS,
  };
  const parts = { site: book.of({ transport: 'smtp', server: 'limited.test' }), monotonic: clocks.monotonic };
  const transport = new RelayTransport(endpoint, parts);
  return { transport, book, [Symbol.asyncDispose]: () => transport.close() };
};

const directTo = async (server: LimitedSmtp): Promise<Sender> => {
  const dns = await startNameServer();
  dns.zone = { 'receiver.example MX': [mx('limited.test', 10)], 'limited.test A': [a('127.0.0.1')] };
  const book = new LimitBook(clocks);
  const transport = new DirectTransport({
    monotonic: clocks.monotonic,
    port: server.port,
    random: () => 0,
    ehloName: 'posthorn.test',
    book,
    connectMs: PATIENT_MS,
    mayConnect: () => true,
    limits: mxGroupLimits(20, 60_000),
    resolver: createResolver([dns.server], { timeoutMs: PATIENT_MS, rounds: 1 }),
  });
  return {
    transport,
    book,
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

/** The messages that the server does not get. */
const SILENT = /a refused connection|without a word/;

// Each limit at each transport, with PIPELINING at one of them and without it at the other: a session knows
// nothing of its transport.
for (const [which, [name, open]] of Object.entries(TRANSPORTS).entries())
  describe(`${name} has a limit, and puts no mail off for it`, () => {
    for (const [index, [limit, limits, numbers]] of CASES.entries()) {
      const isPipelining = index % 2 === which;
      test(`${limit}, ${isPipelining ? 'with' : 'without'} PIPELINING`, async () => {
        await using server = await startLimitedSmtp({ ...limits, isPipelining });
        await using sender = await open(server);
        expect(await burst(sender)).toEqual({ accepted: MAILS });
        expect(server.taken.toSorted()).toEqual([...everyone()]);
        if (!SILENT.test(limit)) expect(server.refused).toBeGreaterThan(0);
        expect(learned(sender)).toMatchObject(numbers);
      });
    }
  });

describe('limits on mails in a time and on recipients', () => {
  const rate = (reply: string, at: 'mail' | 'rcpt' | 'dot' = 'mail'): ServerLimits => ({
    rate: { most: 15, windowMs: 1_000, refusal: { at, reply } },
  });
  const CASES: Readonly<Record<string, ServerLimits>> = {
    '450 4.7.1 to MAIL': rate('450 4.7.1 Error: too much mail from 127.0.0.1'),
    '421 to MAIL': rate('421 4.7.28 Our system has detected an unusual rate of mail'),
    '451 4.7.1 to a recipient': rate('451 4.7.1 Rate limit exceeded, slow down', 'rcpt'),
    '454 after the dot': rate('454 Throttling failure: Maximum sending rate exceeded.', 'dot'),
  };
  for (const [how, limits] of Object.entries(CASES))
    test(`mails in a window: ${how}`, async () => {
      await using server = await startLimitedSmtp({ ...limits, isPipelining: true });
      await using sender = relayTo(server);
      expect(await burst(sender, 30)).toEqual({ accepted: 30 });
      expect(server.taken.toSorted()).toEqual([...everyone(30)]);
      expect(server.refused).toBeGreaterThan(0);
      const found = learned(sender).mailsPerMinute;
      // 15 in a second are 900 a minute, and what is found is never more.
      expect(found).toBeGreaterThan(0);
      expect(found).toBeLessThanOrEqual(900);
    });

  test('a server that took nothing and refuses for its rate is not waited for', async () => {
    await using server = await startLimitedSmtp({
      rate: { most: 0, windowMs: 60_000, refusal: { at: 'mail', reply: '450 4.7.1 Error: too much mail' } },
    });
    await using sender = relayTo(server);
    expect(await sendOne(sender, 1)).toMatchObject({ outcome: 'deferred', subType: 'RateLimited' });
  });

  for (const [name, open] of Object.entries(TRANSPORTS))
    test(`recipients of a mail at ${name}: the rest follow in further mails, and the next mail is divided beforehand`, async () => {
      await using server = await startLimitedSmtp({
        recipientsPerMail: { most: 10, refusal: { at: 'rcpt', reply: '452 4.5.3 Too many recipients' } },
      });
      await using sender = await open(server);
      const recipients = Array.from({ length: 25 }, (_, n) => addressOf(n));
      const send = () => sender.transport.send(aMessage({ recipients }), LIMITS);
      expect((await send()).map(({ recipient, outcome }) => [recipient, outcome])).toEqual(
        recipients.map((recipient) => [recipient, 'accepted']),
      );
      expect(server.taken.toSorted()).toEqual(recipients.toSorted());
      expect(learned(sender)).toMatchObject({ recipientsPerMail: 10 });
      const before = server.refused;
      await send();
      expect(server.refused).toBe(before);
      expect(server.taken).toHaveLength(50);
    });
});

test('a refused sender is the answer for each recipient, and no recipient is refused for it, with PIPELINING too', async () => {
  for (const isPipelining of [true, false]) {
    const refusal = { at: 'mail', reply: '450 4.1.8 Sender address rejected: Domain not found' } as const;
    await using server = await startLimitedSmtp({ mailsPerSession: { most: 0, refusal }, isPipelining });
    await using sender = relayTo(server);
    const recipients = [addressOf(1), addressOf(2)];
    const sent = await sender.transport.send(aMessage({ recipients }), LIMITS);
    expect(sent.map(({ outcome, smtpCode }) => [outcome, smtpCode])).toEqual([
      ['deferred', 450],
      ['deferred', 450],
    ]);
  }
});

describe('what was learned', () => {
  const connections = (most: number): ServerLimits => ({
    connections: { most, refusal: { at: 'connect', how: 'greeting', reply: '421 Too many connections' } },
    takesMs: 2,
  });

  test('is kept to from the first mail on after a restart', async () => {
    await using server = await startLimitedSmtp(connections(4));
    const stored = await (async () => {
      await using sender = relayTo(server);
      await burst(sender);
      return sender.book.entries;
    })();
    const book = new LimitBook(clocks);
    for (const entry of stored) book.adopt(entry);
    await using again = relayTo(server, book);
    await eventually('the former sessions have ended', () => (server.open === 0 ? true : undefined));
    server.refused = 0;
    expect(await burst(again, 40)).toEqual({ accepted: 40 });
    expect(server.refused).toBe(0);
    expect(learned(again)).toMatchObject({ connections: 4 });
  });

  test('is given up step by step when the server allows more', async () => {
    let ahead = 0;
    const moved = { now: () => Date.now() + ahead, monotonic: clocks.monotonic };
    await using server = await startLimitedSmtp(connections(3));
    await using sender = relayTo(server, new LimitBook(moved));
    await burst(sender);
    expect(learned(sender)).toMatchObject({ connections: 3 });
    server.limits = connections(6);
    for (const most of [4, 5, 6, 6]) {
      ahead += 3_600_000;
      expect(await burst(sender, 60)).toEqual({ accepted: 60 });
      expect(learned(sender)).toMatchObject({ connections: most });
    }
    expect(server.most).toBe(6);
    server.limits = {};
    for (let each = 0; each < 20 && learned(sender).connections !== undefined; each++) {
      ahead += 3_600_000;
      expect(await burst(sender, 30)).toEqual({ accepted: 30 });
    }
    expect(learned(sender).connections).toBeUndefined();
  });

  test('of mails a session is forgotten when a session carries more', async () => {
    let ahead = 0;
    const moved = { now: () => Date.now() + ahead, monotonic: clocks.monotonic };
    const perSession = (most: number): ServerLimits => ({
      mailsPerSession: { most, refusal: { at: 'mail', reply: '452 4.5.3 Too many messages sent' } },
    });
    await using server = await startLimitedSmtp(perSession(3));
    await using sender = relayTo(server, new LimitBook(moved));
    await burst(sender);
    expect(learned(sender)).toMatchObject({ mailsPerSession: 3 });
    server.limits = {};
    ahead += 3_600_000;
    expect(await burst(sender)).toEqual({ accepted: MAILS });
    expect(learned(sender).mailsPerSession).toBeUndefined();
  });
});

test('a relay whose sessions work is not passed over for the second one, and is not left alone', async () => {
  await using first = await startLimitedSmtp({
    connections: { most: 2, refusal: { at: 'connect', how: 'refused' } },
    mailsPerSession: { most: 4, refusal: { at: 'mail', reply: '421 4.3.2 Bye', closes: true } },
    takesMs: 2,
  });
  await using second = await startLimitedSmtp({});
  await using one = relayTo(first);
  await using other = relayTo(second);
  const relays = [one, other].map(({ transport }, index) => ({ name: `relay-${index}`, transport }));
  const transport = new FailoverTransport(relays, clocks.monotonic);
  expect(await burst({ ...one, transport })).toEqual({ accepted: MAILS });
  expect(second.taken).toEqual([]);
  expect(transport.states.map(({ state }) => state)).toEqual(['closed', 'closed']);
});

test('a relay that ends while mail waits for its sessions puts the mail off at once', async () => {
  const server = await startLimitedSmtp({
    connections: { most: 2, refusal: { at: 'connect', how: 'closed' } },
    takesMs: 60_000,
  });
  await using sender = relayTo(server);
  const sent = burst(sender, 12);
  await eventually('two sessions hold a mail', () => (server.taken.length === 2 ? true : undefined));
  await server[Symbol.asyncDispose]();
  const outcomes = Object.entries(await sent).map(([words, count]) => [words.split(':')[0], count]);
  expect(outcomes.flatMap(([outcome, count]) => (outcome === 'unknown' ? [count] : []))).toEqual([2]);
  expect(outcomes.every(([outcome]) => outcome === 'unknown' || outcome === 'deferred')).toBe(true);
});
