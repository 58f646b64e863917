import { buildReference } from './reference/build-reference.ts';

// src/web/dashboard/dist/reference.json: what draws the reference at /docs. Run by the service itself when it
// is missing or stale.

// Bun and Vue choose their production code by it while bundling.
process.env.NODE_ENV = 'production';
const begin = performance.now();
const sizes = await buildReference();
const seconds = ((performance.now() - begin) / 1_000).toFixed(1);
console.log(`Built the reference in ${seconds} s. Kilobytes, compressed:`);
for (const [name, kilobytes] of Object.entries(sizes))
  console.log(`${kilobytes.toFixed(1).padStart(7)}  ${name}`);
