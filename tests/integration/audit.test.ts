import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import type { EmailContext } from '../../machines/email-context.ts';
import { AUDITED_KINDS, auditLedger, NotAuditable } from '../../src/audit/audit.ts';
import { CHECKS, type Check, type Findings } from '../../src/audit/findings.ts';
import { openSession, type Session } from '../../src/audit/session.ts';
import { auditReport } from '../../src/commands/audit.ts';
import { loadConfig } from '../../src/config.ts';
import { mintId } from '../../src/db/ids.ts';
import { codeOf } from '../../src/db/sqlstate.ts';
import { simulate } from '../../src/modules/emails/simulate.ts';
import { periodOf } from '../../src/modules/usage/queries.ts';
import { openService } from '../../src/service.ts';
import {
  emailBirth,
  embeddedStore,
  engineOver,
  plainInput,
  postgresStore,
  type Store,
  WORKSPACE,
} from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';

const TABLES = [
  'emails',
  'email_messages',
  'email_events',
  'email_journal',
  'usage',
  'idempotency_keys',
  'mail',
] as const;

const INPUTS = ['delivered', 'bounced', 'bounced-transient', 'complained', 'suppressed', 'deferred'];

/** One email of each end, a scheduled one and a cancelled one; answers their ids by name. */
async function live(store: Store): Promise<Record<string, string>> {
  const { database } = store;
  const engine = engineOver(database, {
    performer: {
      slots: 100,
      backlog: 100,
      perform: ({ actor }) => simulate(actor.snapshot.context as EmailContext, '<m@test>', Date.now()),
    },
  });
  const ids: Record<string, string> = {};
  const now = Date.now();
  const spawn = async (name: string, input = plainInput(now)) => {
    const id = mintId('em', now);
    const reply = JSON.stringify({ id });
    const claim = { key: name, fingerprint: 'f', status: 202, reply: () => reply };
    const scope = { workspaceId: WORKSPACE, livemode: false };
    const meter = { period: periodOf(false, now), ceiling: 100 };
    await engine.spawn('email', emailBirth(input, { id, meter, claim: { ...claim, scope } }));
    ids[name] = id;
  };
  for (const name of INPUTS)
    await spawn(name, plainInput(now, { recipients: [{ simulate: name }], backoffMs: [0, 0] }));
  await spawn('scheduled', plainInput(now, { scheduledAt: now + 3_600_000 }));
  await spawn('cancelled', plainInput(now, { scheduledAt: now + 3_600_000 }));
  await engine.tell('email', ids.cancelled as string, { type: 'cancel.requested', at: now });
  await eventually('all have ended', async () => {
    await engine.wakeDue();
    const [row] = await database.query<{ n: number }>(
      `select count(*)::integer as n from emails where state in ('sending', 'deferred')`,
    );
    return row?.n === 0 ? true : undefined;
  });
  await engine.stop();
  return ids;
}

/** A way to break a ledger, and the check that must see it. `$id` stands for the email of that name. */
type Corruption = readonly [what: string, check: Check, of: string, sql: string];

