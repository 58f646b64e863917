import { readFileSync } from 'node:fs';
import { Value } from '@sinclair/typebox/value';
import { bodyStoreKey } from '../bodies/open.ts';
import { isUsable } from '../crypto/certificate-source.ts';
import { serverUrls } from '../db/server/server-urls.ts';
import { problemOfServers } from '../db/server/url-parts.ts';
import { hostOf } from '../text/host.ts';
import { type Environment, environmentOfProcess, isExecutable } from './environment.ts';
import { readRelayUrl } from './relay-url.ts';
import { isReviewing, isWhole } from './roles.ts';
import { type ChaosSetting, readTortureSetting } from './settings/chaos-setting.ts';
import type { Setting } from './settings/setting.ts';
import { SETTINGS, type SettingName } from './settings/settings.ts';

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<CamelCase<Tail>>}`
  : Lowercase<Name>;

type ValueOf<It> = It extends Setting<infer Value> ? Value : never;

type Values = { readonly [Name in SettingName]: ValueOf<(typeof SETTINGS)[Name]> };

export type { Environment };

/** The profile, which sets defaults for a developer's machine or for a server. */
export type Profile = 'development' | 'production';

/**
 * The whole configuration, read once at the start; the values of settings.ts under their names in camel case.
 */
export type Config = { readonly [Name in SettingName as CamelCase<Name>]: Values[Name] } & {
  readonly profile: Profile;
  readonly host: string;
  readonly publicUrl: string;
  /** False for a process that leaves its SMTP ports to another one of this machine. */
  readonly opensMailPorts: boolean;
  /** Set only by `posthorn torture` and tests, for their own instances. */
  readonly torture: ChaosSetting | null;
};

/** Either a configuration, or all problems of the environment, a sentence each. */
export type ConfigResult = { readonly config: Config } | { readonly problems: readonly string[] };

/**
 * Reads the configuration; nothing else in the service looks at the environment. Settings in `above` come
 * from the command line.
 */
export function loadConfig(
  environment: Environment = environmentOfProcess(),
  executable = isExecutable(),
  above: Environment = {},
): ConfigResult {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries<Setting>(SETTINGS)) {
    // `NAME=` in a compose file means "not set".
    const written = above[name] || environment[name] || setting.fallback;
    const value = written === null ? null : setting.kind.read(written);
    if (written === null || Value.Check(setting.kind.value, value)) values[name] = value;
    else
      problems.push(
        `${name} ${setting.secret ? '' : `is ${JSON.stringify(written)}, but `}must be ${setting.kind.allowed}.`,
      );
  }
  // Operators do not set this, so that it is not in the table.
  const torture = environment.TORTURE ? readTortureSetting(environment.TORTURE) : null;
  if (torture === undefined)
    problems.push('TORTURE must be what posthorn torture sets for its own instances.');
  if (problems.length > 0 || torture === undefined) return { problems };
  const config = { ...complete(values as Values, executable), torture };
  const contradictions = contradictionsIn(config);
  return contradictions.length > 0 ? { problems: contradictions } : { config };
}

/** Adds the values that follow from others. */
function complete(values: Values, executable: boolean): Omit<Config, 'torture'> {
  const profile = values.PROFILE ?? (executable ? 'production' : 'development');
  const named = Object.entries(values).map(([name, value]) => [camel(name), value]);
  return {
    ...(Object.fromEntries(named) as Omit<Config, 'torture'>),
    profile,
    opensMailPorts: true,
    host: values.HOST ?? (profile === 'production' ? '0.0.0.0' : '127.0.0.1'),
    publicUrl: values.PUBLIC_URL ?? `http://localhost:${values.PORT}`,
  };
}

const camel = (name: string): string =>
  name.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The settings that each transport needs. */
const NEEDED_BY_TRANSPORT: Readonly<
  Record<Config['transport'][number], { settings: string; isComplete: (config: Config) => boolean }>
> = {
  capture: { settings: '', isComplete: () => true },
  direct: { settings: '', isComplete: () => true },
  smtp: { settings: 'SMTP_URL', isComplete: ({ smtpUrl }) => smtpUrl !== null },
  ses: {
    settings: 'SES_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    isComplete: ({ sesRegion, awsAccessKeyId, awsSecretAccessKey }) =>
      Boolean(sesRegion && awsAccessKeyId && awsSecretAccessKey),
  },
};

