import { createHash } from 'node:crypto';
import { and, eq, isNull, lt } from 'drizzle-orm';
import type { Passwords } from '../../../http/auth/passwords/passwords.ts';
import type { SlowDown } from '../../../http/auth/passwords/slow-down.ts';
import { repeatedStep, stepOfCode } from '../../../http/auth/passwords/totp.ts';
import type { Proof } from '../../../http/auth/sessions/session-store.ts';
import type { Sessions } from '../../../http/auth/sessions/sessions.ts';
import { openOrNull, type Sealer } from '../../../platform/crypto/sealer.ts';
import type { Database } from '../../../platform/db/database.ts';
import { accounts, recoveryCodes } from '../../../platform/db/schema/accounts.ts';
import { Failure } from '../../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../../platform/text/address.ts';
import { recordPerson } from '../../audit-log/commands.ts';
import { type Account, accountByEmail, hasSecondFactor, homeOf } from '../accounts.ts';
import { type NoticeDeps, tellOfChange } from './notice.ts';

/** The longest life of a person's session, even of a busy one. */
export const SESSION_MS = 90 * 86_400_000;
/** The context to which sealed authenticator secrets are bound. */
export const TOTP = 'totp secret';

export interface SignInDeps extends NoticeDeps {
  readonly sealer: Sealer;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly slowDown: SlowDown;
}

/** The credentials of a sign-in. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly code?: string;
}

/** The browser that asks. */
export interface Browser {
  readonly headers: Headers;
  readonly client: string;
  readonly now: number;
  readonly requestId: string;
}

const WRONG = new Failure('UNAUTHORIZED', 'The address or the password is wrong.', {
  suggestion:
    'The operator of this service can print a link for a new password: posthorn members reset-password.',
});
const CODE_NEEDED = new Failure('UNAUTHORIZED', 'This account also requires a second factor.', {
  suggestion:
    'Send the six digits of your authenticator, or a recovery code, as `code`; or sign in with your passkey.',
});
const CODE_SEALED = new Failure(
  'UNAUTHORIZED',
  'The authenticator of this account cannot be checked: the secret key of this installation has been replaced.',
  {
    suggestion:
      'Sign in with a recovery code or your passkey, then remove the authenticator with a recovery code and add it again. Without either, ask the operator: posthorn members reset-password --without-second-factor.',
  },
);
const WRONG_CODE = new Failure('UNAUTHORIZED', 'The code is wrong, or was already used.', {
  suggestion: 'Wait for the next code, and check the clock of your device.',
});
const NO_HOME = new Failure('FORBIDDEN', 'This account belongs to no workspace.', {
  suggestion: 'Ask for an invitation.',
});

/** The refusal of an attempt that comes too soon. */
export const tooSoon = (seconds: number): Failure =>
  new Failure('RATE_LIMITED', `Too many wrong attempts. Retry in ${seconds} seconds.`, {
    retryAfterSeconds: seconds,
  });

/** Signs a person in with password and second factor; returns the cookie. @throws UnavailableError */
export async function signIn(
  deps: SignInDeps,
  given: Credentials,
  browser: Browser,
): Promise<string | Failure> {
  const proved = await prove(deps, given, browser);
  if (!(proved instanceof Failure))
    return await openFor(deps, proved, browser, { provided: { password: proved.password } });
  // The typed address may be a password, so it is not logged.
  const { client, requestId } = browser;
  deps.log.warn({ requestId, client, code: proved.code }, 'A sign-in was refused');
  return proved;
}

const ENDED = new Failure('UNAUTHORIZED', 'This session has ended.', { suggestion: 'Sign in again.' });

/** Opens a session of an authenticated person; returns the cookie. @throws UnavailableError */
export async function openFor(
  { database, sessions }: SignInDeps,
  { id }: Pick<Account, 'id'>,
  { headers, client, now, requestId }: Browser,
  { workspace, provided }: { readonly workspace?: string; readonly provided?: Proof } = {},
): Promise<string | Failure> {
  const workspaceId = workspace ?? (await homeOf(database, id));
  if (workspaceId === null) return NO_HOME;
  const subject = { kind: 'account', id, workspaceId, livemode: true } as const;
  const cookie = await sessions.openProvided(subject, now + SESSION_MS, headers, client, provided);
  if (cookie === null) return provided === 'replaced' ? ENDED : WRONG;
  await recordPerson(database, workspaceId, id, {
    action: 'session.opened',
    targetId: null,
    details: { client },
    now,
    requestId,
  });
  return cookie;
}

/**
 * Checks password and second factor. A missing account takes the same path to the end: a hash is verified,
 * and the answer is the same. @throws UnavailableError
 */
