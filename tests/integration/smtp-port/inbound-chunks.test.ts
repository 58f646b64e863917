import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { LARGEST_INBOUND } from '../../../src/mail/received/inbound-server.ts';
import { eventually } from '../../support/eventually.ts';
import type { SmtpClient } from '../transport/smtp-client.ts';
import { openInboundSink, replies } from './inbound-sink.ts';

// The framing is that of the submission port, whose tests are in transport/submission-chunks.test.ts.

const MIB = 1_048_576;
const memory = { total: 10 * MIB, each: 10 * MIB };
const sink = await openInboundSink({ limits: { memory, connections: 500 } });
const { messages } = sink;
afterAll(() => sink[Symbol.asyncDispose]());
beforeEach(() => void messages.splice(0));

const HEAD = 'Subject: x\r\n\r\n';
const MESSAGE = `${HEAD}.\r\n..\r\n\xe9\r\nQUIT\r\n.\r\nBDAT 1 LAST\r\nend\r\n`;

const chunk = (octets: string, last = false): string =>
  `BDAT ${octets.length}${last ? ' LAST' : ''}\r\n${octets}`;

const send = (client: SmtpClient, text: string): void => client.sendOctets(Buffer.from(text, 'latin1'));

const ENVELOPE = 'MAIL FROM:<a@customer.example>\r\nRCPT TO:<known@sender.example>\r\n';

