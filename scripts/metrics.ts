import { readFileSync } from 'node:fs';
import { keepFresh } from './fresh.ts';

// The table in docs/metrics.md lists exactly the metrics that the source registers.

const PAGE = 'docs/metrics.md';
const START = '<!-- metrics: written by `bun run generate` -->';
const END = '<!-- end of metrics -->';

/** A call that registers a metric, up to its bracket. */
const CALL = /(?:metrics\??|this)\.(watch|#counter|#gauge|#histogram)\(/g;
/** Its name, its meaning and its labels, written out. */
const GIVEN = /^\s*'(?<name>[a-z_]+)',\s*(?:'(?<help>[^']+)'|"(?<quoted>[^"]+)"),\s*\[(?<labels>[^\]]*)\]/;

interface Metric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

const TYPES: Readonly<Record<string, string>> = {
  '#counter': 'counter',
  '#gauge': 'gauge',
  '#histogram': 'histogram',
};

function metricsIn(path: string): readonly Metric[] {
  const source = readFileSync(path, 'utf8');
  return [...source.matchAll(CALL)].map((call) => {
    const {
      name,
      help,
      quoted,
      labels = '',
    } = GIVEN.exec(source.slice(call.index + call[0].length))?.groups ?? {};
    const text = help ?? quoted;
    if (name === undefined || text === undefined)
      throw new Error(`${path}: write the name, the meaning and the labels of a metric as literals.`);
    const type = TYPES[call[1] ?? ''] ?? (name.endsWith('_total') ? 'counter' : 'gauge');
    return {
      name,
      type,
      labels: [...labels.matchAll(/'(\w+)'/g)].map(([, label = '']) => label),
      help: text,
    };
  });
}

const metrics = [...new Bun.Glob('src/**/*.ts').scanSync()]
  .flatMap(metricsIn)
  .sort((a, b) => (a.name < b.name ? -1 : 1));
const cell = (text: string) => text.replaceAll('|', '\\|');
const rows = metrics.map(
  ({ name, type, labels, help }) =>
    `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${cell(help)} |`,
);
const table = ['| Metric | Type | Labels | Meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');

const [before, rest] = readFileSync(PAGE, 'utf8').split(START);
const after = rest?.split(END)[1];
if (before === undefined || after === undefined)
  throw new Error(`${PAGE} lacks the lines "${START}" and "${END}".`);
keepFresh(PAGE, `${before}${START}\n\n${table}\n\n${END}${after}`);
