import { readFileSync } from 'node:fs';
import { problemsIn } from './arrows/rules.ts';
import { archaicOf } from './arrows/words.ts';

const paths = [...new Bun.Glob('{src,machines,scripts,tests}/**/*.{ts,tsx}').scanSync()];
const problems = problemsIn(paths.sort().map((path) => ({ path, text: readFileSync(path, 'utf8') })));
const pages = [...new Bun.Glob('{docs,machines,src,tests}/**/*.md').scanSync()];
for (const path of pages.sort())
  for (const problem of archaicOf(path, readFileSync(path, 'utf8'))) problems.push(`${path} ${problem}.`);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
