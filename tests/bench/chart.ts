import { type Row, ratioOf } from './table.ts';

/** A picture of ratios: what they are to, and its bars. */
interface Panel {
  readonly title: string;
  readonly bars: readonly Bar[];
}

interface Bar {
  readonly label: string;
  readonly ratio: number;
  readonly aim: number | undefined;
}

const WIDTH = 860;
const LABELS = 400;
const BAR = 16;
const STEP = 24;
const TITLE = 44;
/** Room for the number behind the longest bar. */
const NUMBER = 60;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Both schemes: the file is shown inside pages of either, which cannot style it. */
const STYLE = `text { font: 13px system-ui, sans-serif; fill: #1f2328; } .title { font-weight: 600; font-size: 14px; }
.bar { fill: #2f6feb; } .short { fill: #bc4c00; } .one, .aim { stroke: #59636e; } .aim { stroke-width: 2; }
.one { stroke-dasharray: 2 3; } .note { fill: #59636e; font-size: 12px; } .ground { fill: #ffffff; }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .bar { fill: #4c8dff; } .short { fill: #e8823a; }
.one, .aim { stroke: #9198a1; } .note { fill: #9198a1; } .ground { fill: #0d1117; } }`;

function drawPanel({ title, bars }: Panel, top: number): string {
  const most = Math.max(1, ...bars.map(({ ratio, aim }) => Math.max(ratio, aim ?? 0)));
  const x = (ratio: number) => (LABELS + (ratio / most) * (WIDTH - LABELS - NUMBER)).toFixed(1);
  const bottom = top + TITLE + bars.length * STEP;
  const lines = bars.map(({ label, ratio, aim }, index) => {
    const y = top + TITLE + index * STEP;
    const middle = y + BAR - 3;
    const isShort = aim !== undefined && ratio < aim;
    // Behind the bar, unless the mark of the aim is there.
    const isCrowded = isShort && Number(x(aim)) - Number(x(ratio)) < NUMBER * 0.75;
    const numberAt = Number(x(isCrowded ? aim : ratio)) + 6;
    return [
      `<text x="${LABELS - 8}" y="${middle}" text-anchor="end">${escaped(label)}</text>`,
      `<rect class="${isShort ? 'short' : 'bar'}" x="${LABELS}" y="${y}" width="${(Number(x(ratio)) - LABELS).toFixed(1)}" height="${BAR}" rx="2"/>`,
      `<text x="${numberAt.toFixed(1)}" y="${middle}">${ratio.toFixed(2)}</text>`,
      aim === undefined
        ? ''
        : `<line class="aim" x1="${x(aim)}" x2="${x(aim)}" y1="${y - 3}" y2="${y + BAR + 3}"><title>aim ${aim}</title></line>`,
    ].join('');
  });
  return [
    `<text class="title" x="12" y="${top + 24}">${escaped(title)}</text>`,
    `<line class="one" x1="${x(1)}" x2="${x(1)}" y1="${top + TITLE - 6}" y2="${bottom}"/>`,
    ...lines,
  ].join('\n');
}

/** Bars of every row's ratio, one panel for each thing that they are ratios to; the aims are marked. */
export function drawChart(rows: readonly Row[], yardstick: (row: Row) => number | null): string {
  const panels = new Map<string, Bar[]>();
  for (const row of rows) {
    const ratio = ratioOf(row, yardstick(row));
    if (ratio === null) continue;
    const title = `ratio to ${row.over?.what ?? 'pgbench, single-row INSERT, 64 clients, one commit each'}`;
    const bars = panels.get(title) ?? [];
    panels.set(title, [...bars, { label: row.what, ratio, aim: row.aim }]);
  }
  let top = 0;
  const drawn = [...panels].map(([title, bars]) => {
    const text = drawPanel({ title, bars }, top);
    top += TITLE + bars.length * STEP + 12;
    return text;
  });
  const height = top + 24;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="Rates of the bench as ratios">`,
    `<style>${STYLE}</style>`,
    `<rect class="ground" width="${WIDTH}" height="${height}"/>`,
    ...drawn,
    `<text class="note" x="12" y="${height - 10}">Solid mark: the aim; orange: short of it. Dotted line: 1.00.</text>`,
    '</svg>',
    '',
  ].join('\n');
}
