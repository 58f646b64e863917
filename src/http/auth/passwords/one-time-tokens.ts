import { createHash, randomBytes } from 'node:crypto';
import type { Database } from '../../../platform/db/database.ts';

const ISSUE = `insert into one_time_tokens (hash, purpose, subject, expires_at)
values ($1, $2, $3::text::json, $4::text::timestamptz)`;

/** One statement, so that only one of several concurrent requests with the same token succeeds, on any instance. */
const REDEEM = `update one_time_tokens set used_at = $3::text::timestamptz
where hash = $1 and purpose = $2 and used_at is null and expires_at > $3::text::timestamptz
returning subject`;

const FIND = `select 1 as one from one_time_tokens
where hash = $1 and purpose = $2 and used_at is null and expires_at > $3::text::timestamptz`;

/** The table holds hashes only, so that a leaked copy of it opens nothing. */
const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url');

/**
 * Tokens that can be used once, such as the one in the link that the service prints when it starts. A token of one
 * `purpose` is never accepted for another. `redeem` returns the `Subject` that the token was issued for.
 */
export class OneTimeTokens<Subject extends object> {
  constructor(
    private readonly database: Database,
    private readonly purpose: string,
    readonly now: () => number,
  ) {}

  /** Issues a token that expires at that moment. @throws Unavailable */
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

  /** True for a token that can be redeemed now, for a check before expensive work. @throws Unavailable */
  async holds(token: string): Promise<boolean> {
    const at = new Date(this.now()).toISOString();
    const rows = await this.database.query(FIND, [hashOf(token), this.purpose, at]);
    return rows.length > 0;
  }

  /** Uses a token up; null when it was already used, has expired, or was never issued. @throws Unavailable */
  async redeem(token: string): Promise<Subject | null> {
    const at = new Date(this.now()).toISOString();
    const [row] = await this.database.query<{ subject: Subject }>(REDEEM, [hashOf(token), this.purpose, at]);
    return row?.subject ?? null;
  }
}
