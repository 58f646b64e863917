import { cpus, totalmem } from 'node:os';
import { backlog } from './backlog.ts';
import { contract, emails, yardstick } from './emails.ts';
import { footprint } from './footprint.ts';
import { horizon } from './horizon.ts';
import { instances } from './instances.ts';
import { peers } from './peers.ts';
import { printTable, type Row } from './table.ts';
import { webhooks } from './webhook-deliveries.ts';
import { type Section, Workbench } from './workbench.ts';

// What an email costs, against the plainest thing PostgreSQL can do with the same bytes, in one run on one server:
//   bun run bench [--seconds N] [--emails N] [--executable path] [--only name,name]

/** In the order of the table; the yardstick first, since the others are ratios to it. */
const SECTIONS: readonly Section[] = [
  yardstick,
  emails,
  contract,
  webhooks,
  peers,
  instances,
  horizon,
  backlog,
  footprint,
];

const option = (name: string, fallback: string): string => {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? fallback : (process.argv[at + 1] ?? fallback);
};

const executable = option('executable', '');
const only = option('only', '').split(',').filter(Boolean);
await using bench = await Workbench.open({
  seconds: Number(option('seconds', '10')),
  emails: Number(option('emails', '40000')),
  executable,
});

const rows: Row[] = [];
for (const section of SECTIONS)
  if (only.length === 0 || only.includes(section.name)) rows.push(...(await section.run(bench)));

const [cpu] = cpus();
const measured = rows.find(({ what }) => what.startsWith('(a)'))?.perSecond ?? null;
console.log(
  printTable(rows, measured, [
    ...bench.remarks.flatMap((remark) => [remark, '']),
    `${cpus().length} cores (${cpu?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB; PostgreSQL 18, Bun ${Bun.version},`,
    `the load client and the service share the machine; ${new Date().toISOString().slice(0, 10)};`,
    `\`bun run bench ${process.argv.slice(2).join(' ')}\`; ${executable ? 'the executable' : 'from source'}.`,
  ]),
);