describe('a received message in chunks (RFC 3030)', () => {
  test('is announced', async () => {
    const client = await sink.greeted();
    expect(await client.say('EHLO client.test')).toContain('250 CHUNKING');
    client.end();
  });

  test('arrives as it was sent wherever two chunks meet, the last one empty too', async () => {
    const client = await sink.greeted();
    for (let cut = 0; cut <= MESSAGE.length; cut++) {
      send(client, `${ENVELOPE}${chunk(MESSAGE.slice(0, cut))}${chunk(MESSAGE.slice(cut), true)}NOOP\r\n`);
      const said = await replies(client, 5);
      expect(said.slice(2)).toEqual([
        `250 2.0.0 ${cut} octets received`,
        '250 2.0.0 Thank you',
        expect.stringMatching(/^250 2\.0\.0 /),
      ]);
      expect(messages.splice(0).map(({ raw }) => raw)).toEqual([MESSAGE]);
    }
    client.end();
  });

  test('arrives wherever two packets meet', async () => {
    const sent = `${ENVELOPE}${chunk(MESSAGE.slice(0, 9))}${chunk(MESSAGE.slice(9))}${chunk('', true)}`;
    const client = await sink.greeted();
    for (let cut = 1; cut < sent.length; cut++) {
      const answered = replies(client, 5);
      send(client, sent.slice(0, cut));
      // The second packet leaves after what the first one is answered.
      await client.flushed();
      send(client, sent.slice(cut));
      expect((await answered).at(-1)).toBe('250 2.0.0 Thank you');
      expect(messages.splice(0).map(({ raw }) => raw)).toEqual([MESSAGE]);
    }
    client.end();
  });

  test('follows another one, and one after DATA, on the same connection', async () => {
    const client = await sink.greeted();
    send(client, `${ENVELOPE}${chunk(`${HEAD}1\r\n`, true)}`);
    expect((await replies(client, 3)).at(-1)).toBe('250 2.0.0 Thank you');
    send(client, `${ENVELOPE}DATA\r\n`);
    expect((await replies(client, 3)).at(-1)).toStartWith('354 ');
    send(client, `${HEAD}2\r\n.\r\n`);
    expect((await replies(client, 1))[0]).toBe('250 2.0.0 Thank you');
    send(client, `${ENVELOPE}${chunk(`${HEAD}3\r\n`, true)}`);
    expect((await replies(client, 3)).at(-1)).toBe('250 2.0.0 Thank you');
    expect(messages.map(({ raw }) => raw.at(-3))).toEqual(['1', '2', '3']);
    client.end();
  });

  /** The octets that are sent in one piece, and the beginnings of the replies. */
  const REFUSED: Readonly<Record<string, readonly [string, readonly string[]]>> = {
    'after a recipient that is unknown': [
      'MAIL FROM:<>\r\nRCPT TO:<other@sender.example>\r\nBDAT 6 LAST\r\nQUIT\r\nNOOP\r\n',
      ['250 ', '550 5.1.1', '503 5.5.1', '250 '],
    ],
    'without MAIL': ['BDAT 6 LAST\r\nQUIT\r\nNOOP\r\n', ['503 5.5.1', '250 ']],
  };
  for (const [name, [sent, begins]] of Object.entries(REFUSED))
    test(`is answered in step, and its octets are no commands: ${name}`, async () => {
      const client = await sink.greeted();
      send(client, sent);
      const said = await replies(client, begins.length);
      expect(said.map((reply, index) => reply.slice(0, begins[index]?.length))).toEqual([...begins]);
      expect(messages).toEqual([]);
      client.end();
    });

  test('is not stored without a chunk that was refused, though a recipient is known later', async () => {
    const client = await sink.greeted();
    const begin = 'MAIL FROM:<>\r\nRCPT TO:<other@sender.example>\r\n';
    send(
      client,
      `${begin}${chunk('Subject: x\r\n\r\na')}RCPT TO:<known@sender.example>\r\n${chunk('b\r\n', true)}`,
    );
    expect((await replies(client, 5)).map((reply) => reply.slice(0, 3))).toEqual([
      '250',
      '550',
      '503',
      '503',
      '503',
    ]);
    expect(messages).toEqual([]);
    client.end();
  });

  test('whose chunk alone is larger than the limit ends the connection', async () => {
    const client = await sink.greeted();
    send(client, `BDAT ${LARGEST_INBOUND + 1}\r\nx`);
    expect((await replies(client, 1))[0]).toStartWith('552 5.3.4 ');
    await client.ended;
  });

  test('is not mixed with DATA, which is refused and leaves the chunks as they are', async () => {
    const client = await sink.greeted();
    send(
      client,
      `${ENVELOPE}${chunk(HEAD)}DATA\r\nRCPT TO:<known2@sender.example>\r\n${chunk('QUIT\r\n', true)}`,
    );
    const said = await replies(client, 6);
    expect(said.slice(3).map((reply) => reply.slice(0, 9))).toEqual(['503 5.5.1', '503 5.5.1', '250 2.0.0']);
    expect(messages.map(({ raw }) => raw)).toEqual([`${HEAD}QUIT\r\n`]);
    client.end();
  });

  test.each([
    'BDAT -1 LAST',
    'BDAT LAST',
    'BDAT 6 LAST LAST',
    'BDAT 0x6 LAST',
    'BDAT\t6 LAST',
    ' BDAT 6 LAST',
  ])('whose command %s cannot be read ends the connection, since its size is not known', async (command) => {
    const client = await sink.greeted();
    send(client, `${ENVELOPE}${command}\r\nQUIT\r\n`);
    expect((await replies(client, 3)).at(-1)).toStartWith('501 5.5.4 ');
    await client.ended;
  });

  test('with a line that ends in LF or CR alone is refused as after DATA, even between two chunks', async () => {
    for (const [first, second] of [
      ['Subject: x\r\n\r\na\nb\r\n', ''],
      ['Subject: x\r\n\r\na\r', 'b\r\n'],
      ['Subject: x\r\n\r\na', '\nb\r\n'],
    ] as const) {
      const client = await sink.greeted();
      send(client, `${ENVELOPE}${chunk(first)}${chunk(second, true)}NOOP\r\n`);
      const said = await replies(client, 5);
      expect(said.slice(3).map((reply) => reply.slice(0, 9))).toEqual(['550 5.5.2', '250 2.0.0']);
      client.end();
    }
    expect(messages).toEqual([]);
  });

  test('is refused before its octets where it is larger than the limit, and at the chunk that goes beyond', async () => {
    const stated = await sink.greeted();
    expect((await stated.say(`MAIL FROM:<a@b.example> SIZE=${LARGEST_INBOUND + 1}`))[0]).toStartWith('552 ');
    expect((await stated.say(`MAIL FROM:<a@b.example> SIZE=${LARGEST_INBOUND}`))[0]).toStartWith('250 ');
    stated.end();
    const client = await sink.greeted();
    send(client, `${ENVELOPE}${chunk(HEAD)}`);
    expect((await replies(client, 3)).at(-1)).toStartWith('250 ');
    send(client, chunk('x'.repeat(LARGEST_INBOUND - HEAD.length + 1)));
    expect((await replies(client, 1))[0]).toStartWith('552 5.3.4 ');
    send(client, `${chunk('x', true)}RSET\r\nNOOP\r\n`);
    expect((await replies(client, 3)).map((reply) => reply.slice(0, 3))).toEqual(['503', '250', '250']);
    expect(messages).toEqual([]);
    client.end();
  });

  test('is taken after a chunk that came before its sender', async () => {
    const client = await sink.greeted();
    send(client, `BDAT 1\r\nx${ENVELOPE}${chunk(HEAD, true)}`);
    expect((await replies(client, 4)).map((reply) => reply.slice(0, 3))).toEqual([
      '503',
      '250',
      '250',
      '250',
    ]);
    client.end();
  });

  test('that is stored begins the count of refused chunks again', async () => {
    const client = await sink.greeted();
    const refused = (times: number) => 'BDAT 1\r\nx'.repeat(times);
    send(client, `${refused(9)}${ENVELOPE}${chunk(HEAD, true)}${refused(9)}`);
    const codes = (await replies(client, 21)).map((reply) => reply.slice(0, 3));
    expect(codes).toEqual([...Array(9).fill('503'), '250', '250', '250', ...Array(9).fill('503')]);
    send(client, refused(1));
    expect((await replies(client, 1))[0]).toStartWith('421 4.5.1 ');
    client.end();
  });

  test.each([
    ['taken', ENVELOPE, 2],
    ['refused', '', 0],
  ])('ends the connection where the octets of a %s chunk do not arrive in time', async (_, before, said) => {
    const arrival = { everyMs: 50, octets: 1_000, mostMs: 60_000 };
    await using slow = await openInboundSink({ limits: { arrival } });
    const client = await slow.greeted();
    send(client, `${before}BDAT 5000\r\n`);
    await replies(client, said);
    const drip = setInterval(() => send(client, 'x'), 10);
    expect((await replies(client, 1))[0]).toBe('421 4.4.2 The message did not arrive in time');
    await client.ended;
    clearInterval(drip);
    client.end();
  });

  test('gives its memory back when its client goes in the middle', async () => {
    const large = `${HEAD}${'x'.repeat(70)}\r\n`.padEnd(9 * MIB, `${'x'.repeat(70)}\r\n`).concat('\r\n');
    const gone = await sink.greeted();
    send(gone, `${ENVELOPE}${chunk(large)}`);
    expect((await replies(gone, 3)).at(-1)).toStartWith('250 ');
    const second = await sink.greeted();
    send(second, `${ENVELOPE}${chunk(large, true)}`);
    expect((await replies(second, 3)).at(-1)).toStartWith('452 4.3.1 ');
    gone.end();
    await eventually('room again', async () => {
      const next = await sink.greeted();
      send(next, `${ENVELOPE}${chunk(large, true)}`);
      const [, , answer = ''] = await replies(next, 3);
      next.end();
      return answer.startsWith('250 ') || undefined;
    });
    second.end();
  });
});
