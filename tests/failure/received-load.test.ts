import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { openSubmitter } from '../bench/submitter.ts';
import { startCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import {
  DirectSenders,
  faultsOf,
  judgeLedger,
  Ledger,
  octetsOf,
  SENDER,
  type StoredRow,
  startReceivers,
} from './received-load.ts';
import { costFigures, programFigures, spanFigures } from './received-load-figures.ts';
import { repliesIn } from './received-load-replies.ts';

// The short form of `received-load-long.ts`, which has real mail servers, a full disk and a rate.

const progress = (ledger: Ledger, messages: number): Promise<unknown> => {
  const goal = ledger.answered + messages;
  return eventually(`${messages} more messages`, async () => ledger.answered >= goal || undefined);
};

test('two instances take mail while PostgreSQL fails and each is killed: what was answered 250 is there once', async () => {
  const cluster = await startCluster();
  try {
    await using receivers = await startReceivers(cluster.url);
    const ledger = new Ledger();
    await using senders = new DirectSenders(ledger, receivers.ports, 8);
    await progress(ledger, 40);
    await receivers.strike(0);
    await progress(ledger, 40);
    await cluster.strike();
    await cluster.up();
    await progress(ledger, 40);
    await receivers.strike(1);
    await progress(ledger, 40);
    await senders.finish();
    expect(senders.again).toBeGreaterThan(0);
    const { rows, faults } = await judgeLedger(cluster.url, ledger, receivers.services[0]?.url ?? '');
    expect(faults).toEqual([]);
    expect(rows.length).toBeGreaterThan(160);
  } finally {
    await cluster.stop();
  }
});

test('the ledger tells of a message that is lost, doubled, foreign or broken', () => {
  const ledger = new Ledger();
  const entry = ledger.add('direct');
  const rows = entry.to.map((to, at) => ({ id: `rcv_${at}`, messageId: entry.messageId, to, isWhole: true }));
  expect([entry.to.length, faultsOf(rows, ledger), faultsOf([], ledger)]).toEqual([2, [], []]);
  const kinds = (found: readonly StoredRow[]) => faultsOf(found, ledger).map((fault) => fault.split(':')[0]);
  const [one] = rows as [StoredRow, ...StoredRow[]];
  expect(kinds([one])).toEqual(['lost']);
  expect(kinds([...rows, { ...one, id: 'rcv_9' }])).toEqual(['doubled']);
  expect(kinds([...rows, { ...one, messageId: '<other@customer.example>' }])).toEqual(['foreign']);
  expect(kinds(rows.map((row) => ({ ...row, isWhole: false })))).toEqual(['broken', 'broken']);
  entry.isAnswered = true;
  expect(kinds([])).toEqual(['lost']);
  entry.refusal = '550 5.1.1 No such mailbox here';
  expect(kinds(rows)).toEqual(['refused']);
});

/** A server that answers each message so. */
async function answering(
  reply: string,
): Promise<AsyncDisposable & { readonly port: number; readonly left: Promise<void> }> {
  const left = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.write('220 mx.example\r\n');
    let isData = false;
    createInterface(socket).on('line', (line) => {
      if (!socket.writable || (isData && line !== '.')) return;
      const answer = isData ? reply : line === 'DATA' ? '354 Go' : '250 Yes';
      isData = line === 'DATA';
      socket.write(`${answer}\r\n`);
      if (reply.startsWith('4') && answer === reply) socket.end();
    });
    socket.on('error', () => {});
    socket.on('close', () => left.resolve());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    left: left.promise,
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}

test('senders tell of each message that is refused for good, and hand none of them in again', async () => {
  await using server = await answering('550 5.6.0 No');
  const ledger = new Ledger();
  await using senders = new DirectSenders(ledger, [server.port], 1);
  await eventually('refused messages', async () => ledger.entries.size > 3 || undefined);
  await senders.finish();
  expect(senders.again).toBe(0);
  const faults = faultsOf([], ledger);
  expect(faults.length).toBe(ledger.entries.size);
  for (const fault of faults) expect(fault).toMatch(/^refused: <.*>: 550 5\.6\.0 No$/);
});

test('senders end where no server takes what they have', async () => {
  const ledger = new Ledger();
  await using server = await answering('451 4.3.0 Later');
  {
    await using senders = new DirectSenders(ledger, [server.port], 2);
    await eventually('messages that come again', async () => senders.again > 3 || undefined);
  }
  expect(faultsOf([], ledger)).toHaveLength(2);
});

test('a session that ended between two messages says so at the next message', async () => {
  await using server = await answering('451 4.3.0 Later');
  const session = await openSubmitter({ port: server.port });
  const entry = new Ledger().add('direct');
  await expect(session.send(SENDER, entry.to, octetsOf(entry))).rejects.toThrow('451');
  await server.left;
  await new Promise((resolve) => setImmediate(resolve));
  await expect(session.send(SENDER, entry.to, octetsOf(entry))).rejects.toThrow();
});

const POSTFIX_LOG = `Nov 30 03:40:33 mx postfix/cleanup[12]: 5AC04: message-id=<postfix-1@customer.example>
Nov 30 03:40:33 mx postfix/smtp[13]: 5AC04: to=<a@elsewhere.test>, relay=127.0.0.1[127.0.0.1]:4025, delay=1, delays=0/0/0/1, dsn=2.0.0, status=sent (250 2.0.0 Thank you)
Nov 30 03:40:33 mx postfix/smtp[13]: 5AC04: to=<b@elsewhere.test>, relay=127.0.0.1[127.0.0.1]:4025, delay=1, delays=0/0/0/1, dsn=4.3.1, status=deferred (host 127.0.0.1[127.0.0.1] said: 452 4.3.1 Later (in reply to RCPT TO command))`;
const EXIM_LOG = `2026-11-30 03:40:33 1vPcAB-0001cd-2E <= ada@customer.example H=localhost P=esmtp S=900 id=exim-1@customer.example
2026-11-30 03:40:33 1vPcAB-0001cd-2E == a@elsewhere.test R=next T=next defer (111): Connection refused
2026-11-30 03:40:34 1vPcAB-0001cd-2E => a@elsewhere.test R=next T=next H=127.0.0.1 [127.0.0.1] C="250 2.0.0 Thank you"`;
const OPENSMTPD_LOG =
  'dc mta delivery evpid=cc from=<ada@customer.example> to=<a@elsewhere.test> rcpt=<-> source="127.0.0.4" relay="127.0.0.1 (localhost)" delay=1s result="Ok" stat="250 2.0.0 Thank you"';

test.each([
  [
    'postfix',
    POSTFIX_LOG,
    ['<postfix-1@customer.example> a@elsewhere.test'],
    '452 4.3.1 Later (in reply to RCPT TO command)',
  ],
  [
    'exim',
    EXIM_LOG,
    ['<exim-1@customer.example> a@elsewhere.test'],
    'R=next T=next defer (111): Connection refused',
  ],
  ['opensmtpd', OPENSMTPD_LOG, null, null],
] as const)(
  'the log of %s tells which messages were answered 250, and all other answers',
  (name, log, taken, other) => {
    const replies = repliesIn(name, log);
    expect(replies.taken && [...replies.taken]).toEqual(taken && [...taken]);
    expect(Object.fromEntries(replies.counts)).toEqual({
      '250 2.0.0 Thank you': 1,
      ...(other && { [other]: 1 }),
    });
  },
);

test('a program that brought nothing has no figures of others, and each has its time alone', () => {
  const at = (by: string, ...moments: number[]) => moments.map((one) => ({ by, at: one }));
  const stored = [...at('postfix', 1_000, 1_500, 3_000), ...at('exim', 2_000, 4_000)];
  const span = { from: 0, to: 10_000 };
  expect(programFigures(stored, span)).toEqual({
    postfix: { messages: 3, seconds: 2, 'a second': 2 },
    exim: { messages: 2, seconds: 2, 'a second': 1 },
  });
  expect(spanFigures(stored, span)).toEqual({
    seconds: 10,
    messages: 5,
    'a second': 1,
    'longest pause, ms': 6_000,
  });
  const { rows, usAMessage } = costFigures(
    { instances: 10_000, postfix: 3_000, exim: 2_000, opensmtpd: 0 },
    { postfix: 3, exim: 2, opensmtpd: 0 },
  );
  expect(usAMessage).toBe(3_000);
  expect(rows).toMatchObject({
    instances: { messages: 5, 'µs a message': 2_000 },
    postfix: { messages: 3, 'µs a message': 1_000 },
    opensmtpd: { messages: 0 },
  });
});
