import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';

/**
 * The certificate authorities to trust, in PEM: the runtime's own and those of the file (TLS_CA_FILE). Null without a file,
 * which leaves the runtime to its own. Given any, the runtime trusts those alone, so both have to be named.
 */
export async function trustedAuthorities(file: string | null): Promise<string | null> {
  return file === null ? null : [...rootCertificates, await readFile(file, 'utf8')].join('\n');
}
