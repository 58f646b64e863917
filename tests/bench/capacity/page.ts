import type { Figures } from '../figures.ts';
import type { Measured } from '../results.ts';
import type { CpuPerItem } from '../table.ts';
import { printCompared } from './compared.ts';
import {
  bounds,
  type Demand,
  demandOfLife,
  demandOfLive,
  LARGEST_SERVER,
  LINK_PER_SECOND,
  requirements,
  USED,
} from './requirements.ts';
import { type Simulated, simulate } from './simulation.ts';

const RATES = [1_000, 10_000, 100_000] as const;
/** Instances, each with two cores, and the cores of PostgreSQL. */
const PLACES = [
  [1, 2],
  [2, 2],
  [2, 4],
  [4, 4],
  [8, 8],
  [16, 16],
] as const;
/** So many that nothing waits for a client. */
const CONNECTIONS_OF_INSTANCE = 512;
const EMAILS_OF_INSTANCE = 10_000;
const ROUND_TRIP_US = 300;

const whole = (value: number): string => Math.round(value).toLocaleString('en');
const short = (value: number): string => (value < 10 ? value.toFixed(1) : whole(value));
const percent = (part: number): string => `${(part * 100).toFixed(0)} %`;

function table(head: readonly string[], lines: readonly (readonly (string | number)[])[]): string {
  const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [row(head), `|${' --- |'.repeat(head.length)}`, ...lines.map(row)].join('\n');
}

/** The figures of results.json that the model needs. @throws where the bench has not measured it */
function figuresOf(measured: readonly Measured[]) {
  const of = (name: string) => {
    const section = measured.find(({ section }) => section === name);
    if (!section) throw new Error(`results.json has no ${name}: bun run bench --only ${name} --save`);
    return section;
  };
  const [weight, capacity, live] = [of('weight'), of('capacity'), of('live')];
  const figures = { ...weight.figures, ...capacity.figures } as Required<Figures>;
  const cpu = live.rows.find(({ what }) => what.startsWith('(l)'))?.cpu;
  if (!figures.weights || !figures.times || !cpu)
    throw new Error('results.json lacks figures: bun run bench --only weight,live,capacity --save');
  return {
    figures,
    cpu,
    runs: [...new Set([weight, live, capacity].map(({ section, run }) => `- ${section}: ${run}`))],
  };
}

/** The section of docs/scale.md that is computed from what the bench has stored. */
export function printCapacity(measured: readonly Measured[]): string {
  const { figures, cpu, runs } = figuresOf(measured);
  const life = demandOfLife(figures);
  return [
    '### Predicted and measured',
    '',
    printCompared(figures.compared),
    '',
    '### What a rate needs',
    '',
    printRequirements(figures, life, cpu),
    '',
    '### Where the next bound lies',
    '',
    printBounds(figures, life),
    '',
    printPlaces(figures),
    '',
    'Measured:',
    '',
    printTimes(figures, life),
    '',
    'Assumed, and not measured:',
    '',
    ...SUPPOSED.map((line) => `- ${line}`),
    '',
    'Runs:',
    '',
    ...runs,
  ].join('\n');
}

function printRequirements(figures: Required<Figures>, life: Demand, cpu: CpuPerItem): string {
  const kinds = [
    ['test mail', life],
    ['live mail', demandOfLive(figures, cpu)],
  ] as const;
  const lines = kinds.flatMap(([what, demand]) =>
    RATES.map((rate) => {
      const needs = requirements(rate, demand, figures.diskPerSecond);
      return [
        `${what}, ${whole(rate)}`,
        needs.instances,
        short(needs.serviceCores),
        short(needs.postgresCores),
        short(needs.walPerSecond / 1e6),
        whole(needs.commitsPerSecond),
        short((needs.networkPerSecond * 8) / 1e6),
        whole(needs.tablesPerDay / 1e9),
        `${needs.next.what}, ${percent(needs.next.used)}`,
      ];
    }),
  );
  return table(
    [
      'Emails a second',
      'Instances',
      'Their cores',
      'Cores of PostgreSQL',
      'WAL, MB a second',
      'Commits a second',
      'To and from PostgreSQL, Mbit a second',
      'Tables, GB a day',
      'The bound that comes next, and how much of it is used',
    ],
    lines,
  );
}

