import { optional, type Setting, withDefault } from './setting.ts';
import * as is from './setting-kinds.ts';

/** The settings of HTTPS without a proxy. */
export const HTTPS_SETTINGS = {
  HTTPS_PORT: optional(
    is.port,
    'off',
    'The port that serves HTTPS, with a certificate for the host of PUBLIC_URL that is ordered by ACME; PORT then answers the challenges, and leads to https',
  ),
  ACME_TERMS_AGREED: withDefault(
    is.choice('no', 'yes'),
    'no',
    'yes: you agree to the terms of service of the certificate authority; required with HTTPS_PORT',
  ),
  ACME_EMAIL: optional(
    is.text('an email address', { pattern: '^[^\\s@<>,;:"]+@[^\\s@]+\\.[^\\s@]+$' }),
    'none',
    'The address that the certificate authority writes to about your account',
  ),
  ACME_DIRECTORY_URL: withDefault(
    is.url('an https URL', 'https:'),
    'https://acme-v02.api.letsencrypt.org/directory',
    'The ACME directory of the certificate authority (RFC 8555); the default is that of Let’s Encrypt',
  ),
} as const satisfies Record<string, Setting>;
