import postgres from 'postgres';
import { createClient } from '../support/client.ts';
import { startCluster } from '../support/cluster.ts';
import { LIVE_KEY, startService } from '../support/service.ts';
import { timersPassed } from '../support/stored-email.ts';
import { memoryOf } from './memory.ts';

// The memory of a process that delivers large live mail, all of it due at once, to a sink that thinks a while
// after each message; the process did not take the mail in:
//   bun tests/bench/large-mail.ts [emails] [MB of attachment each] [seconds the sink thinks] [MB at which to give up]

const EMAILS = Number(process.argv[2] ?? 64);
const MEGABYTES = Number(process.argv[3] ?? 20);
const THINKS_MS = Number(process.argv[4] ?? 2) * 1_000;
const CEILING = Number(process.argv[5] ?? 14_000);

/** Accepts everything, and forgets a message while it arrives. */
const sink = Bun.listen<{ inData: boolean; tail: string }>({
  hostname: '127.0.0.1',
  port: 0,
  socket: {
    open(socket) {
      socket.data = { inData: false, tail: '' };
      socket.write('220 sink.test ESMTP\r\n');
    },
    data(socket, chunk) {
      const { data } = socket;
      data.tail += chunk.toString('latin1');
      if (data.inData) {
        data.tail = data.tail.slice(-5);
        if (data.tail !== '\r\n.\r\n') return;
        data.inData = false;
        data.tail = '';
        setTimeout(() => socket.write('250 2.0.0 Ok: queued\r\n'), THINKS_MS);
        return;
      }
      for (let end = data.tail.indexOf('\r\n'); end >= 0; end = data.tail.indexOf('\r\n')) {
        const verb = data.tail.slice(0, 4);
        data.tail = data.tail.slice(end + 2);
        data.inData = verb === 'DATA';
        socket.write(verb === 'DATA' ? '354 Go ahead\r\n' : '250 Ok\r\n');
      }
    },
  },
});

await using stack = new AsyncDisposableStack();
stack.defer(() => sink.stop(true));
const cluster = await startCluster();
stack.defer(() => cluster.stop());
const sql = postgres(cluster.url, { max: 1, onnotice: () => {} });
stack.defer(() => sql.end());

const start = (transport: string) =>
  startService({
    env: {
      DATABASE_URL: cluster.url,
      SECRET_KEY: 'only-for-this-bench-only-for-this-bench',
      TRANSPORT: transport,
      ...(transport === 'smtp' && { SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=none` }),
      EHLO_NAME: 'bench.example',
      DEFAULT_PLAN: 'growth',
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
      LOG_LEVEL: 'warn',
    },
  });

// A reserved name verifies while mail is captured, and stays verified.
const first = await start('capture');
const client = createClient(first.url, LIVE_KEY);
const added = await client.post('/v1/domains', { name: 'sender.example' });
if (added.body.data?.status !== 'verified') throw new Error(JSON.stringify(added.body));
const content = Buffer.from(crypto.getRandomValues(new Uint8Array(65_536)))
  .toString('base64')
  .slice(0, 65_536)
  .repeat(Math.ceil((MEGABYTES * 1_000_000 * 4) / 3 / 65_536));
const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
for (let index = 0; index < EMAILS; index++) {
  const sent = await client.post('/v1/emails', {
    from: 'shop@sender.example',
    to: `r${index}@receiver.example`,
    subject: 'Your catalogue',
    text: 'It is attached.',
    attachments: [{ filename: 'catalogue.bin', content }],
    scheduledAt,
  });
  if (sent.status !== 202) throw new Error(JSON.stringify(sent.body));
}
await first.stop();
for (const text of timersPassed(`'scheduled', 'queued'`)) await sql.unsafe(text);

const service = stack.use(await start('smtp'));
const idle = memoryOf(service.pid).now;
const begun = performance.now();
let done = 0;
let most = 0;
while (done < EMAILS && most < CEILING && performance.now() - begun < 240_000) {
  await Bun.sleep(200);
  most = memoryOf(service.pid).most;
  done =
    (await sql<{ n: number }[]>`select count(*)::int as n from email_turns where state = 'sent'`)[0]?.n ?? 0;
}
const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
console.log(
  `${EMAILS} emails with ${MEGABYTES} MB attached: ${done} sent within ${seconds} s; idle ${idle} MB, at most ${most} MB`,
);
