import type { SesAnswer, SesApi } from './ses-api.ts';

/**
 * How a domain stands with SES, in the words of our own domains; `absent` when SES does not know it, `otherKey` when it
 * signs with another key than ours, or with none.
 */
export type IdentityState = 'verified' | 'pending' | 'failed' | 'temporaryFailure' | 'absent' | 'otherKey';

/** SES refused; the message is its own. */
export class IdentityRefused extends Error {
  override readonly name = 'IdentityRefused';
}

/** A domain, and the RSA key that we made for it. */
export interface KeyedIdentity {
  readonly domain: string;
  readonly selector: string;
  /** PEM. */
  readonly privateKey: string;
}

/**
 * Registers a domain with the RSA key that we made for it (BYODKIM), so that the DNS record that its owner sets for us
 * serves SES as well. A domain that is there already stays as it is: others may sign with the key that it has.
 */
export const registerIdentity = async (
  api: SesApi,
  identity: KeyedIdentity,
  signal: AbortSignal,
): Promise<void> => {
  const body = { EmailIdentity: identity.domain, DkimSigningAttributes: attributesOf(identity) };
  const created = await api({ method: 'POST', path: '/v2/email/identities', body, signal });
  if (created.errorType !== null && created.errorType !== 'AlreadyExistsException') throw refused(created);
};

/** Has SES sign with this key from now on, whichever it had before, for everybody who uses the domain through the account. */
export const replaceKey = async (
  api: SesApi,
  identity: KeyedIdentity,
  signal: AbortSignal,
): Promise<void> => {
  const updated = await api({
    method: 'PUT',
    path: `${pathOf(identity.domain)}/dkim/signing`,
    body: { SigningAttributesOrigin: 'EXTERNAL', SigningAttributes: attributesOf(identity) },
    signal,
  });
  if (updated.errorType !== null) throw refused(updated);
};

const attributesOf = ({ selector, privateKey }: KeyedIdentity) => ({
  DomainSigningSelector: selector,
  // The base64 between the lines of the PEM, in one line.
  DomainSigningPrivateKey: privateKey.replace(/-----[^-]+-----|\s/g, ''),
});

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
  // With a key of ours the one token is its selector; with keys of SES's own they are three others. A domain that was
  // proven to SES by other means may have no key at all.
  if (dkim?.Tokens?.length && !dkim.Tokens.includes(selector)) return 'otherKey';
  if (dkim?.Status === 'NOT_STARTED') return 'otherKey';
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
