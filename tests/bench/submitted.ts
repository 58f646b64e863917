import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { AUTHORITY, CERTIFICATE, PRIVATE_KEY } from '../integration/transport/certificates.ts';
import { createClient } from '../support/client.ts';
import { startCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { LIVE_KEY, startService } from '../support/service.ts';
import { meterCpu, meterThreads, parentOf } from './cpu.ts';
import { openSink } from './live.ts';
import { onlooker } from './lives.ts';
import { memoryOf } from './memory.ts';
import { submitAll } from './submitter.ts';
import { type OneRound, takeTurns } from './turns.ts';

// Mail that comes by SMTP, from the first octet to the sink, and the memory that it takes:
//   POSTHORN_EXECUTABLE=dist/posthorn bun tests/bench/submitted.ts [messages] [kB of each] [connections]
// 4,000 messages of 5 kB over 16 connections tell the rate; 50 of 18,000 kB over 50 connections (25 MiB once
// encoded) the memory. Executables take turns, each beside a separate database server, and are compared with
// the first; the first round warms up:
//   bun tests/bench/submitted.ts --executables /work/before/dist/posthorn,dist/posthorn [--rounds 5] 4000 5 16
// --threads tells the processor time of each thread as well.
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    executables: { type: 'string', default: '' },
    rounds: { type: 'string', default: '1' },
    threads: { type: 'boolean', default: false },
  },
});
const [MESSAGES = 4_000, KILOBYTES = 5, CONNECTIONS = 16] = positionals.map(Number);
const executables = values.executables === '' ? [''] : values.executables.split(',');

await using stack = new AsyncDisposableStack();
const files = mkdtempSync(join(tmpdir(), 'posthorn-submitted-'));
stack.defer(() => rmSync(files, { recursive: true }));
writeFileSync(join(files, 'cert.pem'), CERTIFICATE);
writeFileSync(join(files, 'key.pem'), PRIVATE_KEY);

const text = 'Your order is on its way, and here is all that you have to know about it.\r\n';
const isLarge = KILOBYTES > 1_000;
const content = isLarge
  ? Buffer.alloc(KILOBYTES * 1_000, 'posthorn')
      .toString('base64')
      .replace(/.{76}/g, '$&\r\n')
  : text.repeat(Math.ceil((KILOBYTES * 1_000) / 2 / text.length));
const messageOf = (n: number): string =>
  [
    'From: Shop <shop@sender.example>',
    `To: r${n}@receiver.example`,
    `Subject: Order ${n}`,
    'Date: Fri, 27 Nov 2026 10:00:00 +0000',
    `Message-ID: <${n}.order@sender.example>`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/${isLarge ? 'mixed' : 'alternative'}; boundary="b"`,
    '',
    '--b',
    'Content-Type: text/plain; charset=utf-8',
    '',
    isLarge ? text : content,
    '--b',
    isLarge
      ? 'Content-Type: application/pdf; name="a.pdf"\r\nContent-Transfer-Encoding: base64'
      : 'Content-Type: text/html; charset=utf-8',
    '',
    isLarge ? content : `<html><body><p>${content}</p></body></html>`,
    '--b--',
    '',
  ].join('\r\n');

let number = 0;

/** A service of an executable, to which mail is submitted. */
async function contender(executable: string): Promise<(count: number) => Promise<OneRound>> {
  const sink = stack.use(await openSink());
  const cluster = await startCluster();
  stack.defer(() => cluster.stop());
  const port = await freePort();
  const env = {
    DATABASE_URL: cluster.url,
    SECRET_KEY: 'only-for-this-bench-only-for-this-bench',
    SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=none`,
    SUBMISSION_PORT: String(port),
    SUBMISSION_TLS_CERT: join(files, 'cert.pem'),
    SUBMISSION_TLS_KEY: join(files, 'key.pem'),
    DEFAULT_PLAN: 'unlimited',
    RATE_LIMIT_PER_IP: '0',
    RATE_LIMIT_PER_KEY: '0',
    LOG_LEVEL: 'warn',
  };
  const command = executable === '' ? {} : { command: [executable] };
  // A reserved name verifies while mail is captured, and stays verified.
  const first = await startService({ env, ...command });
  await createClient(first.url, LIVE_KEY).post('/v1/domains', { name: 'sender.example' });
  await first.stop();
  const service = stack.use(await startService({ env: { ...env, TRANSPORT: 'smtp' }, ...command }));
  const session = {
    port,
    tls: { ca: AUTHORITY, servername: 'relay.test' },
    auth: { user: 'svc', pass: LIVE_KEY },
  };
  const sql = onlooker(cluster.url);
  stack.defer(() => sql.end());
  const sent = async (): Promise<number> =>
    (await sql<{ n: number }[]>`select count(*)::int as n from email_turns where state = 'sent'`)[0]?.n ?? 0;
  const idle = memoryOf(service.pid).now;
  const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;

  return async (count) => {
    const sentBefore = await sent();
    const cpu = meterCpu([service.pid], parentOf(backend?.pid ?? 0));
    const byThread = meterThreads(service.pid);
    const messages = Array.from({ length: count }, () => {
      const to = `r${++number}@receiver.example`;
      return { from: 'shop@sender.example', to, octets: Buffer.from(messageOf(number)) };
    });
    const begun = performance.now();
    const { taken: accepted, refusals } = await submitAll(session, CONNECTIONS, messages);
    const acceptedMs = performance.now() - begun;
    await eventually(
      'all have left',
      async () => ((await sent()) - sentBefore >= accepted ? true : undefined),
      { withinMs: 600_000 },
    );
    const arrivedMs = performance.now() - begun;
    const each = cpu(accepted);
    const threads = byThread(accepted);
    const rate = (ms: number) => (accepted * 1_000) / ms;
    console.log(
      `${executable || 'It'}: ${accepted} of ${count} messages of ${KILOBYTES} kB accepted at ${Math.round(rate(acceptedMs))} a second, sent at ${Math.round(rate(arrivedMs))} a second;`,
      `${Math.round(each.service)} us of the service and ${Math.round(each.postgres)} us of PostgreSQL each;`,
      `idle ${idle} MB, at most ${memoryOf(service.pid).most} MB`,
    );
    for (const [words, many] of refusals) console.log(`  ${many} × ${words}`);
    if (values.threads)
      for (const [name, us] of Object.entries(threads).toSorted((a, b) => b[1] - a[1]))
        if (us >= 1) console.log(`  ${us.toFixed(0).padStart(5)} us ${name}`);
    return { perSecond: rate(arrivedMs), cpu: each };
  };
}

const contenders: Record<string, (count: number) => Promise<OneRound>> = {};
for (const executable of executables) contenders[executable] = await contender(executable);
if (executables.length === 1) await contenders[executables[0] ?? '']?.(MESSAGES);
else {
  for (const warm of Object.values(contenders)) await warm(MESSAGES);
  const turns = await takeTurns(contenders, Number(values.rounds), MESSAGES, console.log);
  for (const { name, perSecond, cpu, rate, cost } of turns)
    console.log(
      `${name}: ${Math.round(perSecond)} a second, ${rate.median.toFixed(2)} times the first (${rate.least.toFixed(2)} to ${rate.most.toFixed(2)});`,
      `${Math.round(cpu.service)} us of the service, ${cost.median.toFixed(2)} times; ${Math.round(cpu.postgres)} us of PostgreSQL`,
    );
}
process.exit(0);