export async function prove(
  deps: SignInDeps,
  { email, password, code }: Credentials,
  { client, now, requestId }: Omit<Browser, 'headers'>,
): Promise<Account | Failure> {
  const address = parseAddress(email);
  const emailKey = isProblem(address) ? '' : address.key;
  const accountName = `account ${emailKey.slice(0, 254)}`;
  const clientName = `client ${client}`;
  const names = [accountName, clientName];
  const { waitSeconds } = deps.slowDown.begin(names);
  if (waitSeconds > 0) return tooSoon(waitSeconds);
  let account: Account | null;
  try {
    account = await accountByEmail(deps.database, emailKey);
    if (!(await deps.passwords.verify(password, account?.password ?? null)) || !account) return WRONG;
  } catch (error) {
    // The password was not checked, so the attempt does not count as wrong.
    deps.slowDown.takeBack(names);
    throw error;
  }
  if (hasSecondFactor(account)) {
    if (code === undefined) {
      // The password was right, so this attempt does not count as wrong. Earlier ones may have been guesses
      // of codes, and still count.
      deps.slowDown.takeBack(names);
      return CODE_NEEDED;
    }
    const taken = await takesCode(deps, account, code, { now, requestId });
    // The code was not checked, so the attempt does not count as wrong.
    if (taken === 'sealed') deps.slowDown.takeBack(names);
    if (taken !== 'yes') return taken === 'sealed' ? CODE_SEALED : WRONG_CODE;
  }
  deps.slowDown.succeeded(accountName, [clientName]);
  return account;
}

/** Checks the password of a signed-in person before a sensitive change. @throws UnavailableError */
export async function confirmPassword(
  { passwords, slowDown }: SignInDeps,
  account: Account,
  password: string,
): Promise<Failure | null> {
  const name = `account ${account.emailKey}`;
  const { waitSeconds } = slowDown.begin([name]);
  if (waitSeconds > 0) return tooSoon(waitSeconds);
  if (!(await passwords.verify(password, account.password))) return WRONG_PASSWORD;
  slowDown.succeeded(name, []);
  return null;
}

/** The refusal of a wrong password. */
export const WRONG_PASSWORD = new Failure('FORBIDDEN', 'The current password is wrong.');

/**
 * A right code that is repeated or late may have been observed: its owner is notified, once per code (ASVS
 * 2.8.5).
 */
async function tellOfRepetition(
  deps: NoticeDeps,
  account: Account,
  step: number | null,
  at: Pick<Browser, 'now' | 'requestId'>,
): Promise<void> {
  if (step === null) return;
  const told = await deps.database.read((orm) =>
    orm
      .update(accounts)
      .set({ totpTold: step })
      .where(and(eq(accounts.id, account.id), lt(accounts.totpTold, step)))
      .returning({ id: accounts.id }),
  );
  if (told.length === 0) return;
  const { requestId } = at;
  deps.log.warn({ requestId, account: account.id }, 'A used authenticator code was tried again and refused');
  await tellOfChange(deps, account, 'codeRepeated', at);
}

/**
 * Uses up a code of the authenticator or a recovery code: each is accepted once, on any instance. Returns
 * `sealed` when the authenticator can no longer be read. @throws UnavailableError
 */
export async function takesCode(
  deps: NoticeDeps & Pick<SignInDeps, 'sealer'>,
  account: Account,
  code: string,
  at: Pick<Browser, 'now' | 'requestId'>,
): Promise<'yes' | 'no' | 'sealed'> {
  const { now } = at;
  const { database, sealer } = deps;
  const plain = code.replace(/[\s-]/g, '').toLowerCase();
  if (/^\d{6}$/.test(plain)) {
    if (account.totp === null) return 'no';
    const secret = openOrNull(sealer, account.totp, TOTP);
    if (secret === null) return 'sealed';
    const step = stepOfCode(secret, plain, now, account.totpStep);
    if (step !== null && (await takesStep(database, account.id, step))) return 'yes';
    // Another request may have used it a moment ago.
    await tellOfRepetition(deps, account, step ?? repeatedStep(secret, plain, now, account.totpStep), at);
    return 'no';
  }
  const taken = await database.read((orm) =>
    orm
      .update(recoveryCodes)
      .set({ usedAt: new Date(now) })
      .where(
        and(
          eq(recoveryCodes.accountId, account.id),
          eq(recoveryCodes.hash, hashOfRecoveryCode(plain)),
          isNull(recoveryCodes.usedAt),
        ),
      )
      .returning({ hash: recoveryCodes.hash }),
  );
  return taken.length > 0 ? 'yes' : 'no';
}

/** Uses up a time step and all earlier ones; false when it was used up before. @throws UnavailableError */
async function takesStep(database: Database, accountId: string, step: number): Promise<boolean> {
  const taken = await database.read((orm) =>
    orm
      .update(accounts)
      .set({ totpStep: step })
      .where(and(eq(accounts.id, accountId), lt(accounts.totpStep, step)))
      .returning({ id: accounts.id }),
  );
  return taken.length > 0;
}

/** A recovery code has 120 random bits, so that a fast hash is enough (ASVS 2.6.2 asks for 112). */
export const hashOfRecoveryCode = (plain: string): string =>
  createHash('sha256').update(plain).digest('base64url');
