import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { and, eq } from 'drizzle-orm';
import { OneTimeTokens } from '../../../http/auth/passwords/one-time-tokens.ts';
import type { Database } from '../../../platform/db/database.ts';
import { mintId, timeOfId } from '../../../platform/db/ids.ts';
import { passkeys } from '../../../platform/db/schema/accounts.ts';
import { isDuplicate } from '../../../platform/db/sqlstate.ts';
import { Failure, invalidAt, notFound } from '../../../platform/errors/failure.ts';
import { type Account, accountById } from '../accounts.ts';
import { renewRecoveryCodes } from './second-factor.ts';

/** A challenge is valid for five minutes, once. */
const CHALLENGE_MS = 5 * 60_000;
const MOST_PASSKEYS = 20;

/**
 * The package takes 332 kB and few requests need it. Its certificate library needs the polyfill first, and
 * the executable's bundle keeps no order between the two: without this line, passkeys worked only from
 * source.
 */
async function webauthn() {
  await import('reflect-metadata');
  return import('@simplewebauthn/server');
}

export interface PasskeyDeps {
  readonly database: Database;
  readonly now: () => number;
  /** The address under which browsers know this service: passkeys are bound to its host. */
  readonly publicUrl: string;
}

const NOT_PROVED = invalidAt(
  '/body/response',
  'Must be the answer of a passkey to the challenge of this service.',
);
const UNKNOWN = new Failure('UNAUTHORIZED', 'This passkey does not belong to any account here.', {
  suggestion: 'Sign in with address and password.',
});
const TOO_MANY = new Failure('CONFLICT', `An account has at most ${MOST_PASSKEYS} passkeys.`);

type Passkey = typeof passkeys.$inferSelect;

/** A passkey as its owner sees it. */
export interface PasskeyView {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

/**
 * The passkeys of accounts. A challenge is a one-time token: the database stores its hash and accepts it
 * once.
 */
export class Passkeys {
  readonly #enrolling: OneTimeTokens<{ readonly accountId: string }>;
  readonly #signingIn: OneTimeTokens<{ readonly any: true }>;
  readonly #host: string;
  readonly #origin: string;

