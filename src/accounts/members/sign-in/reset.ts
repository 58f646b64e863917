import { createHash } from 'node:crypto';
import { OneTimeTokens } from '../../../http/auth/passwords/one-time-tokens.ts';
import type { Database } from '../../../platform/db/database.ts';
import { isProblem, parseAddress } from '../../../platform/text/address.ts';
import type { SendServiceEmail } from '../../service-emails.ts';
import { type Account, accountByEmail, homeOf } from '../accounts.ts';

const PURPOSE = 'password reset';
/** A link for a new password is valid for an hour. */
const LASTS_MS = 3_600_000;

/** The subject of a link that sets a new password. */
export interface ResetSubject {
  readonly accountId: string;
  /** Identifies the password that the account had when the link was created. */
  readonly stamp: string;
  /** True when the authenticator, passkeys and recovery codes are removed as well. */
  readonly withoutSecondFactor: boolean;
}

/** A hash of the stored hash: it distinguishes two passwords of an account, and reveals neither. */
export const stampOf = ({ password }: Account): string =>
  createHash('sha256').update(`${password}`).digest('base64url');

/** The one-time tokens of such links. */
export const resetTokensOf = (database: Database, now: () => number): OneTimeTokens<ResetSubject> =>
  new OneTimeTokens(database, PURPOSE, now);

/**
 * The number of valid links per account at the same time; a process mails no more, so that a mailbox cannot
 * be flooded.
 */
const MOST_LINKS = 3;
const LINKS = `select count(*)::integer as n from one_time_tokens
where purpose = '${PURPOSE}' and subject ->> 'accountId' = $1 and used_at is null and expires_at > $2::text::timestamptz`;

/** The dependencies of mailing a link. */
export interface ResetMailer {
  readonly database: Database;
  readonly resetTokens: OneTimeTokens<ResetSubject>;
  readonly publicUrl: string;
  readonly mail: SendServiceEmail;
}

/**
 * Mails a link that sets a new password, if the account exists; the second factor stays. Anyone who can read
 * the mailbox can set the password: that is inherent in a mailed link. @throws UnavailableError
 */
async function mailResetLink(
  { database, resetTokens, publicUrl, mail }: ResetMailer,
  email: string,
): Promise<void> {
  const address = parseAddress(email);
  const account = isProblem(address) ? null : await accountByEmail(database, address.key);
  if (!account) return;
  const now = resetTokens.now();
  const [links] = await database.query<{ n: number }>(LINKS, [account.id, new Date(now).toISOString()]);
  if ((links?.n ?? 0) >= MOST_LINKS) return;
  const subject = { accountId: account.id, stamp: stampOf(account), withoutSecondFactor: false };
  const expiresAt = now + LASTS_MS;
  const url = linkOf(publicUrl, await resetTokens.issue(subject, expiresAt));
  const workspaceId = await homeOf(database, account.id);
  await mail({ kind: 'passwordReset', to: account.email, workspaceId, url, expiresAt });
}

/** Mails such links one after the other, so that parallel requests are counted. */
export function resetMailer(parts: ResetMailer): (email: string) => Promise<void> {
  let last = Promise.resolve();
  return (email) => {
    const mine = last.then(() => mailResetLink(parts, email));
    last = mine.catch(() => {});
    return mine;
  };
}

const linkOf = (publicUrl: string, token: string): string => `${publicUrl}/app/reset#token=${token}`;

/**
 * A link for a new password, and the other sign-in methods, which stay unless they are removed with the old
 * password.
 */
export interface ResetLink {
  readonly url: string;
  readonly passkeys: number;
  readonly hasAuthenticator: boolean;
}

/** Creates a link that sets a new password; null when the account does not exist. @throws UnavailableError */
export async function resetLink(
  database: Database,
  email: string,
  withoutSecondFactor: boolean,
  { publicUrl, now }: { readonly publicUrl: string; readonly now: () => number },
): Promise<ResetLink | null> {
  const address = parseAddress(email);
  const account = isProblem(address) ? null : await accountByEmail(database, address.key);
  if (!account) return null;
  const subject = { accountId: account.id, stamp: stampOf(account), withoutSecondFactor };
  const token = await resetTokensOf(database, now).issue(subject, now() + LASTS_MS);
  return {
    url: linkOf(publicUrl, token),
    passkeys: account.passkeys,
    hasAuthenticator: account.totp !== null,
  };
}
