import { parseArgs } from 'node:util';
import { type Failover, failOverRepeatedly, LOSSES, type Loss } from './patroni-run.ts';

// Three PostgreSQL under Patroni, two instances under load, and the leader lost again and again. On Debian:
// apt-get install patroni etcd-server python3-etcd postgresql, then, as root or not:
//   bun tests/failure/patroni-long.ts [--failovers N] [--losses kill,machine,switchover,freeze] [--freeze] [--asynchronous] [--lenient]
// --freeze is --losses freeze: all of the leader's machine is stopped for 25 s and goes on then, without a
// watchdog. --lenient leaves synchronous_mode_strict out, --patroni FILE names another Patroni. Exit code 1
// when anything acknowledged is gone that was not announced, or there twice.

const { values } = parseArgs({
  options: {
    failovers: { type: 'string', default: '20' },
    losses: { type: 'string', default: 'kill,machine,switchover' },
    freeze: { type: 'boolean', default: false },
    asynchronous: { type: 'boolean', default: false },
    lenient: { type: 'boolean', default: false },
    patroni: { type: 'string', default: 'patroni' },
  },
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
const losses = (values.freeze ? 'freeze' : values.losses).split(',').filter(isLoss);
const report = await failOverRepeatedly({
  failovers: Number(values.failovers),
  losses,
  isSynchronous: !values.asynchronous,
  isStrict: !values.lenient,
  patroni: values.patroni,
  say: (line) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`),
});
const { failovers, ...sums } = report;
for (const loss of new Set(losses)) {
  const of = failovers.filter((each) => each.loss === loss);
  console.log(
    `${loss}: ${of.length} ×, first acknowledged email ${told(of, 'firstMs')}, new leader ${told(of, 'leaderMs')}`,
  );
}
console.log(`all: first acknowledged email ${told(failovers, 'firstMs')}`);
console.log(JSON.stringify(sums));
const undone = failovers.filter(({ isUndone }) => isUndone);
if (undone.length > 0)
  console.log(
    `${undone.length} × Patroni took back the leadership of a frozen leader, and undid ${undone.reduce((sum, { gone }) => sum + gone, 0)} acknowledged emails.`,
  );
const isRight = report.doubled + report.doubledEvents === 0 && (values.asynchronous || report.gone === 0);
const what =
  report.gone === 0 ? 'Nothing is gone' : `${report.gone} are gone, as asynchronous replication announces`;
console.log(isRight ? `${what}; nothing is there twice.` : 'WRONG.');
process.exit(isRight ? 0 : 1);

function isLoss(name: string): name is Loss {
  if ((LOSSES as readonly string[]).includes(name)) return true;
  throw new Error(`${name} is none of ${LOSSES.join(', ')}.`);
}

function told(of: readonly Failover[], figure: 'firstMs' | 'leaderMs'): string {
  const sorted = of.map((each) => each[figure]).toSorted((a, b) => a - b);
  const seconds = (ms: number | undefined): string => `${((ms ?? 0) / 1_000).toFixed(1)} s`;
  return `p50 ${seconds(sorted[Math.floor((sorted.length - 1) / 2)])}, max ${seconds(sorted.at(-1))}`;
}
