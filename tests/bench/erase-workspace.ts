import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import postgres from 'postgres';
import { eraseWorkspace, journalsOf } from '../../src/accounts/workspace/erase.ts';
import { MODULE_KINDS } from '../../src/modules.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { fillWorkspace, tracesOf } from '../support/full-workspace.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { stopOwnCluster } from '../support/server.ts';
import { type Service, startService, TEST_KEY } from '../support/service.ts';
import { load, type PreparedRequest, prepareGet, preparePost } from './load.ts';

// A workspace of a million contacts and as many recipients of a campaign, erased by `posthorn workspaces
// delete`, which is killed with -9 on the way; the last run is measured statement by statement, beside a
// service whose other workspace sends and reads meanwhile:
//   bun tests/bench/erase-workspace.ts [--contacts N] [--kills N]

const { values } = parseArgs({
  options: { contacts: { type: 'string', default: '1000000' }, kills: { type: 'string', default: '10' } },
});
const [contacts, kills] = [Number(values.contacts), Number(values.kills)];
const main = resolve(import.meta.dir, '../../src/main.ts');
const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-erase-kill-'));
const seconds = (since: number): string => ((performance.now() - since) / 1_000).toFixed(0);
const sum = (traces: Readonly<Record<string, number>>): number =>
  Object.values(traces).reduce((all, count) => all + count, 0);

/** Tables that the running service adds up by itself, so that their rows become fewer. */
const ACCOUNTED = new Set(['campaign_tallies', 'usage', 'usage_entries']);
const unaccounted = (traces: Readonly<Record<string, number>>): string =>
  JSON.stringify(Object.entries(traces).filter(([table]) => !ACCOUNTED.has(table)));

/** The time for which only the other workspace is read. */
const ALONE_MS = 10_000;

let isRight = false;
{
  await using made = await createTestDatabase();
  const database = new PostgresDatabase(made.url);
  // Counting a million rows as text takes longer than the service gives a statement.
  const sql = postgres(made.url, { max: 1, onnotice: () => {} });
  const patient = {
    query: (text: string, parameters: readonly unknown[] = []) => sql.unsafe(text, parameters as never[]),
  } as unknown as Pick<Database, 'query'>;
  const filling = performance.now();
  await fillWorkspace(patient, 'ws_gone', contacts);
  await fillWorkspace(patient, 'ws_other', 1_000);
  const before = await tracesOf(patient, 'ws_other');
  const rows = sum(await tracesOf(patient, 'ws_gone'));
  console.log(`${rows.toLocaleString('en')} rows were written in ${seconds(filling)} s.`);
  await database.query('update workspaces set erase_at = now() where id = $1', ['ws_gone']);
  for (let kill = 1; kill <= kills; kill++) await killOnTheWay(made.url, kill);
  const left = sum(await tracesOf(patient, 'ws_gone'));
  console.log(`${left.toLocaleString('en')} rows are left.`);

  const times: number[] = [];
  // An instance would erase it by itself, at its own time: here it stays to the end.
  await database.query('update workspaces set erase_at = null where id = $1', ['ws_gone']);
  const service = await startService({
    env: {
      DATABASE_URL: made.url,
      SECRET_KEY: 'only-for-tests-only-for-tests-only',
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
      TEST_SENDS_PER_DAY: '0',
    },
  });
  const begin = performance.now();
  const alone = await neighbour(service, () => performance.now() - begin > ALONE_MS);
  console.log(`Another workspace, nothing erased: ${alone}`);
  const erasing = performance.now();
  let isErased = false;
  const latencies = neighbour(service, () => isErased);
  await eraseWorkspace(timed(database, times), journalsOf(MODULE_KINDS), 'ws_gone');
  isErased = true;
  console.log(`Another workspace meanwhile: ${await latencies}`);
  await service.stop();
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.ceil(times.length * share) - 1]?.toFixed(0);
  console.log(
    `They were erased in ${seconds(erasing)} s by ${times.length} statements: p50 ${at(0.5)} ms, p99 ${at(0.99)}, longest ${at(1)}.`,
  );
  const [gone, others] = [await tracesOf(patient, 'ws_gone'), await tracesOf(patient, 'ws_other')];
  isRight = sum(gone) === 0 && unaccounted(others) === unaccounted(before) && left > 0 && left < rows;
  console.log(
    isRight ? 'No row of it is left, and every row of the other.' : 'NOT RIGHT.',
    ...(isRight ? [] : [{ gone, others, before, left, rows }]),
  );
  await database.close();
  await sql.end();
}
rmSync(dataDir, { recursive: true, force: true });
await stopOwnCluster();
process.exit(isRight ? 0 : 1);

/**
 * Sends an email and reads a page of the log, one after the other, until `isOver`; tells how long they took.
 */
async function neighbour(service: Service, isOver: () => boolean): Promise<string> {
  const email = { from: 'a@example.com', to: `delivered@simulator.svc.test`, subject: 'Hello', text: 'Hi' };
  const asks = {
    send: preparePost(service.port, '/v1/emails', TEST_KEY, email),
    read: prepareGet(service.port, '/v1/emails?limit=20', TEST_KEY),
  };
  const took: Record<keyof typeof asks, number[]> = { send: [], read: [] };
  while (!isOver())
    for (const [name, request] of Object.entries(asks) as [keyof typeof asks, PreparedRequest][]) {
      const { p50, statuses } = await load(request, 1, 1);
      if (!statuses['200'] && !statuses['202']) throw new Error(JSON.stringify(statuses));
      took[name].push(p50);
    }
  return Object.entries(took)
    .map(([name, all]) => {
      all.sort((a, b) => a - b);
      const part = (share: number) => all[Math.ceil(all.length * share) - 1]?.toFixed(1);
      return `${name} p50 ${part(0.5)} ms, p99 ${part(0.99)}, longest ${part(1)} (${all.length})`;
    })
    .join('; ');
}

/** Kills the command when it has told of some progress: after 100,000 rows, or after 200,000. */
async function killOnTheWay(url: string, kill: number): Promise<void> {
  const child = Bun.spawn([process.execPath, main, 'workspaces', 'delete', 'ws_gone'], {
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      DATA_DIR: dataDir,
      DATABASE_URL: url,
      SECRET_KEY: 'only-for-tests-only-for-tests-only',
    },
    stderr: 'pipe',
    stdout: 'ignore',
  });
  let told = '';
  const reader = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`It ended by itself: ${told}`);
    told += value;
    if (told.split('rows removed').length > 1 + (kill % 2)) break;
  }
  child.kill('SIGKILL');
  await child.exited;
  console.log(`Killed: ${told.trim().split('\n').at(-1)}`);
}

function timed(database: Database, times: number[]): Database {
  const query: Database['query'] = async (...asked) => {
    const begin = performance.now();
    const rows = await database.query<never>(...asked);
    times.push(performance.now() - begin);
    return rows;
  };
  return new Proxy(database, {
    get: (target, name) => (name === 'query' ? query : Reflect.get(target, name)),
  });
}
