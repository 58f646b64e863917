// The memory of a service while mail comes in for long:
//   POSTHORN_EXECUTABLE=dist/posthorn bun tests/bench/received-memory.ts [--messages 1000000] [--connections 16] [--kilobytes 2] [--seconds N]
// It samples the resident memory and the heap of the service after every hundredth of the messages, deletes
// what is stored before, so that the disk stays small, and fits a line through the samples of the second
// half. It ends with an error where the line climbs by more than 50 MB, or by a fifth of what the memory is,
// over the whole run. `--seconds` ends it early, after so many.
import { parseArgs } from 'node:util';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { startNameServer } from '../integration/transport/name-server.ts';
import { createClient } from '../support/client.ts';
import { startCluster } from '../support/cluster.ts';
import { LIVE_KEY, startService } from '../support/service.ts';
import { onlooker } from './lives.ts';
import { memoryOf } from './memory.ts';
import { submitAll } from './submitter.ts';

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '1000000' },
    connections: { type: 'string', default: '16' },
    kilobytes: { type: 'string', default: '2' },
    seconds: { type: 'string', default: 'Infinity' },
  },
});
const [messages, connections] = [Number(values.messages), Number(values.connections)];
const [kilobytes, seconds] = [Number(values.kilobytes), Number(values.seconds)];
const SAMPLES = 100;
/** A line takes two points in the second half. */
const LEAST_SAMPLES = 3;
const MOST_MB = 50;
const MOST_SHARE = 0.2;

await using stack = new AsyncDisposableStack();
const cluster = await startCluster();
stack.defer(() => cluster.stop());
const [port, metricsPort] = [await freePort(), await freePort()];
// No domain of a sender is there: every question is asked, and answered at once.
const dns = stack.use(await startNameServer());
const service = stack.use(
  await startService({
    env: {
      DATABASE_URL: cluster.url,
      SECRET_KEY: 'only-for-this-bench-only-for-this-bench',
      INBOUND_SMTP_PORT: String(port),
      DNS_SERVERS: `${dns.server.address}:${dns.server.port}`,
      METRICS_PORT: String(metricsPort),
      DEFAULT_PLAN: 'unlimited',
      LOG_LEVEL: 'warn',
    },
  }),
);
const client = createClient(service.url, LIVE_KEY);
const domain = await client.post('/v1/domains', { name: 'acme.example' });
const routed = await client.post('/v1/inbound-routes', {
  domainId: domain.body.data?.id,
  match: { type: 'catchAll' },
  action: { type: 'keep' },
});
if (routed.status !== 201) throw new Error(JSON.stringify(routed.body));
const sql = onlooker(cluster.url);
stack.defer(() => sql.end());

const line = 'Your order is on its way, and here is all that you have to know about it.\r\n';
const body = line.repeat(Math.ceil((kilobytes * 1_000) / line.length));
// Senders, subjects and threads are many: what a service remembers of each would show.
const messageOf = (n: number): { readonly from: string; readonly to: string; readonly octets: Buffer } => {
  const from = `c${n % 50_000}@customer${n % 5_000}.example`;
  const to = `support+${n % 10_000}@acme.example`;
  const octets = [
    `From: Customer ${n} <${from}>`,
    `To: ${to}`,
    `Subject: Order ${n}`,
    'Date: Sun, 29 Nov 2026 10:00:00 +0000',
    `Message-ID: <${n}.${crypto.randomUUID()}@customer.example>`,
    '',
    body,
  ];
  return { from, to, octets: Buffer.from(octets.join('\r\n')) };
};

interface Sample {
  /** Messages so far. */
  readonly at: number;
  readonly resident: number;
  readonly heap: number;
}
async function sample(at: number): Promise<Sample> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const heap = Number(/^process_heap_bytes (\S+)/m.exec(text)?.[1] ?? Number.NaN) / 1_000_000;
  return { at, resident: memoryOf(service.pid).now, heap };
}

/** The slope of the line through the points, by least squares. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, one) => sum + one, 0) / values.length;
  const [x, y] = [mean(points.map((one) => one[0])), mean(points.map((one) => one[1]))];
  const above = points.reduce((sum, one) => sum + (one[0] - x) * (one[1] - y), 0);
  return above / points.reduce((sum, one) => sum + (one[0] - x) ** 2, 0);
}

const step = Math.ceil(messages / SAMPLES);
const samples = [await sample(0)];
const begin = performance.now();
let sent = 0;
while (sent < messages && performance.now() - begin < seconds * 1_000) {
  const count = Math.min(step, messages - sent);
  const { taken, refusals } = await submitAll(
    { port },
    connections,
    Array.from({ length: count }, (_, n) => messageOf(sent + n)),
  );
  if (taken < count) throw new Error(`Refused: ${[...refusals.keys()].join('; ')}`);
  sent += count;
  await sql.unsafe('truncate received, received_contents, received_journal');
  const last = await sample(sent);
  samples.push(last);
  console.log(
    `${String(sent).padStart(9)} messages, ${Math.round(sent / ((performance.now() - begin) / 1_000))} a second: ${last.resident} MB resident, ${last.heap.toFixed(1)} MB of heap`,
  );
}
if (samples.length < LEAST_SAMPLES)
  throw new Error(
    `Too few samples for a line: ${samples.length}, and it takes ${LEAST_SAMPLES}. Raise --seconds or lower --messages.`,
  );
const half = samples.slice(Math.floor(samples.length / 2));
const climbOf = (part: 'resident' | 'heap'): number => slopeOf(half.map((one) => [one.at, one[part]])) * sent;
const [resident, heap] = [climbOf('resident'), climbOf('heap')];
const middle = half[Math.floor(half.length / 2)]?.resident ?? 0;
const most = Math.max(MOST_MB, middle * MOST_SHARE);
console.log(
  `Over ${sent} messages the line of the second half climbs by ${resident.toFixed(1)} MB resident and ${heap.toFixed(1)} MB of heap (${((resident / sent) * 1e6).toFixed(1)} and ${((heap / sent) * 1e6).toFixed(1)} octets a message).`,
);
const isFlat = resident <= most && heap <= MOST_MB;
console.log(`${isFlat ? 'met' : 'missed'}: at most ${most.toFixed(0)} MB resident and ${MOST_MB} MB of heap`);
process.exitCode = isFlat ? 0 : 1;
