import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isWithinRanges } from '../../src/platform/config/client-address.ts';
import { type Config, type Environment, loadConfig, redacted } from '../../src/platform/config/config.ts';
import { SETTINGS } from '../../src/platform/config/settings/settings.ts';
import { AUTHORITY, CERTIFICATE, PRIVATE_KEY } from '../integration/transport/certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'posthorn-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The path of a file with this content. */
const pem = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

const load = (environment: Environment = {}, executable = false): Config => {
  const loaded = loadConfig(environment, executable);
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'));
  return loaded.config;
};

const problemsOf = (environment: Environment, executable = false): readonly string[] => {
  const loaded = loadConfig(environment, executable);
  return 'problems' in loaded ? loaded.problems : [];
};

describe('the defaults of the configuration', () => {
  test('serve a developer on loopback when run from source', () => {
    expect(load()).toMatchObject({
      profile: 'development',
      host: '127.0.0.1',
      port: 3000,
      dataDir: './data',
    });
  });

  test('serve everyone when run from the executable', () => {
    expect(load({}, true)).toMatchObject({ profile: 'production', host: '0.0.0.0' });
  });

  test('follow PROFILE rather than how it was started', () => {
    expect(load({ PROFILE: 'production' }).host).toBe('0.0.0.0');
    expect(load({ PROFILE: 'development' }, true).host).toBe('127.0.0.1');
  });

  test('give the public URL the port that is listened on', () => {
    expect(load({ PORT: '8080' }).publicUrl).toBe('http://localhost:8080');
  });

  test('keep data for as long as it may be kept at most', () => {
    expect(load()).toMatchObject({ retentionTestDays: 7, retentionLiveDays: 90 });
    const shortest = load({ RETENTION_TEST_DAYS: '1', RETENTION_LIVE_DAYS: '1' });
    expect(shortest).toMatchObject({ retentionTestDays: 1, retentionLiveDays: 1 });
  });

  test('name replicas of a server only beside that server', () => {
    const replicas = 'postgres://reader@one:5432,two:5432/posthorn';
    expect(problemsOf({ DATABASE_READ_URL: replicas })).toEqual([
      'DATABASE_URL must be set with DATABASE_READ_URL: a replica follows that server.',
    ]);
    const shared = { DATABASE_URL: 'postgres://localhost/posthorn', SECRET_KEY: 'k'.repeat(32) };
    expect(load({ ...shared, DATABASE_READ_URL: replicas }).databaseReadUrl).toBe(replicas);
  });

  test('spare receiving sites, which may be spared more or less', () => {
    expect(load()).toMatchObject({ directConnectionsPerSite: 10, directMessagesPerMinute: 3_000 });
    const limits = (connections: string, messages: string) =>
      problemsOf({ DIRECT_CONNECTIONS_PER_SITE: connections, DIRECT_MESSAGES_PER_MINUTE: messages });
    expect(limits('1', '60')).toEqual([]);
    expect(limits('100', '60000')).toEqual([]);
    for (const [connections, messages] of [
      ['0', '59'],
      ['101', '60001'],
    ] as const)
      expect(limits(connections, messages)).toEqual([
        expect.stringContaining('DIRECT_CONNECTIONS_PER_SITE'),
        expect.stringContaining('DIRECT_MESSAGES_PER_MINUTE'),
      ]);
  });

  test('give a process every role, and refuse a role without a process', () => {
    expect(load().roles).toEqual(['http', 'engine', 'delivery']);
    expect(load({ ROLES: 'delivery, engine,http' }).roles).toHaveLength(3);
    const shared = { DATABASE_URL: 'postgres://localhost/posthorn', SECRET_KEY: 'k'.repeat(32) };
    expect(load({ ...shared, ROLES: 'engine,delivery' }).roles).toEqual(['engine', 'delivery']);
    // It sends nothing, so that a restored database can be looked through.
    expect(load({ ROLES: 'http' }).roles).toEqual(['http']);
    for (const roles of ['engine', 'engine,delivery', 'http,engine'])
      expect(problemsOf({ ROLES: roles })).toEqual([
        'ROLES must name http, engine and delivery without DATABASE_URL: the embedded database belongs to one process, which has to do all the work. http alone looks through a restored database, and sends nothing.',
      ]);
    for (const roles of ['worker', 'http,http', 'http,,engine'])
      expect(problemsOf({ ...shared, ROLES: roles })).toEqual([
        `ROLES is "${roles}", but must be one of http, engine, delivery, or several separated by commas, each once, in any order.`,
      ]);
  });

  test('hold for a variable that is set to nothing', () => {
    expect(load({ PORT: '', DATABASE_URL: '' })).toMatchObject({ port: 3000, databaseUrl: null });
  });

  test('are each a value that could have been written', () => {
    const written = Object.entries(SETTINGS).map(([name, { fallback }]) => [name, fallback ?? undefined]);
    expect(load(Object.fromEntries(written))).toEqual(load());
  });
});