  constructor(private readonly deps: PasskeyDeps) {
    this.#enrolling = new OneTimeTokens(deps.database, 'passkey enrolment', deps.now);
    this.#signingIn = new OneTimeTokens(deps.database, 'passkey sign-in', deps.now);
    ({ hostname: this.#host, origin: this.#origin } = new URL(deps.publicUrl));
  }

  /** The options with which a browser creates a passkey for the account. @throws UnavailableError */
  async enrolmentOptions(account: Account): Promise<object> {
    const { generateRegistrationOptions } = await webauthn();
    const challenge = await this.#enrolling.issue({ accountId: account.id }, this.deps.now() + CHALLENGE_MS);
    const known = await this.#of(account.id);
    return generateRegistrationOptions({
      rpName: 'Posthorn',
      rpID: this.#host,
      userName: account.email,
      userDisplayName: account.name,
      userID: new TextEncoder().encode(account.id),
      challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
      attestationType: 'none',
      excludeCredentials: known.map(({ credential }) => ({ id: credential })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
  }

  /**
   * Adds the browser's new passkey; the first second factor comes with recovery codes. @throws
   * UnavailableError
   */
  async add(
    account: Account,
    name: string,
    response: RegistrationResponseJSON,
  ): Promise<(PasskeyView & { recoveryCodes: string[] | null }) | Failure> {
    const { verifyRegistrationResponse } = await webauthn();
    if (account.passkeys >= MOST_PASSKEYS) return TOO_MANY;
    const verified = await verifyRegistrationResponse({
      response,
      expectedChallenge: async (challenge) =>
        (await this.#enrolling.redeem(challenge))?.accountId === account.id,
      expectedOrigin: this.#origin,
      expectedRPID: this.#host,
      requireUserVerification: true,
    }).catch(() => null);
    if (!verified?.verified) return NOT_PROVED;
    const { credential } = verified.registrationInfo;
    const id = mintId('psk', this.deps.now());
    try {
      const rows = await this.deps.database.query(
        `insert into passkeys (id, credential, account_id, name, public_key, counter, transports)
         select $1, $2, $3, $4, $5, $6::bigint, $7::text::json from passkeys_of($3) present where present < ${MOST_PASSKEYS}
         returning id`,
        [
          id,
          credential.id,
          account.id,
          name,
          Buffer.from(credential.publicKey).toString('base64url'),
          credential.counter,
          JSON.stringify(credential.transports ?? []),
        ],
      );
      if (rows.length === 0) return TOO_MANY;
    } catch (error) {
      if (isDuplicate(error)) return NOT_PROVED;
      throw error;
    }
    const isFirst = account.totp === null && account.passkeys === 0;
    const recoveryCodes = isFirst ? await renewRecoveryCodes(this.deps.database, account.id) : null;
    return { id, name, createdAt: iso(timeOfId(id)), lastUsedAt: null, recoveryCodes };
  }

  /** The options with which any passkey of this service signs in. @throws UnavailableError */
  async signInOptions(): Promise<object> {
    const { generateAuthenticationOptions } = await webauthn();
    const challenge = await this.#signingIn.issue({ any: true }, this.deps.now() + CHALLENGE_MS);
    return generateAuthenticationOptions({
      rpID: this.#host,
      challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
      userVerification: 'required',
    });
  }

  /**
   * The account that a passkey proves. It requires a finger or a PIN, so it counts as both factors. @throws
   * UnavailableError
   */
  async prove(response: AuthenticationResponseJSON): Promise<Account | Failure> {
    const { verifyAuthenticationResponse } = await webauthn();
    const { database } = this.deps;
    const [row] = await database.read((orm) =>
      orm.select().from(passkeys).where(eq(passkeys.credential, response.id)),
    );
    if (!row) return UNKNOWN;
    const verified = await verifyAuthenticationResponse({
      response,
      expectedChallenge: async (challenge) => (await this.#signingIn.redeem(challenge)) !== null,
      expectedOrigin: this.#origin,
      expectedRPID: this.#host,
      requireUserVerification: true,
      credential: {
        id: row.credential,
        publicKey: new Uint8Array(Buffer.from(row.publicKey, 'base64url')),
        counter: row.counter,
      },
    }).catch(() => null);
    if (!verified?.verified) return UNKNOWN;
    const { newCounter: counter } = verified.authenticationInfo;
    await database.read((orm) =>
      orm
        .update(passkeys)
        .set({ counter, lastUsedAt: new Date(this.deps.now()) })
        .where(eq(passkeys.id, row.id)),
    );
    return (await accountById(database, row.accountId)) ?? UNKNOWN;
  }

  /** The passkeys of an account. @throws UnavailableError */
  async list(account: Account): Promise<readonly PasskeyView[]> {
    return (await this.#of(account.id)).map(({ id, name, lastUsedAt }) => ({
      id,
      name,
      createdAt: iso(timeOfId(id)),
      lastUsedAt: lastUsedAt?.toISOString() ?? null,
    }));
  }

  /** Removes a passkey of the account. @throws UnavailableError */
  async remove(account: Account, id: string): Promise<Failure | null> {
    const gone = await this.deps.database.read((orm) =>
      orm
        .delete(passkeys)
        .where(and(eq(passkeys.id, id), eq(passkeys.accountId, account.id)))
        .returning({ id: passkeys.id }),
    );
    return gone.length > 0 ? null : notFound('passkey');
  }

  #of(accountId: string): Promise<readonly Passkey[]> {
    return this.deps.database.read((orm) =>
      orm.select().from(passkeys).where(eq(passkeys.accountId, accountId)).orderBy(passkeys.id),
    );
  }
}

const iso = (at: number): string => new Date(at).toISOString();
