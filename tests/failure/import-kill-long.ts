import { parseArgs } from 'node:util';
import { killImports } from './import-kill.ts';

// An import of a million rows, killed ten times on the way, against an undisturbed one:
//   bun tests/failure/import-kill-long.ts [--rows N] [--kills N] [--embedded]

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    kills: { type: 'string', default: '10' },
    embedded: { type: 'boolean', default: false },
  },
});
const report = await killImports({
  database: values.embedded ? 'PGlite' : 'PostgreSQL',
  rows: Number(values.rows),
  kills: Number(values.kills),
  say: (line) => console.log(line),
});
console.log(JSON.stringify(report, null, 2));
const isEqual = JSON.stringify(report.killed) === JSON.stringify(report.undisturbed);
console.log(isEqual ? 'Equal: nothing was lost, nothing counted twice.' : 'NOT EQUAL.');
process.exit(isEqual ? 0 : 1);
