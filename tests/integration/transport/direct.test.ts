import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { createResolver } from '../../../src/mail/dns/resolver.ts';
import { type DirectOptions, DirectTransport } from '../../../src/mail/transport/direct/direct.ts';
import { mxGroupLimits } from '../../../src/mail/transport/direct/mx-group.ts';
import { freePort } from '../../../src/ops/torture/free-port.ts';
import { aMessage } from '../../unit/transport/a-message.ts';
import { CERTIFICATE, PRIVATE_KEY } from './certificates.ts';
import { a, aaaa, mx, startNameServer } from './name-server.ts';
import { DROP, type Script, SILENCE, startScriptedSmtp } from './scripted-smtp.ts';
import { startSink } from './smtp-sink.ts';

const port = await freePort();
const dns = await startNameServer();
const first = await startScriptedSmtp({}, { host: '127.0.0.1', port });
const second = await startScriptedSmtp({}, { host: '127.0.0.2', port });
const sixth = await startScriptedSmtp({}, { host: '::1', port });
const servers = [first, second, sixth];
afterAll(() => Promise.all([dns, ...servers].map((server) => server[Symbol.asyncDispose]())));

beforeEach(() => {
  for (const server of servers) {
    server.script = {};
    server.connections = 0;
    server.messages.length = 0;
    server.commands.length = 0;
  }
  dns.zone = {
    'receiver.test MX': [mx('mx1.receiver.test', 10), mx('mx2.receiver.test', 20)],
    'mx1.receiver.test A': [a('127.0.0.1')],
    'mx2.receiver.test A': [a('127.0.0.2')],
  };
  dns.asked.length = 0;
});

const LIMITS = { signal: new AbortController().signal, deadlineMs: 120_000 };
const POLITE = mxGroupLimits(10, 60_000);

const transport = (changes: Partial<DirectOptions> = {}) =>
  new DirectTransport({
    resolver: createResolver([dns.server], { timeoutMs: 5_000, rounds: 1 }),
    monotonic: () => performance.now(),
    random: () => 0,
    ehloName: 'posthorn.test',
    port,
    limits: POLITE,
    mayConnect: () => true,
    connectMs: 9_000,
    ...changes,
  });

const send = async (
  recipients: readonly string[],
  changes: Partial<DirectOptions> = {},
  deadlineMs = 10_000,
) => {
  const direct = transport(changes);
  const outcomes = await direct.send(aMessage({ recipients }), { ...LIMITS, deadlineMs });
  await direct.close();
  return outcomes.map(({ recipient, outcome, enhancedCode, remoteMta, subType }) =>
    [recipient, outcome, enhancedCode, subType, remoteMta && `from ${remoteMta}`].filter(Boolean).join(' '),
  );
};

const arrived = () => servers.map((server) => server.messages.length);
const BOB = ['bob@receiver.test'];

test('direct delivery goes to the most preferred host, whose acceptance confirms delivery', async () => {
  expect(await send(BOB)).toEqual(['bob@receiver.test accepted 2.0.0 from mx1.receiver.test']);
  expect(arrived()).toEqual([1, 0, 0]);
  expect(first.commands[0]).toBe('EHLO posthorn.test');
  expect(transport().confirmsDelivery).toBe(true);
});

