import { expect, test } from 'bun:test';
import { auditLogPruner } from '../../src/accounts/audit-log/commands.ts';
import { SessionStore } from '../../src/http/auth/sessions/session-store.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { ManualClock } from '../support/engine.ts';
import { onEachStore } from '../support/shared-store.ts';

const DAY = 86_400_000;
const NOW = Date.parse('2026-11-22T12:00:00.000Z');
const WORKSPACE = `insert into workspaces (id, name, plan, created_at) values ($1, 'w', 'free', now())`;

onEachStore('what ends by its age', (store) => {
  test('a session ends after thirty days without use, and after ninety whatever its use', async () => {
    await store.database.query(WORKSPACE, ['ws_1']);
    const clock = new ManualClock(NOW);
    const sessions = new SessionStore(store.database, () => clock.now());
    const subject = { kind: 'account', id: 'acc_1', workspaceId: 'ws_1', livemode: true } as const;
    const expiresAt = NOW + 90 * DAY;
    const open = async () =>
      (await sessions.open(subject, { expiresAt, userAgent: '', client: '192.0.2.1', replaces: null })) ?? '';
    const [unused, used] = [await open(), await open()];
    const found = async (token: string) => (await sessions.ofToken(token)) !== null;
    clock.time = NOW + 30 * DAY - 1;
    const session = await sessions.ofToken(used);
    if (session) await sessions.noteUse(session);
    expect([await found(unused), await found(used)]).toEqual([true, true]);
    clock.time = NOW + 30 * DAY;
    expect([await found(unused), await found(used)]).toEqual([false, true]);
    for (let day = 50; day < 90; day += 20) {
      clock.time = NOW + day * DAY;
      const again = await sessions.ofToken(used);
      if (again) await sessions.noteUse(again);
    }
    clock.time = NOW + 90 * DAY - 1;
    expect(await found(used)).toBe(true);
    clock.time = NOW + 90 * DAY;
    expect(await found(used)).toBe(false);
  });

  test('the audit log is kept for a year', async () => {
    const ages = [0, 364, 366, 800];
    for (const age of ages)
      await store.database.query(
        `insert into audit_log (id, workspace_id, actor_type, action, details) values ($1, 'ws_1', 'system', $2, '{}')`,
        [mintId('log', NOW - age * DAY), `age.${age}`],
      );
    await auditLogPruner({ database: store.database, clock: new ManualClock(NOW) }).run();
    const left = await store.database.query<{ action: string }>(
      'select action from audit_log order by id desc',
    );
    expect(left.map(({ action }) => action)).toEqual(['age.0', 'age.364']);
  });
});
