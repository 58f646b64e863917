// The processor time in which each hostile template, MJML and image is refused, and the time that /health
// takes while they come and a hostile html is checked, beside the one that it takes without them:
//   bun tests/bench/hostile-templates.ts [seconds]
import { loadavg } from 'node:os';
import { createClient } from '../support/client.ts';
import { startCluster } from '../support/cluster.ts';
import { HOSTILE_IMAGES, HOSTILE_MJML } from '../support/hostile-images.ts';
import { HOSTILE } from '../support/hostile-templates.ts';
import { startService, TEST_KEY } from '../support/service.ts';
import { timeOf } from './cpu.ts';
import { percentile } from './median.ts';

const SECONDS = Number(process.argv[2] ?? 20);
/** Milliseconds of a processor; the time by the clock depends on who else uses the machine. */
const LONGEST_MS = 150;
/**
 * Refusals of each whose processor time is measured, one after the other: Linux counts it in ticks of 10 ms.
 */
const IN_A_BATCH = 5;
/** The largest of them counts. */
const BATCHES = 3;
const SETTLES_MS = 200;
/**
 * Of the work of the thread that answers; and by the clock, beyond the time that /health takes without
 * hostile content.
 */
const HEALTH_P99_MS = 20;

await using stack = new AsyncDisposableStack();
const cluster = await startCluster();
stack.defer(() => cluster.stop());
const service = stack.use(
  await startService({
    env: {
      DATABASE_URL: cluster.url,
      SECRET_KEY: 'a bench has no secrets, but needs a key',
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
      RATE_LIMIT_PREVIEW: '0',
      LOG_LEVEL: 'warn',
    },
  }),
);
const client = createClient(service.url, TEST_KEY);
const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

const template = await client.post('/v1/templates', { name: 'good', subject: 's', html: '<p>{{ v }}</p>' });
const good = {
  from: 'a@b.example',
  to: 'c@d.example',
  templateId: template.body.data.id,
  variables: { v: 1 },
};
for (let n = 0; n < 50; n++) await client.post('/v1/emails', good);

const taken = new Map<string, number[]>();
const refused = async (name: string, ask: () => Promise<{ readonly status: number }>): Promise<void> => {
  const ms = await timed(async () => {
    const { status } = await ask();
    if (![413, 415, 422].includes(status)) throw new Error(`${name}: ${status}`);
  });
  taken.set(name, [...(taken.get(name) ?? []), ms]);
};
const upload = (content: Uint8Array) =>
  fetch(`${service.url}/v1/assets`, {
    method: 'POST',
    body: content,
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'image/png' },
  }).then(async (response) => {
    await response.text();
    return response;
  });
// Loading MJML takes a thread a second, once.
await client.post('/v1/templates/render-preview', {
  format: 'mjml',
  mjml: '<mjml><mj-body></mj-body></mjml>',
});
// Taken as templates, and hard to read: they are checked and previewed, and nothing is refused.
const hard = await Promise.all(
  ['<a>', '<div>', '<p style="color:#111">'].map(async (tag) => {
    const html = tag.repeat(Math.floor(250_000 / tag.length));
    return (await client.post('/v1/templates', { name: 'hard', subject: 's', html })).body.data.id;
  }),
);

/** Milliseconds of a processor that all threads of the service have had, those included that were ended. */
const processorTime = (): number => timeOf(service.pid).process / 1_000;
const everyHostile: readonly (readonly [name: string, ask: () => Promise<{ readonly status: number }>])[] = [
  ...Object.entries(HOSTILE).map(
    ([name, html]) => [name, () => client.post('/v1/templates/render-preview', { html })] as const,
  ),
  ...Object.entries(HOSTILE_MJML).map(
    ([name, mjml]) =>
      [`mjml: ${name}`, () => client.post('/v1/templates/render-preview', { format: 'mjml', mjml })] as const,
  ),
  ...Object.entries(HOSTILE_IMAGES).map(([name, image]) => [`image: ${name}`, () => upload(image)] as const),
];
const alone = new Map<string, number>();
for (const [name, ask] of everyHostile) {
  const batches: number[] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    const before = processorTime();
    for (let n = 0; n < IN_A_BATCH; n++) await refused(name, ask);
    // A thread that is ended has its last time after the answer, and another one starts.
    await Bun.sleep(SETTLES_MS);
    batches.push((processorTime() - before) / IN_A_BATCH);
  }
  alone.set(name, Math.max(...batches));
}
taken.clear();

