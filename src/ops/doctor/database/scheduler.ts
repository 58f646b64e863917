import type { Database } from '../../../platform/db/database.ts';
import { type Diagnosis, fine, skipped, wrong } from '../diagnosis.ts';
import type { Health } from '../running-service.ts';

const CHECK = 'Scheduler';
/** People notice a longer delay than this. */
const LATE_SECONDS = 60;

const TIMED = `select table_name as name from information_schema.columns
where column_name = 'wake_at' and table_schema = current_schema() order by table_name`;

/** Checks that nothing due is left waiting, by the health of the running service or else by the database. */
export async function diagnoseScheduler(
  health: Health | null,
  database: Database | null,
  now: number,
): Promise<Diagnosis> {
  if (health) {
    const { status, oldestDueSeconds, clockSkewMs } = health.scheduler;
    if (status === 'paused')
      return wrong(
        CHECK,
        `The clock of the database has jumped by ${(clockSkewMs / 1_000).toFixed(1)} s: the service on this machine claims and removes nothing.`,
        'Synchronise the machine of the database with NTP; if its time is right now, restart the service.',
      );
    const detail = `The service on this machine says ${status}; the oldest due work waits ${oldestDueSeconds} s.`;
    return status === 'ok'
      ? fine(CHECK, detail)
      : wrong(CHECK, detail, 'Read its log; the database may be slow, or the machine short of processors.');
  }
  if (!database) return skipped(CHECK, 'Neither the service nor the database answers.');
  const due = await overdue(database, now);
  if (due.count === 0) return fine(CHECK, 'No service answers on this machine, and nothing is due.');
  const detail = `${due.count} due, the oldest for ${Math.round(due.seconds)} s.`;
  return due.seconds > LATE_SECONDS
    ? wrong(CHECK, detail, 'Start the service: `posthorn serve`. It catches up on due work.')
    : fine(CHECK, detail);
}

async function overdue(
  database: Database,
  now: number,
): Promise<{ readonly count: number; readonly seconds: number }> {
  let count = 0;
  let seconds = 0;
  for (const { name } of await database.query<{ name: string }>(TIMED)) {
    const [row] = await database.query<{ count: number; oldest: number | null }>(
      `select count(*)::integer as count, (extract(epoch from min(wake_at)) * 1000)::float8 as oldest
       from ${name} where wake_at <= $1::text::timestamptz`,
      [new Date(now).toISOString()],
    );
    count += row?.count ?? 0;
    seconds = Math.max(seconds, (now - (row?.oldest ?? now)) / 1_000);
  }
  return { count, seconds };
}
