import type { Duty, DutyDeps } from '../../duties/duty.ts';

/** The most entries that one statement adds up. 128 connections make some 100 a second. */
const BATCH = 10_000;

const ADD_UP = `with chosen as materialized (
  select ctid as place from usage_entries limit ${BATCH} for update skip locked
), gone as (
  delete from usage_entries e using chosen c where e.ctid = c.place
  returning e.workspace_id, e.livemode, e.period, e.units
), added as (
  insert into usage as u (workspace_id, livemode, period, used, wanted, granted, quota)
  select workspace_id, livemode, period, sum(units), 0, 0, 0 from gone
  group by workspace_id, livemode, period order by workspace_id, livemode, period
  on conflict (workspace_id, livemode, period) do update set used = u.used + excluded.used
)
select count(*)::integer as entries from gone`;

/** Adds the entries of units without a quota up into the rows of their periods, so that reading them stays cheap. */
export const usageAccountant = ({ database }: DutyDeps): Duty => ({
  name: 'usageAccountant',
  pattern: '*/10 * * * * *',
  async run(stop) {
    while (!stop?.aborted && (await database.query<{ entries: number }>(ADD_UP))[0]?.entries === BATCH);
  },
});
