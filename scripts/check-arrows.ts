import { readFileSync } from 'node:fs';
import { problemsIn } from './arrows/rules.ts';

const paths = [...new Bun.Glob('{src,machines,scripts,tests}/**/*.{ts,tsx}').scanSync()];
const problems = problemsIn(paths.sort().map((path) => ({ path, text: readFileSync(path, 'utf8') })));
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
