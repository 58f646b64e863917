import { existsSync, readFileSync } from 'node:fs';
import { linkProblems } from './links/problems.ts';

const paths = [...new Bun.Glob('**/*.md').scanSync()].filter(
  (path) => !/(^|\/)(node_modules|dist|data)\//.test(path),
);
const pages = paths.sort().map((path) => ({ path, text: readFileSync(path, 'utf8') }));
const problems = linkProblems(pages, existsSync);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
