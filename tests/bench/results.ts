import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawChart } from './chart.ts';
import type { Figures } from './figures.ts';
import { printHeadline, printTable, type Row } from './table.ts';

/** The result of one section, and its machine: sections may be measured in different runs. */
export interface Measured {
  readonly section: string;
  readonly rows: readonly Row[];
  readonly remarks: readonly string[];
  /** Inserts a second of (a) in the same run; null where pgbench is not installed. */
  readonly yardstick: number | null;
  readonly figures?: Figures;
  /** The day, the machine and the command. */
  readonly run: string;
}

const KEPT = join(import.meta.dir, 'results.json');
const TABLE = join(import.meta.dir, 'results.md');
const CHART = join(import.meta.dir, 'results.svg');
const PAGE = join(import.meta.dir, '../../docs/performance.md');
/** The rows that most people look for are written between these two lines of the page. */
const [BEGIN, END] = [
  '<!-- performance: written by `bun run bench --save` -->',
  '<!-- end of performance -->',
];
const HEADLINES = ['(a)', '(b)', '(c)', '(l)', '(w)', '(s)', '(f)'];

/** The table, what was measured besides, and how. */
export function printResults(measured: readonly Measured[]): string {
  const rows = measured.flatMap((one) => one.rows);
  return [
    printTable(rows, yardstickOf(measured)),
    '',
    ...measured.flatMap(({ remarks }) => remarks).flatMap((remark) => [remark, '']),
    ...printRuns(measured),
    '',
    'The load client, the service and PostgreSQL share the cores, so that a rate is less than either could do alone; what an item costs in processor time is beside it.',
  ].join('\n');
}

const yardstickOf =
  (measured: readonly Measured[]) =>
  (row: Row): number | null =>
    measured.find(({ rows }) => rows.includes(row))?.yardstick ?? null;

/** Machine, time and command of each run; by section where there were several. */
function printRuns(measured: readonly Measured[]): readonly string[] {
  const runs = [...new Set(measured.map(({ run }) => run))];
  const sectionsOf = (run: string) => measured.filter((one) => one.run === run).map(({ section }) => section);
  return runs.map((run) => (runs.length === 1 ? run : `- ${sectionsOf(run).join(', ')}: ${run}`));
}

function printHeadlines(measured: readonly Measured[]): string {
  const chosen = measured
    .map((one) => ({
      ...one,
      rows: one.rows.filter(({ what }) => HEADLINES.some((start) => what.startsWith(start))),
    }))
    .filter(({ rows }) => rows.length > 0);
  const yardstick = yardstickOf(chosen);
  const lines = chosen.flatMap(({ rows }) => rows).map((row) => printHeadline(row, yardstick(row)));
  return ['| | a second | ratio to (a) |', '|---|---|---|', ...lines, '', ...printRuns(chosen)].join('\n');
}

/** Puts sections in the place of those kept before, and writes the table and the chart again. */
export function saveResults(measured: readonly Measured[], order: readonly string[]): void {
  const kept = existsSync(KEPT) ? (JSON.parse(readFileSync(KEPT, 'utf8')) as readonly Measured[]) : [];
  const fresh = new Set(measured.map(({ section }) => section));
  const all = [...kept.filter(({ section }) => !fresh.has(section)), ...measured].sort(
    (a, b) => order.indexOf(a.section) - order.indexOf(b.section),
  );
  writeFileSync(KEPT, `${JSON.stringify(all, null, 2)}\n`);
  const title =
    '# Measured\n\nWritten by `bun run bench --save`; [what each row is](README.md).\n\n![Ratios](results.svg)\n\n';
  writeFileSync(TABLE, `${title}${printResults(all)}\n`);
  const page = readFileSync(PAGE, 'utf8');
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from === -1 || to === -1)
    throw new Error(`docs/performance.md lacks the lines "${BEGIN}" and "${END}".`);
  const place = `${BEGIN}\n\n${printHeadlines(all)}\n\n`;
  writeFileSync(PAGE, page.slice(0, from) + place + page.slice(to));
  const rows = all.flatMap((one) => one.rows);
  writeFileSync(CHART, drawChart(rows, yardstickOf(all)));
}