describe('a setting', () => {
  test.each([
    ['PORT', '3000x', 'a port number from 1 to 65535'],
    ['PORT', '0x50', 'a port number from 1 to 65535'],
    ['PORT', '65536', 'a port number from 1 to 65535'],
    ['PORT', '-1', 'a port number from 1 to 65535'],
    ['LOG_LEVEL', 'loud', 'one of fatal, error, warn, info, debug, trace, silent'],
    ...[
      'mail.example.com',
      'ftp://example.com',
      'https://e.com?x=1',
      'https://e.com/#',
      'https://a:b@e.com',
    ].map((wrong) => ['PUBLIC_URL', wrong, 'an http or https URL without user, query and fragment']),
    ['TEST_SENDS_PER_DAY', '1e3', 'a whole number from 0 to 1000000000, 0 for no limit'],
    ['RETENTION_TEST_DAYS', '0', 'a whole number from 1 to 7'],
    ['RETENTION_TEST_DAYS', '8', 'a whole number from 1 to 7'],
    ['RETENTION_LIVE_DAYS', '0', 'a whole number from 1 to 90'],
    ['RETENTION_LIVE_DAYS', '91', 'a whole number from 1 to 90'],
    ['RETENTION_LIVE_DAYS', '1.5', 'a whole number from 1 to 90'],
    ['TRUST_PROXY', 'yes', 'the number of proxies in front'],
    ['TRUST_PROXY', '10.0.0.0/8,proxy', 'the number of proxies in front'],
    ['WEBHOOK_ALLOW_CIDRS', '10.0.0.0/8,nonsense', 'addresses or ranges'],
    ['WEBHOOK_ALLOW_CIDRS', '10.0.0.0/33', 'addresses or ranges'],
    ['DNS_SERVERS', 'dns.example.com:53', 'addresses of name servers'],
    ['DNS_SERVERS', '9.9.9.9:99999', 'addresses of name servers'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'an http or https URL'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5', 'a number from 0 to 1'],
    ['OTEL_TRACES_SAMPLER_ARG', '-0.1', 'a number from 0 to 1'],
    ['SIMULATOR_DOMAIN', 'no spaces.test', 'a domain name in lower case'],
    ['SPAMASSASSIN_URL', '127.0.0.1:783', 'an address such as tcp://127.0.0.1:783'],
    ['SPAMASSASSIN_URL', 'http://127.0.0.1:783', 'an address such as tcp://127.0.0.1:783'],
    ['TRANSPORT', 'pigeon', 'one of capture, smtp, direct, ses'],
    ['TRANSPORT', 'capture,pigeon', 'one of capture, smtp, direct, ses'],
    ['TRANSPORT', 'capture,capture', 'one of capture, smtp, direct, ses, or several separated by commas'],
    ['TRANSPORT', 'capture,', 'one of capture, smtp, direct, ses'],
  ])('%s=%s stops the start with a sentence', (name, written, allowed) => {
    const problems = problemsOf({ [name]: written });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toStartWith(`${name} is ${JSON.stringify(written)}, but must be ${allowed}`);
  });

  test('that is secret is not repeated in its problem', () => {
    expect(
      problemsOf({
        BOOTSTRAP_LIVE_KEY: 'svc_live_almost',
        RATE_LIMIT_STORE: 'http://:hush@cache',
        RSPAMD_URL: 'tcp://:hush@host:11333',
      }),
    ).toEqual([
      'BOOTSTRAP_LIVE_KEY must be svc_live_ and 32 letters or digits.',
      'RATE_LIMIT_STORE must be memory, or a URL such as redis://host:6379.',
      'RSPAMD_URL must be an address such as http://127.0.0.1:11333.',
    ]);
  });

  test('is read as what it means', () => {
    const config = load({
      PUBLIC_URL: 'https://mail.example.com/',
      TRUST_PROXY: '10.0.0.0/8, ::1',
      WEBHOOK_ALLOW_CIDRS: '192.168.1.7',
      DNS_SERVERS: '9.9.9.9, 127.0.0.1:5353, 2001:db8::1, [2001:db8::2]:5353',
    });
    expect(config.publicUrl).toBe('https://mail.example.com');
    expect(config.trustProxy).toMatchObject({ ranges: { length: 2 } });
    expect(config.webhookAllowCidrs).toEqual(['192.168.1.7/32']);
    expect(config.dnsServers).toEqual([
      { address: '9.9.9.9', port: 53 },
      { address: '127.0.0.1', port: 5353 },
      { address: '2001:db8::1', port: 53 },
      { address: '2001:db8::2', port: 5353 },
    ]);
    expect(load({ OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%2Cb%3D, x-y=1' }).otelExporterOtlpHeaders).toEqual({
      'api-key': 'a,b=',
      'x-y': '1',
    });
    for (const wrong of ['api-key', '=a', 'a b=c', 'a=%', 'a=%0A', 'a='])
      expect(problemsOf({ OTEL_EXPORTER_OTLP_HEADERS: wrong })).toEqual([
        'OTEL_EXPORTER_OTLP_HEADERS must be headers such as api-key=secret, separated by commas.',
      ]);
    expect(load({ OTEL_TRACES_SAMPLER_ARG: '0.25' }).otelTracesSamplerArg).toBe(0.25);
    expect(load({ TRUST_PROXY: '2' }).trustProxy).toEqual({ hops: 2 });
    expect(load({ RATE_LIMIT_STORE: 'rediss://cache:6380/1' }).rateLimitStore).toBe('rediss://cache:6380/1');
  });
});

test('one transport or several, the default one first', () => {
  expect(load().transport).toEqual(['capture']);
  expect(load({ TRANSPORT: 'direct' }).transport).toEqual(['direct']);
  const SMTP_URL = 'smtp://relay.test';
  expect(load({ TRANSPORT: 'smtp, direct,capture', SMTP_URL }).transport).toEqual([
    'smtp',
    'direct',
    'capture',
  ]);
});

test('the fallback is another host or another port, and a URL of a relay; its password is not repeated', () => {
  const settings = { TRANSPORT: 'smtp', SMTP_URL: 'smtp://a.test:587' };
  for (const SMTP_FALLBACK_URL of ['smtp://a.test:588', 'smtps://a.test', 'smtp://b.test:587'])
    expect(load({ ...settings, SMTP_FALLBACK_URL }).smtpFallbackUrl).toBe(SMTP_FALLBACK_URL);
  expect(load(settings).smtpFallbackUrl).toBeNull();
  for (const SMTP_FALLBACK_URL of ['http://u:hush@a.test', 'a.test:25'])
    expect(problemsOf({ ...settings, SMTP_FALLBACK_URL })).toEqual([
      expect.stringMatching(
        /^SMTP_FALLBACK_URL must be a URL such as smtps:\/\/user:password@host:465, with %/,
      ),
    ]);
});

describe('a file that a setting names', () => {
  const files = {
    SUBMISSION_TLS_CERT: pem('cert.pem', CERTIFICATE),
    SUBMISSION_TLS_KEY: pem('key.pem', PRIVATE_KEY),
    TLS_CA_FILE: pem('ca.pem', AUTHORITY),
  };

  test('is fine when it holds what the setting is about', () => {
    expect(load({ ...files, SUBMISSION_TLS_PORT: '465' })).toMatchObject({
      submissionTlsPort: 465,
      submissionTlsCert: files.SUBMISSION_TLS_CERT,
      tlsCaFile: files.TLS_CA_FILE,
    });
  });

  test('and is missing, a folder, or holds something else, is reported beside all other problems', () => {
    const problems = problemsOf({
      PORT: 'x',
      TLS_CA_FILE: tmpdir(),
      SUBMISSION_TLS_CERT: '/nope',
      SUBMISSION_TLS_KEY: files.SUBMISSION_TLS_CERT,
    });
    expect(problems.map((sentence) => sentence.replace(/ is ".*", but/, ''))).toEqual([
      'PORT must be a port number from 1 to 65535.',
      'TLS_CA_FILE must be the path of a file that can be read and holds certificates in PEM.',
      'SUBMISSION_TLS_CERT must be the path of a file that can be read and holds certificates in PEM.',
      'SUBMISSION_TLS_KEY must be the path of a file that can be read and holds a private key in PEM.',
    ]);
    expect(problems[2]).toStartWith('SUBMISSION_TLS_CERT is "/nope"');
  });
});

test('all problems are reported at once', () => {
  const problems = problemsOf({ PORT: 'x', LOG_LEVEL: 'y', TRANSPORT: 'z' });
  expect(problems.map((sentence) => sentence.split(' ')[0])).toEqual(['PORT', 'LOG_LEVEL', 'TRANSPORT']);
});

test('the balancers of the SMTP ports are addresses and ranges, and none by default', () => {
  expect(load({}).smtpTrustProxy).toBeNull();
  const isTrusted = isWithinRanges(load({ SMTP_TRUST_PROXY: '10.0.0.0/8, 2001:db8::7' }).smtpTrustProxy);
  const asked = ['10.1.2.3', '::ffff:10.1.2.3', '11.0.0.1', '2001:db8::7', '2001:db8::8', 'balancer'];
  expect(asked.filter(isTrusted)).toEqual(['10.1.2.3', '::ffff:10.1.2.3', '2001:db8::7']);
  expect(isWithinRanges(null)('10.1.2.3')).toBe(false);
});

test('the certificate of HTTPS_PORT serves SUBMISSION_TLS_PORT where no files are named', () => {
  const https = { HTTPS_PORT: '443', ACME_TERMS_AGREED: 'yes', PUBLIC_URL: 'https://mail.example.com' };
  expect(load({ ...https, SUBMISSION_TLS_PORT: '465' }).submissionTlsPort).toBe(465);
});

describe('values that contradict each other stop the start', () => {
  test.each<[string, Environment]>([
    ['SECRET_KEY', { PROFILE: 'production', DATABASE_URL: 'postgres://u:p@h/d' }],
    ['SECRET_KEY', { SECRET_KEY_PREVIOUS: 'k'.repeat(32) }],
    [
      'SECRET_KEY and SECRET_KEY_PREVIOUS',
      { SECRET_KEY: 'k'.repeat(32), SECRET_KEY_PREVIOUS: 'k'.repeat(32) },
    ],
    ['BODY_STORE', { BODY_STORE_ENDPOINT: 'https://s3.test:9000' }],
    ['BODY_STORE', { BODY_STORE_ACCESS_KEY_ID: 'a', BODY_STORE_SECRET_ACCESS_KEY: 'b' }],
    ['SMTP_URL', { TRANSPORT: 'smtp' }],
    ['SES_REGION', { TRANSPORT: 'ses', SES_REGION: 'eu-west-1' }],
    ['SMTP_URL', { TRANSPORT: 'capture,smtp' }],
    ['TRANSPORT', { SMTP_FALLBACK_URL: 'smtp://b.test' }],
    [
      'SMTP_FALLBACK_URL',
      { TRANSPORT: 'smtp', SMTP_URL: 'smtp://a.test', SMTP_FALLBACK_URL: 'smtp://a.test' },
    ],
    // Neither a password nor a port that is written out makes it another relay.
    [
      'SMTP_FALLBACK_URL',
      { TRANSPORT: 'smtp', SMTP_URL: 'smtp://a.test', SMTP_FALLBACK_URL: 'smtp://u:hush@a.test:587' },
    ],
    ['SUBMISSION_TLS_CERT', { SUBMISSION_TLS_KEY: pem('key.pem', PRIVATE_KEY) }],
    ['SUBMISSION_TLS_CERT', { SUBMISSION_TLS_PORT: '465' }],
    ['SMTP_TRUST_PROXY', { SMTP_TRUST_PROXY: '1' }],
    ['SMTP_TRUST_PROXY', { SMTP_TRUST_PROXY: '10.0.0.0/8,balancer.example' }],
    ['SMTP_TRUST_PROXY', { SMTP_TRUST_PROXY: '::/0' }],
    [
      'SUBMISSION_TLS_KEY',
      { SUBMISSION_TLS_CERT: pem('ca.pem', AUTHORITY), SUBMISSION_TLS_KEY: pem('key.pem', PRIVATE_KEY) },
    ],
  ])('%s', (name, environment) => {
    const problems = problemsOf(environment);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toStartWith(name);
  });

  test('for every transport that is enabled, all at once', () => {
    const problems = problemsOf({ TRANSPORT: 'direct,smtp,ses' });
    expect(problems.map((sentence) => sentence.split(' ')[0])).toEqual(['SMTP_URL', 'SES_REGION,']);
  });

  test('but a developer needs no SECRET_KEY, and with one a server starts', () => {
    const DATABASE_URL = 'postgres://u:p@h/d';
    expect(load({ DATABASE_URL }).databaseUrl).toBe(DATABASE_URL);
    expect(load({ DATABASE_URL, SECRET_KEY: 'k'.repeat(32) }, true).secretKey).toBe('k'.repeat(32));
  });
});

test('nothing secret is in what may be logged', () => {
  const secrets = Object.entries(SETTINGS).filter(([, { secret }]) => secret);
  const shown = redacted(load({ DATABASE_URL: 'postgres://u:hush@h/d', SECRET_KEY: 'hush'.repeat(8) }));
  expect(secrets.length).toBeGreaterThan(5);
  expect(JSON.stringify(shown)).not.toContain('hush');
  expect(shown).toMatchObject({ DATABASE_URL: '[set]', SMTP_URL: null, PORT: 3000 });
});

describe('SES_INBOUND_TOPICS', () => {
  const arn = 'arn:aws:sns:eu-west-1:123456789012:inbound';
  const workspaceId = 'ws_01m7xj1rwzprnwr10308attx';

  test('names topics, each with its workspace or none', () => {
    const { sesInboundTopics } = load({ SES_INBOUND_TOPICS: `${arn}, ${arn}-2=${workspaceId}` });
    expect(sesInboundTopics).toEqual([
      { arn, workspaceId: null },
      { arn: `${arn}-2`, workspaceId },
    ]);
  });

  test.each([
    `${arn},${arn}`,
    `${arn}=`,
    `${arn}=acme`,
    'inbound',
    `${arn},`,
    Array(101).fill(arn).join(','),
  ])('cannot be %s', (written) => {
    expect(problemsOf({ SES_INBOUND_TOPICS: written })).toHaveLength(1);
  });

  test('is needed by SES_INBOUND_BUCKET, with a key', () => {
    const key = { AWS_ACCESS_KEY_ID: 'AK', AWS_SECRET_ACCESS_KEY: 'SK' };
    const bucket = { SES_INBOUND_BUCKET: 's3://mail/in' };
    expect(problemsOf({ ...bucket, ...key })).toHaveLength(1);
    expect(problemsOf({ ...bucket, SES_INBOUND_TOPICS: arn })).toHaveLength(1);
    expect(problemsOf({ ...bucket, ...key, SES_INBOUND_TOPICS: arn })).toEqual([]);
  });
});
