import { expect, test } from 'bun:test';
import { domainMachine } from '../../../machines/domain.ts';
import type { DomainContext } from '../../../machines/domain-context.ts';
import { migrate } from '../../../src/db/migrate.ts';
import { migrations } from '../../../src/db/migrations.ts';
import { openDatabase } from '../../../src/db/open.ts';
import { Decider } from '../../../src/engine/decide.ts';
import type { ActorEvent } from '../../../src/engine/kind.ts';
import { domainKind } from '../../../src/modules/domains/kind.ts';
import { findSendingDomain } from '../../../src/modules/domains/queries.ts';

// Snapshots as older versions have stored them, and what becomes of them here.

const AT = Date.parse('2026-11-20T12:00:00.000Z');

/** Version 1, as it was released: one of each living state. */
const VERSION_1 = {
  at: AT + 61_000,
  exempt: false,
  attempt: 2,
  checkingSince: null,
  since: AT + 61_000,
  refutedSince: null,
  verifiedAt: AT + 61_000,
  lastCheckedAt: AT + 61_000,
  records: [
    { slot: 'dkim', fingerprint: 'a1b2c3d4e5f6', status: 'verified', found: [], error: null },
    { slot: 'dkimEd25519', fingerprint: 'f6e5d4c3b2a1', status: 'verified', found: [], error: null },
  ],
  openTracking: true,
  clickTracking: false,
} as const;
const STATES = ['pending', 'verified', 'temporaryFailure', 'failed'] as const;

async function migrated() {
  const database = await openDatabase({ url: null, dataDir: null });
  const before = migrations.findIndex(({ name }) => name === '0005_domain_keys');
  await migrate(database, migrations.slice(0, before));
  const rows = [...STATES, 'removed'].map(
    (
      state,
      n,
    ) => `('dom_${n}', 'ws_1', true, '${state}', '${JSON.stringify(VERSION_1)}', 3, 1, '${state}.test',
      'mine-${n}', 'R${n}', 'E${n}', 'send.${state}.test')`,
  );
  await database.script(`
    insert into workspaces (id, name, plan, created_at) values ('ws_1', 'W', 'free', now());
    insert into domains (id, workspace_id, livemode, state, context, revision, machine_version, name, dkim_selector,
      rsa_value, ed25519_value, return_path) values ${rows.join()};
    insert into domain_keys (domain_id, rsa, ed25519)
      select id, 'sealed-r', 'sealed-e' from domains where state <> 'removed'`);
  await migrate(database);
  return database;
}

test('version 1 goes on as version 2: no rotation waits, and all else is as it was', async () => {
  const database = await migrated();
  const rows = await database.query<{ state: string; context: DomainContext; machine_version: number }>(
    `select state, context, machine_version from domains where state <> 'removed' order by id`,
  );
  expect(rows.map(({ state }) => state)).toEqual([...STATES]);
  const decider = new Decider(domainMachine, {
    at: AT,
    exempt: false,
    records: [],
    openTracking: false,
    clickTracking: false,
  });
  for (const { state, context, machine_version } of rows) {
    expect(context).toEqual({ ...VERSION_1, rotatingSince: null });
    expect(machine_version).toBe(domainKind.version);
    const stored = { snapshot: decider.restore(state, context), timers: {}, effects: [] };
    const next = (now: Parameters<Decider['next']>[0], event: ActorEvent & object) => {
      const decided = decider.next(now, event);
      if (!decided) throw new Error(`${state} refuses ${event.type}`);
      return decided;
    };
    const keys = { selector: 's', rsaValue: 'r', ed25519Value: 'e', sealedRsa: 'R', sealedEd25519: 'E' };
    const asked = { type: 'rotation.requested', at: AT + 90_000, keys };
    const rotating = next(stored, asked);
    expect(decider.next(rotating, asked)).toBeNull();
    const checking = next(rotating, { type: 'check.requested', at: AT + 91_000 });
    const completed = {
      type: 'check.completed',
      at: AT + 92_000,
      attempt: 3,
      verdict: 'verified',
      records: [],
      switchTo: 's',
    };
    const settled = next(checking, completed);
    expect(settled.snapshot.value).toBe('verified');
    expect(settled.snapshot.context.rotatingSince).toBeNull();
  }
  await database.close();
});

test('keys from before there were rotations are those that sign', async () => {
  const database = await migrated();
  const keys = await database.query<object>(
    'select domain_id, selector, rsa_value, ed25519_value, rsa, stage from domain_keys order by domain_id',
  );
  expect(keys).toEqual(
    STATES.map((_, n) => ({
      domain_id: `dom_${n}`,
      selector: `mine-${n}`,
      rsa_value: `R${n}`,
      ed25519_value: `E${n}`,
      rsa: 'sealed-r',
      stage: 'active',
    })),
  );
  expect((await findSendingDomain(database, 'ws_1', 'verified.test'))?.keys).toEqual({
    domainId: 'dom_1',
    domain: 'verified.test',
    selector: 'mine-1',
    rsa: 'sealed-r',
    ed25519: 'sealed-e',
  });
  await database.close();
});