describe('direct delivery tries the next host', () => {
  const faults: [string, Script][] = [
    ['hangs up', { greeting: DROP }],
    ['says nothing', { greeting: SILENCE }],
    ['has no service', { greeting: '554 no service' }],
    ['is too busy', { ehlo: '421 4.3.2 busy' }],
    ['greylists', { rcpt: '450 4.7.1 greylisted' }],
    ['has a temporary failure', { mail: '451 4.3.0 later' }],
    ['hangs up before the message', { data: DROP }],
    ['defers the message', { dot: '451 4.3.0 later' }],
  ];
  for (const [name, script] of faults)
    test(`when the first ${name}`, async () => {
      first.script = script;
      // Of a silent one nothing else tells than its time.
      const changes = script.greeting === SILENCE ? { connectMs: 2_000 } : {};
      expect(await send(BOB, changes)).toEqual(['bob@receiver.test accepted 2.0.0 from mx2.receiver.test']);
      expect(second.messages.length).toBe(1);
    });

  test('when the first has no address, or one without a listening server', async () => {
    for (const answer of [[], 'nxdomain', 'servfail', [a('127.0.0.9')]] as const) {
      dns.zone['mx1.receiver.test A'] = answer;
      expect(await send(BOB)).toEqual(['bob@receiver.test accepted 2.0.0 from mx2.receiver.test']);
    }
  });

  test('only for those whom the first deferred', async () => {
    first.script = {
      rcpt: (command) =>
        command.includes('<a@') ? '250 Ok' : command.includes('<b@') ? '550 5.1.1 no' : '450 4.2.0 later',
    };
    expect(await send(['a@receiver.test', 'b@receiver.test', 'c@receiver.test'])).toEqual([
      'a@receiver.test accepted 2.0.0 from mx1.receiver.test',
      'b@receiver.test refused 5.1.1 NoEmail from mx1.receiver.test',
      'c@receiver.test accepted 2.0.0 from mx2.receiver.test',
    ]);
    expect(second.commands.filter((command) => command.startsWith('RCPT'))).toEqual([
      'RCPT TO:<c@receiver.test>',
    ]);
  });
});

describe('direct delivery stops at this host', () => {
  test('after a refusal', async () => {
    first.script = { rcpt: '550 5.1.1 unknown' };
    expect(await send(BOB)).toEqual(['bob@receiver.test refused 5.1.1 NoEmail from mx1.receiver.test']);
    expect(second.connections).toBe(0);
  });

  test('when the reply to the final dot was lost: it might deliver a second copy', async () => {
    first.script = { dot: DROP };
    expect(await send(BOB)).toEqual(['bob@receiver.test unknown ConnectionFailed from mx1.receiver.test']);
    expect(second.connections).toBe(0);
  });

  test('after two that deferred', async () => {
    dns.zone['receiver.test MX'] = [1, 2, 3, 4].map((n) => mx(`mx${n}.receiver.test`, n));
    for (const n of [1, 2, 3, 4]) dns.zone[`mx${n}.receiver.test A`] = [a('127.0.0.1')];
    first.script = { rcpt: '450 4.7.1 greylisted' };
    expect(await send(BOB)).toEqual(['bob@receiver.test deferred 4.7.1 RateLimited from mx2.receiver.test']);
    expect(first.connections).toBe(2);
  });

  test('after five addresses without an answer', async () => {
    dns.zone['mx1.receiver.test A'] = [1, 2, 3, 4, 5, 6].map((n) => a(`127.0.1.${n}`));
    expect(await send(BOB)).toEqual(['bob@receiver.test deferred ConnectionFailed from mx1.receiver.test']);
    expect(second.connections).toBe(0);
  });
});

test('direct delivery tries IPv6 before IPv4', async () => {
  dns.zone['mx1.receiver.test AAAA'] = [aaaa('::1')];
  await send(BOB);
  expect(arrived()).toEqual([0, 0, 1]);
  sixth.script = { greeting: DROP };
  await send(BOB);
  expect(arrived()).toEqual([1, 0, 1]);
});

describe('direct delivery to several domains', () => {
  test('serves each domain by its own servers, with its own outcomes', async () => {
    dns.zone = {
      ...dns.zone,
      'other.test MX': [mx('mx.other.test', 10)],
      'mx.other.test A': [a('127.0.0.2')],
      'null.test MX': [mx('', 0)],
      'broken.test MX': 'servfail',
      'xn--bcher-kva.test A': [a('127.0.0.2')],
    };
    const people = [
      'a@receiver.test',
      'b@other.test',
      'c@null.test',
      'd@missing.test',
      'e@broken.test',
      'f@RECEIVER.test',
      'g@bücher.test',
    ];
    expect(await send(people)).toEqual([
      'a@receiver.test accepted 2.0.0 from mx1.receiver.test',
      'b@other.test accepted 2.0.0 from mx.other.test',
      'c@null.test refused 5.1.10 DomainNotFound',
      'd@missing.test refused 5.1.2 DomainNotFound',
      'e@broken.test deferred 4.4.3 ConnectionFailed',
      'f@RECEIVER.test accepted 2.0.0 from mx1.receiver.test',
      'g@bücher.test accepted 2.0.0 from xn--bcher-kva.test',
    ]);
    // Two of one domain travel together; no address shows in another's transaction.
    expect(arrived()).toEqual([1, 2, 0]);
  });
});

