import { afterAll, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import { inThisThread } from '../../../src/mail/dkim/sign.ts';
import type { SigningKey } from '../../../src/mail/dkim/signing-key.ts';
import { createResolver } from '../../../src/mail/dns/resolver.ts';
import { DirectTransport } from '../../../src/mail/transport/direct/direct.ts';
import { mxGroupLimits } from '../../../src/mail/transport/direct/mx-group.ts';
import { RelayTransport } from '../../../src/mail/transport/smtp/relay.ts';
import type { Transport } from '../../../src/mail/transport/transport.ts';
import { withDeadline } from '../../../src/platform/async/deadline.ts';
import { poolParts } from '../../support/pool-parts.ts';
import { aMessage } from '../../unit/transport/a-message.ts';
import { a, mx, startNameServer } from './name-server.ts';
import { startScriptedSmtp } from './scripted-smtp.ts';

const server = await startScriptedSmtp();
const dns = await startNameServer();
afterAll(() => Promise.all([dns, server].map((one) => one[Symbol.asyncDispose]())));
dns.zone = {
  'receiver.test MX': [mx('mx.receiver.test', 10)],
  'mx.receiver.test A': [a('127.0.0.1')],
};

const NEVER = new AbortController().signal;
/** Signs once the deadline of the attempt has passed. */
const slow: SigningKey = {
  domain: 'sender.example',
  selector: 's',
  algorithm: 'rsa-sha256',
  privateKey: generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey,
  signWith: (data) =>
    withDeadline(
      { signal: NEVER, deadlineMs: 20 },
      (over) =>
        new Promise((resolve) =>
          over.addEventListener('abort', () => resolve(inThisThread(slow, data) as Buffer)),
        ),
    ),
};

const transports: readonly Transport[] = [
  new RelayTransport(
    {
      host: '127.0.0.1',
      port: server.port,
      name: 'scripted.test',
      tls: 'opportunistic',
      ca: null,
      verifyCertificate: true,
      ehloName: 'posthorn.test',
      credentials: null,
      connectMs: 30_000,
      silenceMs: 60_000,
    },
    poolParts(),
  ),
  new DirectTransport({
    resolver: createResolver([dns.server], { timeoutMs: 5_000, rounds: 1 }),
    monotonic: () => performance.now(),
    random: () => 0,
    ehloName: 'posthorn.test',
    port: server.port,
    limits: mxGroupLimits(10, 60_000),
    mayConnect: () => true,
  }),
];

for (const transport of transports)
  test(`${transport.name}: an attempt whose time goes by while it is signed is never begun`, async () => {
    let begun = 0;
    const message = aMessage({ recipients: ['bob@receiver.test'], dkim: [slow] });
    const limits = { signal: NEVER, deadlineMs: 10, begin: async () => ++begun > 0 };
    const [outcome] = await transport.send(message, limits);
    expect(outcome?.outcome).toBe('deferred');
    expect([begun, server.connections]).toEqual([0, 0]);
    await transport.close();
  });
