import { untilDone } from '../../engine/duties/batches.ts';
import type { Duty, DutyDeps } from '../../engine/duties/duty.ts';
import type { RetentionDays } from '../../engine/duties/retention.ts';
import { lowestIdAt } from '../../platform/db/ids.ts';
import { DAY_MS } from '../../platform/time/clock.ts';
import type { WrittenTo } from './recorder.ts';

/** The days for which requests are kept, unless the data of their environment is kept for less. */
export const KEPT_DAYS = 7;
/** The requests that are kept of each key, the latest ones. */
export const KEPT_OF_KEY = 1_000;
/** The requests that are kept of a workspace in each environment, the latest ones. */
export const KEPT_OF_LIST = 10_000;
const BATCH = 5_000;

/**
 * Locks rows in the order of their ids and leaves out those of another instance: two instances may prune at
 * the same time.
 */
const prune = (ids: string): string => `delete from api_requests where id in (
  select id from api_requests where id in (${ids}) order by id limit ${BATCH} for update skip locked
) returning 1 as one`;

const BEYOND_KEY = prune(`select r.id from unnest($1::text[]) k(id) cross join lateral (
    select id from api_requests where api_key_id = k.id order by id desc offset ${KEPT_OF_KEY}
  ) r`);

const BEYOND_LIST =
  prune(`select r.id from unnest($1::text[], $2::text[]) l(workspace_id, livemode) cross join lateral (
    select id from api_requests where workspace_id = l.workspace_id and livemode = l.livemode::boolean
    order by id desc offset ${KEPT_OF_LIST}
  ) r`);

const BY_AGE = prune('select id from api_requests where livemode = $2::boolean and id < $1');

/**
 * Keeps the log of each key and each workspace within its bounds. Only this process knows which of them it
 * wrote to.
 */
export const requestLogTrimmer = (
  { database }: Pick<DutyDeps, 'database'>,
  recorder: { writtenTo(): WrittenTo; keepWrittenTo(written: WrittenTo): void },
): Duty => ({
  name: 'requestLogTrimmer',
  pattern: '25 * * * * *',
  isEverybodys: true,
  async run(stop) {
    const written = recorder.writtenTo();
    const { keys, lists } = written;
    if (keys.size === 0) return;
    try {
      await untilDone(database, BEYOND_KEY, [[...keys]], BATCH, stop);
      const pairs = [...lists].map((list) => list.split(' '));
      const columns = [0, 1].map((column) => pairs.map((pair) => pair[column] ?? ''));
      await untilDone(database, BEYOND_LIST, columns, BATCH, stop);
    } catch (error) {
      recorder.keepWrittenTo(written);
      throw error;
    }
  },
});

/** Removes requests that are older than the days for which they are kept. */
export const requestLogPruner = ({
  database,
  clock,
  config,
}: DutyDeps & { readonly config: RetentionDays }): Duty => ({
  name: 'requestLogPruner',
  pattern: '35 25 * * * *',
  goesByAge: true,
  async run(stop) {
    for (const livemode of [true, false]) {
      const days = Math.min(KEPT_DAYS, livemode ? config.retentionLiveDays : config.retentionTestDays);
      await untilDone(
        database,
        BY_AGE,
        [lowestIdAt('req', clock.now() - days * DAY_MS), livemode],
        BATCH,
        stop,
      );
    }
  },
});
