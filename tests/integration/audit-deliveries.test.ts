import { describe, expect, test } from 'bun:test';
import type { Check } from '../../src/engine/audit/findings.ts';
import { openSession } from '../../src/engine/audit/session.ts';
import { auditLedger } from '../../src/ops/audit/audit.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { postgresStore, type Store, WORKSPACE } from '../support/engine.ts';
import { EDITABLE_VIEWS } from '../support/stored-email.ts';
import { live } from './audit-ledger.ts';

describe('the audit of webhook deliveries', () => {
  const HOUR = 3_600_000;

  /** An active endpoint that has wanted `delivered` for an hour, and an email with such an event. */
  async function withEndpoint(): Promise<{ store: Store; endpoint: string; event: string; email: string }> {
    const store = await postgresStore();
    const { delivered = '' } = await live(store);
    const endpoint = mintId('wh', Date.now() - HOUR);
    const [row] = await store.database.query<{ id: string }>(
      `select id from email_events where email_id = $1 and type = 'delivered'`,
      [delivered],
    );
    const step = `[{"event":"spawned","from":null,"to":"active","at":${Date.now() - HOUR},"attempt":null,"effects":[]}]`;
    await store.database.script(EDITABLE_VIEWS);
    await store.database.script(`
      insert into workspaces (id, name, plan, created_at) values ('${WORKSPACE}', 'Test', 'free', now());
      insert into webhook_endpoints (id, workspace_id, livemode, state, context, revision, machine_version, events)
        values ('${endpoint}', '${WORKSPACE}', false, 'active', '{"events":["delivered"]}', 1, 1, '{delivered}');
      insert into webhook_endpoint_journal (actor_id, revision, commit_tag, steps) values ('${endpoint}', 1, 1, '${step}');
      delete from email_events where type = 'delivered' and email_id <> '${delivered}'`);
    return { store, endpoint, event: row?.id ?? '', email: delivered };
  }

  const faultsOf = async ({ url }: Store, check: Check, now = Date.now()) => {
    const session = await openSession({ url, dataDir: null });
    const findings = await auditLedger(session, now);
    await session.close();
    return findings.named.filter((fault) => fault.check === check);
  };

  test('names an event without a delivery', async () => {
    const { store, endpoint, event } = await withEndpoint();
    await using _ = store;
    expect(await faultsOf(store, 'deliveries')).toEqual([
      { check: 'deliveries', id: event, what: `has no delivery for ${endpoint}` },
    ]);
  });

  test('names a success without an attempt', async () => {
    const { store, endpoint, event, email } = await withEndpoint();
    await using _ = store;
    const delivery = mintId('dlv', Date.now());
    const insert = (state: string) =>
      store.database.script(`
      insert into webhook_deliveries (id, workspace_id, livemode, state, context, revision, machine_version,
        webhook_id, event_id, event_type, email_id)
      values ('${delivery}', '${WORKSPACE}', false, '${state}', '{"attempt":1}', 1, 1, '${endpoint}', '${event}', 'delivered', '${email}')`);
    await insert('success');
    expect(await faultsOf(store, 'deliveries')).toEqual([]);
    expect((await faultsOf(store, 'attempts')).map(({ id }) => id)).toEqual([delivery]);
    const attempt = (number: number, status: number) =>
      store.database.script(`insert into webhook_attempts
        (delivery_id, attempt, attempted_at, http_status, response_body, duration_ms)
        values ('${delivery}', ${number}, now(), ${status}, '', 1)`);
    await attempt(1, 204);
    expect(await faultsOf(store, 'attempts')).toEqual([]);
    await attempt(2, 500);
    expect((await faultsOf(store, 'attempts')).map(({ what }) => what)).toEqual([
      'is at attempt 1, and has an outcome of 2',
    ]);
  });
});
