import type { BirthRule } from '../../../http/module.ts';

/**
 * An import begins where fewer than `most_open` wait or are under way in its environment: one statement counts and begins behind the
 * other, and those that begin in one statement are counted among themselves. Environments come in one order, since
 * two statements that wait for each other's would deadlock.
 */
export const importBirths: BirthRule = {
  of: 'contactImport',
  columns: 'most_open integer',
  conditions: [
    {
      name: 'import_places',
      judged: 'most_open is not null',
      sql: (input) => `select i.ord from (
    select ord, workspace_id, livemode, most_open, row_number() over (partition by workspace_id, livemode order by ord) as place
    from ${input} where most_open is not null
  ) i join (
    select e.workspace_id, e.livemode, open_imports(e.workspace_id, e.livemode) as open from (
      select distinct workspace_id, livemode from ${input} order by workspace_id, livemode
    ) e offset 0
  ) o on o.workspace_id = i.workspace_id and o.livemode = i.livemode
  where o.open + i.place <= i.most_open`,
    },
  ],
  writes: [],
};
