import postgres from 'postgres';
import { randomFrom } from '../../src/ops/torture/random.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { ensurePartitions } from '../../src/platform/db/partitions.ts';
import { COUNTS, hourOf } from '../../src/sending/analytics/counting.ts';
import { HistoryWriter } from '../support/email-history.ts';
import { LIVE_KEY } from '../support/service.ts';
import { load, prepareGet } from './load.ts';
import type { Row } from './table.ts';
import type { Section } from './workbench.ts';

const DAY = 86_400_000;
const DAYS = 90;
const EVENTS = 10_000_000;
/** Events that have not been added up, as two hundred a second leave them behind. */
const TAIL = 3_000;
const CONNECTIONS = 4;
const REQUESTS = 200;

/**
 * The sums of ten million events: every quarter of an hour of ninety days, for each of three domains, eight
 * templates and five tags, alone and together. $1 the workspace, $2 the first moment, $3 events a quarter of
 * an hour.
 */
const SUMS = `insert into analytics
select $1, concat_ws(' ', d, t, '#' || g), q, n, n, n, n, n / 5, n / 50, 0, 0, n, 0, n, n, n, n / 5, n / 50, 0, 0, n, 0, n, n / 2, n / 5, n / 50
from generate_series($2::timestamptz, $2::timestamptz + interval '${DAYS} days' - interval '15 minutes', interval '15 minutes') q
  cross join unnest(array[null, 'dom_a', 'dom_b', 'dom_c']) d
  cross join (select null as t union all select 'tpl_' || n from generate_series(1, 8) n) t
  cross join (select null as g union all select 'tag:' || n from generate_series(1, 5) n) g
  cross join lateral (
    select ceil($3::float8 / case when d is null then 1 else 3 end / case when t is null then 1 else 8 end
      / case when g is null then 1 else 5 end)::integer as n
  ) n`;

const HOURS = `insert into analytics_hours select workspace_id, scope, ${hourOf('quarter')}, ${COUNTS.map((name) => `sum(${name})`).join(', ')}
  from analytics group by 1, 2, 3`;

/** The requests of the dashboard. */
function asksAt(now: number): readonly (readonly [what: string, path: string])[] {
  const from = new Date(now - (DAYS - 1) * DAY).toISOString().slice(0, 10);
  const days = `/v1/analytics?from=${from}&timeZone=Europe/Vienna`;
  const recent = new Date(now - 16 * DAY).toISOString();
  return [
    ['90 days by day', days],
    ['90 days of a domain, a template and a tag', `${days}&domainId=dom_a&templateId=tpl_1&tag=tag:1`],
    [
      '16 days by hour, by acceptance',
      `/v1/analytics?from=${recent}&interval=hour&by=accepted&timeZone=Asia/Kolkata`,
    ],
  ];
}

/** Ninety days of a workspace with ten million events, added up but for the last of them. */
export const analytics: Section = {
  name: 'analytics',
  async run(bench) {
    const url = await bench.database('bench_analytics');
    await using service = await bench.service(url);
    const sql = postgres(url, { max: 2 });
    const [workspace] = await sql<{ id: string }[]>`select id from workspaces`;
    const workspaceId = workspace?.id ?? '';
    const now = Date.now();
    // A transaction that stays open keeps the tail from being added up, so that each request counts it.
    const held = await sql.reserve();
    await held.unsafe('begin; select pg_current_xact_id()').simple();
    const database = await openDatabase({ url, dataDir: null });
    for (let day = 0; day <= DAYS; day++) await ensurePartitions(database, now - day * DAY);
    bench.say('Writing the sums of ten million events …');
    // Four of the columns of a quarter count an event each.
    const first = new Date(Math.floor((now - DAYS * DAY) / DAY) * DAY + DAY);
    await sql.unsafe(SUMS, [workspaceId, first, EVENTS / (DAYS * 96) / 4]);
    await sql.unsafe(HOURS);
    await sql.unsafe('vacuum analyze analytics, analytics_hours');
    const [sums] = await sql<{ n: string }[]>`select count(*)::text as n from analytics`;
    bench.remark(`Analytics are read from ${Number(sums?.n).toLocaleString('en')} rows of sums.`);
    const rows: Row[] = [];
    const read = async (tail: string) => {
      for (const [what, path] of asksAt(now)) {
        bench.say(`Reading, ${tail}: ${what} …`);
        const request = prepareGet(service.port, path, LIVE_KEY);
        await load(request, 1, 10);
        const alone = await load(request, 1, REQUESTS / 4);
        const spent = bench.meterCpu(service);
        const result = await load(request, CONNECTIONS, REQUESTS);
        if (result.statuses[200] !== REQUESTS) throw new Error(JSON.stringify(result.statuses));
        const name = `(n) analytics, ${what}, ${tail}`;
        rows.push({ what: `${name}, one at a time`, ...alone });
        rows.push({ what: `${name}, four at a time`, ...result, cpu: spent(REQUESTS) });
      }
    };
    await read('all added up');
    const era = { workspaceId, from: now - DAYS * DAY, to: now };
    {
      await using writer = new HistoryWriter({ database, url }, era, randomFrom(1), 100);
      while (writer.events < TAIL) await writer.step();
    }
    await database.close();
    await read(`${TAIL.toLocaleString('en')} events of ${DAYS} days not added up`);
    await held.unsafe('rollback');
    held.release();
    await sql.end();
    await service.stop();
    await bench.drop('bench_analytics');
    return rows;
  },
};