const CORRUPTIONS: readonly Corruption[] = [
  ['a lost message', 'messages', 'delivered', `delete from email_messages where id = '$id'`],
  [
    'a message without its email',
    'messages',
    'delivered',
    `delete from emails where id = '$id'; delete from email_journal where actor_id = '$id'; delete from email_events where email_id = '$id'; delete from idempotency_keys where key = 'delivered'; update usage set used = used - 1`,
  ],
  ['a lost journal', 'journals', 'bounced', `delete from email_journal where actor_id = '$id'`],
  [
    'a gap in the journal',
    'journals',
    'deferred',
    `delete from email_journal where actor_id = '$id' and revision = 2`,
  ],
  [
    'a revision too many',
    'journals',
    'delivered',
    `update emails set revision = revision + 1 where id = '$id'`,
  ],
  [
    'a journal that ends elsewhere',
    'journals',
    'scheduled',
    `update email_journal set steps = replace(steps::text, '"to":"scheduled"', '"to":"queued"')::json where actor_id = '$id'`,
  ],
  [
    'a step that begins where none ended',
    'journals',
    'cancelled',
    `update email_journal set steps = replace(steps::text, '"from":"scheduled"', '"from":"queued"')::json where actor_id = '$id'`,
  ],
  [
    'a journal without its actor',
    'journals',
    'scheduled',
    `insert into email_journal (actor_id, revision, commit_tag, steps) values ('$new', 1, 1, '[]')`,
  ],
  [
    'a state without its timer',
    'snapshots',
    'scheduled',
    `update emails set timers = null, wake_at = null where id = '$id'`,
  ],
  [
    'a timer that nobody wakes for',
    'snapshots',
    'scheduled',
    `update emails set wake_at = null where id = '$id'`,
  ],
  [
    'a wake-up far behind its timer',
    'snapshots',
    'scheduled',
    `update emails set wake_at = wake_at + interval '1 day' where id = '$id'`,
  ],
  [
    'a timer in a state that has none',
    'snapshots',
    'delivered',
    `update emails set timers = '{"x":1}', wake_at = now() where id = '$id'`,
  ],
  [
    'a machine of the future',
    'snapshots',
    'delivered',
    `update emails set machine_version = 99 where id = '$id'`,
  ],
  [
    'a column of its own mind',
    'snapshots',
    'delivered',
    `update emails set delivered_at = null where id = '$id'`,
  ],
  [
    'a lost event',
    'events',
    'delivered',
    `delete from email_events where email_id = '$id' and type = 'delivered'`,
  ],
  [
    'an event twice',
    'events',
    'complained',
    `insert into email_events (email_id, id, workspace_id, livemode, type, recipient, occurred_at, data)
      select email_id, '$new', workspace_id, livemode, type, recipient, occurred_at, data
      from email_events where email_id = '$id' and type = 'sent'`,
  ],
  [
    'an event of a stranger',
    'events',
    'delivered',
    `update email_events set recipient = 'stranger@example.com' where email_id = '$id' and type = 'delivered'`,
  ],
  ['a bounce nobody wrote down', 'events', 'bounced', `delete from email_events where email_id = '$id'`],
  [
    'an event of a suppressed recipient',
    'events',
    'suppressed',
    `insert into email_events (email_id, id, workspace_id, livemode, type, recipient, occurred_at, data)
      select id, '$new', workspace_id, livemode, 'bounced', recipients[1], now(), '{}' from emails where id = '$id'`,
  ],
  [
    'an event of a cancelled email',
    'events',
    'cancelled',
    `insert into email_events (email_id, id, workspace_id, livemode, type, recipient, occurred_at, data)
      select id, '$new', workspace_id, livemode, 'sent', recipients[1], now(), '{}' from emails where id = '$id'`,
  ],
  [
    'a state its recipients deny',
    'outcomes',
    'bounced-transient',
    `update emails set state = 'failed' where id = '$id'`,
  ],
  [
    'a cancelled email that was sent',
    'outcomes',
    'delivered',
    `update emails set state = 'cancelled' where id = '$id'`,
  ],
  ['a unit that nobody took', 'quotas', 'delivered', `update usage set used = used + 1`],
  ['a unit given back twice', 'quotas', 'cancelled', `update usage set used = used - 1`],
  ['a period that is not counted', 'quotas', 'delivered', `delete from usage`],
  [
    'a reply about nothing',
    'replies',
    'delivered',
    `update idempotency_keys set reply = replace(reply, '$id', '$new') where key = 'delivered'`,
  ],
];

const STORES: readonly [string, () => Promise<Store>][] = [
  ['embedded', embeddedStore],
  ['PostgreSQL', postgresStore],
];

describe.each(STORES)('an audit, %s', (kind, open) => {
  let store: Store;
  let ids: Record<string, string>;

  beforeAll(async () => {
    store = await open();
    ids = await live(store);
    for (const table of TABLES)
      await store.database.script(`create table kept_${table} as select * from ${table}`);
  }, 30_000);
  afterAll(() => store[Symbol.asyncDispose]());
  afterEach(async () => {
    for (const table of TABLES)
      await store.database.script(`truncate ${table}; insert into ${table} select * from kept_${table}`);
  });

  const audit = async (now = Date.now(), since = 0): Promise<Findings> => {
    const session: Session =
      store.url === null
        ? { query: (text, parameters) => store.database.query(text, parameters), close: async () => {} }
        : await openSession({ url: store.url, dataDir: null });
    try {
      return await auditLedger(session, now, since);
    } finally {
      await session.close();
    }
  };

  test('finds nothing where nothing is wrong, having looked at everything', async () => {
    const findings = await audit();
    expect(findings.named).toEqual([]);
    expect(findings.total).toBe(0);
    for (const check of ['messages', 'journals', 'snapshots', 'events', 'outcomes', 'replies'] as const)
      expect(findings.lookedAt(check)).toBe(INPUTS.length + 2);
    expect(findings.lookedAt('quotas')).toBe(1);
  });

  test.each(CORRUPTIONS)('sees %s', async (_, check, of, sql) => {
    const id = ids[of] as string;
    const fresh = mintId('em', Date.now());
    await store.database.script(sql.replaceAll('$id', id).replaceAll('$new', fresh));
    const findings = await audit();
    expect(findings.wrongOf(check)).toBeGreaterThan(0);
    const named = findings.named.filter((fault) => fault.check === check).map((fault) => fault.id);
    expect(
      named.every((name) => [id, fresh, `${WORKSPACE} test ${periodOf(false, Date.now())}`].includes(name)),
    ).toBe(true);
  });

  test('names no more than twenty rows of a check, and counts them all', async () => {
    await store.database.script(
      `insert into email_journal (actor_id, revision, commit_tag, steps)
       select 'em_${mintId('em', Date.now()).slice(3, 13)}' || lpad(n::text, 14, '0'), 1, 1, '[]' from generate_series(1, 1234) n`,
    );
    const findings = await audit();
    expect(findings.wrongOf('journals')).toBe(1_234);
    expect(findings.named.length).toBe(20);
    expect(auditReport(findings, 0)).toContain('… and 1,214 more.');
  });

  test('prints no personal data', async () => {
    await store.database.script(`update email_events set recipient = 'someone@example.com'`);
    const report = auditReport(await audit(), 0);
    expect(report).not.toContain('@');
    expect(report).toContain('faults, read in');
  });

  test('looks only at what was accepted since', async () => {
    await store.database.script('delete from email_messages');
    const findings = await audit(Date.now(), Date.now() + 60_000);
    expect(findings.total).toBe(0);
    expect(findings.lookedAt('messages')).toBe(0);
  });

  test(`${kind === 'embedded' ? 'without an instance, what is due waits' : 'with an instance, what is overdue is a fault'}`, async () => {
    await store.database.script(
      `insert into mail (id, to_kind, to_id, event) values ('${mintId('mail', Date.now())}', 'email', 'em_x', '{}')`,
    );
    const findings = await audit(Date.now() + 2 * 3_600_000);
    if (kind === 'embedded') {
      expect(findings.wrongOf('overdue')).toBe(0);
      expect(findings.notes.join()).toContain('No instance is connected');
    } else {
      expect(findings.named.map(({ check, id }) => [check, id])).toContainEqual([
        'overdue',
        ids.scheduled as string,
      ]);
      expect(findings.wrongOf('mail')).toBe(1);
    }
  });
});

