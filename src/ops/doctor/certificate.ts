import { renewalOf } from '../../http/certificates/renewal.ts';
import { CertificateStore } from '../../http/certificates/store.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Database } from '../../platform/db/database.ts';
import { DAY_MS } from '../../platform/time/clock.ts';
import { type Diagnosis, fine, messageOf, warning, wrong } from './diagnosis.ts';

const CHECK = 'Certificate';
const REACH =
  'The authority must reach this service at http://<host of PUBLIC_URL>:80, which leads to PORT; the next try is at the time shown.';

/** The certificate of HTTPS_PORT is there, and renewed in time. */
export async function diagnoseCertificate(
  database: Database,
  { publicUrl, acmeDirectoryUrl }: Pick<Config, 'publicUrl' | 'acmeDirectoryUrl'>,
  now: number,
): Promise<Diagnosis> {
  const host = new URL(publicUrl).hostname;
  const row = await new CertificateStore(database, { directoryUrl: acmeDirectoryUrl, host }, 'doctor').read();
  const failure =
    row?.lastError && row.nextTryAt
      ? ` The last try failed: ${messageOf(row.lastError)} The next one is at ${row.nextTryAt.toISOString()}.`
      : '';
  if (!row?.notAfter || !row.notBefore)
    return wrong(
      CHECK,
      `There is none for ${host} yet, so that HTTPS is not served.${failure}`,
      failure === '' ? 'Start the service: `posthorn serve` orders it.' : REACH,
    );
  const [notBefore, notAfter] = [row.notBefore.getTime(), row.notAfter.getTime()];
  const days = Math.floor((notAfter - now) / DAY_MS);
  if (notAfter <= now) return wrong(CHECK, `The one for ${host} has expired.${failure}`, REACH);
  const detail = `The one for ${host} is valid for ${days} ${days === 1 ? 'day' : 'days'}.${failure}`;
  // A day late is a renewal that has failed, or that nothing runs to make.
  if (now > renewalOf({ notBefore, notAfter }) + DAY_MS) return warning(CHECK, detail, REACH);
  return fine(CHECK, detail);
}
