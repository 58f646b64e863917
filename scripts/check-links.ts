import { existsSync, readFileSync } from 'node:fs';
import { nameProblems, wordsOf } from './links/names.ts';
import { linkProblems } from './links/problems.ts';

/** The paths below this folder that a pattern finds, without what is installed, built or stored. */
const scan = (pattern: string): readonly string[] =>
  [...new Bun.Glob(pattern).scanSync({ dot: true })].filter(
    (path) => !/(^|\/)(node_modules|dist|data|\.git)\//.test(path),
  );
const read = (path: string): string => readFileSync(path, 'utf8');

const pages = scan('**/*.md')
  .toSorted()
  .map((path) => ({ path, text: read(path) }));
/** The history tells of what has gone. */
const current = pages.filter(({ path }) => path !== 'CHANGELOG.md');
const sources = [
  '**/*.{ts,tsx,sql,js,mjs,py,json,yaml,yml,toml,sh,service,conf}',
  '**/{Dockerfile,Caddyfile}',
  '.ci/*',
];
const problems = [
  ...linkProblems(pages, existsSync),
  ...nameProblems(current, wordsOf(sources.flatMap(scan).map(read))),
];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
