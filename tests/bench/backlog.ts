import postgres from 'postgres';
import { TEST_KEY } from '../support/service.ts';
import { allAccepted, EMAIL, IN_A_WEEK } from './accepted.ts';
import { atRest, onlooker } from './lives.ts';
import { type PreparedRequest, preparePost } from './load.ts';
import { forgetMost, memoryOf } from './memory.ts';
import { printSizes } from './sizes.ts';
import type { Section } from './workbench.ts';

/** Emails that show how fast loading goes; they are scheduled in a week and in no figure. */
const TRIAL = 10_000;
/** Loading may take this much longer than the trial says before anything is due. */
const MARGIN = 1.5;
/** Spreads consecutive emails evenly over the window, far from each other (the golden ratio). */
const SPREAD = 0.618033988749895;

interface Drained {
  readonly n: number;
  readonly ms: readonly [number, number];
  readonly worst: number;
  /** From the moment at which the first one was due to the last one's event. */
  readonly seconds: number;
}

/** Of every email: how long after its time it was sent, by the event that was recorded. */
const DRAINED = `select count(*)::int as n, max(late)::float8 as worst,
  percentile_cont(array[0.5, 0.99]) within group (order by late) as ms,
  extract(epoch from max(occurred_at) - min(scheduled_at))::float8 as seconds
from (select v.occurred_at, e.scheduled_at,
        extract(epoch from v.occurred_at - e.scheduled_at)::float8 * 1000 as late
      from emails_now e join email_events v on v.email_id = e.id and v.type = 'sent'
      where e.scheduled_at >= $1 and e.scheduled_at <= $2) as sent`;

/**
 * A backlog of emails that are due within a window: how fast it loads, how late it drains, and what it takes.
 */
export const backlog: Section = {
  name: 'backlog',
  async run(bench) {
    const { backlog: count, windowSeconds } = bench.scale;
    const url = await bench.database('bench_backlog');
    await using service = await bench.service(url);
    const sql = postgres(url, { max: 1, connection: { work_mem: '256MB' } });
    const trial = preparePost(service.port, '/v1/emails', TEST_KEY, { ...EMAIL, scheduledAt: IN_A_WEEK });
    await allAccepted(trial, 256, TRIAL);
    const { perSecond } = await allAccepted(trial, 256, TRIAL);
    const opens = Date.now() + (count / perSecond) * 1_000 * MARGIN + 10_000;
    const closes = opens + windowSeconds * 1_000;
    bench.say(`Loading a backlog of ${count}, due from ${new Date(opens).toISOString()} …`);
    forgetMost(service.pid);
    const loading = bench.meterCpu(service);
    const loaded = await allAccepted(scheduledWithin(service.port, opens, closes), 256, count);
    const loadCpu = loading(count);
    const early = opens - Date.now();
    if (early < 0) bench.remark(`Backlog: loading went on for ${-early} ms while it was draining already.`);
    const waiting = memoryOf(service.pid);
    bench.remark(await printSizes(sql, 'The backlog, loaded'));
    bench.say('Waiting until it is due, and draining it …');
    await Bun.sleep(Math.max(0, opens - Date.now()));
    forgetMost(service.pid);
    const draining = bench.meterCpu(service);
    const watch = onlooker(url);
    await Bun.sleep(windowSeconds * 1_000);
    await atRest(watch, 250);
    await watch.end();
    const drainCpu = draining(count);
    const drained = memoryOf(service.pid);
    const [result] = await sql.unsafe<Drained[]>(DRAINED, [new Date(opens), new Date(closes)]);
    if (result?.n !== count) throw new Error(`Of ${count} scheduled emails ${result?.n} were sent.`);
    bench.remark(await printSizes(sql, 'The same, drained'));
    await sql.end();
    const { ms, worst, seconds } = result;
    bench.remark(
      `Backlog of ${count.toLocaleString('en')}, due within ${windowSeconds} s: loaded in ${(count / loaded.perSecond).toFixed(0)} s, drained ${seconds.toFixed(0)} s after the first was due; late by ${ms[0].toFixed(0)} ms (p50), ${ms[1].toFixed(0)} ms (p99), ${worst.toFixed(0)} ms (worst). The service held ${waiting.most} MB at the most while loading, ${drained.most} MB while draining.`,
    );
    const named = `(s) backlog of ${count.toLocaleString('en')}`;
    return [
      { what: `${named}: loaded`, ...loaded, cpu: loadCpu },
      {
        what: `${named}: drained; latency is lateness, of all`,
        perSecond: count / seconds,
        p50: ms[0],
        p99: ms[1],
        cpu: drainCpu,
      },
    ];
  },
};

/** The same bytes with a different time in each. */
function scheduledWithin(port: number, opens: number, closes: number): PreparedRequest {
  const mark = new Date(0).toISOString();
  const { bytes } = preparePost(port, '/v1/emails', TEST_KEY, { ...EMAIL, scheduledAt: mark });
  const template = Buffer.from(bytes as Uint8Array);
  const at = template.indexOf(mark);
  let n = 0;
  return {
    port,
    bytes: () => {
      const due = opens + Math.floor(((n++ * SPREAD) % 1) * (closes - opens));
      template.write(new Date(due).toISOString(), at, 'latin1');
      return template;
    },
  };
}
