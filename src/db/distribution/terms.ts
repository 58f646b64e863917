import { isDistributed, isOwned, SHARD_KEY } from './catalogue.ts';

/** What a statement says of the workspace so that it stays on one node; nothing on one server, whose statements stay as they are. */
export interface ShardTerms {
  readonly isDistributed: boolean;
  /** ` and a.workspace_id = any($n)`: holds for every row that the batch is about, and names its shard to the planner. */
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
