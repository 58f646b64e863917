import { afterAll, beforeAll, expect, test } from 'bun:test';
import { auditLogPruner } from '../../src/accounts/audit-log/commands.ts';
import { SESSION_MS } from '../../src/accounts/members/sign-in/sign-in.ts';
import { SessionStore } from '../../src/http/auth/sessions/session-store.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { postgresStore, rowsOf, type Store, WORKSPACE } from '../support/engine.ts';

// Unused sessions and entries of the audit log end by time.

const DAY = 86_400_000;
const START = Date.parse('2026-03-01T00:00:00Z');
let store: Store;
let now = START;

beforeAll(async () => {
  store = await postgresStore();
  await store.database.query(
    `insert into workspaces (id, name, plan, created_at) values ($1, 'e', 'free', now())`,
    [WORKSPACE],
  );
});
afterAll(() => store[Symbol.asyncDispose]());

test('a session ends after thirty days without use, and after ninety whatever is done with it', async () => {
  const sessions = new SessionStore(store.database, () => now);
  const subject = { kind: 'account', id: 'acc_1', workspaceId: WORKSPACE, livemode: true } as const;
  const open = async () => {
    now = START;
    const opening = { expiresAt: START + SESSION_MS, userAgent: '', client: '', replaces: null };
    return (await sessions.open(subject, opening)) ?? '';
  };
  const idle = await open();
  now = START + 30 * DAY - 1;
  expect(await sessions.ofToken(idle)).not.toBeNull();
  now = START + 30 * DAY;
  expect(await sessions.ofToken(idle)).toBeNull();

  const used = await open();
  for (let day = 20; day < 90; day += 20) {
    now = START + day * DAY;
    const session = await sessions.ofToken(used);
    if (!session) throw new Error(`It has ended after ${day} days.`);
    await sessions.noteUse(session);
  }
  now = START + 90 * DAY - 1;
  expect(await sessions.ofToken(used)).not.toBeNull();
  now = START + 90 * DAY;
  expect(await sessions.ofToken(used)).toBeNull();
});

test('the audit log keeps a year', async () => {
  now = START;
  for (const days of [366, 364])
    await store.database.query(
      `insert into audit_log (id, workspace_id, actor_type, action, details) values ($1, $2, 'system', $3, '{}')`,
      [mintId('log', START - days * DAY), WORKSPACE, `${days} days`],
    );
  await auditLogPruner({ database: store.database, clock: { now: () => now, monotonic: () => 0 } }).run();
  expect(await rowsOf(store.database, 'select action from audit_log')).toEqual([{ action: '364 days' }]);
});
