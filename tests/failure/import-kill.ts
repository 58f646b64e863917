import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { CONTACT_COLUMNS, contactFile } from '../support/contact-file.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { LIVE_KEY, type Service, startService, TEST_KEY } from '../support/service.ts';

/** The kills of imports. */
export interface ImportKillPlan {
  readonly database: 'PGlite' | 'PostgreSQL';
  readonly rows: number;
  readonly kills: number;
  say(line: string): void;
}

/** The result of an import. */
export interface ImportOutcome {
  readonly status: string;
  readonly counts: unknown;
  readonly progress: number;
  /** SHA-256 of all contacts, ordered by address, without their ids and moments. */
  readonly contacts: string;
  /** SHA-256 of the CSV with all mistakes. */
  readonly errors: string;
}

/** A million rows on a busy machine; a test is ended by its own limit long before. */
const PATIENT = { withinMs: 1_800_000, everyMs: 20 };

const digest = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex');

const CONTACTS = `select count(*)::integer as n, md5(string_agg(md5(concat_ws('|', email, first_name, last_name, properties::text, status)), ''
  order by email_key)) as digest from contacts where livemode = $1::boolean`;

/**
 * Imports a file undisturbed into one environment, and into the other while the service is killed with -9 on
 * the way. Answers both outcomes, which have to be equal, and where in the file the kills hit.
 */
export async function killImports(plan: ImportKillPlan): Promise<{
  readonly undisturbed: ImportOutcome;
  readonly killed: ImportOutcome;
  readonly hits: readonly number[];
  readonly wanted: unknown;
}> {
  const made = plan.database === 'PostgreSQL' ? await createTestDatabase() : null;
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-import-kill-'));
  const port = await freePort();
  const start = (): Promise<Service> =>
    startService({
      dataDir,
      port,
      env: {
        ...(made && { DATABASE_URL: made.url }),
        SECRET_KEY: 'only-for-tests-only-for-tests-only',
        RATE_LIMIT_PER_IP: '0',
        RATE_LIMIT_PER_KEY: '0',
      },
    });
  const file = contactFile(plan.rows);
  const url = `http://127.0.0.1:${port}`;
  let service = await start();
  const get = (key: string, path: string) =>
    fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  const begin = async (key: string): Promise<string> => {
    const answer = await fetch(`${url}/v1/contacts/import?columns=${CONTACT_COLUMNS}`, {
      method: 'POST',
      body: file.content as Uint8Array<ArrayBuffer>,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'text/csv' },
    });
    if (answer.status !== 202) throw new Error(await answer.text());
    return ((await answer.json()) as { data: { id: string } }).data.id;
  };
  const read = async (key: string, id: string) =>
    (
      (await (await get(key, `/v1/contacts/imports/${id}`)).json()) as {
        data: { status: string; counts: { total: number }; progress: number };
      }
    ).data;
  const reaches = (key: string, id: string, total: number) =>
    eventually(
      `${total} rows of ${id}`,
      async () => {
        const now = await read(key, id);
        return now.counts.total >= total || !['queued', 'processing'].includes(now.status) ? now : undefined;
      },
      PATIENT,
    );
  const outcome = async (key: string, id: string): Promise<Omit<ImportOutcome, 'contacts'>> => {
    const { status, counts, progress } = await eventually(
      `the end of ${id}`,
      async () => {
        const now = await read(key, id);
        return ['queued', 'processing'].includes(now.status) ? undefined : now;
      },
      PATIENT,
    );
    return {
      status,
      counts,
      progress,
      errors: digest(await (await get(key, `/v1/contacts/imports/${id}/errors`)).text()),
    };
  };
  try {
    const first = await outcome(LIVE_KEY, await begin(LIVE_KEY));
    plan.say(`Undisturbed: ${JSON.stringify(first.counts)}`);
    const id = await begin(TEST_KEY);
    const hits: number[] = [];
    for (let kill = 1; kill <= plan.kills; kill++) {
      const { counts } = await reaches(TEST_KEY, id, Math.round((plan.rows * kill) / (plan.kills + 1)));
      await service.kill();
      hits.push(counts.total);
      plan.say(`Killed at ${counts.total} rows.`);
      service = await start();
    }
    const second = await outcome(TEST_KEY, id);
    await service.stop();
    const database = await openDatabase({ url: made?.url ?? null, dataDir });
    const contactsOf = async (livemode: boolean) =>
      JSON.stringify((await database.query(CONTACTS, [livemode]))[0]);
    const undisturbed = { ...first, contacts: await contactsOf(true) };
    const killed = { ...second, contacts: await contactsOf(false) };
    await database.close();
    return { undisturbed, killed, hits, wanted: file.counts };
  } finally {
    await service[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true, force: true });
    await made?.[Symbol.asyncDispose]();
  }
}
