import type { Duty, DutyDeps } from '../../duties/duty.ts';

/** The most rows that one statement adds up. */
const BATCH = 10_000;

const NUMBERS = [
  ...[
    'total',
    'remaining',
    'sent',
    'skipped',
    'failed',
    'delivered',
    'opens',
    'unique_opens',
    'machine_opens',
    'clicks',
  ],
  ...[
    'unique_clicks',
    'machine_clicks',
    'bounced_permanent',
    'bounced_transient',
    'complained',
    'unsubscribed',
  ],
];

/**
 * Many rows of a campaign become one, in one statement: whoever adds up meanwhile sees all of the old ones or the new one. The rows
 * are told by their places, and a second duty that has chosen the same passes over those that another transaction holds.
 */
const ADD_UP = `with chosen as materialized (
  select t.ctid as place from campaign_tallies t where t.campaign_id in (
    select campaign_id from campaign_tallies group by campaign_id having count(*) > 1 limit 100
  ) limit ${BATCH} for update skip locked
), gone as (
  delete from campaign_tallies t using chosen c where t.ctid = c.place returning t.*
), added as (
  insert into campaign_tallies (campaign_id, ${NUMBERS.join(', ')}, next_at)
  select campaign_id, ${NUMBERS.map((name) => `sum(${name})`).join(', ')}, max(next_at) from gone group by campaign_id
)
select count(*)::integer as rows from gone`;

/** Adds what was counted of campaigns up, so that reading it stays cheap. */
export const tallyAccountant = ({ database }: Pick<DutyDeps, 'database'>): Duty => ({
  name: 'campaignTallyAccountant',
  pattern: '*/10 * * * * *',
  async run(stop) {
    while (!stop?.aborted && (await database.query<{ rows: number }>(ADD_UP))[0]?.rows === BATCH);
  },
});
