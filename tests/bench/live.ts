import { generateDkimKey } from '../../src/mail/dkim/key-pair.ts';
import { createClient } from '../support/client.ts';
import { LIVE_KEY } from '../support/service.ts';
import { allAccepted } from './accepted.ts';
import { bareSender } from './bare-sender.ts';
import { atRest, onlooker } from './lives.ts';
import { type PreparedRequest, preparePost } from './load.ts';
import { median } from './median.ts';
import type { CpuPerItem } from './table.ts';
import type { Section, Workbench } from './workbench.ts';

const CONNECTIONS = 64;
/** SMTP sessions that each side holds open at once. */
const SESSIONS = 20;
const ROUNDS = 3;

/** The email that is sent live. */
export const LIVE_EMAIL = {
  from: 'Shop <shop@sender.example>',
  to: 'r@receiver.example',
  subject: 'Your order is on its way',
  text: 'Thank you for your order, it is on its way to you.\n'.repeat(30),
  html: `<html><body>${'<p>Thank you for your order, it is on its way to you.</p>\n'.repeat(50)}</body></html>`,
};

/**
 * Live email, from its acceptance over HTTP to its acceptance by a local sink, signed RSA-2048 and Ed25519,
 * every step durable; beside bare pooled nodemailer that signs RSA-2048 itself and keeps nothing, to the same
 * sink, in turns.
 */
export const live: Section = {
  name: 'live',
  async run(bench) {
    const count = Math.max(500, Math.round(bench.scale.emails / 8));
    await using sink = await openSink();
    const { port } = sink;
    const { privateKey } = await generateDkimKey('rsa-sha256');
    const bare = bareSender({ port, sessions: SESSIONS, privateKey });
    try {
      return await compare(bench, port, count, bare);
    } finally {
      bare.close();
    }
  },
};

/** A process that takes mail by SMTP and keeps nothing. */
export async function openSink(): Promise<{ readonly port: number } & AsyncDisposable> {
  const sink = Bun.spawn([process.execPath, new URL('transport-sink.ts', import.meta.url).pathname], {
    stdout: 'pipe',
  });
  const { value } = await sink.stdout.getReader().read();
  return {
    port: Number(new TextDecoder().decode(value)),
    async [Symbol.asyncDispose]() {
      sink.kill();
      await sink.exited;
    },
  };
}

/** Settings with which a service sends to that sink; its database gets a verified domain. */
export async function liveEnvironment(
  bench: Workbench,
  url: string,
  sinkPort: number,
): Promise<Record<string, string>> {
  const env = {
    SMTP_URL: `smtp://127.0.0.1:${sinkPort}?tls=none`,
    EHLO_NAME: 'bench.example',
    DEFAULT_PLAN: 'growth',
  };
  await verifyDomain(bench, url, env);
  return { ...env, TRANSPORT: 'smtp' };
}

/** Sends live emails, and waits until the sink has all of them. */
export async function allSent(url: string, send: PreparedRequest, emails: number): Promise<number> {
  const sql = onlooker(url);
  try {
    const sent = async () =>
      (await sql<{ n: number }[]>`select count(*)::int as n from email_turns where state = 'sent'`)[0]?.n ??
      0;
    const before = await sent();
    const begin = performance.now();
    await allAccepted(send, CONNECTIONS, emails);
    await atRest(sql);
    const rate = (emails * 1_000) / (performance.now() - begin);
    const ended = (await sent()) - before;
    if (ended !== emails) throw new Error(`Of ${emails} emails ${ended} were sent.`);
    return rate;
  } finally {
    await sql.end();
  }
}

async function compare(bench: Workbench, port: number, count: number, bare: ReturnType<typeof bareSender>) {
  const url = await bench.database('bench_live');
  await using service = await bench.service(url, await liveEnvironment(bench, url, port));
  const send = preparePost(service.port, '/v1/emails', LIVE_KEY, LIVE_EMAIL);
  const ours = (emails: number): Promise<number> => allSent(url, send, emails);
  const theirs = async (emails: number): Promise<number> => {
    let next = 0;
    const begin = performance.now();
    const worker = async (): Promise<void> => {
      while (next < emails) await bare.send(next++, LIVE_EMAIL);
    };
    await Promise.all(Array.from({ length: SESSIONS * 2 }, worker));
    return (emails * 1_000) / (performance.now() - begin);
  };
  bench.say('Live mail: warming up …');
  await ours(500);
  await theirs(500);
  const rates = { ours: [] as number[], theirs: [] as number[] };
  const costs: CpuPerItem[] = [];
  const bareCosts: CpuPerItem[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    bench.say(`Live mail and bare nodemailer in turns, ${round} of ${ROUNDS} …`);
    const bareSpent = bench.meterCpu(process);
    rates.theirs.push(await theirs(count));
    bareCosts.push(bareSpent(count));
    const spent = bench.meterCpu(service);
    rates.ours.push(await ours(count));
    costs.push(spent(count));
  }
  const over = { what: 'bare nodemailer', perSecond: median(rates.theirs) };
  const middle = (all: readonly CpuPerItem[]): CpuPerItem => ({
    service: median(all.map(({ service }) => service)),
    postgres: median(all.map(({ postgres }) => postgres)),
  });
  return [
    {
      what: 'bare nodemailer, pooled, RSA-2048, nothing kept',
      perSecond: over.perSecond,
      cpu: middle(bareCosts),
    },
    {
      what: '(l) live SMTP, both signatures, durable, 5 KB',
      perSecond: median(rates.ours),
      over,
      cpu: middle(costs),
    },
  ];
}

/** A reserved name verifies while mail is captured, and stays verified. */
async function verifyDomain(bench: Workbench, url: string, env: Record<string, string>): Promise<void> {
  await using first = await bench.service(url, { ...env, TRANSPORT: 'capture' });
  const added = await createClient(first.url, LIVE_KEY).post('/v1/domains', { name: 'sender.example' });
  if (added.body.data?.status !== 'verified') throw new Error(JSON.stringify(added.body));
  await first.stop();
}