/** Milliseconds of a processor that the thread which answers has had. */
const answeringTime = (): number => timeOf(service.pid).mainThread / 1_000;

/**
 * The times that /health and sends by template take while something else goes on, in milliseconds; `busy` are
 * those for which the thread that answers worked while /health waited, which no other program makes longer.
 */
async function during(work: (end: number) => Promise<void>, seconds: number) {
  const health: number[] = [];
  const busy: number[] = [];
  const sends: number[] = [];
  let isOver = false;
  const beat = async (times: number[], ask: () => Promise<unknown>) => {
    while (!isOver) {
      times.push(await timed(ask));
      await Bun.sleep(5);
    }
  };
  const beats = [
    beat(health, async () => {
      const before = answeringTime();
      await fetch(`${service.url}/health`).then((response) => response.text());
      busy.push(answeringTime() - before);
    }),
    beat(sends, () => client.post('/v1/emails', good)),
  ];
  await work(performance.now() + seconds * 1_000);
  isOver = true;
  await Promise.all(beats);
  return { health, busy, sends };
}
const quiet = await during((end) => Bun.sleep(end - performance.now()), SECONDS / 2);
const loud = await during(async (end) => {
  do {
    for (const templateId of hard) {
      await client.get(`/v1/templates/${templateId}/check`);
      await client.post('/v1/templates/render-preview', { templateId });
    }
    for (const [name, ask] of everyHostile) await refused(name, ask);
  } while (performance.now() < end);
}, SECONDS);

for (const [name, ms] of taken) {
  const cost = alone.get(name) ?? 0;
  console.log(
    `${name.padEnd(46)} refused in ${cost.toFixed(0).padStart(3)} ms of a processor; with others ${ms.length} times in ${percentile(ms, 0.5).toFixed(0)} ms, at most ${percentile(ms, 1 - 1 / ms.length).toFixed(0)}`,
  );
}
const told = (times: readonly number[]): string =>
  `${times.length} times, p50 ${percentile(times, 0.5).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms`;
console.log(`/health without them: ${told(quiet.health)}`);
console.log(`/health meanwhile: ${told(loud.health)}`);
console.log(`/health by the work of the answering thread, without them: ${told(quiet.busy)}`);
console.log(`/health by the work of the answering thread, meanwhile: ${told(loud.busy)}`);
console.log(`sends by template without them: ${told(quiet.sends)}`);
console.log(`sends by template meanwhile: ${told(loud.sends)}`);
console.log(`The load of the machine was ${loadavg()[0]?.toFixed(1)}.`);
const work = percentile(loud.busy, 0.99);
const later = percentile(loud.health, 0.99) - percentile(quiet.health, 0.99);
const marks = [
  [`a refusal in ${LONGEST_MS} ms of a processor`, Math.max(...alone.values()) <= LONGEST_MS],
  [`/health in ${HEALTH_P99_MS} ms of the answering thread`, work <= HEALTH_P99_MS],
  [`/health at most ${HEALTH_P99_MS} ms later by the clock`, later <= HEALTH_P99_MS],
] as const;
for (const [mark, isMet] of marks) console.log(`${isMet ? 'met' : 'missed'}: ${mark}`);
process.exitCode = marks.every(([, isMet]) => isMet) ? 0 : 1;
