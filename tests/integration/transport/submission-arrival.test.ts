import { afterAll, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import { PassThrough } from 'node:stream';
import { endWhenSlow } from '../../../src/mail/inbound/connection.ts';
import { ARRIVAL } from '../../../src/mail/submission/submission-server.ts';
import { eventually } from '../../support/eventually.ts';
import type { SmtpClient } from './smtp-client.ts';
import { openSubmissionSink } from './submission-sink.ts';

const EVERY = 400;
/** The intervals that a server began, by their milliseconds, and the times that each came round. */
const rounds = new Map<number, number>();
const begin = globalThis.setInterval;
const begun = spyOn(globalThis, 'setInterval').mockImplementation(((work: () => void, ms: number) => {
  rounds.set(ms, rounds.get(ms) ?? 0);
  return begin(() => {
    rounds.set(ms, (rounds.get(ms) ?? 0) + 1);
    work();
  }, ms);
}) as unknown as typeof setInterval);
beforeEach(() => rounds.clear());

const arrival = { everyMs: EVERY, octets: 2, mostMs: 5 * EVERY };
const room = 1024 * 1024;
const sink = await openSubmissionSink(room, async () => {}, { arrival });
afterAll(async () => {
  begun.mockRestore();
  await sink.server.close();
});

/** Sends an octet again and again, until what it returns is called. */
const drip = (client: SmtpClient): (() => void) => {
  const timer = begin(() => client.sendOctets(Buffer.from('x')), 10);
  return () => clearInterval(timer);
};
const roundsCome = (count: number) =>
  eventually(`${count} times`, () => (rounds.get(EVERY) ?? 0) >= count || undefined);

/** The beginning and the end of a message. */
const WAYS: Readonly<Record<string, readonly [begins: string, ends: string]>> = {
  'after DATA': ['DATA\r\n', '\r\n.\r\n'],
  'in a chunk': ['BDAT 1000000\r\n', ''],
};

describe.each(Object.entries(WAYS))('a message %s', (_, [begins, ends]) => {
  const ready = async (): Promise<SmtpClient> => {
    const client = await sink.signedIn();
    await client.say('MAIL FROM:<a@sender.example>');
    await client.say('RCPT TO:<b@receiver.example>');
    client.sendOctets(Buffer.from(begins));
    if (begins.startsWith('DATA')) expect((await client.read())[0]).toStartWith('354 ');
    return client;
  };

  test('is taken as long as it goes on arriving', async () => {
    const client = await ready();
    const stop = drip(client);
    await roundsCome(3);
    stop();
    client.sendOctets(ends === '' ? Buffer.alloc(1_000_000, 'QUIT\r\n') : Buffer.from(ends));
    expect((await client.read())[0]).toStartWith('250 2.0.0 ');
    client.end();
  });

  test('ends the connection once it stalls', async () => {
    const client = await ready();
    const stop = drip(client);
    await roundsCome(2);
    stop();
    client.sendOctets(Buffer.from('x'));
    expect((await client.read())[0]).toBe('421 4.4.2 The message did not arrive in time');
    expect(rounds.get(EVERY)).toBeLessThan(5);
    await client.ended;
    client.end();
  });

  test('ends the connection when its whole time is over, however steadily it arrives', async () => {
    const client = await ready();
    const stop = drip(client);
    expect((await client.read())[0]).toBe('421 4.4.2 The message did not arrive in time');
    stop();
    expect(rounds.get(EVERY)).toBe(5);
    await client.ended;
    client.end();
  });
});

test('chunks without octets do not keep a message that was begun', async () => {
  const client = await sink.signedIn();
  await client.say('MAIL FROM:<a@sender.example>');
  await client.say('RCPT TO:<b@receiver.example>');
  client.sendOctets(Buffer.from(`BDAT ${room - 1}\r\n${'x'.repeat(room - 1)}`));
  expect((await client.read())[0]).toStartWith('250 ');
  const replies = (async () => {
    for (;;) {
      const [reply = ''] = await client.say('BDAT 0');
      if (!reply.startsWith('250 ')) return reply;
    }
  })();
  expect(await replies).toBe('421 4.4.2 The message did not arrive in time');
  // Its memory is free again.
  const next = await sink.signedIn();
  await next.say('MAIL FROM:<a@sender.example>');
  await next.say('RCPT TO:<b@receiver.example>');
  next.sendOctets(Buffer.from(`BDAT ${room - 1} LAST\r\n${'x'.repeat(room - 1)}`));
  expect((await next.read())[0]).toStartWith('250 2.0.0 Accepted');
  for (const one of [client, next]) one.end();
});

describe('an authenticated submission', () => {
  beforeEach(async () => {
    const usual = await openSubmissionSink(room);
    const client = await usual.signedIn();
    await client.say('MAIL FROM:<a@sender.example>');
    await client.say('RCPT TO:<b@receiver.example>');
    await client.say('DATA');
    expect([...rounds.keys()]).toEqual([ARRIVAL.everyMs]);
    client.end();
    await usual.server.close();
  });

  test.each([
    [1_048_576, 60],
    [1_048_575, 10],
  ])('of which %i octets arrive in ten minutes ends after %i minutes', (octets, minutes) => {
    const codes: number[] = [];
    const stream = Object.assign(new PassThrough(), { byteLength: 0 });
    const next = Promise.withResolvers<() => void>();
    begun.mockImplementationOnce(((work: () => void, ms: number) => {
      next.resolve(work);
      return begin(() => {}, ms);
    }) as unknown as typeof setInterval);
    endWhenSlow({ send: (code) => void codes.push(code) }, stream, ARRIVAL);
    return next.promise.then((work) => {
      let passed = 0;
      while (codes.length === 0 && passed < 120) {
        stream.byteLength += octets;
        work();
        passed += ARRIVAL.everyMs / 60_000;
      }
      stream.destroy();
      expect([codes, passed]).toEqual([[421], minutes]);
    });
  });
});
