/**
 * Bare pooled nodemailer signing RSA-2048 itself against this service's relay transport making both
 * signatures, to the same local sink, in turns within one run. Prints messages per second and the ratio.
 *
 * `bun tests/bench/transport.ts [messages] [connections]`
 */

import { createTransport } from 'nodemailer';
import { generateDkimKey } from '../../src/mail/dkim/key-pair.ts';
import { loadSigningKey } from '../../src/mail/dkim/signing-key.ts';
import { RelayTransport } from '../../src/mail/transport/smtp/relay.ts';
import type { OutboundMessage } from '../../src/mail/transport/transport.ts';
import { poolParts } from '../support/pool-parts.ts';
import { median } from './median.ts';

const MESSAGES = Number(process.argv[2] ?? 3_000);
const CONNECTIONS = Number(process.argv[3] ?? 5);
const ROUNDS = 3;

const rsa = await generateDkimKey('rsa-sha256');
const ed25519 = await generateDkimKey('ed25519-sha256');
const key = (selector: string, pem: string) => loadSigningKey({ domain: 'sender.example', selector, pem });

const HTML = `<html><body>${'<p>Thank you for your order, it is on its way to you.</p>\n'.repeat(50)}</body></html>`;
const TEXT = 'Thank you for your order, it is on its way to you.\n'.repeat(30);

const message = (n: number, dkim: OutboundMessage['dkim']): OutboundMessage => ({
  emailId: `em_${n}`,
  attempt: 1,
  from: { name: 'Shop', address: 'shop@sender.example' },
  to: [{ name: null, address: `r${n}@receiver.example` }],
  cc: [],
  bcc: [],
  replyTo: [],
  recipients: [`r${n}@receiver.example`],
  subject: `Order ${n}`,
  text: TEXT,
  html: HTML,
  headers: [],
  attachments: [],
  messageId: `<em_${n}@sender.example>`,
  date: Date.now(),
  returnPath: `b+${n}@sender.example`,
  dkim,
  unsubscribe: null,
});

type Send = (n: number) => Promise<unknown>;

/** Sends all of them with twice as many under way as there are connections, and gives messages per second. */
const rate = async (send: Send): Promise<number> => {
  let next = 0;
  const begin = performance.now();
  const worker = async () => {
    for (let n = next++; n < MESSAGES; n = next++) await send(n);
  };
  await Promise.all(Array.from({ length: CONNECTIONS * 2 }, worker));
  return (MESSAGES * 1_000) / (performance.now() - begin);
};

const sink = Bun.spawn([process.execPath, new URL('transport-sink.ts', import.meta.url).pathname], {
  stdout: 'pipe',
});
const { value } = await sink.stdout.getReader().read();
const port = Number(new TextDecoder().decode(value));

const bare = createTransport({
  host: '127.0.0.1',
  port,
  pool: true,
  maxConnections: CONNECTIONS,
  maxMessages: Number.POSITIVE_INFINITY,
  ignoreTLS: true,
  dkim: { domainName: 'sender.example', keySelector: 'r', privateKey: rsa.privateKey },
});
const bareSend: Send = (n) => {
  const { from, to, subject, text, html, messageId, returnPath } = message(n, []);
  const envelope = { from: returnPath, to: [to[0]?.address ?? ''] };
  const [recipient] = to.map(({ address }) => ({ name: '', address }));
  const sender = { name: from.name ?? '', address: from.address };
  return bare.sendMail({
    from: sender,
    to: recipient,
    subject,
    text: text ?? '',
    html: html ?? '',
    messageId,
    envelope,
  });
};

const relay = new RelayTransport(
  {
    host: '127.0.0.1',
    port,
    name: 'sink.test',
    tls: 'none',
    verifyCertificate: true,
    ca: null,
    ehloName: 'bench.test',
    credentials: null,
    connectMs: 5_000,
    silenceMs: 30_000,
  },
  poolParts(),
  { sessions: CONNECTIONS, messagesPerSession: Number.POSITIVE_INFINITY, idleMs: 30_000 },
);
const limits = { signal: new AbortController().signal, deadlineMs: 30_000 };
const ours =
  (dkim: OutboundMessage['dkim']): Send =>
  async (n) => {
    const [outcome] = await relay.send(message(n, dkim), limits);
    if (outcome?.outcome !== 'accepted') throw new Error(`not accepted: ${outcome?.response}`);
  };

const variants: Record<string, Send> = {
  'nodemailer, RSA-2048': bareSend,
  'ours, RSA-2048 and Ed25519': ours([key('r', rsa.privateKey), key('e', ed25519.privateKey)]),
  'ours, RSA-2048': ours([key('r', rsa.privateKey)]),
  'ours, unsigned': ours([]),
};

const rates = new Map<string, number[]>(Object.keys(variants).map((name) => [name, []]));
for (let round = 0; round < ROUNDS; round++)
  for (const [name, send] of Object.entries(variants)) rates.get(name)?.push(await rate(send));

const base = median(rates.get('nodemailer, RSA-2048') ?? []);
console.log(`${MESSAGES} messages, ${CONNECTIONS} connections, median of ${ROUNDS} rounds`);
for (const [name, values] of rates)
  console.log(
    `${name.padEnd(28)} ${Math.round(median(values)).toString().padStart(6)}/s  ${(median(values) / base).toFixed(2)}`,
  );

bare.close();
await relay.close();
sink.kill();
