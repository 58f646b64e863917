-- Units that no ceiling holds back: a row a batch, never updated, added up into `usage` every ten seconds. One row that
-- every batch updated was found through all its dead versions as long as somebody held an old transaction: of ten minutes
-- of lives the last one ran at 0.76 of the first; and each batch waited for the one before.
create table usage_entries (
  workspace_id text collate "C" not null,
  livemode boolean not null,
  period text collate "C" not null,
  units integer not null
);
-- A unit may come back before the entry that took it has been added up.
alter table usage drop constraint usage_used_check;

create view usage_totals as
select workspace_id, livemode, period, sum(used)::integer as used
from (
  select workspace_id, livemode, period, used from usage
  union all select workspace_id, livemode, period, units from usage_entries
) parts
group by workspace_id, livemode, period;