describe('direct delivery connects to no address that is not public', () => {
  for (const address of ['127.0.0.1', '10.0.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0'])
    test(address, async () => {
      dns.zone = { 'receiver.test MX': [mx('mx1.receiver.test', 1)], 'mx1.receiver.test A': [a(address)] };
      const direct = new DirectTransport({
        resolver: createResolver([dns.server]),
        monotonic: () => performance.now(),
        random: () => 0,
        ehloName: 'posthorn.test',
        port,
        limits: POLITE,
      });
      const [outcome] = await direct.send(aMessage({ recipients: BOB }), LIMITS);
      expect(outcome).toMatchObject({ outcome: 'deferred', remoteMta: null });
      expect(first.connections).toBe(0);
    });
  test('IPv4 in IPv6', async () => {
    const { isPublicAddress } = await import('../../../src/mail/transport/direct/public-address.ts');
    for (const address of ['::1', '::ffff:127.0.0.1', 'fe80::1', 'fc00::1', '64:ff9b::7f00:1'])
      expect(isPublicAddress(address)).toBe(false);
    for (const address of ['9.9.9.9', '2620:fe::fe']) expect(isPublicAddress(address)).toBe(true);
  });
});

describe('opportunistic TLS of direct delivery', () => {
  const secured = async (options: object) => {
    await using sink = await startSink(options, { host: '127.0.0.3', port });
    dns.zone = { 'receiver.test MX': [mx('mx1.receiver.test', 1)], 'mx1.receiver.test A': [a('127.0.0.3')] };
    const outcomes = await send(BOB);
    return [outcomes, sink.received.map(({ secure }) => secure)];
  };
  const ACCEPTED = [expect.stringContaining('accepted')];

  test('with a certificate of an unknown authority', async () => {
    expect(await secured({ key: PRIVATE_KEY, cert: CERTIFICATE })).toEqual([ACCEPTED, [true]]);
  });

  test('and left aside where the handshake fails', async () => {
    // A server that speaks no version of TLS that we do.
    const old = {
      key: PRIVATE_KEY,
      cert: CERTIFICATE,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1',
      ciphers: 'AES128-SHA',
    };
    expect(await secured(old)).toEqual([ACCEPTED, [false]]);
  });

  test('or where STARTTLS is refused', async () => {
    first.script = { ehlo: '250-mx\r\n250 STARTTLS' };
    expect(await send(BOB)).toEqual(['bob@receiver.test accepted 2.0.0 from mx1.receiver.test']);
    expect(first.commands).toContain('STARTTLS');
  });
});

