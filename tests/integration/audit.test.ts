import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { CHECKS, type Findings } from '../../src/engine/audit/findings.ts';
import { openSession, type Session } from '../../src/engine/audit/session.ts';
import { MODULE_KINDS } from '../../src/modules.ts';
import { auditLedger, NotAuditable } from '../../src/ops/audit/audit.ts';
import { auditReport } from '../../src/ops/commands/database/audit.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { codeOf } from '../../src/platform/db/sqlstate.ts';
import { periodOf } from '../../src/platform/time/clock.ts';
import { openService } from '../../src/service.ts';
import { embeddedStore, postgresStore, type Store, WORKSPACE } from '../support/engine.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { EDITABLE_VIEWS } from '../support/stored-email.ts';
import { CORRUPTIONS, INPUTS, live } from './audit-ledger.ts';

const TABLES = [
  'emails',
  'email_turns',
  'email_due',
  'usage',
  'usage_entries',
  'idempotency_keys',
  'actor_outbox',
] as const;

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
    await store.database.script(EDITABLE_VIEWS);
    for (const table of TABLES)
      await store.database.script(`create table kept_${table} as select * from ${table}`);
  });
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
      return await auditLedger(session, now, { since });
    } finally {
      await session.close();
    }
  };

  test('finds nothing where nothing is wrong, having looked at everything', async () => {
    const findings = await audit();
    expect(findings.named).toEqual([]);
    expect(findings.total).toBe(0);
    for (const check of ['journals', 'snapshots', 'events', 'outcomes', 'replies'] as const)
      expect(findings.lookedAt(check)).toBe(INPUTS.length + 2);
    expect(findings.lookedAt('quotas')).toBe(1);
  });

  test.each(CORRUPTIONS)('reports %s', async (_, check, of, sql) => {
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

  test('goes by what retention has removed, whatever the settings say now', async () => {
    await store.database.script('delete from emails; delete from email_due');
    const checks = ['journals', 'events', 'quotas', 'replies'] as const;
    const faults = async () => {
      const findings = await audit();
      return checks.filter((check) => findings.wrongOf(check) > 0);
    };
    const lacking = await faults();
    expect(lacking).toContain('quotas');
    expect(lacking).toContain('replies');
    await store.database.script(
      `insert into retention values (false, now() + interval '1 minute'), (true, now() - interval '1 day')`,
    );
    expect(await faults()).toEqual([]);
    await store.database.script('truncate retention');
  });

  test('looks only at emails accepted since the given time', async () => {
    await store.database.script('delete from email_turns');
    const findings = await audit(Date.now(), Date.now() + 60_000);
    expect(findings.total).toBe(0);
    expect(findings.lookedAt('events')).toBe(0);
  });

  test(`${kind === 'embedded' ? 'without an instance, what is due waits' : 'with an instance, what is overdue is a fault'}`, async () => {
    await store.database.script(
      `insert into actor_outbox (id, to_kind, to_id, event) values ('${mintId('mail', Date.now())}', 'email', 'em_x', '{}')`,
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

describe('an audit of a server', () => {
  test('sees a transaction that is left open', async () => {
    await using made = await createTestDatabase();
    const held = await openSession({ url: made.url, dataDir: null });
    const session = await openSession({ url: made.url, dataDir: null });
    try {
      // Ten seconds of patience would be ten seconds of test: the moment it became idle is what the check
      // reads.
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
    // Later statements are refused for the aborted transaction, which says nothing: the reason is reported
    // instead.
    expect(await session.close().catch((caught: unknown) => caught)).toBe(error);
  });

  test('has no query compiled, since none is asked often enough', async () => {
    await using made = await createTestDatabase();
    const session = await openSession({ url: made.url, dataDir: null });
    expect(await session.query(`select current_setting('jit') as jit`)).toEqual([{ jit: 'off' }]);
    await session.close();
  });

  test('reports a lost snapshot when the connection breaks during the audit', async () => {
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

  test('refuses a database without the schema of this version', async () => {
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
  // tests/integration/engine-local-leases.test.ts fails that of new actors, analytics.test.ts that of
  // analytics, body-backup.test.ts that of bodies.
  const elsewhere = [
    'analytics',
    'inserts',
    'bodies',
    'overdue',
    'mail',
    'transactions',
    'deliveries',
    'attempts',
    'ledgers',
    'flows',
  ];
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
  expect(MODULE_KINDS.map(({ kind: { name } }) => name).sort()).toEqual(names);
});
