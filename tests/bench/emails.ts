import { TEST_KEY } from '../support/service.ts';
import { allAccepted, EMAIL, IN_A_WEEK } from './accepted.ts';
import { wholeLives } from './lives.ts';
import { load, type PreparedRequest, preparePost } from './load.ts';
import { pgbench } from './pgbench.ts';
import { type Row, YARDSTICK } from './table.ts';
import type { Section } from './workbench.ts';

/** The row that the others are ratios of. */
export const yardstick: Section = {
  name: 'yardstick',
  async run(bench) {
    const { seconds } = bench.scale;
    bench.say(`pgbench, ${seconds} s …`);
    const spent = bench.meterCpu();
    const result = await pgbench(
      await bench.database('bench_yardstick'),
      JSON.stringify(EMAIL).length,
      seconds,
    );
    if (result)
      return [
        {
          what: `${YARDSTICK} pgbench, single-row INSERT, 64 clients`,
          perSecond: result.perSecond,
          p50: result.latencyMs,
          cpu: spent(result.perSecond * seconds),
        },
      ];
    bench.say('pgbench is not installed (Debian: postgresql-contrib), so there are no ratios.');
    return [];
  },
};

/** Accepted over HTTP, and lived through to the end by the simulator. */
export const emails: Section = {
  name: 'emails',
  async run(bench) {
    const url = await bench.database('bench_emails');
    await using service = await bench.service(url);
    const count = bench.scale.emails;
    const accept = preparePost(service.port, '/v1/emails', TEST_KEY, { ...EMAIL, scheduledAt: IN_A_WEEK });
    const rows: Row[] = [];

    bench.say('Warming up …');
    await wholeLives(url, [service.port], 16, 4_000);
    for (const connections of [64, 256]) {
      bench.say(`Accepting ${count} scheduled emails over ${connections} connections …`);
      const spent = bench.meterCpu(service);
      const result = await allAccepted(accept, connections, count);
      rows.push({
        what: `(b) accepted over HTTP, ${connections} connections`,
        ...result,
        aim: 1,
        cpu: spent(count),
      });
    }
    for (const connections of [64, 256]) {
      bench.say(`${count} whole lives over ${connections} connections …`);
      const spent = bench.meterCpu(service);
      const result = await wholeLives(url, [service.port], connections, count);
      rows.push({
        what: `(c) whole lives, ${connections} connections`,
        ...result,
        aim: 0.5,
        cpu: spent(count),
      });
    }
    return rows;
  },
};

/** The cost of the contract: both limits counted, and an Idempotency-Key stored with every email. */
export const contract: Section = {
  name: 'contract',
  async run(bench) {
    const url = await bench.database('bench_contract');
    const limits = { RATE_LIMIT_PER_IP: '1000000000', RATE_LIMIT_PER_KEY: '1000000000' };
    await using service = await bench.service(url, limits);
    const count = bench.scale.emails;
    const plain = preparePost(service.port, '/v1/emails', TEST_KEY, { ...EMAIL, scheduledAt: IN_A_WEEK });
    await load(plain, 16, 4_000);
    bench.say(`Accepting ${count} emails with both limits counted …`);
    const limiting = bench.meterCpu(service);
    const limited = { ...(await allAccepted(plain, 256, count)), cpu: limiting(count) };
    bench.say(`Accepting ${count} emails, each with an Idempotency-Key …`);
    let n = 0;
    const keyed: PreparedRequest = {
      ...plain,
      bytes: () =>
        preparePost(
          service.port,
          '/v1/emails',
          TEST_KEY,
          { ...EMAIL, scheduledAt: IN_A_WEEK },
          { 'idempotency-key': `bench-${n++}` },
        ).bytes as Uint8Array,
    };
    const storing = bench.meterCpu(service);
    const stored = { ...(await allAccepted(keyed, 256, count)), cpu: storing(count) };
    return [
      { what: '(d) as (b) at 256, both rate limits counted', ...limited },
      { what: '(e) as (d), with an Idempotency-Key each', ...stored },
    ];
  },
};
