import { createHash, randomBytes } from 'node:crypto';
import type { Database } from '../db/database.ts';

const ISSUE = `insert into one_time_tokens (hash, purpose, subject, expires_at)
values ($1, $2, $3::text::json, $4::text::timestamptz)`;

/** One statement, so that of several who come with the same token, on any instance, one is let in. */
const REDEEM = `update one_time_tokens set used_at = $3::text::timestamptz
where hash = $1 and purpose = $2 and used_at is null and expires_at > $3::text::timestamptz
returning subject`;

/** Only the hash is kept: whoever reads the table cannot use what is in it. */
const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url');

/**
 * Tokens that let somebody in once, such as the link that the service prints when it starts. `purpose` keeps those of one
 * sort from being taken for another; `Subject` is what a token stands for, and is given to whoever redeems it.
 */
export class OneTimeTokens<Subject extends object> {
  constructor(
    private readonly database: Database,
    private readonly purpose: string,
    private readonly now: () => number,
  ) {}

  /** A new token, good until that moment. @throws Unavailable */
  async issue(subject: Subject, expiresAt: number): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    await this.database.query(ISSUE, [
      hashOf(token),
      this.purpose,
      JSON.stringify(subject),
      new Date(expiresAt).toISOString(),
    ]);
    return token;
  }

  /** Uses a token up; null when it was used before, is too old, or was never issued. @throws Unavailable */
  async redeem(token: string): Promise<Subject | null> {
    const at = new Date(this.now()).toISOString();
    const [row] = await this.database.query<{ subject: Subject }>(REDEEM, [hashOf(token), this.purpose, at]);
    return row?.subject ?? null;
  }
}
