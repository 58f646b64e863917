import type { Static, TSchema } from '@sinclair/typebox';
import { PLAN_NAMES } from '../auth/plans.ts';
import { TRANSPORTS } from '../transport/transport.ts';
import type { Kind } from './setting-kinds.ts';
import * as is from './setting-kinds.ts';

/** One environment variable: what it is for, how it is written, and what holds without it. */
export interface Setting<Value = unknown> {
  /** One line, for `posthorn serve --help` and docs/configuration.md. */
  readonly about: string;
  readonly kind: Kind;
  /** As it would be written; null where there is no such value. */
  readonly fallback: string | null;
  /** What the table shows for it: the fallback, or what its absence means. */
  readonly otherwise: string;
  /** Never printed, neither in a problem nor in a log. */
  readonly secret: boolean;
  /** Carries the type of the value; no value is ever there. */
  readonly of?: Value;
}

const withDefault = <Value extends TSchema>(
  kind: Kind<Value>,
  fallback: string,
  about: string,
): Setting<Static<Value>> => ({ about, kind, fallback, otherwise: fallback, secret: false });

const optional = <Value extends TSchema>(
  kind: Kind<Value>,
  otherwise: string,
  about: string,
): Setting<Static<Value> | null> => ({ about, kind, fallback: null, otherwise, secret: false });

const secret = <Value extends TSchema>(
  kind: Kind<Value>,
  otherwise: string,
  about: string,
): Setting<Static<Value> | null> => ({ ...optional(kind, otherwise, about), secret: true });

const anyText = is.text('some text');
const certificates = is.pemFile('certificates', 'CERTIFICATE');

