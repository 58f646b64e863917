import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { AREA_SUBJECTS, AREAS, type Area, areaOf } from './arrows/areas.ts';
import { importsOf } from './arrows/rules.ts';
import { keepFresh } from './fresh.ts';

// The drawing of the areas in docs/architecture.md is made of the imports that the gate reads. It has no
// counts, which each commit would change.

const PAGE = 'docs/architecture.md';
const START = '<!-- areas: written by `bun run generate` from the imports -->';
const END = '<!-- end of areas -->';

/**
 * Arrows with fewer imports than this share of all between areas are only in the table, not in the drawing.
 */
const DRAWN_FROM = 0.02;

const files = [...new Bun.Glob('{src,machines}/**/*.{ts,tsx}').scanSync()].sort();
const arrows = new Map<Area, Map<Area, number>>();
for (const path of files) {
  const from = areaOf(path);
  if (from === null) continue;
  for (const specifier of importsOf({ path, text: readFileSync(path, 'utf8') })) {
    if (!specifier.startsWith('.')) continue;
    const to = areaOf(posix.normalize(posix.join(posix.dirname(path), specifier)));
    if (to === null || to === from) continue;
    const row = arrows.get(from) ?? new Map<Area, number>();
    arrows.set(from, row.set(to, (row.get(to) ?? 0) + 1));
  }
}

const total = [...arrows.values()].flatMap((row) => [...row.values()]).reduce((sum, count) => sum + count, 0);
const fromTop = AREAS.toReversed();
const drawing = [
  '```mermaid',
  'flowchart TD',
  ...fromTop.map((area) => `  ${area}["<b>${area}</b><br/>${AREA_SUBJECTS[area]}"]`),
  ...fromTop.flatMap((from) =>
    [...(arrows.get(from) ?? [])]
      .filter(([, count]) => count >= total * DRAWN_FROM)
      .map(([to]) => `  ${from} --> ${to}`),
  ),
  '```',
];
const row = (area: Area): string => {
  const imported = fromTop.filter((other) => arrows.get(area)?.has(other)).join(', ') || 'nothing';
  return `| \`${area}\` | ${AREA_SUBJECTS[area]} | ${imported} |`;
};
const table = ['| Area | Subject | Imports |', '| --- | --- | --- |', ...fromTop.map(row)];

const [before, rest] = readFileSync(PAGE, 'utf8').split(START);
const after = rest?.split(END)[1];
if (before === undefined || after === undefined)
  throw new Error(`${PAGE} lacks the lines "${START}" and "${END}".`);
keepFresh(PAGE, `${before}${START}\n\n${[...drawing, '', ...table].join('\n')}\n\n${END}${after}`);
