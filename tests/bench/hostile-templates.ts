// The time that each hostile template takes, and the time that /health takes meanwhile:
//   bun tests/bench/hostile-templates.ts [seconds]
import { createClient } from '../support/client.ts';
import { startCluster } from '../support/cluster.ts';
import { HOSTILE } from '../support/hostile-templates.ts';
import { startService, TEST_KEY } from '../support/service.ts';

const SECONDS = Number(process.argv[2] ?? 20);
const LONGEST_MS = 150;
const HEALTH_P99_MS = 20;

await using stack = new AsyncDisposableStack();
const cluster = await startCluster();
stack.defer(() => cluster.stop());
const service = stack.use(
  await startService({
    env: {
      DATABASE_URL: cluster.url,
      SECRET_KEY: 'a bench has no secrets, but needs a key',
      ...{ RATE_LIMIT_PER_IP: '0', RATE_LIMIT_PER_KEY: '0', RATE_LIMIT_PREVIEW: '0', LOG_LEVEL: 'warn' },
    },
  }),
);
const client = createClient(service.url, TEST_KEY);
const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};
const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;

const template = await client.post('/v1/templates', { name: 'good', subject: 's', html: '<p>{{ v }}</p>' });
const good = {
  from: 'a@b.example',
  to: 'c@d.example',
  templateId: template.body.data.id,
  variables: { v: 1 },
};
for (let n = 0; n < 50; n++) await client.post('/v1/emails', good);

const health: number[] = [];
const sends: number[] = [];
let isOver = false;
const beat = async (taken: number[], work: () => Promise<unknown>) => {
  while (!isOver) {
    taken.push(await timed(work));
    await Bun.sleep(5);
  }
};
const beats = [
  beat(health, () => fetch(`${service.url}/health`).then((response) => response.text())),
  beat(sends, () => client.post('/v1/emails', good)),
];

let isGood = true;
const taken = new Map<string, number[]>();
const end = performance.now() + SECONDS * 1_000;
while (performance.now() < end)
  for (const [name, html] of Object.entries(HOSTILE)) {
    const ms = await timed(async () => {
      const { status } = await client.post('/v1/templates/render-preview', { html });
      if (status !== 422) throw new Error(`${name}: ${status}`);
    });
    taken.set(name, [...(taken.get(name) ?? []), ms]);
  }
isOver = true;
await Promise.all(beats);

for (const [name, ms] of taken) {
  const most = percentile(ms, 1 - 1 / ms.length);
  if (most > LONGEST_MS) isGood = false;
  console.log(
    `${name.padEnd(36)} refused ${ms.length} times in ${percentile(ms, 0.5).toFixed(0)} ms, at most ${most.toFixed(0)}`,
  );
}
const p99 = percentile(health, 0.99);
if (p99 > HEALTH_P99_MS) isGood = false;
console.log(
  `/health meanwhile: ${health.length} times, p50 ${percentile(health, 0.5).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
);
console.log(
  `sends by template meanwhile: ${sends.length}, p50 ${percentile(sends, 0.5).toFixed(1)} ms, p99 ${percentile(sends, 0.99).toFixed(1)} ms`,
);
console.log(isGood ? 'All within 150 ms, /health within 20 ms.' : 'Beyond 150 ms, or /health beyond 20 ms.');
process.exitCode = isGood ? 0 : 1;
