import { afterAll, describe, expect, test } from 'bun:test';
import type { Endpoint } from '../../../src/mail/transport/smtp/endpoint.ts';
import { RelayTransport } from '../../../src/mail/transport/smtp/relay.ts';
import { poolParts } from '../../support/pool-parts.ts';
import { aMessage } from '../../unit/transport/a-message.ts';
import { AUTHORITY, CERTIFICATE, PRIVATE_KEY } from './certificates.ts';
import { startScriptedSmtp } from './scripted-smtp.ts';
import { type Sink, startSink } from './smtp-sink.ts';

const PAIR = { key: PRIVATE_KEY, cert: CERTIFICATE };
const plain = await startSink();
const startTls = await startSink({ ...PAIR, authOptional: false });
const noAuth = await startSink({ disabledCommands: ['STARTTLS', 'AUTH'] });
const implicit = await startSink({ ...PAIR, secure: true });
afterAll(() => Promise.all([plain, noAuth, startTls, implicit].map((sink) => sink[Symbol.asyncDispose]())));

const relay = (sink: Sink, changes: Partial<Endpoint> = {}) =>
  new RelayTransport(
    {
      host: '127.0.0.1',
      port: sink.port,
      name: 'relay.test',
      tls: 'opportunistic',
      verifyCertificate: true,
      ca: AUTHORITY,
      ehloName: 'posthorn.test',
      credentials: null,
      connectMs: 30_000,
      silenceMs: 10_000,
      ...changes,
    },
    poolParts(),
  );

const LIMITS = { signal: new AbortController().signal, deadlineMs: 120_000 };
const sent = async (transport: RelayTransport) => {
  const [outcome] = await transport.send(aMessage(), LIMITS);
  await transport.close();
  return outcome;
};
const credentials = { user: 'svc', pass: 'secret' };

describe('a message arrives through the relay', () => {
  test('in clear text where nothing else is offered', async () => {
    expect(await sent(relay(plain))).toMatchObject({
      outcome: 'accepted',
      remoteMta: 'relay.test',
      smtpCode: 250,
      fault: null,
    });
    expect(plain.received.at(-1)).toMatchObject({
      secure: false,
      from: 'b+token@bounces.sender.example',
      ehlo: 'posthorn.test',
    });
  });

  test('over STARTTLS, signed in', async () => {
    expect(await sent(relay(startTls, { credentials }))).toMatchObject({ outcome: 'accepted' });
    expect(startTls.received.at(-1)).toMatchObject({ secure: true, user: 'svc' });
  });

  test('over TLS from the start', async () => {
    expect(await sent(relay(implicit, { tls: 'implicit' }))).toMatchObject({ outcome: 'accepted' });
    expect(implicit.received.at(-1)).toMatchObject({ secure: true });
  });
});

describe('the lines of a message arrive as they are, and end nothing', () => {
  const crossing = `${'x'.repeat(65_000)}\r\n`.repeat(2);
  test.each([
    ['without dots', 'a\r\nb.\r\n'],
    ['a dot alone', '.\r\n'],
    ['a dot alone between others', 'a\r\n.\r\nMAIL FROM:<b@sender.example>\r\n..\r\n.b\r\n'],
    ['dots in a large one', `${crossing}.\r\n${crossing}`],
    ['an empty line at its end', 'a\r\n\r\n'],
  ])('%s', async (_, lines) => {
    const composed = Buffer.from(`Subject: x\r\n\r\n${lines}`);
    const message = { ...aMessage(), written: { composed, signatures: null }, dkim: [] };
    const transport = relay(plain);
    expect(await transport.send(message, LIMITS)).toMatchObject([{ outcome: 'accepted' }]);
    await transport.close();
    expect(plain.received.at(-1)?.raw.toString()).toBe(composed.toString());
  });
  test.each([
    ['a bare LF', 'a\n.\nMAIL FROM:<b@sender.example>\r\n'],
    ['a bare CR', 'a\r.\rMAIL FROM:<b@sender.example>\r\n'],
    ['a bare LF at the beginning', '\n.\r\n'],
  ])('%s becomes a line end', async (_, lines) => {
    const before = plain.received.length;
    const composed = Buffer.from(`Subject: x\r\n\r\n${lines}`);
    const transport = relay(plain);
    await transport.send({ ...aMessage(), written: { composed, signatures: null }, dkim: [] }, LIMITS);
    await transport.close();
    expect(plain.received.slice(before).map(({ raw }) => raw.toString())).toEqual([
      composed.toString().replace(/\r\n|\r|\n/g, '\r\n'),
    ]);
  });
});

describe('a relay misconfiguration defers the email when', () => {
  const deferred = (subType: string) => ({ outcome: 'deferred', fault: 'infrastructure', subType });
  const cases: [string, () => RelayTransport, string][] = [
    ['the certificate is not trusted', () => relay(startTls, { credentials, ca: null }), 'TlsFailed'],
    [
      'the certificate is for another name',
      () => relay(startTls, { credentials, name: 'other.test' }),
      'TlsFailed',
    ],
    [
      'the certificate of implicit TLS is not trusted',
      () => relay(implicit, { tls: 'implicit', ca: null }),
      'TlsFailed',
    ],
    ['TLS is required and not offered', () => relay(plain, { tls: 'required' }), 'TlsFailed'],
    [
      'the password is wrong',
      () => relay(startTls, { credentials: { ...credentials, pass: 'x' } }),
      'AuthenticationFailed',
    ],
    ['there is a password and no AUTH', () => relay(noAuth, { credentials }), 'AuthenticationFailed'],
  ];
  for (const [name, transport, subType] of cases)
    test(name, async () => {
      const before = [plain, noAuth, startTls, implicit].map(({ received }) => received.length);
      expect(await sent(transport())).toMatchObject(deferred(subType));
      expect([plain, noAuth, startTls, implicit].map(({ received }) => received.length)).toEqual(before);
    });
});

test('a password never crosses a connection that lost its STARTTLS', async () => {
  await using stripped = await startScriptedSmtp({ ehlo: '250-stripped.test\r\n250 AUTH PLAIN LOGIN' });
  const transport = relay(plain, { port: stripped.port, tls: 'required', credentials });
  expect(await sent(transport)).toMatchObject({ outcome: 'deferred', subType: 'TlsFailed' });
  expect(stripped.commands.filter((command) => command.startsWith('AUTH'))).toEqual([]);
});

describe('the doctor of the relay reports', () => {
  test('how the relay was reached', async () => {
    expect(await relay(startTls, { credentials }).verify()).toEqual([
      {
        check: `SMTP relay relay.test:${startTls.port}`,
        ok: true,
        detail: 'Connected with TLS, signed in.',
        advice: null,
      },
    ]);
  });
  test('what is wrong and what to do', async () => {
    const [wrong] = await relay(startTls, { credentials: { user: 'svc', pass: 'x' } }).verify();
    expect(wrong).toMatchObject({ ok: false, detail: expect.stringContaining('535') });
    expect(wrong?.advice).toContain('SMTP_URL');
    const [gone] = await relay(startTls, { port: 1 }).verify();
    expect(gone?.advice).toContain('firewall');
  });
});
