import { Logger, run, runMigrations } from 'graphile-worker';
import { PgBoss } from 'pg-boss';
import postgres from 'postgres';
import type { Row } from './table.ts';
import type { Section, Workbench } from './workbench.ts';

// The alternative of a user: a job queue with one job for each email, which does nothing. A whole life here
// is more than that: accepted over HTTP, two events, a journal. Each peer as its own documentation recommends
// for throughput, and plain.

const CONCURRENCY = 24;

/** graphile-worker, from all jobs there to all jobs done. */
async function graphile(bench: Workbench, jobs: number, batched: boolean): Promise<Row> {
  const url = await bench.database('bench_graphile');
  const logger = new Logger(() => () => {});
  await runMigrations({ connectionString: url, logger });
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.unsafe(
    `select graphile_worker.add_jobs(array(select json_populate_record(null::graphile_worker.job_spec,
       json_build_object('identifier', 'send', 'payload', json_build_object('id', n))) from generate_series(1, ${jobs}) n))`,
  );
  const { promise, resolve } = Promise.withResolvers<void>();
  let done = 0;
  const send = () => {
    if (++done === jobs) resolve();
  };
  const worker = { concurrentJobs: CONCURRENCY };
  const batches = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
  const spent = bench.meterCpu(process);
  const start = performance.now();
  const runner = await run({
    connectionString: url,
    logger,
    maxPoolSize: CONCURRENCY + 2,
    noHandleSignals: true,
    taskList: { send },
    preset: { worker: batched ? { ...worker, ...batches } : worker },
  });
  await promise;
  // A job that is completed in a batch is done only when the batch is written.
  while ((await sql.unsafe('select 1 from graphile_worker._private_jobs limit 1')).length > 0);
  const seconds = (performance.now() - start) / 1_000;
  const cpu = spent(jobs);
  await runner.stop();
  await sql.end();
  return {
    what: `(p) graphile-worker 0.18.0, no-op jobs${batched ? ', localQueue 500' : ', plain'}`,
    perSecond: jobs / seconds,
    cpu,
  };
}

/** pg-boss: jobs are fetched and completed, one by one or a hundred at a time. */
async function boss(bench: Workbench, jobs: number, batchSize: number): Promise<Row> {
  const url = await bench.database('bench_boss');
  const queue = 'send';
  const pgBoss = new PgBoss({ connectionString: url, max: CONCURRENCY, supervise: false, schedule: false });
  await pgBoss.start();
  await pgBoss.createQueue(queue);
  for (let from = 0; from < jobs; from += 1_000)
    await pgBoss.insert(
      queue,
      Array.from({ length: Math.min(1_000, jobs - from) }, (_, n) => ({ data: { id: from + n } })),
    );
  const spent = bench.meterCpu(process);
  const start = performance.now();
  const workers = batchSize === 1 ? CONCURRENCY : 4;
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (;;) {
        const fetched = await pgBoss.fetch(queue, { batchSize });
        if (fetched.length === 0) return;
        await pgBoss.complete(
          queue,
          fetched.map(({ id }) => id),
        );
      }
    }),
  );
  const seconds = (performance.now() - start) / 1_000;
  const cpu = spent(jobs);
  await pgBoss.stop({ graceful: false });
  return {
    what: `(q) pg-boss 12.30.0, no-op jobs, ${batchSize === 1 ? 'one by one' : `batches of ${batchSize}`}`,
    perSecond: jobs / seconds,
    cpu,
  };
}

/** The peers, plain and batched, on the same PostgreSQL. */
export const peers: Section = {
  name: 'peers',
  async run(bench) {
    const { emails } = bench.scale;
    const few = Math.min(emails, 20_000);
    const rows: Row[] = [];
    for (const batched of [false, true]) {
      bench.say(`graphile-worker, ${batched ? 'batched' : 'plain'} …`);
      rows.push(await graphile(bench, batched ? emails : few, batched));
    }
    for (const batchSize of [1, 100]) {
      bench.say(`pg-boss, batches of ${batchSize} …`);
      rows.push(await boss(bench, batchSize === 1 ? Math.min(few, 10_000) : emails, batchSize));
    }
    return rows;
  },
};
