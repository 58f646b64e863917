import spine from '../../drizzle/0000_spine.sql' with { type: 'text' };
import webhooks from '../../drizzle/0001_webhooks.sql' with { type: 'text' };
import domains from '../../drizzle/0002_domains.sql' with { type: 'text' };
import live from '../../drizzle/0003_live.sql' with { type: 'text' };
import domainTransports from '../../drizzle/0004_domain_transports.sql' with { type: 'text' };
import domainKeys from '../../drizzle/0005_domain_keys.sql' with { type: 'text' };
import usageEntries from '../../drizzle/0006_usage_entries.sql' with { type: 'text' };
import bodiesLz4 from '../../drizzle/0007_bodies_lz4.sql' with { type: 'text' };
import workspaceSettings from '../../drizzle/0008_workspace_settings.sql' with { type: 'text' };
import auth from '../../drizzle/0009_auth.sql' with { type: 'text' };

/** One step of the schema. Never changed once released: its hash is compared at every start. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** All of them, oldest first; carried inside the executable. */
export const migrations: readonly Migration[] = [
  { name: '0000_spine', sql: spine },
  { name: '0001_webhooks', sql: webhooks },
  { name: '0002_domains', sql: domains },
  { name: '0003_live', sql: live },
  { name: '0004_domain_transports', sql: domainTransports },
  { name: '0005_domain_keys', sql: domainKeys },
  { name: '0006_usage_entries', sql: usageEntries },
  { name: '0007_bodies_lz4', sql: bodiesLz4 },
  { name: '0008_workspace_settings', sql: workspaceSettings },
  { name: '0009_auth', sql: auth },
];