/** Everything that can be configured, in the order in which it is shown. */
export const SETTINGS = {
  PROFILE: optional(
    is.choice('development', 'production'),
    'by how it was started',
    'What is taken for granted: development from source, production from the executable',
  ),
  HOST: optional(anyText, '127.0.0.1 in development, 0.0.0.0 in production', 'The address to listen on'),
  PORT: withDefault(is.port, '3000', 'The port to listen on'),
  PUBLIC_URL: optional(
    is.url('an http or https URL', 'http:', 'https:'),
    'http://localhost:{PORT}',
    'Where the world reaches this service: the base of links in emails, docs and tracking',
  ),
  DATA_DIR: withDefault(
    is.text('the path of a folder'),
    './data',
    'Where the embedded database and generated secrets lie',
  ),
  DATABASE_URL: secret(
    is.url('a URL such as postgres://user:password@host:5432/name', 'postgres:', 'postgresql:'),
    'embedded database',
    'A PostgreSQL (15 or later) to use instead of the embedded database',
  ),
  SECRET_KEY: secret(
    is.text('at least 32 characters', { minLength: 32 }),
    'generated into DATA_DIR',
    'Encrypts secrets at rest; required in production with DATABASE_URL',
  ),
  SENDING_SLOTS: withDefault(
    is.integer(1, 1_000),
    '64',
    'Live emails that each process is delivering at the same time, by each transport',
  ),
  LOG_LEVEL: withDefault(
    is.choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
    'The least severe log line to print',
  ),

  BOOTSTRAP_LIVE_KEY: secret(
    is.apiKey('live'),
    'generated',
    'The first live API key, set on the first start',
  ),
  BOOTSTRAP_TEST_KEY: secret(
    is.apiKey('test'),
    'generated',
    'The first test API key, set on the first start',
  ),
  DEFAULT_PLAN: withDefault(is.choice(...PLAN_NAMES), 'free', 'The plan of a new workspace'),
  TEST_SENDS_PER_DAY: withDefault(
    is.integer(0, 1_000_000_000, ', 0 for no limit'),
    '100',
    'Emails a day that test keys may send',
  ),
  SIMULATOR_DOMAIN: withDefault(
    is.domain,
    'simulator.svc.test',
    'The domain whose addresses choose a simulated outcome',
  ),

  RATE_LIMIT_PER_IP: withDefault(
    is.integer(0, 1_000_000_000, ', 0 for no limit'),
    '500',
    'Requests a minute of one client address; an IPv6 /64 is one client',
  ),
  RATE_LIMIT_PER_KEY: withDefault(
    is.integer(0, 1_000_000_000, ', 0 for no limit'),
    '100',
    'Requests a second of one API key',
  ),
  RATE_LIMIT_STORE: {
    ...withDefault(
      is.sharedCounter,
      'memory',
      'Where requests are counted: by each process for itself (memory), or by all together (redis://…)',
    ),
    secret: true,
  },
  TRUST_PROXY: withDefault(
    is.proxyTrust,
    '0',
    'Whom to believe about the client address: a number of proxies, or their CIDRs; 0 is nobody',
  ),
  WEBHOOK_ALLOW_CIDRS: optional(is.cidrs, 'none', 'Private ranges that webhooks may be sent to'),

  TRANSPORT: withDefault(
    is.choices('the default one first', ...TRANSPORTS),
    'capture',
    'How live email leaves; capture keeps it here. Of several (smtp,ses) each domain may choose, and the first is the default',
  ),
  UNKNOWN_OUTCOME: withDefault(
    is.choice('retry', 'hold'),
    'retry',
    'When nobody knows whether a server took an email: retry may send it twice, hold may lose it',
  ),
  SMTP_URL: secret(
    is.url('a URL such as smtps://user:password@host:465', 'smtp:', 'smtps:'),
    'none',
    'The relay for TRANSPORT=smtp',
  ),
  DIRECT_PORT: withDefault(is.port, '25', 'The port of the receiving servers for TRANSPORT=direct'),
  EHLO_NAME: optional(
    is.domain,
    'the name of the machine',
    'How this service introduces itself to other mail servers',
  ),
  RETURN_PATH_DOMAIN: optional(is.domain, 'none', 'The domain that bounces come back to'),
  SES_REGION: optional(
    is.text('a region such as eu-west-1', { pattern: '^[a-z]{2}(-[a-z]+)+-\\d$' }),
    'none',
    'The AWS region for TRANSPORT=ses',
  ),
  SES_ENDPOINT: optional(
    is.url('an http or https URL', 'http:', 'https:'),
    'that of the region',
    'Another endpoint for TRANSPORT=ses',
  ),
  SES_CONFIGURATION_SET: optional(
    is.text('the name of a configuration set', { pattern: '^[A-Za-z0-9_-]{1,64}$' }),
    'none',
    'The configuration set sent with every email for TRANSPORT=ses; its event destination reports bounces and complaints to SES_TOPIC_ARN',
  ),
  SES_TOPIC_ARN: optional(
    is.text('the ARN of an SNS topic', {
      pattern: '^arn:aws[a-z-]*:sns:[a-z0-9-]+:\\d{12}:[\\w-]{1,256}(\\.fifo)?$',
    }),
    'none',
    'The SNS topic whose notifications of SES are believed, at /callbacks/ses',
  ),
  AWS_ACCESS_KEY_ID: secret(anyText, 'none', 'The credentials for TRANSPORT=ses'),
  AWS_SECRET_ACCESS_KEY: secret(anyText, 'none', 'The credentials for TRANSPORT=ses'),
  DNS_SERVERS: optional(is.nameServers, 'those of the machine', 'The name servers to ask'),
  TLS_CA_FILE: optional(
    certificates,
    'none',
    'Certificate authorities to trust besides the usual ones, by mail and by webhooks (PEM)',
  ),
  INBOUND_SMTP_PORT: optional(is.port, 'off', 'Where bounces and complaints are received'),
  SUBMISSION_PORT: optional(is.port, 'off', 'Where emails are taken over SMTP'),
  SUBMISSION_TLS_PORT: optional(
    is.port,
    'off',
    'Where emails are taken over SMTP inside TLS from the first octet, customarily 465',
  ),
  SUBMISSION_TLS_CERT: optional(certificates, 'none', 'The certificate of the submission ports (PEM)'),
  SUBMISSION_TLS_KEY: optional(
    is.pemFile('a private key', '(?:[A-Z]+ )?PRIVATE KEY'),
    'none',
    'The key of that certificate (PEM)',
  ),
  METRICS_PORT: optional(
    is.port,
    'off',
    'The port, on HOST, where Prometheus reads /metrics; it asks for no key',
  ),
} as const satisfies Record<string, Setting>;

/** The name of an environment variable that the service reads. */
export type SettingName = keyof typeof SETTINGS;
