import { createHash } from 'node:crypto';
import { OneTimeTokens } from '../../auth/one-time-tokens.ts';
import type { Database } from '../../db/database.ts';
import { isProblem, parseAddress } from '../../mail/address.ts';
import { type Account, accountByEmail } from './accounts.ts';

/** A link for a new password holds for an hour. */
const LASTS_MS = 3_600_000;

/** The subject of a link that sets a new password. */
export interface ResetSubject {
  readonly accountId: string;
  /** Tells the password that the account had when the link was made. */
  readonly stamp: string;
  /** Whether authenticator, passkeys and recovery codes go as well. */
  readonly withoutSecondFactor: boolean;
}

/** A hash of the stored hash: it tells two passwords of an account apart, and nothing about either. */
export const stampOf = ({ password }: Account): string =>
  createHash('sha256').update(`${password}`).digest('base64url');

/** The one-time tokens of such links. */
export const resetTokensOf = (database: Database, now: () => number): OneTimeTokens<ResetSubject> =>
  new OneTimeTokens(database, 'password reset', now);

/** Makes a link with which the person sets a new password; null when there is no such account. @throws Unavailable */
export async function resetLink(
  database: Database,
  email: string,
  withoutSecondFactor: boolean,
  { publicUrl, now }: { readonly publicUrl: string; readonly now: () => number },
): Promise<string | null> {
  const address = parseAddress(email);
  const account = isProblem(address) ? null : await accountByEmail(database, address.key);
  if (!account) return null;
  const subject = { accountId: account.id, stamp: stampOf(account), withoutSecondFactor };
  const token = await resetTokensOf(database, now).issue(subject, now() + LASTS_MS);
  return `${publicUrl}/app/reset#token=${token}`;
}
