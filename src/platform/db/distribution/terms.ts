import { isDistributed, isOwned, SHARD_KEY } from './catalogue.ts';

/**
 * The terms by which a statement names the workspace so that it stays on one node; empty on one server, whose
 * statements stay as they are.
 */
export interface ShardTerms {
  readonly isDistributed: boolean;
  /**
   * ` and a.workspace_id = any($n)`: holds for every row that the batch is about, and names its shard to the
   * planner.
   */
  within(table: string, alias: string): string;
  /** `, workspace_id`: the column of a table that has it only where it is distributed. */
  column(table: string): string;
  /** `, a.workspace_id`: what goes into that column. */
  value(table: string, alias: string): string;
  /** `, workspace_id`: what the key of a table ends with. */
  key(table: string): string;
}

const nothing = (): string => '';

/** On one server. */
export const ON_ONE_SERVER: ShardTerms = {
  isDistributed: false,
  within: nothing,
  column: nothing,
  value: nothing,
  key: nothing,
};

/** On several nodes. `workspaces` is SQL of a list: the workspaces of a batch, which all have one shard. */
export const onNodes = (workspaces: string): ShardTerms => ({
  isDistributed: true,
  within: (table, alias) => (isDistributed(table) ? ` and ${alias}.${SHARD_KEY} = any(${workspaces})` : ''),
  column: (table) => (isOwned(table) ? `, ${SHARD_KEY}` : ''),
  value: (table, alias) => (isOwned(table) ? `, ${alias}.${SHARD_KEY}` : ''),
  key: (table) => (isDistributed(table) ? `, ${SHARD_KEY}` : ''),
});

/**
 * SQL that continues from rows to one row of `table` each, `alias`, for which `holds`: looked up one by one.
 * As a plain join, while nothing was known of a new table, the planner read all rows of the workspace and
 * compared each with each, for as long as that plan was kept: 10 ms for nine emails among 3,000, and more
 * with each further one. Citus takes no lookup by foreign rows.
 */
export const lookUp = (isOnNodes: boolean, table: string, alias: string, holds: string): string =>
  isOnNodes
    ? `join ${table} ${alias} on ${holds}`
    : `cross join lateral (select * from ${table} ${alias} where ${holds} limit 1) ${alias}`;
