/** The column that tables are distributed by. */
export const SHARD_KEY = 'workspace_id';

/** A table that lies on several nodes, each row of it on that of its workspace. */
export interface DistributedTable {
  readonly table: string;
  /** The column of the owner's id, and the owner's table, for a row that names no workspace on one server. */
  readonly owner?: { readonly table: string; readonly column: string };
}

/**
 * The tables that grow with the mail: lives, due rows, the replies of keys, units, and deliveries. They lie
 * together, so that a commit for workspaces of one shard writes on one node. The others are placed by the
 * first one; an owner precedes the tables that it owns.
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
