import { buildDashboard } from './dashboard/build-dashboard.ts';

// src/web/dashboard/dist/pack.json: the application as browsers get it. Run by the service itself when it is
// missing or stale.

// Bun and React choose their production code by it while bundling.
process.env.NODE_ENV = 'production';
const begin = performance.now();
const sizes = await buildDashboard();
const seconds = ((performance.now() - begin) / 1_000).toFixed(1);
console.log(`Built the dashboard in ${seconds} s. Kilobytes, compressed:`);
for (const { name, kilobytes } of sizes) console.log(`${kilobytes.toFixed(1).padStart(7)}  ${name}`);
