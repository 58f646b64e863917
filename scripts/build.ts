import { statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { compile, prepareParts } from './build/compile.ts';

// Builds dist/posthorn, or posthorn in the given folder: one executable with the runtime, the migrations,
// WebAssembly and everything else inside.

const FOLDER = resolve(process.argv[2] ?? 'dist');
const OUTPUT = join(FOLDER, 'posthorn');

const start = performance.now();
await compile({ outfile: OUTPUT, archive: await prepareParts(FOLDER) });
const megabytes = (statSync(OUTPUT).size / 1e6).toFixed(0);
console.log(
  `Built ${relative('.', OUTPUT)}: ${megabytes} MB in ${((performance.now() - start) / 1000).toFixed(1)} s.`,
);
