import { PLAN_NAMES } from '../plans.ts';
import { ROLES } from '../roles.ts';
import { TRANSPORTS } from '../transport-names.ts';
import { BODY_SETTINGS } from './body-settings.ts';
import { HTTPS_SETTINGS } from './https-settings.ts';
import { SES_INBOUND_SETTINGS } from './ses-inbound-settings.ts';
import { optional, type Setting, secret, withDefault } from './setting.ts';
import * as is from './setting-kinds.ts';

/** The longest that data may be kept, in days, as a configuration has it. */
export const LONGEST_RETENTION = { retentionTestDays: 7, retentionLiveDays: 90 } as const;

const anyText = is.text('some text');
const certificates = is.pemFile('certificates', 'CERTIFICATE');

/** All settings, in the order in which they are shown. */
export const SETTINGS = {
  PROFILE: optional(
    is.choice('development', 'production'),
    'development from source, production from the executable',
    'The profile that sets other defaults',
  ),
  HOST: optional(anyText, '127.0.0.1 in development, 0.0.0.0 in production', 'The address to listen on'),
  PORT: withDefault(is.port, '3000', 'The port to listen on'),
  ...HTTPS_SETTINGS,
  ROLES: withDefault(
    is.choices('in any order', ...ROLES),
    ROLES.join(','),
    'The roles of this process: it answers requests (http), runs duties, timers, flows and webhooks (engine), delivers live email and gives out campaigns (delivery); `serve --only` sets them too',
  ),
  PUBLIC_URL: optional(
    is.baseUrl,
    'http://localhost:{PORT}',
    'The public address of this service, the base of all links in emails, documentation and tracking',
  ),
  DATA_DIR: withDefault(
    is.text('the path of a folder'),
    './data',
    'The folder of the embedded database and of generated secrets',
  ),
  DATABASE_URL: secret(
    is.databaseUrl,
    'embedded database',
    'A PostgreSQL (15 or later) to use instead of the embedded database; of several hosts, the one that takes writes',
  ),
  DATABASE_READ_URL: secret(
    is.databaseUrl,
    'DATABASE_URL answers all reads',
    'Replicas of DATABASE_URL, one or several hosts, that answer lists, searches, figures and exports while they are up to date with the primary',
  ),
  SECRET_KEY: secret(
    is.text('at least 32 characters', { minLength: 32 }),
    'generated into DATA_DIR',
    'Encrypts secrets at rest; required in production with DATABASE_URL',
  ),
  SECRET_KEY_PREVIOUS: secret(
    is.text('at least 32 characters', { minLength: 32 }),
    'none',
    'The previous SECRET_KEY, until `posthorn secret-key rotate` has finished',
  ),
  BACKUP_PASSPHRASE: secret(
    is.text('at least 8 characters', { minLength: 8 }),
    'backups are not encrypted',
    'The passphrase with which `posthorn backup` encrypts files and `posthorn restore` decrypts them',
  ),
  SENDING_SLOTS: withDefault(
    is.integer(1, 1_000),
    '64',
    'The most live emails that each process delivers at the same time through each transport; over SMTP, twenty connections at most carry them to one server',
  ),
  DRAIN_SECONDS: withDefault(
    is.integer(0, 20),
    '0',
    'The time for which requests are still answered after a stop signal, while GET /ready answers 503: two checks of the load balancer',
  ),
  CAMPAIGN_BOUNCE_RATE: withDefault(
    is.percentage(),
    '5',
    'Above this percentage of bounces among the last 1,000 emails a campaign pauses by itself; 0 turns that off',
  ),
  CAMPAIGN_COMPLAINT_RATE: withDefault(
    is.percentage(),
    '0.3',
    'Above this percentage of complaints among the last 1,000 emails a campaign pauses by itself; 0 turns that off',
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
  SIGNUP: withDefault(
    is.choice('closed', 'open'),
    'closed',
    'open: anyone can create an account with a new workspace, once the first owner exists',
  ),
  MCP_CHANGES: withDefault(
    is.choice('off', 'on'),
    'off',
    'on: assistants at /mcp also get tools that store templates and send email, within the permissions of their keys',
  ),
  REQUIRE_TWO_FACTOR: withDefault(
    is.choice('off', 'admins', 'everyone'),
    'off',
    'The members who can only read in the dashboard until they sign in with a second factor: none (off), owners and admins (admins), or all (everyone)',
  ),
  TEST_SENDS_PER_DAY: withDefault(
    is.integer(0, 1_000_000_000, ', 0 for no limit'),
    '100',
    'The most emails that test keys may send a day',
  ),
  RETENTION_TEST_DAYS: withDefault(
    is.integer(1, LONGEST_RETENTION.retentionTestDays),
    `${LONGEST_RETENTION.retentionTestDays}`,
    'The days after its creation at which test data is removed',
  ),
  RETENTION_LIVE_DAYS: withDefault(
    is.integer(1, LONGEST_RETENTION.retentionLiveDays),
    `${LONGEST_RETENTION.retentionLiveDays}`,
    'The days after its sending at which live data is removed, and captured mail after its capture',
  ),
  SIMULATOR_DOMAIN: withDefault(
    is.domain,
    'simulator.svc.test',
    'The domain whose addresses choose a simulated outcome',
  ),

  RATE_LIMIT_PER_IP: withDefault(
    is.integer(0, 1_000_000_000, ', 0 for no limit'),
    '500',
    'The most requests a minute from one client address; an IPv6 /64 counts as one address',
  ),
  RATE_LIMIT_PREVIEW: withDefault(
    is.integer(0, 1_000_000_000, ', 0 for no limit'),
    '60',
    'The most previews of templates a minute from one client address, in place of the limit above',
  ),
  RATE_LIMIT_PER_KEY: withDefault(
    is.integer(0, 1_000_000_000, ', 0 for no limit'),
    '100',
    'The most requests a second with one API key',
  ),
  RATE_LIMIT_STORE: {
    ...withDefault(
      is.sharedCounter,
      'memory',
      'The store that counts requests for the rate limits: each process on its own (memory), or all of them together (redis://…)',
    ),
    secret: true,
  },
  TRUST_PROXY: withDefault(
    is.proxyTrust,
    '0',
    'The proxies whose X-Forwarded-For is trusted: their number, or their CIDRs; 0 trusts none',
  ),
  WEBHOOK_ALLOW_CIDRS: optional(is.cidrs, 'none', 'Private address ranges that webhooks may be sent to'),

  TRANSPORT: withDefault(
    is.choices('the default one first', ...TRANSPORTS),
    'capture',
    'The transports for live email; capture stores it here instead of sending it. With several (smtp,ses) each domain may choose one, and the first is the default',
  ),
  SPAMASSASSIN_URL: optional(
    is.url('an address such as tcp://127.0.0.1:783', 'tcp:'),
    'none',
    'The spamd of SpamAssassin that is asked about received mail, and by the dashboard about captured mail',
  ),
  RSPAMD_URL: secret(
    is.url('an address such as http://127.0.0.1:11333', 'http:', 'https:'),
    'none',
    'The rspamd that is asked about received mail, in place of SPAMASSASSIN_URL; http://:password@host:11334 asks its controller',
  ),
  UNKNOWN_OUTCOME: withDefault(
    is.choice('retry', 'hold'),
    'retry',
    'The policy when it is unknown whether a server accepted an email: retry may send it twice, hold may lose it',
  ),
  SMTP_URL: secret(is.relayUrl, 'none', 'The relay for TRANSPORT=smtp'),
  SMTP_FALLBACK_URL: secret(
    is.relayUrl,
    'none',
    'The relay that takes over while the one of SMTP_URL is down; never for mail that the first one may have accepted',
  ),
  DIRECT_PORT: withDefault(is.port, '25', 'The port of the receiving servers for TRANSPORT=direct'),
  DIRECT_CONNECTIONS_PER_SITE: withDefault(
    is.integer(1, 100),
    '10',
    'The most connections that all instances together have open at the same time to one receiving site (the mail servers that domains share) for TRANSPORT=direct; each instance that delivers has at least one',
  ),
  DIRECT_MESSAGES_PER_MINUTE: withDefault(
    is.integer(60, 60_000),
    '3000',
    'The most messages a minute that all instances together give to one receiving site for TRANSPORT=direct',
  ),
  EHLO_NAME: optional(
    is.domain,
    'the name of the machine',
    'The host name that this service gives to other mail servers in EHLO',
  ),
  RETURN_PATH_DOMAIN: optional(is.domain, 'none', 'The domain of the return path, which receives bounces'),
  SES_REGION: optional(
    is.text('a region such as eu-west-1', { pattern: '^[a-z]{2}(-[a-z]+)+-\\d$' }),
    'none',
    'The AWS region for TRANSPORT=ses',
  ),
  SES_ENDPOINT: optional(
    is.url('an http or https URL', 'http:', 'https:'),
    'that of the region',
    'A custom endpoint for TRANSPORT=ses',
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
    'The SNS topic whose SES notifications are accepted at /callbacks/ses',
  ),
  ...SES_INBOUND_SETTINGS,
  AWS_ACCESS_KEY_ID: secret(
    anyText,
    'none',
    'The access key for TRANSPORT=ses and SES_INBOUND_BUCKET, and for BODY_STORE unless that has its own',
  ),
  AWS_SECRET_ACCESS_KEY: secret(anyText, 'none', 'The secret of that access key'),
  ...BODY_SETTINGS,
  DNS_SERVERS: optional(is.nameServers, 'those of the machine', 'Used for mail domains and webhook hosts'),
  TLS_CA_FILE: optional(
    certificates,
    'none',
    'Further certificate authorities to trust, for mail, webhooks and ACME (PEM)',
  ),
  SERVICE_FROM: optional(
    is.sender,
    'the default sender of the workspace',
    "The sender of the service's own emails (invitations, new passwords, warnings) where a workspace has none that may send",
  ),
  SERVICE_EMAILS: withDefault(
    is.choice('on', 'off'),
    'on',
    'on: the service sends its own emails; off sends none, and nothing depends on them',
  ),
  INBOUND_SMTP_PORT: optional(
    is.port,
    'off',
    'The port that receives mail for inbound routes, bounces and complaints over SMTP',
  ),
  SUBMISSION_PORT: optional(is.port, 'off', 'The port that accepts emails over SMTP'),
  SUBMISSION_TLS_PORT: optional(
    is.port,
    'off',
    'The port that accepts emails over SMTP with implicit TLS, usually 465',
  ),
  SUBMISSION_TLS_CERT: optional(
    certificates,
    'that of HTTPS_PORT',
    'The certificate of the SMTP ports (PEM): those that accept emails, and the one that receives mail',
  ),
  SUBMISSION_TLS_KEY: optional(
    is.pemFile('a private key', '(?:[A-Z]+ )?PRIVATE KEY'),
    'none',
    'The private key of that certificate (PEM)',
  ),
  SMTP_TRUST_PROXY: optional(
    is.balancers,
    'none',
    'The load balancers in front of the SMTP ports, whose connections begin with a PROXY header (version 1 or 2)',
  ),
  STRIPE_SECRET_KEY: secret(
    is.text('a secret key of Stripe, such as sk_live_…', { pattern: '^(sk|rk)_(live|test)_\\w+$' }),
    'none',
    'The key with which plans are sold through Stripe',
  ),
  STRIPE_WEBHOOK_SECRET: secret(
    is.text('the signing secret of an endpoint at Stripe, such as whsec_…', { pattern: '^whsec_\\w+$' }),
    'none',
    'The secret with which Stripe signs what it sends to /callbacks/stripe',
  ),
  STRIPE_API_BASE: optional(
    is.url('an http or https URL', 'http:', 'https:'),
    'that of Stripe',
    'Another address of the Stripe API',
  ),
  METRICS_PORT: optional(
    is.port,
    'off',
    'The port on HOST that serves /metrics for Prometheus, without a key',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    is.url('an http or https URL', 'http:', 'https:'),
    'off',
    'The OpenTelemetry collector that gets traces, over OTLP/HTTP at /v1/traces below it',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: secret(is.headers, 'none', 'Headers for the collector, such as api-key=…'),
  OTEL_SERVICE_NAME: withDefault(anyText, 'posthorn', 'The name of this service in traces'),
  OTEL_TRACES_SAMPLER_ARG: withDefault(is.share, '1', 'The share of traces that is recorded, 0 to 1'),
} as const satisfies Record<string, Setting>;

/** The name of an environment variable that the service reads. */
export type SettingName = keyof typeof SETTINGS;