function printBounds({ times, diskPerSecond }: Required<Figures>, life: Demand): string {
  const most = bounds(times, life, diskPerSecond);
  return table(
    ['What would be busy all the time', 'Whole lives a second'],
    [
      ['the main thread of one instance', whole(most.thread)],
      ['the one committer of outcomes of an instance, its batches full', whole(most.committer)],
      ['one core of PostgreSQL', whole(most.postgresCore)],
      [`the WAL, on a disk that takes ${whole(diskPerSecond / 1e6)} MB a second`, whole(most.wal)],
      [`a link of ${whole((LINK_PER_SECOND * 8) / 1e9)} Gbit a second at PostgreSQL`, whole(most.network)],
    ],
  );
}

function printPlaces({ times }: Required<Figures>): string {
  const lines = PLACES.map(([instances, coresOfPostgres]) => {
    const simulated = simulate(times, {
      kind: 'life',
      connections: CONNECTIONS_OF_INSTANCE * instances,
      instances,
      emails: EMAILS_OF_INSTANCE * instances,
      machines: { coresOfInstance: 2, coresOfPostgres, roundTrip: ROUND_TRIP_US },
    });
    const { mainThread, postgres, flush } = simulated.busy;
    return [
      instances,
      coresOfPostgres,
      whole(simulated.perSecond),
      whole(simulated.batch),
      percent(mainThread),
      percent(postgres),
      percent(flush),
      busiest(simulated),
    ];
  });
  return table(
    [
      'Instances, two cores each',
      'Cores of PostgreSQL',
      'Simulated lives a second',
      'Writes a commit',
      'Main threads busy',
      'PostgreSQL busy',
      'Flushing',
      'Busiest',
    ],
    lines,
  );
}

/** Flushing is none of them, since a flush takes along whatever waits for it. */
const busiest = ({ busy: { mainThread, postgres } }: Simulated): string =>
  mainThread > postgres ? 'main threads' : 'processors of PostgreSQL';

function printTimes({ times, weights, background, diskPerSecond }: Required<Figures>, life: Demand): string {
  const cost = ({ fixed, each }: { fixed: number; each: number }) =>
    `${whole(each)} + ${whole(fixed)} a commit`;
  const octets = (name: keyof typeof weights) => {
    const { wal, tables, http, database } = weights[name];
    return `${whole(wal)} of WAL, ${whole(tables)} of tables, ${whole(http)} by HTTP, ${whole(database)} with PostgreSQL`;
  };
  return table(
    ['', ''],
    [
      ['accepted, service, µs an email', cost(times.accepted.service)],
      ['accepted, PostgreSQL', cost(times.accepted.postgres)],
      ['whole life, service', cost(times.life.service)],
      ['whole life, PostgreSQL', cost(times.life.postgres)],
      ['PostgreSQL beside its backends, µs an email', whole(background)],
      ['both, at the batches of one instance', `${whole(life.service)} and ${whole(life.postgres)}`],
      ['of the service in its main thread', percent(times.mainThread)],
      ['client of the load, kernel', `${whole(times.client)} and ${whole(times.kernel)}`],
      ['a flush of the WAL', `${(times.flush / 1_000).toFixed(1)} ms`],
      ['the disk, 16 MB at a time', `${whole(diskPerSecond / 1e6)} MB a second`],
      ['octets of a whole life', octets('life')],
      ['octets of an accepted email', octets('accepted')],
      ['octets of a live email', octets('live')],
    ],
  );
}

/** The assumptions of the model that no measurement backs. */
const SUPPOSED = [
  `Nothing is in use for more than ${percent(USED)}; the largest server has ${LARGEST_SERVER} cores and a link of ${whole((LINK_PER_SECOND * 8) / 1e9)} Gbit a second. Cores are like those of the run.`,
  'PostgreSQL was tested with two cores. Its locks, the right ends of its indexes and the one writer of its WAL keep up with more: measure this first on a larger machine.',
  `A round trip between two machines takes ${ROUND_TRIP_US} µs, and a flush as long as in the run, whatever its size.`,
  'Live mail has as many writes a commit as test mail, and a third commit for its beginning; its service time is that of one sending machine with both signatures, and its receivers answer at once.',
  "The simulation puts six tenths of the service's work on an email before the batch, two into it and two behind it; of a batch's own work a half on each side. A thread keeps its core for 4 ms while others wait.",
  'The texts of the measured emails repeat themselves and compress well: incompressible text and attachments of an email add their size to the WAL, the tables and the network each.',
  'Storage is that of tables and indexes as they are written: without copies, backups, archived WAL, and space that retention frees for reuse.',
];
