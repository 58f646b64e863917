import { afterAll, describe, expect, test } from 'bun:test';
import type { Resolver } from '../../../src/mail/dns/resolver.ts';
import { LimitBook } from '../../../src/mail/transport/limits/limit-book.ts';
import {
  type TransportSettings,
  Transports,
  UnusableSettings,
} from '../../../src/mail/transport/transports.ts';
import { aMessage } from '../../unit/transport/a-message.ts';
import { AUTHORITY, CERTIFICATE, PRIVATE_KEY } from './certificates.ts';
import { startSink } from './smtp-sink.ts';

const sink = await startSink({ key: PRIVATE_KEY, cert: CERTIFICATE });
afterAll(() => sink[Symbol.asyncDispose]());

const nothing = async () => ({ status: 'nxdomain' }) as const;
const resolver: Resolver = {
  mx: nothing,
  txt: nothing,
  ipv4: nothing,
  ipv6: nothing,
  cname: nothing,
  reverse: nothing,
  pointers: nothing,
};

const transports = (settings: Partial<TransportSettings> = {}, ca: string | null = AUTHORITY) =>
  new Transports(
    {
      transport: ['capture'],
      smtpUrl: null,
      smtpFallbackUrl: null,
      directPort: 25,
      directConnectionsPerSite: 10,
      directMessagesPerMinute: 3_000,
      ehloName: null,
      sesRegion: null,
      sesEndpoint: null,
      sesConfigurationSet: null,
      sesTopicArn: null,
      awsAccessKeyId: null,
      awsSecretAccessKey: null,
      ...settings,
    },
    {
      resolver,
      now: Date.now,
      monotonic: () => performance.now(),
      random: Math.random,
      hostName: 'machine.test',
      ca,
      book: new LimitBook({ now: Date.now, monotonic: () => performance.now() }),
      keep: async () => {},
    },
  );

const LIMITS = { signal: new AbortController().signal, deadlineMs: 120_000 };
const SES = { sesRegion: 'eu-west-1', awsAccessKeyId: 'a', awsSecretAccessKey: 'b' };

describe('the configured transports', () => {
  test('are those that are configured, the default among them', async () => {
    const all = transports({ transport: ['direct', 'ses'], smtpUrl: 'smtp://127.0.0.1:1', ...SES });
    expect(all.chosen.name).toBe('direct');
    expect(all.enabled.map(({ name }) => name)).toEqual(['direct', 'ses']);
    for (const name of ['capture', 'smtp', 'direct', 'ses'] as const) {
      expect(all.named(name).name).toBe(name);
      expect(all.named(name)).toBe(all.named(name));
    }
    await all.close();
  });

  test('are not those that are not', () => {
    expect(() => transports().named('smtp')).toThrow(UnusableSettings);
    expect(() => transports({ smtpUrl: 'ftp://x' }).named('smtp')).toThrow('SMTP_URL');
    expect(() => transports({ ...SES, sesRegion: null }).named('ses')).toThrow('SES_REGION');
  });

  test('confirm delivery where the recipient is reached, and nowhere else', () => {
    const all = transports({ smtpUrl: 'smtp://127.0.0.1:1', ...SES });
    const confirm = (['capture', 'smtp', 'direct', 'ses'] as const).map(
      (name) => all.named(name).confirmsDelivery,
    );
    expect(confirm).toEqual([true, false, true, false]);
  });
});

describe('TLS_CA_FILE', () => {
  const settings: Partial<TransportSettings> = {
    transport: ['smtp'],
    smtpUrl: `smtp://svc:secret@localhost:${sink.port}`,
  };
  test('is trusted, and the machine introduced by its name', async () => {
    const all = transports(settings);
    const [outcome] = await all.chosen.send(aMessage(), LIMITS);
    await all.close();
    expect(outcome?.outcome).toBe('accepted');
    expect(sink.received.at(-1)).toMatchObject({ secure: true, user: 'svc', ehlo: 'machine.test' });
  });
  test('is needed for a certificate of its making', async () => {
    const all = transports(settings, null);
    const [outcome] = await all.chosen.send(aMessage(), LIMITS);
    await all.close();
    expect(outcome).toMatchObject({ outcome: 'deferred', subType: 'TlsFailed' });
  });
});

test('closing the transports waits for sessions under way', async () => {
  const all = transports({ transport: ['smtp'], smtpUrl: `smtp://localhost:${sink.port}` });
  const before = sink.received.length;
  const sent = Promise.all(Array.from({ length: 30 }, () => all.chosen.send(aMessage(), LIMITS)));
  await new Promise(setImmediate);
  await all.close();
  expect((await sent).flat().filter(({ outcome }) => outcome !== 'accepted')).toEqual([]);
  expect(sink.received.length - before).toBe(30);
});
