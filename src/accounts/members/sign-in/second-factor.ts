import { and, eq, isNull } from 'drizzle-orm';
import { customAlphabet } from 'nanoid';
import { newTotpSecret, stepOfCode, totpUri } from '../../../http/auth/passwords/totp.ts';
import { openOrNull } from '../../../platform/crypto/sealer.ts';
import { ID_ALPHABET } from '../../../platform/db/ids.ts';
import { accounts } from '../../../platform/db/schema/accounts.ts';
import { Failure, invalidAt } from '../../../platform/errors/failure.ts';
import type { Account } from '../accounts.ts';
import type { NoticeDeps } from './notice.ts';
import { type Browser, hashOfRecoveryCode, type SignInDeps, TOTP, takesCode, tooSoon } from './sign-in.ts';

type Deps = Pick<SignInDeps, 'database' | 'sealer'>;

/** The number of recovery codes, each valid once. */
const RECOVERY_CODES = 10;
const recoveryCode = customAlphabet(ID_ALPHABET, 24);

const WRONG_CODE = invalidAt('/body/code', 'Must be the current code of the authenticator.');
const CODE_SEALED = new Failure(
  'CONFLICT',
  'This authenticator cannot be checked: the secret key of this installation has been replaced.',
  { suggestion: 'Remove it with a recovery code, and add it again.' },
);
const BEGUN_SEALED = new Failure(CODE_SEALED.code, CODE_SEALED.message, {
  suggestion: 'Start again: the code to scan has changed.',
});
const CONFIRMED = new Failure('CONFLICT', 'This account already has an authenticator.', {
  suggestion: 'Remove it first, with one of its codes.',
});

const isUnconfirmed = ({ id }: Account) => and(eq(accounts.id, id), isNull(accounts.totpConfirmedAt));

/**
 * Starts setting up an authenticator: it takes effect with its first confirmed code. @throws UnavailableError
 */
export async function beginTotp(
  { database, sealer }: Deps,
  account: Account,
): Promise<{ secret: string; uri: string } | Failure> {
  const secret = newTotpSecret();
  const begun = await database.read((orm) =>
    orm
      .update(accounts)
      // The used time steps belong to the earlier secret.
      .set({ totp: sealer.seal(secret, TOTP), totpStep: 0, totpTold: 0 })
      .where(isUnconfirmed(account))
      .returning({ id: accounts.id }),
  );
  return begun.length > 0 ? { secret, uri: totpUri(secret, account.email) } : CONFIRMED;
}

/**
 * Confirms the authenticator with its first code, and returns the recovery codes, which are shown only here.
 * @throws UnavailableError
 */
export async function confirmTotp(
  { database, sealer }: Deps,
  account: Account,
  code: string,
  now: number,
): Promise<{ recoveryCodes: string[] } | Failure> {
  const [row] = await database.read((orm) =>
    orm.select({ totp: accounts.totp }).from(accounts).where(isUnconfirmed(account)),
  );
  if (!row?.totp) return account.totp === null ? WRONG_CODE : CONFIRMED;
  const secret = openOrNull(sealer, row.totp, TOTP);
  if (secret === null) return BEGUN_SEALED;
  const step = stepOfCode(secret, code.replace(/\s/g, ''), now, account.totpStep);
  if (step === null) return WRONG_CODE;
  const { totp } = row;
  const confirmed = await database.read((orm) =>
    orm
      .update(accounts)
      .set({ totpConfirmedAt: new Date(now), totpStep: step })
      .where(and(isUnconfirmed(account), eq(accounts.totp, totp)))
      .returning({ id: accounts.id }),
  );
  return confirmed.length > 0 ? { recoveryCodes: await renewRecoveryCodes(database, account.id) } : CONFIRMED;
}

/** Removes the authenticator, with a code of it or a recovery code. @throws UnavailableError */
export async function removeTotp(
  deps: Deps & NoticeDeps & Pick<SignInDeps, 'slowDown'>,
  account: Account,
  code: string,
  at: Pick<Browser, 'now' | 'requestId'>,
): Promise<Failure | null> {
  if (account.totp === null) return null;
  // A stolen session must not be able to try all codes.
  const name = `account ${account.emailKey}`;
  const { waitSeconds } = deps.slowDown.begin([name]);
  if (waitSeconds > 0) return tooSoon(waitSeconds);
  const taken = await takesCode(deps, account, code, at);
  if (taken !== 'yes') return taken === 'sealed' ? CODE_SEALED : WRONG_CODE;
  deps.slowDown.succeeded(name, []);
  await deps.database.read((orm) =>
    orm.update(accounts).set({ totp: null, totpConfirmedAt: null }).where(eq(accounts.id, account.id)),
  );
  return null;
}

/**
 * Replaces the recovery codes of a person and returns the new ones, which are not stored. @throws
 * UnavailableError
 */
export async function renewRecoveryCodes(
  database: SignInDeps['database'],
  accountId: string,
): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () => recoveryCode());
  await database.query(
    `with gone as (delete from recovery_codes where account_id = $1)
     insert into recovery_codes (account_id, hash) select $1, value from json_array_elements_text($2::text::json)`,
    [accountId, JSON.stringify(codes.map(hashOfRecoveryCode))],
  );
  return codes.map((code) => code.replace(/(.{4})(?=.)/g, '$1-'));
}