/** Contradictions between values that are each valid. */
function contradictionsIn(config: Config): string[] {
  const wrong: [boolean, string][] = [
    [
      config.httpsPort !== null && config.acmeTermsAgreed !== 'yes',
      'ACME_TERMS_AGREED must be yes with HTTPS_PORT, once you agree to the terms of service of the certificate authority in ACME_DIRECTORY_URL.',
    ],
    [
      config.httpsPort !== null && !isCertifiable(config.publicUrl),
      'PUBLIC_URL must be an https URL with a host name in the public DNS and no path with HTTPS_PORT: the certificate is for that name.',
    ],
    [config.httpsPort === config.port, 'HTTPS_PORT and PORT must differ.'],
    [
      config.databaseUrl === null && !isWhole(config.roles) && !isReviewing(config.roles),
      'ROLES must name http, engine and delivery without DATABASE_URL: the embedded database belongs to one process, which has to do all the work. http alone looks through a restored database, and sends nothing.',
    ],
    ...(['DATABASE_URL', 'DATABASE_READ_URL'] as const).map((name): [boolean, string] => {
      const url = name === 'DATABASE_URL' ? config.databaseUrl : config.databaseReadUrl;
      const problem = problemOfServers(serverUrls(url ?? '') ?? []);
      return [problem !== null, `${name}: ${problem}.`];
    }),
    [
      config.databaseReadUrl !== null && config.databaseUrl === null,
      'DATABASE_URL must be set with DATABASE_READ_URL: a replica follows that server.',
    ],
    [
      config.profile === 'production' && config.databaseUrl !== null && config.secretKey === null,
      'SECRET_KEY must be set in production with DATABASE_URL: at least 32 characters, the same for every instance.',
    ],
    [
      config.secretKeyPrevious !== null && config.secretKey === null,
      'SECRET_KEY must be set with SECRET_KEY_PREVIOUS: it is the new key, which replaces that one.',
    ],
    [
      config.secretKeyPrevious !== null && config.secretKeyPrevious === config.secretKey,
      'SECRET_KEY and SECRET_KEY_PREVIOUS must differ: the first is the new key, the other the previous one.',
    ],
    [
      config.smtpFallbackUrl !== null && !config.transport.includes('smtp'),
      'TRANSPORT must name smtp with SMTP_FALLBACK_URL.',
    ],
    [
      config.smtpFallbackUrl !== null && endOf(config.smtpFallbackUrl) === endOf(config.smtpUrl ?? ''),
      'SMTP_FALLBACK_URL must name another relay than SMTP_URL: another host or another port.',
    ],
    ...config.transport.map((name): [boolean, string] => {
      const { settings, isComplete } = NEEDED_BY_TRANSPORT[name];
      return [!isComplete(config), `${settings} must be set with TRANSPORT=${name}.`];
    }),
    [
      config.sesInboundBucket !== null &&
        (config.sesInboundTopics === null ||
          config.awsAccessKeyId === null ||
          config.awsSecretAccessKey === null),
      'SES_INBOUND_TOPICS, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set with SES_INBOUND_BUCKET.',
    ],
    [
      config.bodyStore !== null && bodyStoreKey(config) === null,
      'BODY_STORE_ACCESS_KEY_ID and BODY_STORE_SECRET_ACCESS_KEY, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, must be set with BODY_STORE.',
    ],
    [
      config.bodyStore === null &&
        (config.bodyStoreEndpoint !== null ||
          config.bodyStoreAccessKeyId !== null ||
          config.bodyStoreSecretAccessKey !== null),
      'BODY_STORE must be set with BODY_STORE_ENDPOINT, BODY_STORE_ACCESS_KEY_ID and BODY_STORE_SECRET_ACCESS_KEY: without it bodies lie in the database.',
    ],
    [
      (config.bodyStoreAccessKeyId === null) !== (config.bodyStoreSecretAccessKey === null),
      'BODY_STORE_ACCESS_KEY_ID and BODY_STORE_SECRET_ACCESS_KEY must be set together.',
    ],
    [
      (config.stripeSecretKey === null) !== (config.stripeWebhookSecret === null),
      'STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET must be set together.',
    ],
    [
      (config.submissionTlsCert === null) !== (config.submissionTlsKey === null),
      'SUBMISSION_TLS_CERT and SUBMISSION_TLS_KEY must be set together.',
    ],
    [
      config.submissionTlsPort !== null && !hasSmtpCertificate(config),
      'SUBMISSION_TLS_CERT and SUBMISSION_TLS_KEY, or HTTPS_PORT, must be set with SUBMISSION_TLS_PORT.',
    ],
    [
      !isPair(config),
      'SUBMISSION_TLS_KEY must be the key of the certificate in SUBMISSION_TLS_CERT, without a passphrase.',
    ],
  ];
  return wrong.filter(([is]) => is).map(([, sentence]) => sentence);
}

/**
 * True of an https address whose host an authority can look up: a name of two labels at least, no address.
 */
function isCertifiable(publicUrl: string): boolean {
  const { protocol, hostname, pathname } = new URL(publicUrl);
  return (
    protocol === 'https:' && /^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/.test(hostname) && pathname === '/'
  );
}

/**
 * The host and port of a relay: two URLs with the same ones are down together, even if they differ elsewhere.
 */
function endOf(relayUrl: string): string {
  const relay = readRelayUrl(relayUrl);
  return relay === null ? relayUrl : `${relay.host}:${relay.port}`;
}

/** The host name that MX records lead to: EHLO_NAME, else the host of PUBLIC_URL. */
export const mailHostOf = ({ ehloName, publicUrl }: Pick<Config, 'ehloName' | 'publicUrl'>): string =>
  ehloName ?? hostOf(new URL(publicUrl));

/** True where the SMTP ports have a certificate, or will have one as soon as it is ordered. */
export const hasSmtpCertificate = ({
  submissionTlsCert,
  httpsPort,
}: Pick<Config, 'submissionTlsCert' | 'httpsPort'>): boolean =>
  submissionTlsCert !== null || httpsPort !== null;

/** True when the SMTP ports can use key and certificate, or when one of the two is missing. */
function isPair({ submissionTlsCert: cert, submissionTlsKey: key }: Config): boolean {
  if (cert === null || key === null) return true;
  try {
    return isUsable({ certificate: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') });
  } catch {
    return false;
  }
}

/** The configuration for the log, without the values of secrets. */
export function redacted(config: Config): Record<string, unknown> {
  const shown = Object.entries<Setting>(SETTINGS).map(([name, setting]) => {
    const value = config[camel(name) as keyof Config];
    return [name, setting.secret && value !== null ? '[set]' : value];
  });
  return Object.fromEntries(shown);
}
