import { parseArgs } from 'node:util';
import postgres from 'postgres';
import { createClient } from '../support/client.ts';
import { startCluster } from '../support/cluster.ts';
import { startService, TEST_KEY } from '../support/service.ts';
import { meterCpu, meterThreads, parentOf } from './cpu.ts';
import { preparePost } from './load.ts';
import { median } from './median.ts';
import { type OneRound, takeTurns } from './turns.ts';
import { barePosts, deliver, EMAIL } from './webhook-deliveries.ts';

// Measures the cost of one webhook delivery, by thread and by statement, of executables in turns with bare
// POSTs of node:http:
//   bun tests/bench/webhook-cost.ts --executables /work/before,dist/posthorn [--deliveries 10000] [--rounds 4] [--statements]

const { values } = parseArgs({
  options: {
    executables: { type: 'string', default: '' },
    deliveries: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '4' },
    endpoints: { type: 'string', default: '10' },
    statements: { type: 'boolean', default: false },
  },
});
const [deliveries, rounds, endpoints] = [values.deliveries, values.rounds, values.endpoints].map(Number) as [
  number,
  number,
  number,
];
const BARE = 'bare';
const executables = values.executables === '' ? [''] : values.executables.split(',');

const STATEMENTS = `select regexp_replace(query, '\\s+', ' ', 'g') as query, calls::float8 as calls, rows::float8 as rows, total_exec_time * 1000 as us
from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database()) order by total_exec_time desc limit 16`;
interface Statement {
  readonly query: string;
  readonly calls: number;
  readonly rows: number;
  readonly us: number;
}

await using stack = new AsyncDisposableStack();
const sink = Bun.spawn([process.execPath, new URL('webhook-sink.ts', import.meta.url).pathname], {
  stdout: 'pipe',
});
stack.defer(() => sink.kill());
const { value: printed } = await sink.stdout.getReader().read();
const port = Number(new TextDecoder().decode(printed));
const taken = async (): Promise<number> => Number(await (await fetch(`http://127.0.0.1:${port}/`)).text());

const threads = new Map<string, Readonly<Record<string, number>>[]>();
const statements = new Map<string, readonly Statement[]>();

/**
 * A service of an executable with endpoints that all lead to the receiver, beside a separate database server.
 */
async function contender(executable: string): Promise<(count: number) => Promise<OneRound>> {
  const cluster = await startCluster({
    settings: values.statements ? { shared_preload_libraries: 'pg_stat_statements' } : {},
  });
  stack.defer(() => cluster.stop());
  const sql = postgres(cluster.url, { max: 1, onnotice: () => {} });
  stack.defer(() => sql.end());
  if (values.statements) await sql.unsafe('create extension if not exists pg_stat_statements');
  const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const env = {
    DATABASE_URL: cluster.url,
    TEST_SENDS_PER_DAY: '0',
    RATE_LIMIT_PER_IP: '0',
    RATE_LIMIT_PER_KEY: '0',
    LOG_LEVEL: 'warn',
    SECRET_KEY: 'a bench has no secrets, but needs a key',
  };
  const command = executable === '' ? {} : { command: executable.split(' ') };
  const service = stack.use(await startService({ env, ...command }));
  // A profile is written by a process that ends by itself.
  stack.defer(async () => void (await service.stop()));
  const client = createClient(service.url, TEST_KEY);
  for (let n = 0; n < endpoints; n += 1) {
    const url = `http://127.0.0.1:${port}/hook/${n}`;
    await client.post('/v1/webhooks', { url, events: ['sent', 'delivered'] });
  }
  const send = preparePost(service.port, '/v1/emails', TEST_KEY, EMAIL);
  return async (count) => {
    if (values.statements) await sql.unsafe('select pg_stat_statements_reset()');
    const cpu = meterCpu([service.pid], parentOf(backend?.pid ?? 0));
    const byThread = meterThreads(service.pid);
    const { perSecond, caused } = await deliver(send, count, taken, 2 * endpoints);
    const each = cpu(caused);
    threads.set(executable, [...(threads.get(executable) ?? []), byThread(caused)]);
    if (values.statements)
      statements.set(
        executable,
        (await sql.unsafe<Statement[]>(STATEMENTS)).map((one) => ({
          ...one,
          calls: one.calls / caused,
          rows: one.rows / caused,
          us: one.us / caused,
        })),
      );
    return { perSecond, cpu: each };
  };
}

const contenders: Record<string, (count: number) => Promise<OneRound>> = {
  [BARE]: async (count) => {
    const cpu = meterCpu([process.pid], sink.pid);
    return { perSecond: await barePosts(port, count), cpu: cpu(count) };
  },
};
for (const executable of executables) contenders[executable] = await contender(executable);
for (const warm of Object.values(contenders)) await warm(deliveries);
threads.clear();
for (const { name, perSecond, cpu, rate } of await takeTurns(contenders, rounds, deliveries, console.log)) {
  console.log(
    `${name || 'source'}: ${Math.round(perSecond)} a second, ${rate.median.toFixed(2)} of bare POSTs (${rate.least.toFixed(2)} to ${rate.most.toFixed(2)});`,
    `${Math.round(cpu.service)} us of the ${name === BARE ? 'client' : 'service'}, ${Math.round(cpu.postgres)} us of ${name === BARE ? 'the receiver' : 'PostgreSQL'}`,
  );
  const all = threads.get(name) ?? [];
  const names = new Set(all.flatMap((one) => Object.keys(one)));
  const rows = [...names].map((thread) => [thread, median(all.map((one) => one[thread] ?? 0))] as const);
  for (const [thread, us] of rows.toSorted((a, b) => b[1] - a[1]))
    if (us >= 1) console.log(`  ${us.toFixed(0).padStart(5)} us ${thread}`);
  for (const { query, calls, rows: many, us } of statements.get(name) ?? [])
    console.log(
      `  ${us.toFixed(1).padStart(6)} us ${calls.toFixed(4).padStart(7)} calls ${many.toFixed(2).padStart(6)} rows  ${query.slice(0, 220)}`,
    );
}
await stack.disposeAsync();
process.exit(0);
