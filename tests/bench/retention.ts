import postgres from 'postgres';
import { LONGEST_RETENTION } from '../../src/platform/config/settings/settings.ts';
import { lowestIdAt } from '../../src/platform/db/ids.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { ensurePartitions } from '../../src/platform/db/partitions.ts';
import { systemClock } from '../../src/platform/time/clock.ts';
import { liveDataPruner } from '../../src/sending/emails/retention/live-data-pruner.ts';
import { startCluster } from '../support/cluster.ts';

// The cost of deleting a day of live data, and the time for which others wait:
//   bun tests/bench/retention.ts [--rows 10000000]

const at = process.argv.indexOf('--rows');
const ROWS = at === -1 ? 1_000_000 : Number(process.argv[at + 1]);
const DAY = 86_400_000;
const say = (text: string): void => void process.stderr.write(`${text}\n`);

await using stack = new AsyncDisposableStack();
const cluster = await startCluster();
stack.defer(() => cluster.stop());
const database = await openDatabase({ url: cluster.url, dataDir: null });
stack.defer(() => database.close());
await migrate(database);
const old = Math.floor(Date.now() / DAY) * DAY - 92 * DAY;
await ensurePartitions(database, old);
await ensurePartitions(database, Date.now());

const sql = postgres(cluster.url, { max: 2, onnotice: () => {} });
stack.defer(() => sql.end());
const size = async () =>
  Number((await sql<{ n: string }[]>`select pg_database_size(current_database())::text as n`)[0]?.n) /
  2 ** 30;

say(`Writing ${ROWS.toLocaleString('en')} emails of one day, 92 days ago, with a turn each …`);
const prefix = lowestIdAt('em', old).slice(0, 13);
const [wrote] = await Promise.all([writeOldEmails()]);
say(`written in ${wrote.toFixed(0)} s, ${(await size()).toFixed(2)} GiB`);

async function writeOldEmails(): Promise<number> {
  const start = performance.now();
  const id = `'${prefix}' || lpad(to_hex(g), 14, '0')`;
  for (let from = 0; from < ROWS; from += 250_000) {
    const series = `generate_series(${from}, ${Math.min(ROWS, from + 250_000) - 1}) g`;
    await sql.unsafe(`insert into emails (id, workspace_id, livemode, state, context, machine_version, commit_tag, steps, at,
        recipients, recipient_keys, sender_key, subject, tags, envelope, content)
      select ${id}, 'ws_1', true, 'sending', json_build_object('at', g, 'recipients', repeat('x', 200)), 1, 1,
        '[["spawned"]]', now(), '{ada@example.com}', '{ada@example.com}', 'hello@acme.example', 'Your order', '{}', '{}',
        convert_to(md5(g::text) || repeat(md5((g+1)::text), 8), 'utf8') from ${series}`);
    await sql.unsafe(`insert into email_turns (email_id, revision, workspace_id, livemode, state, context, machine_version,
        commit_tag, steps, at, sent_at, recorded, position)
      select ${id}, 2, 'ws_1', true, 'delivered', json_build_object('at', g, 'recipients', repeat('x', 200)), 1, 1,
        '[["attempt.completed"]]', now(), now() - interval '92 days',
        json_build_array(json_build_object('id', 'evt_sent' || to_hex(g), 'type', 'sent', 'recipient', 0, 'occurred_at', now(),
          'data', '{"response":"250 2.0.0 Ok"}'::json)), event_position() from ${series}`);
    say(`  ${(from + 250_000).toLocaleString('en')}`);
  }
  // Rows that are 92 days old were vacuumed long ago; a running vacuum would hold the lock that retirement
  // needs.
  await sql.unsafe('vacuum analyze');
  return (performance.now() - start) / 1_000;
}

// A bystander inserts into today's partition all the while: what it waits is what sending would wait.
let running = true;
const waits: number[] = [];
const bystander = (async () => {
  for (let n = 0; running; n++) {
    const start = performance.now();
    await sql`insert into emails (id, workspace_id, livemode, state, context, machine_version, commit_tag, steps, at,
        recipients, recipient_keys, sender_key, subject, tags, envelope, content)
      values (${lowestIdAt('em', Date.now()).slice(0, 13) + String(n).padStart(14, '0')}, 'ws_2', true, 'sending', '{}', 1, 1, '[]',
        now(), '{}', '{}', 'a@b.co', 's', '{}', '{}', '')`;
    waits.push(performance.now() - start);
  }
})();
const before = await size();
const start = performance.now();
await liveDataPruner({ database, clock: systemClock, config: LONGEST_RETENTION } as Parameters<
  typeof liveDataPruner
>[0]).run();
const seconds = (performance.now() - start) / 1_000;
running = false;
await bystander;
const [remaining] = await sql<{ n: number }[]>`select count(*)::int as n from emails`;
const atOnce = await size();
await sql.unsafe('vacuum full emails');
waits.sort((a, b) => a - b);
const share = (of: number) => (waits[Math.floor(waits.length * of)] ?? 0).toFixed(1);
console.log(`| rows | time | emails left | disk before | given back at once | after VACUUM FULL of the actors | bystander's insert p50 / p99 / max |
|---|---|---|---|---|---|---|
| ${ROWS.toLocaleString('en')} | ${seconds.toFixed(1)} s | ${remaining?.n} | ${before.toFixed(2)} GiB | ${(before - atOnce).toFixed(2)} GiB | ${(before - (await size())).toFixed(2)} GiB | ${share(0.5)} / ${share(0.99)} / ${share(1 - 1e-9)} ms |`);
