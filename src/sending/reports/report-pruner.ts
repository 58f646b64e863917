import { untilDone } from '../../engine/duties/batches.ts';
import type { Duty } from '../../engine/duties/duty.ts';
import { beginRemoval, RETENTION_BATCH, type RetentionDeps } from '../../engine/duties/retention.ts';
import { OLDEST_REPORT_MS } from '../../mail/inbound/aggregate/aggregate-report.ts';
import { DAY_MS } from '../../platform/time/clock.ts';

/** Deletes rows of days before `$1`. */
const prune = (table: string): string => `delete from ${table} where ctid = any (array(
  select ctid from ${table} where day < $1::text::date limit ${RETENTION_BATCH})) returning 1 as one`;

const SUMS = ['dmarc_sums', 'tls_sums', 'unverified_reports'].map(prune);

const RECEIPTS = `delete from aggregate_reports where ctid = any (array(
  select ctid from aggregate_reports where received_at < $1::text::timestamptz limit ${RETENTION_BATCH})) returning 1 as one`;

/** An id is remembered for longer than a report may be old, so that it counts once whatever the retention. */
const REMEMBERED_MS = OLDEST_REPORT_MS + 20 * DAY_MS;

/**
 * Deletes sums of days that are older than live data is kept, and the ids of reports that are too old to come
 * again.
 */
export const reportPruner = (deps: RetentionDeps): Duty => ({
  name: 'reportPruner',
  pattern: '50 57 * * * *',
  goesByAge: true,
  async run(stop) {
    const before = await beginRemoval(deps, true);
    const firstDay = new Date(before).toISOString().slice(0, 10);
    for (const sums of SUMS) await untilDone(deps.database, sums, [firstDay], RETENTION_BATCH, stop);
    const receipts = Math.min(before, deps.clock.now() - REMEMBERED_MS);
    await untilDone(deps.database, RECEIPTS, [new Date(receipts).toISOString()], RETENTION_BATCH, stop);
  },
});
