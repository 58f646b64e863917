import { afterEach, beforeEach, expect, test } from 'bun:test';
import { ensureFirstKey, issueKey } from '../../src/accounts/api-keys/issue.ts';
import { apiKeys } from '../../src/accounts/api-keys/kind.ts';
import { ensureFirstWorkspace, setPlan } from '../../src/accounts/workspace/commands.ts';
import { Engine } from '../../src/engine/engine.ts';
import { KeyAuthenticator } from '../../src/http/auth/key-authenticator.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { systemClock } from '../../src/platform/time/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const GIVEN = `svc_test_${'G'.repeat(32)}`;

let server: TestDatabase;
let instances: { readonly engine: Engine; readonly database: Database }[];

beforeEach(async () => {
  server = await createTestDatabase();
  instances = [];
});
afterEach(async () => {
  for (const { engine, database } of instances) {
    await engine.stop();
    await database.close();
  }
  await server.close();
});

async function instance() {
  const database = await openDatabase({ url: server.url, dataDir: null });
  const logger = createLogger({ level: 'silent', pretty: false });
  const engine = new Engine({ database, clock: systemClock, logger, kinds: [apiKeys] });
  const made = { engine, database };
  instances.push(made);
  return made;
}

const callerOf = ({ database }: { database: Database }, key: string) =>
  new KeyAuthenticator(database, systemClock).authenticate(key);

test('instances that start together on a new database make one workspace and one key', async () => {
  const together = await Promise.all(Array.from({ length: 6 }, instance));
  const keys = await Promise.all(
    together.map(async (each) => {
      const workspace = await ensureFirstWorkspace(each.database, 'free', NOW);
      return await ensureFirstKey(each, workspace, false, null);
    }),
  );
  const generated = keys.flatMap(({ key }) => (key === null ? [] : [key]));
  expect(generated).toHaveLength(1);
  expect(keys.filter(({ origin, ignored }) => origin === 'kept' && !ignored)).toHaveLength(5);
  const { database } = await instance();
  expect(await database.query('select id from workspaces')).toHaveLength(1);
  expect(await database.query('select id from api_keys')).toHaveLength(1);
});

test('the first key may do everything in its environment, and was made when the workspace was', async () => {
  const each = await instance();
  const workspace = await ensureFirstWorkspace(each.database, 'growth', NOW);
  const { key } = await ensureFirstKey(each, workspace, true, null);
  expect(workspace.createdAt).toBe(NOW);
  expect(await callerOf(each, key ?? '')).toMatchObject({
    workspaceId: workspace.id,
    livemode: true,
    permissions: ['*'],
    plan: 'growth',
  });
});

test('a given key is the first key, again at the next start, and is not handed back', async () => {
  const each = await instance();
  const workspace = await ensureFirstWorkspace(each.database, 'free', NOW);
  expect(await ensureFirstKey(each, workspace, false, GIVEN)).toEqual({
    livemode: false,
    origin: 'given',
    key: null,
    ignored: false,
  });
  expect(await ensureFirstKey(each, workspace, false, GIVEN)).toMatchObject({
    origin: 'kept',
    ignored: false,
  });
  expect(await callerOf(each, GIVEN)).toMatchObject({ livemode: false });
});

test('a bootstrap key given after the first start is reported as ignored', async () => {
  const each = await instance();
  const workspace = await ensureFirstWorkspace(each.database, 'free', NOW);
  await ensureFirstKey(each, workspace, false, null);
  expect(await ensureFirstKey(each, workspace, false, GIVEN)).toMatchObject({
    origin: 'kept',
    ignored: true,
  });
  expect(await callerOf(each, GIVEN)).toBeNull();
});

test('a key made on the command line may do what was asked for and no more', async () => {
  const each = await instance();
  const workspace = await ensureFirstWorkspace(each.database, 'free', NOW);
  const wanted = {
    workspaceId: workspace.id,
    livemode: false,
    name: 'Reader',
    permissions: ['emails:read'] as const,
  };
  const key = await issueKey(each.engine, wanted, NOW);
  expect(await callerOf(each, key)).toMatchObject({ livemode: false, permissions: ['emails:read'] });
});

test('posthorn plan set takes effect at the next request, and refuses an unknown workspace', async () => {
  const each = await instance();
  const workspace = await ensureFirstWorkspace(each.database, 'free', NOW);
  const { key } = await ensureFirstKey(each, workspace, true, null);
  expect(await setPlan(each.database, workspace.id, 'starter')).toBe(true);
  expect(await callerOf(each, key ?? '')).toMatchObject({ plan: 'starter' });
  expect(await setPlan(each.database, 'ws_missing', 'starter')).toBe(false);
});
