import { afterAll, describe, expect, test } from 'bun:test';
import type { Endpoint } from '../../../src/mail/transport/smtp/endpoint.ts';
import { RelayTransport } from '../../../src/mail/transport/smtp/relay.ts';
import type { RecipientOutcome } from '../../../src/mail/transport/transport.ts';
import { poolParts } from '../../support/pool-parts.ts';
import { aMessage } from '../../unit/transport/a-message.ts';
import { type Act, DROP, type Script, SILENCE, startScriptedSmtp } from './scripted-smtp.ts';

const server = await startScriptedSmtp();
afterAll(() => server[Symbol.asyncDispose]());

const endpoint = (changes: Partial<Endpoint> = {}): Endpoint => ({
  host: '127.0.0.1',
  port: server.port,
  name: 'scripted.test',
  tls: 'opportunistic',
  verifyCertificate: true,
  ca: null,
  ehloName: 'posthorn.test',
  credentials: null,
  connectMs: 30_000,
  silenceMs: 60_000,
  ...changes,
});

const LIMITS = { signal: new AbortController().signal, deadlineMs: 30_000 };
const PEOPLE = ['a@receiver.example', 'b@receiver.example', 'c@receiver.example'];
const message = aMessage({ recipients: PEOPLE, to: PEOPLE.map((address) => ({ name: null, address })) });

const said = ({ recipient, outcome, fault, subType, smtpCode }: RecipientOutcome) =>
  [recipient[0], outcome, fault, subType, smtpCode].filter((part) => part !== null).join(' ');

const attempt = async (
  script: Script,
  { deadlineMs = 30_000, connectMs = 30_000, big = false, to = message } = {},
) => {
  server.script = script;
  server.messages.length = 0;
  server.commands.length = 0;
  server.connections = 0;
  const relay = new RelayTransport(endpoint({ connectMs }), poolParts());
  const content = new Uint8Array(big ? 24_000_000 : 0);
  const attachments = big ? [{ filename: 'big', content, contentType: null, contentId: null }] : [];
  const outcomes = await relay.send({ ...to, attachments }, { ...LIMITS, deadlineMs });
  await relay.close();
  return outcomes.map(said);
};

const everyone = (verdict: string) => ['a', 'b', 'c'].map((who) => `${who} ${verdict}`);

describe('a fault of the relay at one SMTP step', () => {
  const lost = 'deferred infrastructure ConnectionFailed';
  const faults: [string, Script, string][] = [
    ['greeting 421', { greeting: '421 4.3.2 too busy' }, 'deferred infrastructure RateLimited 421'],
    ['greeting 554', { greeting: '554 no service' }, 'deferred infrastructure ConnectionFailed 554'],
    ['greeting dropped', { greeting: DROP }, lost],
    ['greeting silent', { greeting: SILENCE }, lost],
    ['EHLO 421', { ehlo: '421 later' }, 'deferred infrastructure RateLimited 421'],
    ['EHLO dropped', { ehlo: DROP }, lost],
    ['MAIL 421', { mail: '421 4.7.0 slow down' }, 'deferred infrastructure RateLimited 421'],
    ['MAIL 450', { mail: '450 4.3.0 later' }, 'deferred infrastructure General 450'],
    ['MAIL 550', { mail: '550 5.7.1 no' }, 'refused infrastructure PolicyRejected 550'],
    ['MAIL dropped', { mail: DROP }, lost],
    ['RCPT 421', { rcpt: '421 4.7.0 slow down' }, 'deferred infrastructure RateLimited 421'],
    ['RCPT 450', { rcpt: '450 4.2.2 full' }, 'deferred recipient MailboxFull 450'],
    ['RCPT 550', { rcpt: '550 5.1.1 unknown' }, 'refused recipient NoEmail 550'],
    ['RCPT dropped', { rcpt: DROP }, lost],
    ['DATA 421', { data: '421 4.3.0 no' }, 'deferred infrastructure RateLimited 421'],
    ['DATA 450', { data: '450 4.3.0 no' }, 'deferred infrastructure General 450'],
    ['DATA 550', { data: '554 5.5.1 no valid recipients' }, 'refused infrastructure General 554'],
    ['DATA dropped', { data: DROP }, lost],
    ['DOT 421', { dot: '421 4.3.0 shutting down' }, 'deferred infrastructure RateLimited 421'],
    ['DOT 450', { dot: '450 4.7.1 greylisted' }, 'deferred infrastructure RateLimited 450'],
    ['DOT 550', { dot: '550 5.6.0 spam' }, 'refused message ContentRejected 550'],
    ['DOT dropped', { dot: DROP }, 'unknown infrastructure ConnectionFailed'],
  ];
  for (const [name, script, verdict] of faults)
    test(`${name}: ${verdict}`, async () => {
      const connectMs = script.greeting === SILENCE ? 300 : 30_000;
      expect(await attempt(script, { connectMs })).toEqual(everyone(verdict));
      expect(server.messages.length).toBe(name.startsWith('DOT') ? 1 : 0);
      expect(server.connections).toBe(1);
    });

  for (const step of ['EHLO', 'MAIL', 'RCPT', 'DATA'] as const)
    test(`${step} silent: deferred at the deadline`, async () => {
      expect(await attempt({ [step.toLowerCase()]: SILENCE }, { deadlineMs: 200 })).toEqual(everyone(lost));
      expect(server.messages).toEqual([]);
    });

  test('DOT silent: unknown at the deadline', async () => {
    expect(await attempt({ dot: SILENCE }, { deadlineMs: 1_500 })).toEqual(
      everyone('unknown infrastructure ConnectionFailed'),
    );
  });

  test('dropped in the middle of a large message: deferred, since the dot never left', async () => {
    expect(await attempt({ dropInData: 100_000 }, { big: true })).toEqual(everyone(lost));
    expect(server.messages).toEqual([]);
  });

  test('slow at every step: accepted, as long as the deadline allows', async () => {
    expect(await attempt({ delayMs: 50 })).toEqual(everyone('accepted 250'));
    expect(await attempt({ delayMs: 50 }, { deadlineMs: 120 })).toEqual(everyone(lost));
  });

  test('refused connection: deferred', async () => {
    const relay = new RelayTransport(endpoint({ port: 1 }), poolParts());
    expect((await relay.send(message, LIMITS)).map(said)).toEqual(everyone(lost));
  });

  test('aborted by the caller: deferred before the dot, unknown after', async () => {
    for (const [script, verdict] of [
      [{ rcpt: SILENCE }, lost],
      [{ dot: SILENCE }, 'unknown infrastructure ConnectionFailed'],
    ] as const) {
      server.script = script;
      server.messages.length = 0;
      server.commands.length = 0;
      const abort = new AbortController();
      const relay = new RelayTransport(endpoint(), poolParts());
      const sent = relay.send(message, { signal: abort.signal, deadlineMs: 30_000 });
      const reached =
        'dot' in script
          ? () => server.messages.length > 0
          : () => server.commands.some((c) => c.startsWith('RCPT'));
      while (!reached()) await new Promise(setImmediate);
      abort.abort();
      expect((await sent).map(said)).toEqual(everyone(verdict));
    }
  });
});