describe('deliveries', () => {
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

  test('an event that has none is named', async () => {
    const { store, endpoint, event } = await withEndpoint();
    await using _ = store;
    expect(await faultsOf(store, 'deliveries')).toEqual([
      { check: 'deliveries', id: event, what: `has no delivery for ${endpoint}` },
    ]);
  });

  test('one that has is not, and a success without an attempt is', async () => {
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

describe('an audit of a server', () => {
  test('sees a transaction that is left open', async () => {
    await using made = await createTestDatabase();
    const held = await openSession({ url: made.url, dataDir: null });
    const session = await openSession({ url: made.url, dataDir: null });
    try {
      // Ten seconds of patience would be ten seconds of test: the moment it became idle is what the check reads.
      const query: Session['query'] = (text, parameters) =>
        session.query(text.replace(`interval '10 seconds'`, `interval '0 seconds'`), parameters);
      const findings = await auditLedger({ query, close: session.close }, Date.now());
      expect(findings.wrongOf('transactions')).toBe(1);
    } finally {
      await held.close();
      await session.close();
    }
  });

  test('cannot write, whatever it is asked', async () => {
    await using made = await createTestDatabase();
    const session = await openSession({ url: made.url, dataDir: null });
    const error = await session.query('delete from emails').catch((caught: unknown) => caught);
    expect(codeOf((error as Error).cause)).toBe('25006');
    await expect(session.close()).rejects.toThrow();
  });

  test('says so when its moment was lost on the way', async () => {
    await using made = await createTestDatabase();
    const session = await openSession({ url: made.url, dataDir: null });
    const other = await openSession({ url: made.url, dataDir: null });
    await other.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and application_name = 'posthorn audit'`,
    );
    await expect(session.close()).rejects.toThrow();
    await other.close();
  });

  test('judges no database that is not its own', async () => {
    await using made = await createTestDatabase();
    const session = await openSession({ url: made.url, dataDir: null });
    const renamed: Session = {
      query: (text, parameters) =>
        session.query(text.replaceAll('posthorn_migrations', 'pg_nothing'), parameters),
      close: session.close,
    };
    await expect(auditLedger(renamed, Date.now())).rejects.toBeInstanceOf(NotAuditable);
    await session.close();
  });
});

test('every check has a corruption or a test that fails it', () => {
  const seen = new Set<string>(CORRUPTIONS.map(([, check]) => check));
  const elsewhere = ['overdue', 'mail', 'transactions', 'deliveries', 'attempts'];
  expect(Object.keys(CHECKS).filter((check) => !seen.has(check) && !elsewhere.includes(check))).toEqual([]);
});

test('every kind of the service is audited', async () => {
  await using database = await createTestDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-audit-'));
  const loaded = loadConfig({ DATABASE_URL: database.url, DATA_DIR: dataDir });
  if ('problems' in loaded) throw new Error(loaded.problems.join());
  const service = await openService({ config: loaded.config, logger: pino({ level: 'silent' }) });
  const names = service.engine.kinds.map(({ name }) => name).sort();
  await service.stop();
  rmSync(dataDir, { recursive: true });
  expect(AUDITED_KINDS.map(({ name }) => name).sort()).toEqual(names);
});
