import type { Duty, DutyDeps } from '../../engine/duties/duty.ts';
import type { Database } from '../../platform/db/database.ts';
import { forEachGroup, type Shards } from '../../platform/db/distribution/shards.ts';
import { usageEntries } from '../../platform/db/schema/workspaces.ts';

/** The most entries that one statement adds up. 128 connections make some 100 a second. */
const BATCH = 10_000;

/** The rows of `gone`, added to those of their periods. */
const ADDED = `added as (
  insert into usage as u (workspace_id, livemode, period, used, wanted, granted, quota)
  select workspace_id, livemode, period, sum(units), 0, 0, 0 from gone
  group by workspace_id, livemode, period order by workspace_id, livemode, period
  on conflict (workspace_id, livemode, period) do update set used = u.used + excluded.used
)
select count(*)::integer as entries from gone`;

const ADD_UP = `with chosen as materialized (
  select ctid as place from usage_entries limit ${BATCH} for update skip locked
), gone as (
  delete from usage_entries e using chosen c where e.ctid = c.place
  returning e.workspace_id, e.livemode, e.period, e.units
), ${ADDED}`;

/**
 * The entries of the workspaces in $1, which have one shard. No lock spans several nodes, and the place of a
 * row is unknown outside its node, so all new entries are added up at once.
 */
const ADD_UP_ON_NODE = `with gone as (
  delete from usage_entries where workspace_id = any($1::text[]) returning workspace_id, livemode, period, units
), ${ADDED}`;

/**
 * Adds the entries of units without a quota up into the rows of their periods, so that reading them stays
 * cheap.
 */
export const usageAccountant = ({
  database,
  shards = null,
}: DutyDeps & { readonly shards?: Shards | null }): Duty => ({
  name: 'usageAccountant',
  pattern: '*/10 * * * * *',
  asks: () => 'exists (select from usage_entries)',
  async run(stop) {
    if (shards) return addUpOnNodes(database, shards, stop);
    while (!stop?.aborted && (await database.query<{ entries: number }>(ADD_UP))[0]?.entries === BATCH);
  },
});

async function addUpOnNodes(database: Database, shards: Shards, stop?: AbortSignal): Promise<void> {
  const owners = await database.read((orm) =>
    orm.selectDistinct({ workspaceId: usageEntries.workspaceId }).from(usageEntries),
  );
  const groups = await shards.groups(
    owners.map(({ workspaceId }) => workspaceId),
    (id) => id,
  );
  await forEachGroup(groups, async (group) => {
    if (!stop?.aborted) await database.query(ADD_UP_ON_NODE, [group]);
  });
}