describe('recipients of one message can fare differently', () => {
  const rcpt = (command: string): Act =>
    command.includes('<a@')
      ? '250 2.1.5 Ok'
      : command.includes('<b@')
        ? '450 4.7.1 greylisted'
        : '550 5.1.1 unknown';
  const refusals = ['b deferred infrastructure RateLimited 450', 'c refused recipient NoEmail 550'];

  test('accepted, deferred and refused', async () => {
    expect(await attempt({ rcpt })).toEqual(['a accepted 250', ...refusals]);
    expect(server.messages.length).toBe(1);
  });

  test('the replies at RCPT hold when the message then fails', async () => {
    expect(await attempt({ rcpt, dot: '554 5.6.0 spam' })).toEqual([
      'a refused message ContentRejected 554',
      ...refusals,
    ]);
    expect(await attempt({ rcpt, dot: DROP })).toEqual([
      'a unknown infrastructure ConnectionFailed',
      ...refusals,
    ]);
    // Not pipelined: of replies that arrive together with the hang-up nodemailer reads only the first, which
    // errs on the safe side.
    expect(await attempt({ ehlo: '250 scripted.test', rcpt, data: DROP })).toEqual([
      'a deferred infrastructure ConnectionFailed',
      ...refusals,
    ]);
  });

  test('without PIPELINING too', async () => {
    const ehlo = '250 scripted.test';
    expect(await attempt({ ehlo, rcpt })).toEqual(['a accepted 250', ...refusals]);
    expect(await attempt({ ehlo, rcpt, dot: DROP })).toEqual([
      'a unknown infrastructure ConnectionFailed',
      ...refusals,
    ]);
  });
});

describe('an address or a message that the server cannot take is refused before it is sent', () => {
  test('SMTPUTF8 where it is not offered', async () => {
    const utf8 = aMessage({
      to: [{ name: null, address: 'jürgen@receiver.example' }],
      recipients: ['jürgen@receiver.example'],
    });
    expect(await attempt({}, { to: utf8 })).toEqual(['j refused infrastructure General 553']);
    expect(server.commands).not.toContainEqual(expect.stringContaining('MAIL'));
    expect(await attempt({ ehlo: '250-scripted.test\r\n250 SMTPUTF8' }, { to: utf8 })).toEqual([
      'j accepted 250',
    ]);
    expect(server.commands).toContainEqual(expect.stringMatching(/^MAIL FROM:.* SMTPUTF8/));
  });

  test('a larger message than announced', async () => {
    expect(await attempt({ ehlo: '250-scripted.test\r\n250 SIZE 100' })).toEqual(
      everyone('refused message MessageTooLarge 552'),
    );
  });

  test('an address that would break the command', async () => {
    const forged = aMessage({ recipients: ['a@receiver.example>\r\nRCPT TO:<eve@evil.example'] });
    const [outcome] = await attempt({}, { to: forged });
    expect(outcome).toStartWith('a refused infrastructure');
    expect(server.commands.join()).not.toContain('evil');
  });
});

