// The reply to each hostile message at the port for mail that comes in, the processor time and the memory
// that it takes, and the time that /health takes while they come, beside the one that it takes without them:
//   POSTHORN_EXECUTABLE=dist/posthorn bun tests/bench/hostile-mail.ts [seconds]
// It ends with an error where a mark is missed, a reply is another one, or what is shown has an effect.
import { loadavg } from 'node:os';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { aMail, handIn } from '../integration/received-door.ts';
import { startNameServer } from '../integration/transport/name-server.ts';
import { createClient } from '../support/client.ts';
import { startCluster } from '../support/cluster.ts';
import { HOSTILE_MAIL } from '../support/hostile-mail.ts';
import { LIVE_KEY, startService } from '../support/service.ts';
import { timeOf } from './cpu.ts';
import { percentile } from './median.ts';
import { forgetMost, memoryOf } from './memory.ts';

const SECONDS = Number(process.argv[2] ?? 20);
/** Milliseconds of a processor of the whole service; the largest messages have 24 MiB. */
const LONGEST_MS = 8_000;
/** Of the work of the thread that answers, while /health waits. */
const HEALTH_P99_MS = 20;
/** The most that one message may add to the resident memory. */
const MOST_MB = 700;
const SETTLES_MS = 300;

await using stack = new AsyncDisposableStack();
const cluster = await startCluster();
stack.defer(() => cluster.stop());
const port = await freePort();
const dns = stack.use(await startNameServer());
const service = stack.use(
  await startService({
    env: {
      DATABASE_URL: cluster.url,
      SECRET_KEY: 'a bench has no secrets, but needs a key',
      INBOUND_SMTP_PORT: String(port),
      DNS_SERVERS: `${dns.server.address}:${dns.server.port}`,
      DEFAULT_PLAN: 'unlimited',
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
      LOG_LEVEL: 'warn',
    },
  }),
);
const client = createClient(service.url, LIVE_KEY);
const domain = await client.post('/v1/domains', { name: 'acme.example' });
const route = { domainId: domain.body.data.id, match: { type: 'catchAll' }, action: { type: 'keep' } };
const routed = await client.post('/v1/inbound-routes', route);
if (routed.status !== 201) throw new Error(JSON.stringify(routed.body));
for (let n = 0; n < 50; n++) await handIn(port, 'ada@customer.example', ['support@acme.example'], aMail());

const faults: string[] = [];

/** Hands one in, and answers the reply to the end of the message, or to what was refused before it. */
async function send(name: string): Promise<string> {
  const { make, isReport } = HOSTILE_MAIL[name] as (typeof HOSTILE_MAIL)[string];
  const to = isReport ? 'dmarc@acme.example' : 'support@acme.example';
  // A second message with the same content would be stored already.
  const raw = Buffer.concat([
    Buffer.from(`Message-ID: <${crypto.randomUUID()}@stranger.example>\r\n`),
    make(),
  ]);
  return (await handIn(port, 'eve@stranger.example', [to], raw)).at(-1) ?? '';
}

/** Nothing that the interface shows of the newest message may lead elsewhere. */
async function looksHarmless(name: string): Promise<void> {
  const [newest] = (await client.get('/v1/received?limit=1')).body.data;
  const shown = await client.get(`/v1/received/${newest.id}`);
  if (shown.status !== 200) faults.push(`${name}: its detail answers ${shown.status}`);
  for (const { filename, contentType } of shown.body.data?.attachments ?? []) {
    if (/[/\\\p{Cc}\u202e]/u.test(filename) || /^\.{0,2}$/.test(filename) || filename.length > 255)
      faults.push(`${name}: a file is named ${JSON.stringify(filename)}`);
    if (!/^[\w.+-]+\/[\w.+-]+$/.test(contentType)) faults.push(`${name}: a file is ${contentType}`);
  }
  const file = await fetch(`${service.url}/v1/received/${newest.id}/attachments/0`, {
    headers: { authorization: `Bearer ${LIVE_KEY}` },
  });
  await file.arrayBuffer();
  const disposition = file.headers.get('content-disposition') ?? '';
  if (
    file.ok &&
    (!disposition.startsWith('attachment') || file.headers.get('x-content-type-options') !== 'nosniff')
  )
    faults.push(`${name}: its file is given as ${disposition}`);
}

