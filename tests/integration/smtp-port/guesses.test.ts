import { expect, test } from 'bun:test';
import { GuessLimit } from '../../../src/mail/inbound/port/guess-limit.ts';
import { eventually } from '../../support/eventually.ts';
import type { SmtpClient } from '../transport/smtp-client.ts';
import { openInboundSink, replies } from './inbound-sink.ts';

/** The port with the limits of production, whose late answers wait until the test lets them go. */
async function slowPort(options: Parameters<typeof openInboundSink>[0] = {}) {
  const clock = { ms: 0 };
  const late: (() => void)[] = [];
  const guesses = new GuessLimit(
    {},
    { monotonic: () => clock.ms, wait: () => new Promise<void>((go) => late.push(go)) },
  );
  return { clock, late, sink: await openInboundSink({ guesses, ...options }) };
}

const MAIL = 'MAIL FROM:<a@customer.example>\r\n';
const unknown = (count: number): string =>
  Array.from({ length: count }, (_, number) => `RCPT TO:<guess-${number}@sender.example>\r\n`).join('');
const send = (client: SmtpClient, text: string): void => client.sendOctets(Buffer.from(text));
const known = 'RCPT TO:<known@sender.example>';

test('a client that guesses addresses waits from the 21st on, and has to leave after the 100th', async () => {
  const { clock, late, sink } = await slowPort();
  await using _ = sink;
  const client = await sink.greeted();
  send(client, MAIL + unknown(20));
  const first = (await replies(client, 21)).slice(1);
  expect(new Set(first)).toEqual(new Set(['550 5.1.1 No such mailbox here']));

  send(client, unknown(1));
  await eventually('the 21st waits', () => late.length === 1 || undefined);
  // One who waits holds up no other connection, of the same client or of another.
  const other = await sink.greeted();
  await other.say(MAIL.trimEnd());
  expect((await other.say(known))[0]).toStartWith('250 ');
  late[0]?.();
  expect((await replies(client, 1))[0]).toStartWith('550 5.1.1 ');

  send(client, unknown(79));
  for (let number = 1; number < 80; number++) {
    const go = await eventually('the next one waits', () => late[number]);
    go();
    expect((await replies(client, 1))[0]).toStartWith('550 5.1.1 ');
  }
  expect((await client.say('RCPT TO:<guess-100@sender.example>'))[0]).toStartWith(
    '421 4.7.0 Too many unknown recipients from your address',
  );
  await client.ended;
  // A known one is put off as well: its answer would tell it from the unknown.
  expect((await other.say('RCPT TO:<known-too@sender.example>'))[0]).toStartWith('421 4.7.0 ');
  await other.ended;

  clock.ms = 600_000;
  const again = await sink.greeted();
  await again.say(MAIL.trimEnd());
  expect((await again.say(known))[0]).toStartWith('250 ');
  expect((await again.say('RCPT TO:<guess@sender.example>'))[0]).toStartWith('550 5.1.1 ');
  again.end();
});

test('a server that brings mail to many may name many that are gone', async () => {
  const { late, sink } = await slowPort();
  await using _ = sink;
  const client = await sink.greeted();
  for (let number = 0; number < 30; number++) {
    const taken = Array.from({ length: 10 }, (__, index) => `RCPT TO:<known-${index}@sender.example>\r\n`);
    send(client, `${MAIL}${unknown(8)}${taken.join('')}BDAT 14 LAST\r\nSubject: x\r\n\r\n`);
    const said = await replies(client, 20);
    expect(said.filter((reply) => reply.startsWith('550 5.1.1 '))).toHaveLength(8);
    expect(said.at(-1)).toBe('250 2.0.0 Thank you');
  }
  expect(sink.messages).toHaveLength(30);
  expect(late).toEqual([]);
  client.end();
});

test('a message to one route takes one off, whatever its tags, and a report none', async () => {
  const { clock: _, ...rest } = await slowPort({
    routeOf: (address) => address.replace(/\+.*@/, '@'),
    takesReports: (address) => address.startsWith('abuse'),
  });
  await using sink = rest.sink;
  const client = await sink.greeted();
  send(client, MAIL + unknown(20));
  await replies(client, 21);
  const tagged = Array.from({ length: 50 }, (__, tag) => `RCPT TO:<known+${tag}@sender.example>\r\n`).join(
    '',
  );
  send(client, `RSET\r\n${MAIL}${tagged}BDAT 14 LAST\r\nSubject: x\r\n\r\n`);
  expect((await replies(client, 53)).at(-1)).toBe('250 2.0.0 Thank you');
  const report = 'Content-Type: multipart/report\r\n\r\n';
  send(client, `${MAIL}RCPT TO:<abuse@sender.example>\r\nBDAT ${report.length} LAST\r\n${report}`);
  expect((await replies(client, 3)).at(-1)).toBe('250 2.0.0 Thank you');
  send(client, MAIL + unknown(2));
  expect((await replies(client, 2)).at(-1)).toStartWith('550 5.1.1 ');
  await eventually('the second one waits', () => rest.late.length === 1 || undefined);
  client.end();
});

test('a client that has brought mail goes on to known recipients when others in its network guess', async () => {
  await using sink = await openInboundSink({ guesses: new GuessLimit({ free: 0, most: 0 }) });
  const client = await sink.greeted();
  send(client, `${MAIL}${known}\r\nBDAT 14 LAST\r\nSubject: x\r\n\r\n`);
  expect((await replies(client, 3)).at(-1)).toBe('250 2.0.0 Thank you');
  const guesser = await sink.greeted();
  await guesser.say(MAIL.trimEnd());
  expect((await guesser.say('RCPT TO:<guess@sender.example>'))[0]).toStartWith('421 4.7.0 ');
  await client.say(MAIL.trimEnd());
  expect((await client.say(known))[0]).toStartWith('250 ');
  client.end();
});

test('a client that goes waits no longer', async () => {
  const waits: (AbortSignal | undefined)[] = [];
  const wait = (_: number, signal?: AbortSignal) => {
    waits.push(signal);
    return new Promise((__, fail) => signal?.addEventListener('abort', fail));
  };
  await using sink = await openInboundSink({ guesses: new GuessLimit({ free: 0 }, { wait }) });
  const client = await sink.greeted();
  send(client, MAIL + unknown(1));
  await eventually('it waits', () => waits.length === 1 || undefined);
  client.end();
  await eventually('it waits no longer', () => waits[0]?.aborted || undefined);
});

test('no more than five connections of a client wait; the sixth ends', async () => {
  const { late, sink } = await slowPort();
  await using _ = sink;
  const clients = await Promise.all(Array.from({ length: 6 }, () => sink.greeted()));
  const [sixth, ...five] = clients as [SmtpClient, ...SmtpClient[]];
  send(sixth, MAIL + unknown(20));
  await replies(sixth, 21);
  for (const client of five) send(client, MAIL + unknown(1));
  await eventually('five wait', () => late.length === 5 || undefined);
  expect((await sixth.say('RCPT TO:<guess@sender.example>'))[0]).toStartWith('421 4.7.0 ');
  await sixth.ended;
  for (const go of late) go();
  for (const client of five) {
    expect((await replies(client, 2)).at(-1)).toStartWith('550 5.1.1 ');
    client.end();
  }
});
