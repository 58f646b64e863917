import { eq } from 'drizzle-orm';
import type { Duty } from '../../engine/duties/duty.ts';
import { type SesApi, SesUnreachable } from '../../mail/transport/ses/ses-api.ts';
import { openOrNull, type Sealer } from '../../platform/crypto/sealer.ts';
import type { Database } from '../../platform/db/database.ts';
import { mintId } from '../../platform/db/ids.ts';
import { sesRemovals } from '../../platform/db/schema/mail.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import type { Clock } from '../../platform/time/clock.ts';

/** Removals that are sent to SES at a time. SES takes few such requests a second. */
const AT_ONCE = 10;
const TIMEOUT_MS = 10_000;
/** Attempts, over a day, after which the log asks the operator to act. */
const MOST_ATTEMPTS = 12;
const PURPOSE = 'a suppression that was removed';

/**
 * SQL that orders, in the statement of a removal, the removal at SES: its account-level list would silently
 * drop mail to the address. `from` is the CTE of the removed rows; without a sealed address, where SES is no
 * transport, nothing is ordered.
 */
export const noteRemovalSql = (from: string, { id, sealed, at }: Record<'id' | 'sealed' | 'at', string>) =>
  `insert into ses_removals (id, sealed, attempts, next_at)
  select ${id}, ${sealed}::text, 0, ${at} where ${sealed}::text is not null and exists (select from ${from})`;

/** The parameters of `noteRemovalSql` but the time: an id, and the address for the duty's eyes alone. */
export const removalParameters = (
  { sealer, tellsSes }: { readonly sealer: Sealer; readonly tellsSes: boolean },
  address: string,
  now: number,
): readonly [id: string, sealed: string | null] => [
  mintId('rem', now),
  tellsSes ? sealer.seal(address, PURPOSE) : null,
];

const CLAIM = `update ses_removals r set attempts = r.attempts + 1,
  next_at = $1::timestamptz + least(power(2, r.attempts), 120) * interval '1 minute'
from (
  select id from ses_removals where next_at <= $1::timestamptz order by next_at limit ${AT_ONCE} for update skip locked
) due where r.id = due.id returning r.id, r.sealed, r.attempts`;

export interface SesRemovalDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly logger: Logger;
  readonly api: SesApi;
}

/** Sends removals of suppressions to SES, with retries until it accepts them. */
export const sesRemovalTeller = ({ database, clock, sealer, logger, api }: SesRemovalDeps): Duty => ({
  name: 'sesRemovalTeller',
  pattern: '*/5 * * * * *',
  asks: (now) => `exists (select from ses_removals where next_at <= ${now})`,
  async run() {
    const due = await database.query<{ id: string; sealed: string; attempts: number }>(CLAIM, [
      new Date(clock.now()).toISOString(),
    ]);
    for (const { id, sealed, attempts } of due) {
      const isHeard = await tell(api, openOrNull(sealer, sealed, PURPOSE));
      if (!isHeard && attempts >= MOST_ATTEMPTS)
        logger.warn(
          { removal: id },
          'SES does not accept the removal of a suppression; remove it there manually.',
        );
      if (isHeard || attempts >= MOST_ATTEMPTS)
        await database.read((orm) => orm.delete(sesRemovals).where(eq(sesRemovals.id, id)));
    }
  },
});

/** True when SES has accepted it; an address that is not on its list counts as removed. */
async function tell(api: SesApi, address: string | null): Promise<boolean> {
  // The key that it was sealed with may be found again.
  if (address === null) return false;
  const path = `/v2/email/suppression/addresses/${encodeURIComponent(address)}`;
  try {
    const answer = await api({ method: 'DELETE', path, signal: AbortSignal.timeout(TIMEOUT_MS) });
    return answer.errorType === null || answer.errorType === 'NotFoundException';
  } catch (error) {
    if (error instanceof SesUnreachable) return false;
    throw error;
  }
}
