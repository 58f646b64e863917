import { readFileSync } from 'node:fs';
import { keepFresh } from './fresh.ts';
import { bundledPackages } from './licenses/bundled-packages.ts';
import { licenseOf } from './licenses/license-of.ts';
import { noticeOf } from './licenses/notice.ts';

// THIRD-PARTY-LICENSES.txt: the licence of everything in the executable, which `posthorn licenses` prints.

// The bundler's output depends on it, and so does what the bundler reads (scripts/build.ts).
process.env.NODE_ENV = 'production';

/** The runtime, as its own page of licences describes it. */
const RUNTIME = {
  name: 'bun',
  version: Bun.version,
  license: 'MIT, with libraries under other licences',
  text: readFileSync('scripts/licenses/texts/bun.txt', 'utf8').trim(),
};

const found = (await bundledPackages()).map(licenseOf);
const problems = found.filter((one) => typeof one === 'string');
const licensed = found.filter((one) => typeof one !== 'string');
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else keepFresh('THIRD-PARTY-LICENSES.txt', noticeOf([RUNTIME, ...licensed]));
