/** The column that tables are distributed by. */
export const SHARD_KEY = 'workspace_id';

/** A table that lies on several nodes, each row of it on that of its workspace. */
export interface DistributedTable {
  readonly table: string;
  /** Where the workspace of a row stands that has none of its own on one server: the column names the owner, by its id. */
  readonly owner?: { readonly table: string; readonly column: string };
}

/**
 * What grows with the mail: lives, what is due, the replies of keys, units, and deliveries. They lie together, so that a commit for
 * workspaces of one shard writes on one node. The first one is what the others are placed by; an owner stands before what it owns.
 */
export const DISTRIBUTED: readonly DistributedTable[] = [
  { table: 'emails' },
  { table: 'email_turns' },
  { table: 'email_due' },
  { table: 'captured' },
  { table: 'idempotency_keys' },
  { table: 'usage' },
  { table: 'usage_entries' },
  { table: 'webhook_deliveries' },
  { table: 'webhook_delivery_journal', owner: { table: 'webhook_deliveries', column: 'actor_id' } },
  { table: 'webhook_attempts', owner: { table: 'webhook_deliveries', column: 'delivery_id' } },
];

/** Views of them that statements read by the workspace. */
export const DISTRIBUTED_VIEWS: ReadonlySet<string> = new Set([
  'emails_now',
  'email_journal',
  'email_events',
  'email_attempts',
]);

const byName = new Map(DISTRIBUTED.map((each) => [each.table, each]));

/** True of a table that lies on several nodes where the database is distributed. */
export const isDistributed = (table: string): boolean => byName.has(table) || DISTRIBUTED_VIEWS.has(table);

/** True of one that has the workspace only there. */
export const isOwned = (table: string): boolean => byName.get(table)?.owner !== undefined;
