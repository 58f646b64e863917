import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateDkimKey } from '../../src/mail/dkim/key-pair.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { postfixMissing, startPostfix } from '../integration/transport/postfix.ts';
import { createClient } from '../support/client.ts';
import { startCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { LIVE_KEY, startService } from '../support/service.ts';
import { parentOf, timeOf, timeOfServer, timeOfTree } from './cpu.ts';
import { onlooker } from './lives.ts';
import { median } from './median.ts';
import { submitAll } from './submitter.ts';

// Mail that comes by SMTP and leaves signed, beside Postfix with OpenDKIM, both durable, to sinks of one
// kind, in turns, in messages a second, and in the time of processors, which a busy machine changes less:
//   POSTHORN_EXECUTABLE=dist/posthorn bun tests/bench/postfix.ts [messages] [kB of each] [connections] [rounds]
// It needs root and the Debian packages postfix and opendkim. Posthorn signs twice (RSA-2048 and Ed25519),
// OpenDKIM once (RSA-2048).
const [messages = 2_000, kilobytes = 5, connections = 20, rounds = 3] = process.argv.slice(2).map(Number);

const missing =
  postfixMissing() ?? (Bun.which('opendkim') ? null : 'the Debian package opendkim is not installed');
if (missing) {
  console.error(`Not run: ${missing}.`);
  process.exit(1);
}

await using stack = new AsyncDisposableStack();
const home = mkdtempSync(join(tmpdir(), 'posthorn-beside-postfix-'));
stack.defer(() => rmSync(home, { recursive: true, force: true }));

/** A server that takes mail, and counts it. */
async function openCountingSink(): Promise<{ readonly port: number; readonly taken: () => number }> {
  const sink = Bun.spawn(
    [process.execPath, new URL('transport-sink.ts', import.meta.url).pathname, '--tell', 'r'],
    { stdout: 'pipe' },
  );
  stack.defer(() => sink.kill());
  let taken = -1;
  let port = 0;
  const decoder = new TextDecoder();
  const reader = sink.stdout.getReader();
  const first = decoder.decode((await reader.read()).value);
  port = Number(first.split('\n')[0]);
  taken = first.split('\n').length - 2;
  void (async () => {
    for (let next = await reader.read(); !next.done; next = await reader.read())
      taken += decoder.decode(next.value).split('\n').length - 1;
  })();
  return { port, taken: () => taken };
}

const text = 'Your order is on its way, and here is all that you have to know about it.\r\n';
const body = text.repeat(Math.ceil((kilobytes * 1_000) / text.length));
let number = 0;
const messageOf = (to: string): string =>
  [
    'From: Shop <shop@sender.example>',
    `To: ${to}`,
    'Subject: Your order',
    'Date: Fri, 27 Nov 2026 10:00:00 +0000',
    `Message-ID: <${to}.${Date.now()}>`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=us-ascii',
    '',
    body,
  ].join('\r\n');

interface Side {
  readonly name: string;
  readonly port: number;
  readonly auth?: { readonly user: string; readonly pass: string };
  readonly taken: () => number;
  /** The processor time of all its processes so far, in microseconds. */
  readonly worked: () => number;
}

/** A round of one side. */
interface Round {
  readonly rate: number;
  /** Microseconds of processors for a message. */
  readonly cost: number;
}

/** Sends all messages over pooled connections, and measures up to the last one at the sink. */
async function roundOf({ port, auth, taken, worked }: Side): Promise<Round> {
  const before = taken();
  const workedBefore = worked();
  const begun = performance.now();
  const mails = Array.from({ length: messages }, () => {
    const to = `r${number++}@receiver.example`;
    return { from: 'shop@sender.example', to, octets: Buffer.from(messageOf(to)) };
  });
  const { refusals } = await submitAll({ port, ...(auth && { auth }) }, connections, mails);
  for (const [words, count] of refusals) throw new Error(`${count} were refused: ${words}`);
  await eventually('all have left', () => taken() - before >= messages || undefined, {
    withinMs: 600_000,
    everyMs: 5,
  });
  const rate = (messages * 1_000) / (performance.now() - begun);
  return { rate, cost: (worked() - workedBefore) / messages };
}

async function postfixSide(): Promise<Side> {
  const sink = await openCountingSink();
  const { privateKey } = await generateDkimKey('rsa-sha256');
  const milter = await freePort();
  writeFileSync(join(home, 'key.pem'), privateKey, { mode: 0o600 });
  writeFileSync(
    join(home, 'opendkim.conf'),
    [
      'Syslog no',
      'Mode s',
      'Domain sender.example',
      'Selector one',
      `KeyFile ${join(home, 'key.pem')}`,
      'Canonicalization relaxed/relaxed',
      `Socket inet:${milter}@127.0.0.1`,
      'RequireSafeKeys no',
      'InternalHosts 127.0.0.1',
      '',
    ].join('\n'),
  );
  const signer = Bun.spawn(['opendkim', '-f', '-x', join(home, 'opendkim.conf')], {
    stdout: 'ignore',
    stderr: 'inherit',
  });
  stack.defer(() => signer.kill());
  const postfix = stack.use(
    await startPostfix({
      settings: [
        `relayhost = [127.0.0.1]:${sink.port}`,
        'mynetworks = 127.0.0.0/8',
        'smtpd_recipient_restrictions = permit_mynetworks, reject',
        `smtpd_milters = inet:127.0.0.1:${milter}`,
        'milter_default_action = tempfail',
        `default_destination_concurrency_limit = ${connections}`,
        `initial_destination_concurrency = ${connections}`,
        'smtp_destination_recipient_limit = 1',
        'smtp_connection_cache_on_demand = yes',
        '',
      ].join('\n'),
    }),
  );
  const worked = () => timeOfTree(postfix.pid) + timeOfTree(signer.pid);
  return { name: 'Postfix with OpenDKIM', port: postfix.port, taken: sink.taken, worked };
}

async function posthornSide(): Promise<Side> {
  const sink = await openCountingSink();
  const cluster = await startCluster();
  stack.defer(() => cluster.stop());
  const port = await freePort();
  const env = {
    DATABASE_URL: cluster.url,
    SECRET_KEY: 'only-for-this-bench-only-for-this-bench',
    SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=none`,
    SUBMISSION_PORT: String(port),
    DEFAULT_PLAN: 'unlimited',
    RATE_LIMIT_PER_IP: '0',
    RATE_LIMIT_PER_KEY: '0',
    LOG_LEVEL: 'warn',
  };
  // A reserved name verifies while mail is captured, and stays verified.
  const first = await startService({ env });
  await createClient(first.url, LIVE_KEY).post('/v1/domains', { name: 'sender.example' });
  await first.stop();
  const service = stack.use(await startService({ env: { ...env, TRANSPORT: 'smtp' } }));
  const sql = onlooker(cluster.url);
  stack.defer(() => sql.end());
  const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const server = parentOf(backend?.pid ?? 0);
  const worked = () => timeOf(service.pid).process + timeOfServer(server).all;
  return { name: 'Posthorn', port, auth: { user: 'svc', pass: LIVE_KEY }, taken: sink.taken, worked };
}

const sides = [await postfixSide(), await posthornSide()];
const figures = new Map<string, Round[]>(sides.map(({ name }) => [name, []]));
// The first round warms up, and does not count.
for (let round = 0; round <= rounds; round++)
  for (const side of sides) {
    const one = await roundOf(side);
    if (round > 0) figures.get(side.name)?.push(one);
    console.log(
      `round ${round}: ${side.name} ${Math.round(one.rate)} a second, ${Math.round(one.cost)} us of processors each`,
    );
  }
const [postfix = 0, posthorn = 0] = sides.map(({ name }) =>
  median((figures.get(name) ?? []).map(({ rate }) => rate)),
);
const [before = 0, now = 0] = sides.map(({ name }) =>
  median((figures.get(name) ?? []).map(({ cost }) => cost)),
);
console.log(
  `${messages} messages of ${kilobytes} kB over ${connections} connections: Postfix ${Math.round(postfix)}, Posthorn ${Math.round(posthorn)} a second, ${(posthorn / postfix).toFixed(2)} times; ${Math.round(before)} and ${Math.round(now)} us of processors each, PostgreSQL included`,
);
process.exit(0);
