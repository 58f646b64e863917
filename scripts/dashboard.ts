import { buildDashboard } from './dashboard/build-dashboard.ts';

// src/dashboard/dist/pack.json: the live view as browsers get it. Run by the service itself when it is missing or stale.

// Bun and React choose their production code by it while bundling.
process.env.NODE_ENV = 'production';
const begin = performance.now();
const kilobytes = await buildDashboard();
console.log(
  `Built the dashboard: ${kilobytes.toFixed(0)} kB compressed in ${((performance.now() - begin) / 1_000).toFixed(1)} s.`,
);
