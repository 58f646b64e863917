import type { RetentionDays } from '../../engine/duties/retention.ts';
import { type Config, hasSmtpCertificate } from '../../platform/config/config.ts';

/** The encryption of a client's connection to the SMTP port. */
export type SmtpSecurity = 'implicit' | 'starttls' | 'none';

/** The facts of this installation that the guides are written with. */
export interface Installation extends RetentionDays {
  /** The URL of the API, without a trailing slash. */
  readonly baseUrl: string;
  /** The name under which the SMTP port is reached. */
  readonly host: string;
  readonly port: number;
  readonly security: SmtpSecurity;
  /** False when no SMTP port is open: then port and security are those that an operator would choose. */
  readonly takesSmtp: boolean;
  /** The domain whose addresses choose the outcome of a test email. */
  readonly simulator: string;
}

type Settings = RetentionDays &
  Pick<
    Config,
    | 'publicUrl'
    | 'httpsPort'
    | 'submissionPort'
    | 'submissionTlsPort'
    | 'submissionTlsCert'
    | 'simulatorDomain'
  >;

/**
 * Reads the facts from the configuration. TLS from the first octet is preferred where both are offered (RFC
 * 8314, 3).
 */
export function installationOf(config: Settings): Installation {
  const { publicUrl, submissionPort, submissionTlsPort, simulatorDomain } = config;
  const { retentionTestDays, retentionLiveDays } = config;
  const facts = {
    baseUrl: publicUrl,
    host: new URL(publicUrl).hostname,
    simulator: simulatorDomain,
    retentionTestDays,
    retentionLiveDays,
  };
  if (submissionTlsPort !== null)
    return { ...facts, port: submissionTlsPort, security: 'implicit', takesSmtp: true };
  if (submissionPort !== null)
    return {
      ...facts,
      port: submissionPort,
      security: hasSmtpCertificate(config) ? 'starttls' : 'none',
      takesSmtp: true,
    };
  return { ...facts, port: 465, security: 'implicit', takesSmtp: false };
}