describe('the envelope sent to the relay', () => {
  test('has the return path and the recipients alone, in ASCII', async () => {
    await attempt(
      {},
      {
        to: aMessage({
          to: [{ name: null, address: 'x@Bücher.example' }],
          cc: [{ name: null, address: 'later@receiver.example' }],
          recipients: ['x@Bücher.example'],
          returnPath: 'b+token@bounces.sender.example',
        }),
      },
    );
    expect(server.commands.filter((command) => /^(MAIL|RCPT)/.test(command))).toEqual([
      'MAIL FROM:<b+token@bounces.sender.example>',
      'RCPT TO:<x@xn--bcher-kva.example>',
    ]);
  });
});

describe('the session pool of the relay', () => {
  const send = (relay: RelayTransport) => relay.send(message, LIMITS).then((outcomes) => outcomes.map(said));
  const ACCEPTED = everyone('accepted 250');
  const fresh = (script: Script = {}) => {
    server.script = script;
    server.connections = 0;
    server.commands.length = 0;
    server.messages.length = 0;
  };

  test('uses a session again, up to its number of messages', async () => {
    fresh();
    const relay = new RelayTransport(endpoint(), poolParts(), {
      sessions: 1,
      messagesPerSession: 3,
      idleMs: 60_000,
    });
    for (let i = 0; i < 7; i++) expect(await send(relay)).toEqual(ACCEPTED);
    expect(server.connections).toBe(3);
    await relay.close();
  });

  test('never opens more sessions than allowed', async () => {
    fresh();
    const relay = new RelayTransport(endpoint(), poolParts(), {
      sessions: 3,
      messagesPerSession: 100,
      idleMs: 60_000,
    });
    await Promise.all(Array.from({ length: 40 }, () => send(relay)));
    expect([server.connections, server.messages.length]).toEqual([3, 40]);
    await relay.close();
  });

  test('resets after a refusal and goes on with the same session', async () => {
    fresh({ rcpt: '550 5.1.1 unknown' });
    const relay = new RelayTransport(endpoint(), poolParts(), {
      sessions: 1,
      messagesPerSession: 100,
      idleMs: 60_000,
    });
    expect(await send(relay)).toEqual(everyone('refused recipient NoEmail 550'));
    server.script = {};
    expect(await send(relay)).toEqual(ACCEPTED);
    expect([server.connections, server.commands.filter((command) => command === 'RSET').length]).toEqual([
      1, 1,
    ]);
    await relay.close();
  });

  test('replaces a session that the server closed meanwhile, and sends once', async () => {
    fresh();
    const relay = new RelayTransport(endpoint(), poolParts(), {
      sessions: 1,
      messagesPerSession: 100,
      idleMs: 60_000,
    });
    await send(relay);
    server.dropAll();
    expect(await send(relay)).toEqual(ACCEPTED);
    server.script = {
      mail: () => {
        server.script = {};
        return '421 4.4.2 timeout';
      },
    };
    expect(await send(relay)).toEqual(ACCEPTED);
    expect([server.connections, server.messages.length]).toEqual([3, 3]);
    await relay.close();
  });

  test('gives up waiting for a place at the deadline', async () => {
    fresh({ dot: SILENCE });
    const relay = new RelayTransport(endpoint(), poolParts(), {
      sessions: 1,
      messagesPerSession: 100,
      idleMs: 60_000,
    });
    const stuck = relay.send(message, { ...LIMITS, deadlineMs: 1_500 });
    const waiting = relay.send(message, { ...LIMITS, deadlineMs: 100 });
    expect((await waiting).map(said)).toEqual(everyone('deferred infrastructure ConnectionFailed'));
    expect((await stuck).map(said)).toEqual(everyone('unknown infrastructure ConnectionFailed'));
    await relay.close();
  });

  test('ends an unused session by itself', async () => {
    fresh();
    const relay = new RelayTransport(endpoint(), poolParts(), {
      sessions: 1,
      messagesPerSession: 100,
      idleMs: 1,
    });
    await send(relay);
    while (!server.commands.includes('QUIT')) await new Promise(setImmediate);
    await relay.close();
  });
});
