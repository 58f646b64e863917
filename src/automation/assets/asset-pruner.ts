import { untilDone } from '../../engine/duties/batches.ts';
import type { Duty, DutyDeps } from '../../engine/duties/duty.ts';
import { RETENTION_BATCH } from '../../engine/duties/retention.ts';
import { DAY_MS, isoOf } from '../../platform/time/clock.ts';
import type { AssetUse } from './api.ts';
import { SERVED_DAYS, SHOWN_DAYS } from './model.ts';

export interface AssetPrunerDeps extends DutyDeps {
  readonly uses: readonly AssetUse[];
}

/**
 * `$1` the end of the time in which deleted images are served, `$2` the end of the days since the last read.
 */
const due = (condition: string): string => `select a.id from assets a
  where a.deleted_at < $1::timestamptz and (a.last_shown_on is null or a.last_shown_on < ($2::timestamptz at time zone 'UTC')::date)
    and ${condition}
  order by a.deleted_at limit ${RETENTION_BATCH} for update of a skip locked`;

/**
 * Removes deleted images once no mail shows them any more. The time of one that something still shows begins
 * again: mail that is sent today may be read later, whatever becomes of its template or campaign tomorrow.
 */
export const assetPruner = ({ database, clock, uses }: AssetPrunerDeps): Duty => {
  const isKept = `(${uses.map(({ keeps }) => keeps).join(' or ')})`;
  const renew = `update assets set deleted_at = $3::timestamptz where id in (${due(isKept)}) returning 1 as one`;
  const remove = `delete from assets where id in (${due(`not ${isKept}`)}) returning 1 as one`;
  return {
    name: 'assetPruner',
    pattern: '0 34 3 * * *',
    goesByAge: true,
    async run(stop) {
      const now = clock.now();
      const before = [isoOf(now - SERVED_DAYS * DAY_MS), isoOf(now - SHOWN_DAYS * DAY_MS)];
      await untilDone(database, renew, [...before, isoOf(now)], RETENTION_BATCH, stop);
      await untilDone(database, remove, before, RETENTION_BATCH, stop);
    },
  };
};
