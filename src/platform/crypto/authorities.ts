import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';

/**
 * The certificate authorities to trust, in PEM: the runtime's own and those of the file (TLS_CA_FILE). The
 * runtime trusts a given list alone, so that the list has to contain both. Null without a file leaves the
 * runtime with its own.
 */
export async function trustedAuthorities(file: string | null): Promise<string | null> {
  return file === null ? null : [...rootCertificates, await readFile(file, 'utf8')].join('\n');
}
