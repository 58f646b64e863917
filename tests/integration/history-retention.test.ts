import { expect, test } from 'bun:test';
import type { domainMachine } from '../../machines/domain/machine.ts';
import { apiKeyKind } from '../../src/accounts/api-keys/kind.ts';
import { journalFaults } from '../../src/engine/audit/journals.ts';
import { historyPruner } from '../../src/engine/duties/history-pruner.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { domainPruner } from '../../src/sending/domains/domain-pruner.ts';
import { domainKind } from '../../src/sending/domains/kind.ts';
import { embeddedDatabase } from '../support/embedded.ts';
import { createTestDatabase } from '../support/postgres.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 20, 12);

async function prune(database: Database, now = NOW): Promise<void> {
  const deps = { database, clock: { now: () => now, monotonic: () => 0 } };
  await historyPruner(deps, [domainKind, apiKeyKind]).run();
  await domainPruner(deps).run();
}

async function opened(kind: 'embedded' | 'postgres') {
  const server = kind === 'postgres' ? await createTestDatabase() : null;
  const database = server ? new PostgresDatabase(server.url) : await embeddedDatabase();
  await database.query(
    `insert into workspaces (id, name, plan, created_at) values ('ws_1', 'W', 'free', now())`,
  );
  return {
    database,
    /** A domain and its journal, as long as its revision says. */
    async domain(id: string, revision: number, state: keyof typeof domainMachine.states, at = NOW) {
      await database.query(
        `insert into domains (id, workspace_id, livemode, state, context, revision, machine_version, name, return_path)
         values ($1, 'ws_1', true, $2, json_build_object('at', $3::float8), $4::integer, 2, $1, 'r')`,
        [id, state, at, revision],
      );
      await database.query(
        `insert into domain_journal select $1, n, 1, '[]' from generate_series(1, $2::integer) n`,
        [id, revision],
      );
      await database.query(
        `insert into domain_keys (domain_id, selector, rsa_value, ed25519_value, rsa, ed25519, stage, since)
         values ($1, 's', 'R', 'E', 'r', 'e', 'active', now())`,
        [id],
      );
      await database.query(`insert into domain_transports values ($1, 'smtp')`, [id]);
    },
    async journal(table: string, id: string) {
      const [row] = await database.query<{ first: number; last: number; count: number }>(
        `select min(revision) as first, max(revision) as last, count(*)::integer as count from ${table} where actor_id = $1`,
        [id],
      );
      return row;
    },
    async [Symbol.asyncDispose]() {
      await database.close();
      await server?.close();
    },
  };
}

for (const kind of ['embedded', 'postgres'] as const) {
  test(`on ${kind}, of long histories the last thousand writes are kept, and short ones whole`, async () => {
    await using at = await opened(kind);
    await at.domain('dom_long', 3_500, 'verified');
    await at.domain('dom_even', 1_000, 'verified');
    await at.database.query(
      `insert into api_keys (id, workspace_id, livemode, state, context, revision, machine_version, name, prefix, hash)
       values ('key_1', 'ws_1', true, 'active', '{}', 1001, 1, 'n', 'p', 'h')`,
    );
    await at.database.query(
      `insert into api_key_journal select 'key_1', n, 1, '[]' from generate_series(1, 1001) n`,
    );
    await prune(at.database);
    expect(await at.journal('domain_journal', 'dom_long')).toEqual({
      first: 2_501,
      last: 3_500,
      count: 1_000,
    });
    expect(await at.journal('domain_journal', 'dom_even')).toEqual({ first: 1, last: 1_000, count: 1_000 });
    expect(await at.journal('api_key_journal', 'key_1')).toEqual({ first: 2, last: 1_001, count: 1_000 });
    // The audit takes a cut history for what it is.
    const cut = { id: 'dom_long', entries: 1_000, first: 2_501, last: 3_500, state: 'verified', leaps: 1 };
    expect(journalFaults({ state: 'verified', revision: 3_500 }, cut)).toEqual([]);
    await prune(at.database);
    expect(await at.journal('domain_journal', 'dom_long')).toMatchObject({ count: 1_000 });
  });

  test(`on ${kind}, a removed domain goes 90 days after its removal, and a living one never`, async () => {
    await using at = await opened(kind);
    await at.domain('dom_old', 4, 'removed', NOW - 90 * DAY - 1);
    await at.domain('dom_young', 4, 'removed', NOW - 90 * DAY + 1);
    await at.domain('dom_living', 4, 'failed', NOW - 900 * DAY);
    await prune(at.database);
    for (const [table, column] of [
      ['domains', 'id'],
      ['domain_journal', 'distinct actor_id'],
      ['domain_keys', 'domain_id'],
      ['domain_transports', 'domain_id'],
    ] as const) {
      const rows = await at.database.query<{ id: string }>(`select ${column} as id from ${table} order by 1`);
      expect(rows.map(({ id }) => id)).toEqual(['dom_living', 'dom_young']);
    }
  });

  test(`on ${kind}, retired keys are listed for 90 days`, async () => {
    await using at = await opened(kind);
    await at.domain('dom_1', 1, 'verified');
    await at.database.query(
      `insert into domain_keys (domain_id, selector, rsa_value, ed25519_value, stage, since) values
         ('dom_1', 'old', 'R', 'E', 'retired', $1::text::timestamptz), ('dom_1', 'new', 'R', 'E', 'retired', $2::text::timestamptz)`,
      [new Date(NOW - 90 * DAY - 1).toISOString(), new Date(NOW - 90 * DAY + 1).toISOString()],
    );
    await prune(at.database);
    const rows = await at.database.query<{ selector: string }>('select selector from domain_keys order by 1');
    expect(rows.map(({ selector }) => selector)).toEqual(['new', 's']);
  });
}
