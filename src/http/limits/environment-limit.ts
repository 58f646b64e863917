import type { InsertRule } from '../module.ts';

/**
 * A limit on what an environment has at once: an actor is made where there are fewer than its input says. One
 * statement counts and makes behind the other, and those that are made in one statement are counted among
 * themselves. Environments come in one order, since two statements that wait for each other's would deadlock.
 */
export const environmentLimit = (limit: {
  /** The kind of the actors. */
  readonly of: string;
  readonly name: string;
  /** The column of the input with the most there may be; null for an actor that is not limited. */
  readonly most: string;
  /** The function in SQL that locks an environment and counts what it has. */
  readonly count: string;
}): InsertRule => ({
  of: limit.of,
  columns: `${limit.most} integer`,
  conditions: [
    {
      name: limit.name,
      judged: `${limit.most} is not null`,
      sql: (input) => `select i.ord from (
    select ord, workspace_id, livemode, ${limit.most}, row_number() over (partition by workspace_id, livemode order by ord) as place
    from ${input} where ${limit.most} is not null
  ) i join (
    select e.workspace_id, e.livemode, ${limit.count}(e.workspace_id, e.livemode) as present from (
      select distinct workspace_id, livemode from ${input} order by workspace_id, livemode
    ) e offset 0
  ) o on o.workspace_id = i.workspace_id and o.livemode = i.livemode
  where o.present + i.place <= i.${limit.most}`,
    },
  ],
  writes: [],
});
