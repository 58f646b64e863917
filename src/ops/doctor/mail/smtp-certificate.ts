import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { CertificateStore } from '../../../http/certificates/store.ts';
import { type Config, hasSmtpCertificate, mailHostOf } from '../../../platform/config/config.ts';
import type { Database } from '../../../platform/db/database.ts';
import { DAY_MS } from '../../../platform/time/clock.ts';
import { type Diagnosis, fine, skipped, warning, wrong } from '../diagnosis.ts';

const CHECK = 'TLS of received mail';
const FILES = 'SUBMISSION_TLS_CERT and SUBMISSION_TLS_KEY';
/** A program that renews files does so with a month left. */
const FEW_DAYS = 14;

type Settings = Pick<
  Config,
  'inboundSmtpPort' | 'submissionTlsCert' | 'httpsPort' | 'publicUrl' | 'acmeDirectoryUrl' | 'ehloName'
>;

/** Mail servers get a certificate that is for the name of the MX, and valid. */
export async function diagnoseSmtpCertificate(
  config: Settings,
  database: Database | null,
  now: number,
): Promise<Diagnosis> {
  if (config.inboundSmtpPort === null) return skipped(CHECK, 'No port receives mail.');
  if (!hasSmtpCertificate(config))
    return warning(
      CHECK,
      'None: mail comes in clear text, and servers whose mail needs TLS do not bring it.',
      `Set ${FILES}, or HTTPS_PORT.`,
    );
  if (config.submissionTlsCert === null && database === null)
    return skipped(CHECK, 'The certificate of HTTPS_PORT is in the database.');
  const pem = await certificateOf(config, database);
  if (pem === null)
    return warning(
      CHECK,
      'There is no certificate yet; STARTTLS is not offered.',
      'See "Certificate" above.',
    );
  const certificate = new X509Certificate(pem);
  const host = mailHostOf(config);
  const days = Math.floor((Date.parse(certificate.validTo) - now) / DAY_MS);
  const renewal =
    config.submissionTlsCert === null ? 'See "Certificate" above.' : `Renew the files of ${FILES}.`;
  if (days < 0) return wrong(CHECK, 'The certificate has expired.', renewal);
  if (certificate.checkHost(host) === undefined)
    return warning(
      CHECK,
      `The certificate does not name ${host}, which MX records lead to: servers that check it (MTA-STS) do not bring mail.`,
      `Set ${FILES} to a certificate for ${host}, or EHLO_NAME to a name that it has.`,
    );
  const detail = `The certificate names ${host}, and is valid for ${days} ${days === 1 ? 'day' : 'days'}.`;
  return config.submissionTlsCert !== null && days < FEW_DAYS
    ? warning(CHECK, detail, 'Look at the program that renews it; the files are read again every minute.')
    : fine(CHECK, detail);
}

/** The chain in PEM: of the files, else that of HTTPS_PORT. */
async function certificateOf(
  { submissionTlsCert, acmeDirectoryUrl, publicUrl }: Settings,
  database: Database | null,
): Promise<string | null> {
  if (submissionTlsCert !== null) return readFile(submissionTlsCert, 'utf8');
  if (database === null) return null;
  const where = { directoryUrl: acmeDirectoryUrl, host: new URL(publicUrl).hostname };
  const row = await new CertificateStore(database, where, 'doctor').read();
  return row?.certificate ?? null;
}
