import postgres from 'postgres';
import { TEST_KEY } from '../support/service.ts';
import { allAccepted, EMAIL } from './emails.ts';
import { preparePost } from './load.ts';
import { memoryOf } from './memory.ts';
import type { Section } from './workbench.ts';

/** What the load is surely done with, at the slowest rate that was ever seen here. */
const SLOWEST_PER_SECOND = 2_000;

const LATENESS = `select percentile_cont(array[0.5, 0.99]) within group (
  order by extract(epoch from sent_at - scheduled_at)::float8 * 1000) as ms from emails where scheduled_at = $1`;

/** A backlog of emails that are all due at one moment: how fast it loads, how late it drains, and what it takes. */
export const backlog: Section = {
  name: 'backlog',
  async run(bench) {
    const count = bench.scale.emails;
    const url = await bench.database('bench_backlog');
    await using service = await bench.service(url);
    const sql = postgres(url, { max: 1 });
    const due = new Date(Date.now() + (count / SLOWEST_PER_SECOND) * 1_000 + 10_000);
    bench.say(`Loading a backlog of ${count} …`);
    const body = { ...EMAIL, scheduledAt: due.toISOString() };
    const loaded = await allAccepted(preparePost(service.port, '/v1/emails', TEST_KEY, body), 256, count);
    const waiting = memoryOf(service.pid);
    bench.say('Waiting until it is due, and draining it …');
    const left = async () =>
      (await sql<{ n: number }[]>`select count(*)::int as n from emails where state <> 'delivered'`)[0]?.n ??
      0;
    await Bun.sleep(Math.max(0, due.getTime() - Date.now()));
    const start = performance.now();
    while ((await left()) > 0) await Bun.sleep(100);
    const seconds = (performance.now() - start) / 1_000;
    const [lateness] = await sql.unsafe<{ ms: number[] }[]>(LATENESS, [due]);
    const drained = memoryOf(service.pid);
    const [size] = await sql<{ mb: number }[]>`
      select (pg_database_size(current_database()) / 1000000)::int as mb`;
    await sql.end();
    bench.remarks.push(
      `Backlog: ${waiting.now} MB of memory with ${count} emails waiting, ${drained.most} MB at the most while draining; ${size?.mb} MB of database.`,
    );
    const [p50 = 0, p99 = 0] = lateness?.ms ?? [];
    return [
      { what: `(s) scheduled backlog of ${count}: loaded`, ...loaded },
      { what: '(s) the same: drained, lateness', perSecond: count / seconds, p50, p99 },
    ];
  },
};