interface Cost {
  readonly reply: string;
  readonly ms: number;
  readonly answering: number;
  /** The longest that the answering thread worked while /health waited. */
  readonly held: number;
  readonly mb: number;
}

/** Milliseconds of a processor: of all threads of the service, and of the one that answers. */
const processorTime = () => {
  const { process: all, mainThread } = timeOf(service.pid);
  return { all: all / 1_000, answering: mainThread / 1_000 };
};

const answeringTime = (): number => timeOf(service.pid).mainThread / 1_000;

/**
 * The times of /health in milliseconds while something else goes on: by the clock, and of the answering
 * thread meanwhile.
 */
async function during(work: () => Promise<void>) {
  const health: number[] = [];
  const busy: number[] = [];
  let isOver = false;
  const beat = (async () => {
    while (!isOver) {
      const [begin, before] = [performance.now(), answeringTime()];
      await fetch(`${service.url}/health`).then((response) => response.text());
      health.push(performance.now() - begin);
      busy.push(answeringTime() - before);
      await Bun.sleep(5);
    }
  })();
  await work();
  isOver = true;
  await beat;
  return { health, busy };
}
const costs = new Map<string, Cost>();
for (const [name, { reply, isReport }] of Object.entries(HOSTILE_MAIL)) {
  forgetMost(service.pid);
  const [before, memory] = [processorTime(), memoryOf(service.pid).now];
  let answer = '';
  const { busy } = await during(async () => {
    answer = await send(name);
    await Bun.sleep(SETTLES_MS);
  });
  const after = processorTime();
  const mb = memoryOf(service.pid).most - memory;
  costs.set(name, {
    reply: answer,
    ms: after.all - before.all,
    answering: after.answering - before.answering,
    held: Math.max(...busy),
    mb,
  });
  if (!answer.startsWith(reply)) faults.push(`${name}: ${answer} in place of ${reply}`);
  if (mb > MOST_MB) faults.push(`${name}: ${mb} MB more`);
  if (reply === '250' && !isReport) await looksHarmless(name);
}
for (const [name, { reply, ms, answering, held, mb }] of costs)
  console.log(
    `${name.padEnd(54)} ${reply.slice(0, 9).padEnd(9)} ${ms.toFixed(0).padStart(5)} ms of a processor, ${answering.toFixed(0).padStart(4)} of the answering thread, at most ${held.toFixed(0).padStart(3)} at once, ${String(mb).padStart(4)} MB more`,
  );

const names = Object.keys(HOSTILE_MAIL);
const quiet = await during(() => Bun.sleep(SECONDS * 1_000));
forgetMost(service.pid);
let sent = 0;
const end = performance.now() + SECONDS * 1_000;
const loud = await during(async () => {
  // Three strangers at once.
  const stranger = async (from: number): Promise<void> => {
    for (let n = from; performance.now() < end; n++, sent++) await send(names[n % names.length] as string);
  };
  await Promise.all([stranger(0), stranger(11), stranger(22)]);
});
const told = (times: readonly number[]): string =>
  `${times.length} times, p50 ${percentile(times, 0.5).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms`;
console.log(
  `${sent} hostile messages from three clients; at most ${memoryOf(service.pid).most} MB resident.`,
);
console.log(`/health without them: ${told(quiet.health)}; of the answering thread ${told(quiet.busy)}`);
console.log(`/health meanwhile: ${told(loud.health)}; of the answering thread ${told(loud.busy)}`);
console.log(`The load of the machine was ${loadavg()[0]?.toFixed(1)}.`);
const worst = Math.max(...[...costs.values()].map(({ ms }) => ms));
const work = percentile(loud.busy, 0.99);
const marks = [
  [`a message in ${LONGEST_MS} ms of a processor`, worst <= LONGEST_MS],
  [`/health in ${HEALTH_P99_MS} ms of the answering thread`, work <= HEALTH_P99_MS],
  ['each is refused or shown without effect', faults.length === 0],
] as const;
for (const fault of faults) console.log(`✗ ${fault}`);
for (const [mark, isMet] of marks) console.log(`${isMet ? 'met' : 'missed'}: ${mark}`);
process.exitCode = marks.every(([, isMet]) => isMet) ? 0 : 1;
