import { createHash, randomBytes } from 'node:crypto';
import { and, eq, gt, isNull } from 'drizzle-orm';
import { type Database, PREPARED } from '../../../platform/db/database.ts';
import { oneTimeTokens } from '../../../platform/db/schema/accounts.ts';

/** The table holds hashes only, so that a leaked copy of it opens nothing. */
const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url');

/**
 * Tokens that can be used once, such as the one in the link that the service prints when it starts. A token
 * of one `purpose` is never accepted for another. `redeem` returns the `Subject` that the token was issued
 * for.
 */
export class OneTimeTokens<Subject extends object> {
  constructor(
    private readonly database: Database,
    private readonly purpose: string,
    readonly now: () => number,
  ) {}

  /** Issues a token that expires at that moment. @throws UnavailableError */
  async issue(subject: Subject, expiresAt: number): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    const { purpose } = this;
    const row = { hash: hashOf(token), purpose, subject, expiresAt: new Date(expiresAt) };
    await this.database.read((orm) => orm.insert(oneTimeTokens).values(row), PREPARED);
    return token;
  }

  /**
   * True for a token that can be redeemed now, for a check before expensive work. @throws UnavailableError
   */
  async holds(token: string): Promise<boolean> {
    const { hash } = oneTimeTokens;
    const rows = await this.database.read(
      (orm) =>
        orm
          .select({ hash })
          .from(oneTimeTokens)
          .where(this.#isValid(token, new Date(this.now()))),
      PREPARED,
    );
    return rows.length > 0;
  }

  /**
   * Uses a token up; null when it was already used, has expired, or was never issued. @throws
   * UnavailableError
   */
  async redeem(token: string): Promise<Subject | null> {
    const usedAt = new Date(this.now());
    // One statement, so that only one of several concurrent requests with the token succeeds, on any
    // instance.
    const [row] = await this.database.read(
      (orm) =>
        orm
          .update(oneTimeTokens)
          .set({ usedAt })
          .where(this.#isValid(token, usedAt))
          .returning({ subject: oneTimeTokens.subject }),
      PREPARED,
    );
    return (row?.subject as Subject | undefined) ?? null;
  }

  #isValid(token: string, at: Date) {
    return and(
      eq(oneTimeTokens.hash, hashOf(token)),
      eq(oneTimeTokens.purpose, this.purpose),
      isNull(oneTimeTokens.usedAt),
      gt(oneTimeTokens.expiresAt, at),
    );
  }
}
