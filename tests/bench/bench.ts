import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { analytics } from './analytics.ts';
import { backlog } from './backlog.ts';
import { byTemplate } from './by-template.ts';
import { campaignLatency } from './campaign-latency.ts';
import { campaigns } from './campaigns.ts';
import { capacity } from './capacity.ts';
import { contacts } from './contacts.ts';
import { contract, emails, yardstick } from './emails.ts';
import { flows } from './flows.ts';
import { footprint } from './footprint.ts';
import { horizon } from './held-transaction.ts';
import { imports } from './imports.ts';
import { instances } from './instances.ts';
import { live } from './live.ts';
import { lives } from './lives.ts';
import { peers } from './peers.ts';
import { reads } from './reads.ts';
import { type Measured, printResults, saveResults } from './results.ts';
import { YARDSTICK } from './table.ts';
import { takeUp } from './take-up.ts';
import { viewers } from './viewers.ts';
import { webhooks } from './webhook-deliveries.ts';
import { weight } from './weight.ts';
import { type Section, Workbench } from './workbench.ts';

// The cost of an email, against the plainest thing PostgreSQL can do with the same bytes, in one run on one
// server:
//   bun run bench [--full] [--save] [--executable path] [--only name,name] [--seconds N] …; README.md has them all.

/** In the order of the table; the yardstick first, since the others are ratios to it. */
const SECTIONS: readonly Section[] = [
  yardstick,
  emails,
  contract,
  byTemplate,
  lives,
  weight,
  live,
  webhooks,
  backlog,
  reads,
  analytics,
  imports,
  contacts,
  campaigns,
  campaignLatency,
  flows,
  horizon,
  viewers,
  instances,
  takeUp,
  capacity,
  peers,
  footprint,
];

/** Small enough for a look, and what is quoted. */
const SIZES = {
  seconds: [10, 10],
  emails: [40_000, 100_000],
  lives: [100_000, 1_000_000],
  backlog: [60_000, 1_000_000],
  'window-seconds': [10, 60],
  reads: [500_000, 10_000_000],
  imports: [100_000, 1_000_000],
  'embedded-imports': [20_000, 1_000_000],
  contacts: [100_000, 1_000_000],
  campaigns: [100_000, 1_000_000],
  'giving-minutes': [8, 60],
  runs: [100_000, 100_000],
  'free-seconds': [40, 120],
  'hold-seconds': [40, 600],
  rounds: [6, 8],
} as const;

const text = { type: 'string', default: '' } as const;
const { values } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    save: { type: 'boolean', default: false },
    executable: text,
    only: text,
    ...(Object.fromEntries(Object.keys(SIZES).map((name) => [name, text])) as Record<
      keyof typeof SIZES,
      typeof text
    >),
  },
});
const size = (name: keyof typeof SIZES): number => Number(values[name] || SIZES[name][values.full ? 1 : 0]);

const only = values.only.split(',').filter(Boolean);
const unknown = only.filter((name) => !SECTIONS.some((section) => section.name === name));
if (unknown.length > 0)
  throw new Error(
    `No section is called ${unknown.join(', ')}: ${SECTIONS.map(({ name }) => name).join(', ')}.`,
  );
await using bench = await Workbench.open({
  seconds: size('seconds'),
  emails: size('emails'),
  lives: size('lives'),
  backlog: size('backlog'),
  windowSeconds: size('window-seconds'),
  reads: size('reads'),
  imports: size('imports'),
  embeddedImports: size('embedded-imports'),
  contacts: size('contacts'),
  campaigns: size('campaigns'),
  givingMs: size('giving-minutes') * 60_000,
  runs: size('runs'),
  freeSeconds: size('free-seconds'),
  holdSeconds: size('hold-seconds'),
  rounds: size('rounds'),
  executable: values.executable,
});

const [cpu] = cpus();
const run = [
  `${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores (${cpu?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB,`,
  `PostgreSQL 18, Bun ${Bun.version}, ${values.executable ? 'the executable' : 'from source'}:`,
  `\`bun run bench ${process.argv.slice(2).join(' ')}\`.`,
].join(' ');

const measured: Measured[] = [];
let base: number | null = null;
for (const section of SECTIONS) {
  // Whatever else is measured, a ratio needs the yardstick of the same run.
  if (only.length > 0 && section !== yardstick && !only.includes(section.name)) continue;
  const rows = await section.run(bench);
  base ??= rows.find(({ what }) => what.startsWith(YARDSTICK))?.perSecond ?? null;
  const figures = bench.takeFigures();
  measured.push({
    section: section.name,
    rows,
    remarks: bench.takeRemarks(),
    yardstick: base,
    run,
    ...(Object.keys(figures).length > 0 && { figures }),
  });
  // Each section is saved at its end, so that a later one that fails loses nothing.
  if (values.save && (section !== yardstick || only.length === 0 || only.includes('yardstick')))
    saveResults(
      measured.slice(-1),
      SECTIONS.map(({ name }) => name),
    );
}
console.log(printResults(measured));