describe('direct delivery to one receiving site', () => {
  const many = (count: number, domain = 'receiver.test') =>
    Array.from({ length: count }, (_, n) => aMessage({ recipients: [`r${n}@${domain}`] }));

  test('gets no more connections than allowed, over all its domains', async () => {
    dns.zone['other.test MX'] = [mx('mx1.receiver.test', 10), mx('mx2.receiver.test', 20)];
    const direct = transport({ limits: { ...POLITE, sessions: 2 } });
    await Promise.all(
      [...many(20), ...many(20, 'other.test')].map((message) => direct.send(message, LIMITS)),
    );
    expect([first.messages.length, first.connections]).toEqual([40, 2]);
    await direct.close();
  });

  test('gets no more messages a minute than allowed', async () => {
    const direct = transport({ limits: { ...POLITE, messagesPerMinute: 1_200 } });
    const begin = performance.now();
    const outcomes = await Promise.all(many(30).map((message) => direct.send(message, LIMITS)));
    // One second's worth at once, the other ten a twentieth of a second apart.
    expect(performance.now() - begin).toBeGreaterThan(400);
    expect(outcomes.flat().filter(({ outcome }) => outcome !== 'accepted')).toEqual([]);
    await direct.close();
  });

  test('that is busy until the deadline leaves the rest deferred', async () => {
    // The second turn comes seconds after the deadline: a machine that stands still for one does not bring it
    // closer.
    const direct = transport({ limits: { ...POLITE, messagesPerMinute: 6 } });
    const outcomes = await Promise.all(
      many(4).map((message) => direct.send(message, { ...LIMITS, deadlineMs: 2_000 })),
    );
    const kinds = outcomes.flat().map(({ outcome, subType }) => `${outcome} ${subType}`);
    expect(outcomes.flat().find(({ outcome }) => outcome === 'deferred')?.response).toContain(
      '10 connections at once (DIRECT_CONNECTIONS_PER_SITE), 6 messages a minute (DIRECT_MESSAGES_PER_MINUTE)',
    );
    expect(kinds.filter((kind) => kind === 'deferred RateLimited').length).toBeGreaterThanOrEqual(3);
    expect(kinds.filter((kind) => kind === 'accepted null').length).toBe(first.messages.length);
    await direct.close();
  });

  test('is given a part of it by each of several instances, as a deferral says', async () => {
    const direct = transport({ limits: { ...POLITE, messagesPerMinute: 60 } });
    direct.keepTo({ of: 4, rank: 2, isKnown: true });
    const outcomes = await Promise.all(
      many(4).map((message) => direct.send(message, { ...LIMITS, deadlineMs: 300 })),
    );
    expect(outcomes.flat().find(({ outcome }) => outcome === 'deferred')?.response).toEndWith(
      ', of which this instance, one of 4 that deliver, has 2 and 15',
    );
    await direct.close();
  });

  test('is looked up once for a burst, and again later', async () => {
    let now = 0;
    const direct = transport({ monotonic: () => now });
    await Promise.all(many(10).map((message) => direct.send(message, LIMITS)));
    expect(dns.asked.filter((question) => question.endsWith(' MX')).length).toBe(1);
    now += 31_000;
    dns.zone['receiver.test MX'] = [mx('mx2.receiver.test', 1)];
    await direct.send(aMessage({ recipients: BOB }), LIMITS);
    expect(second.messages.length).toBe(1);
    await direct.close();
  });
});

test('direct delivery defers at a deadline during the lookup', async () => {
  dns.zone['receiver.test MX'] = 'silence';
  expect(
    await send(BOB, { resolver: createResolver([dns.server], { timeoutMs: 60_000, rounds: 1 }) }, 100),
  ).toEqual(['bob@receiver.test deferred 4.4.5 RateLimited']);
});

describe('the doctor of direct delivery reports', () => {
  test('that the name leads to us and back', async () => {
    dns.zone['posthorn.test A'] = [a('192.0.2.7')];
    dns.zone['7.2.0.192.in-addr.arpa PTR'] = [{ type: 12, domain: 'posthorn.test' }];
    expect(await transport().verify()).toMatchObject([{ ok: true }]);
  });
  test('that it does not', async () => {
    expect(await transport().verify()).toMatchObject([
      { ok: false, advice: expect.stringContaining('EHLO_NAME') },
    ]);
    dns.zone['posthorn.test A'] = [a('192.0.2.7')];
    expect(await transport().verify()).toMatchObject([
      { ok: false, advice: expect.stringContaining('reverse DNS of 192.0.2.7') },
    ]);
  });
  test('whether mail can leave', async () => {
    const way = async () => (await transport({ probeDomain: 'receiver.test' }).verify()).at(-1);
    expect(await way()).toMatchObject({ ok: true, detail: 'mx1.receiver.test answers.' });
    dns.zone['mx1.receiver.test A'] = [a('127.0.0.9')];
    expect(await way()).toMatchObject({ ok: false, advice: expect.stringContaining('block this port') });
    dns.zone['receiver.test MX'] = 'servfail';
    expect(await way()).toMatchObject({ ok: false, advice: expect.stringContaining('DNS_SERVERS') });
  });
});
