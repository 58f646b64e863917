import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DatabaseLocation, openDatabase } from '../../src/platform/db/open.ts';
import { command } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startService, TEST_KEY } from '../support/service.ts';

/** A backup that is made while emails come in, and is restored on the other kind of database. */
export interface BackupPlan {
  readonly from: 'PGlite' | 'PostgreSQL';
  /** The emails that are acknowledged before the backup begins. */
  readonly emails: number;
  /** Requests under way at a time, and the emails of each. */
  readonly senders: number;
  readonly batch: number;
}

/** The result. */
export interface BackupOutcome {
  readonly before: number;
  /** Acknowledged while the backup was made. */
  readonly during: number;
  readonly seconds: number;
  readonly bytes: number;
  readonly stored: number;
  /** Acknowledged before the backup began, and not in it. */
  readonly missing: readonly string[];
  /**
   * The exit codes of the backup, of the restore with its audit, and of the audit of the source afterwards.
   */
  readonly codes: readonly number[];
  readonly printed: string;
}

const SECRET_KEY = 'only-for-tests-only-for-tests-only';
const EMAIL = { from: 'a@acme.example', to: 'delivered@simulator.svc.test', subject: 'Hello', text: 'Hi' };

/** Makes one, and looks at what was restored. */
export async function backUpUnderLoad({ from, emails, senders, batch }: BackupPlan): Promise<BackupOutcome> {
  const home = mkdtempSync(join(tmpdir(), 'posthorn-backup-load-'));
  await using database = await createTestDatabase();
  const server = { DATABASE_URL: database.url, SECRET_KEY, DATA_DIR: join(home, 'beside-the-server') };
  const folder = { SECRET_KEY, DATA_DIR: join(home, 'embedded') };
  const [source, target] = from === 'PGlite' ? [folder, server] : [server, folder];
  const where: DatabaseLocation =
    from === 'PGlite' ? { url: database.url, dataDir: null } : { url: null, dataDir: folder.DATA_DIR };
  const limits = {
    RATE_LIMIT_PER_IP: '0',
    RATE_LIMIT_PER_KEY: '0',
    TEST_SENDS_PER_DAY: '0',
    LOG_LEVEL: 'warn',
  };
  const service = await startService({
    dataDir: source.DATA_DIR,
    env: { ...source, ...limits },
  });
  const acknowledged: string[] = [];
  const sending = new AbortController();
  const body = JSON.stringify({ emails: Array.from({ length: batch }, () => EMAIL) });
  const send = async (): Promise<void> => {
    const response = await fetch(`${service.url}/v1/emails/batch`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    });
    const { data = [], error } = (await response.json()) as { data?: { id: string }[]; error?: unknown };
    // Too many at once is an answer; a request that is wrong would be repeated for ever.
    if (response.status === 422) throw new Error(JSON.stringify(error));
    acknowledged.push(...data.map(({ id }) => id));
  };
  const sender = async (): Promise<void> => {
    while (!sending.signal.aborted) await send();
  };
  try {
    const load = Array.from({ length: senders }, sender);
    await eventually(`${emails} emails`, () => (acknowledged.length >= emails ? true : undefined), {
      withinMs: 600_000,
    });
    const file = join(home, 'backup');
    const before = [...acknowledged];
    const begin = performance.now();
    const backup = await command(source, 'backup', file);
    const seconds = (performance.now() - begin) / 1_000;
    const during = acknowledged.length - before.length;
    sending.abort();
    await Promise.all(load);
    await service.stop();
    const restored = await command(target, 'restore', file);
    const audited = await command(source, 'audit');
    const stored = restored.code === 0 ? await readIds(where) : new Set<string>();
    return {
      before: before.length,
      during,
      seconds,
      bytes: statSync(file).size,
      stored: stored.size,
      missing: before.filter((id) => !stored.has(id)),
      codes: [backup.code, restored.code, audited.code],
      printed: [backup, restored, audited].map(({ out, error }) => out + error).join('\n'),
    };
  } finally {
    sending.abort();
    await service[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  }
}

async function readIds(where: DatabaseLocation): Promise<ReadonlySet<string>> {
  const database = await openDatabase(where);
  try {
    return new Set((await database.query<{ id: string }>('select id from emails')).map(({ id }) => id));
  } finally {
    await database.close();
  }
}
