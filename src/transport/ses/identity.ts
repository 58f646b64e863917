import type { SesAnswer, SesApi } from './ses-api.ts';

/**
 * How a domain stands with SES, in the words of our own domains; `absent` when SES does not know it, `otherKey` when it
 * signs with another key than ours.
 */
export type IdentityState = 'verified' | 'pending' | 'failed' | 'temporaryFailure' | 'absent' | 'otherKey';

/** SES refused; the message is its own. */
export class IdentityRefused extends Error {
  override readonly name = 'IdentityRefused';
}

/**
 * Registers a domain with the RSA key that we made for it (BYODKIM), so that the DNS record that its owner sets for us
 * serves SES as well. Doing it again replaces the key.
 */
export const registerIdentity = async (
  api: SesApi,
  identity: { readonly domain: string; readonly selector: string; readonly privateKey: string },
  signal: AbortSignal,
): Promise<void> => {
  const attributes = {
    DomainSigningSelector: identity.selector,
    // The base64 between the lines of the PEM, in one line.
    DomainSigningPrivateKey: identity.privateKey.replace(/-----[^-]+-----|\s/g, ''),
  };
  const body = { EmailIdentity: identity.domain, DkimSigningAttributes: attributes };
  const created = await api({ method: 'POST', path: '/v2/email/identities', body, signal });
  if (created.errorType === null) return;
  if (created.errorType !== 'AlreadyExistsException') throw refused(created);
  const again = { SigningAttributesOrigin: 'EXTERNAL', SigningAttributes: attributes };
  const updated = await api({
    method: 'PUT',
    path: `${pathOf(identity.domain)}/dkim/signing`,
    body: again,
    signal,
  });
  if (updated.errorType !== null) throw refused(updated);
};

/** What SES makes of the domain's DNS, and of the key that we gave it. */
export const identityState = async (
  api: SesApi,
  { domain, selector }: { readonly domain: string; readonly selector: string },
  signal: AbortSignal,
): Promise<IdentityState> => {
  const answer = await api({ method: 'GET', path: pathOf(domain), signal });
  if (answer.errorType === 'NotFoundException') return 'absent';
  if (answer.errorType !== null) throw refused(answer);
  const dkim = answer.body.DkimAttributes as
    | { readonly Status?: string; readonly Tokens?: readonly string[] }
    | undefined;
  // With a key of ours the one token is its selector; with keys of SES's own they are three others.
  if (dkim?.Tokens?.length && !dkim.Tokens.includes(selector)) return 'otherKey';
  if (answer.body.VerifiedForSendingStatus === true) return 'verified';
  return STATE[dkim?.Status ?? ''] ?? 'pending';
};

const STATE: Readonly<Record<string, IdentityState>> = {
  FAILED: 'failed',
  TEMPORARY_FAILURE: 'temporaryFailure',
};

/** Removes the domain; no harm when it is not there. */
export const removeIdentity = async (api: SesApi, domain: string, signal: AbortSignal): Promise<void> => {
  const answer = await api({ method: 'DELETE', path: pathOf(domain), signal });
  if (answer.errorType !== null && answer.errorType !== 'NotFoundException') throw refused(answer);
};

const pathOf = (domain: string): string => `/v2/email/identities/${encodeURIComponent(domain)}`;

const refused = ({ errorType, errorMessage }: SesAnswer): IdentityRefused =>
  new IdentityRefused(`SES refused: ${errorType}: ${errorMessage}`);
