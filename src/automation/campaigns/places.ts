import type { BirthRule } from '../../http/module.ts';

/**
 * A campaign is made where fewer than `most_campaigns` are in its environment: one statement counts and makes behind the other, and those
 * that are made in one statement are counted among themselves. Environments come in one order, as those of imports do.
 */
export const campaignPlaces: BirthRule = {
  of: 'campaign',
  columns: 'most_campaigns integer',
  conditions: [
    {
      name: 'campaign_places',
      judged: 'most_campaigns is not null',
      sql: (input) => `select i.ord from (
    select ord, workspace_id, livemode, most_campaigns, row_number() over (partition by workspace_id, livemode order by ord) as place
    from ${input} where most_campaigns is not null
  ) i join (
    select e.workspace_id, e.livemode, campaigns_present(e.workspace_id, e.livemode) as present from (
      select distinct workspace_id, livemode from ${input} order by workspace_id, livemode
    ) e offset 0
  ) o on o.workspace_id = i.workspace_id and o.livemode = i.livemode
  where o.present + i.place <= i.most_campaigns`,
    },
  ],
  writes: [],
};
