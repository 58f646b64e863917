import type { SesAnswer, SesApi } from './ses-api.ts';

/**
 * The status of a domain at SES; `absent` when SES does not know it, `otherKey` when SES signs with another
 * key than ours, or with none.
 */
export type IdentityState = 'verified' | 'pending' | 'failed' | 'temporaryFailure' | 'absent' | 'otherKey';

/** SES refused the request; the message is SES's own. */
export class IdentityRefused extends Error {
  override readonly name = 'IdentityRefused';
}

/** A domain, and the RSA key that we made for it. */
export interface KeyedIdentity {
  readonly domain: string;
  readonly selector: string;
  /** The private key in PEM. */
  readonly privateKey: string;
}

/**
 * Registers a domain with our RSA key for it (BYODKIM), so that the DNS record that its owner has set serves
 * SES as well. A domain that is registered already stays unchanged: others may sign with its key.
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

/** Makes SES sign with this key from now on, for every user of the domain in the account. */
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
  // SES wants the base64 of the PEM in one line.
  DomainSigningPrivateKey: privateKey.replace(/-----[^-]+-----|\s/g, ''),
});

/** Reads SES's view of the domain's DNS and key. */
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
  // With our key the only token is its selector; with SES's own keys there are three others. A domain that
  // was verified by other means may have no key at all.
  if (dkim?.Tokens?.length && !dkim.Tokens.includes(selector)) return 'otherKey';
  if (dkim?.Status === 'NOT_STARTED') return 'otherKey';
  if (answer.body.VerifiedForSendingStatus === true) return 'verified';
  return STATE[dkim?.Status ?? ''] ?? 'pending';
};

const STATE: Readonly<Record<string, IdentityState>> = {
  FAILED: 'failed',
  TEMPORARY_FAILURE: 'temporaryFailure',
};

/** Removes the domain, if it is registered. */
export const removeIdentity = async (api: SesApi, domain: string, signal: AbortSignal): Promise<void> => {
  const answer = await api({ method: 'DELETE', path: pathOf(domain), signal });
  if (answer.errorType !== null && answer.errorType !== 'NotFoundException') throw refused(answer);
};

const pathOf = (domain: string): string => `/v2/email/identities/${encodeURIComponent(domain)}`;

const refused = ({ errorType, errorMessage }: SesAnswer): IdentityRefused =>
  new IdentityRefused(`SES refused: ${errorType}: ${errorMessage}`);
