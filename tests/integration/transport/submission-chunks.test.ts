import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { eventually } from '../../support/eventually.ts';
import { SmtpClient } from './smtp-client.ts';
import { firstLine, openSubmissionSink } from './submission-sink.ts';

const room = 2 * 1024 * 1024;
const { server, submitted, signedIn } = await openSubmissionSink(room);
afterAll(() => server.close());
beforeEach(() => void submitted.splice(0));

/** A transaction up to its message. */
const ready = async (): Promise<SmtpClient> => {
  const client = await signedIn();
  await client.say('MAIL FROM:<a@sender.example>');
  await client.say('RCPT TO:<b@receiver.example>');
  return client;
};
const chunk = (octets: string, last = false): Buffer =>
  Buffer.from(`BDAT ${octets.length}${last ? ' LAST' : ''}\r\n${octets}`, 'latin1');
const replies = async (client: SmtpClient, count: number): Promise<string[]> => {
  const lines: string[] = [];
  while (lines.length < count) lines.push((await client.read())[0] ?? '');
  return lines;
};

describe('a message in chunks (RFC 3030)', () => {
  // Lines of dots, octets beyond ASCII, an end of line that two chunks share, and the words of commands.
  const MESSAGE = 'Subject: x\r\n\r\n.\r\n..\r\n\xe9\x00\r\nQUIT\r\n.\r\nRSET\r\nend\r\n';

  test('arrives octet by octet, however it is cut and sent', async () => {
    for (const size of [1, 2, 3, 7, 16, MESSAGE.length]) {
      const pieces = Array.from({ length: Math.ceil(MESSAGE.length / size) }, (_, index) =>
        MESSAGE.slice(index * size, (index + 1) * size),
      );
      const client = await ready();
      // Everything at once, as a client with PIPELINING may; then the last chunk, which is empty.
      client.sendOctets(Buffer.concat([...pieces.map((piece) => chunk(piece)), chunk('', true)]));
      const said = await replies(client, pieces.length + 1);
      expect(said.at(-1)).toBe('250 2.0.0 Accepted as em_1');
      expect(said[0]).toBe(`250 2.0.0 ${pieces[0]?.length} octets received`);
      expect(submitted.at(-1)?.raw).toBe(MESSAGE);
      client.end();
    }
  });

  test('arrives when its octets come one by one, and the next message of the session too', async () => {
    const client = await ready();
    for (const octet of chunk(MESSAGE, true)) client.sendOctets(Buffer.of(octet));
    expect((await client.read())[0]).toBe('250 2.0.0 Accepted as em_1');
    await client.say('MAIL FROM:<a@sender.example>');
    await client.say('RCPT TO:<b@receiver.example>');
    client.sendOctets(chunk('Subject: y\r\n\r\n', true));
    expect((await client.read())[0]).toBe('250 2.0.0 Accepted as em_1');
    expect(submitted.map(({ raw }) => raw)).toEqual([MESSAGE, 'Subject: y\r\n\r\n']);
    client.end();
  });

  /** The octets that a signed-in client sends in one piece, with the replies to them. */
  const REFUSED: Readonly<Record<string, readonly [string, readonly string[]]>> = {
    'without MAIL': ['BDAT 6 LAST\r\nQUIT\r\nNOOP\r\n', ['503 5.5.1', '250 2.0.0']],
    'without a recipient that was taken': [
      'MAIL FROM:<a@sender.example>\r\nRCPT TO:<b@>\r\nBDAT 6 LAST\r\nQUIT\r\nNOOP\r\n',
      ['250 2.1.0', '501 5.', '503 5.5.1', '250 2.0.0'],
    ],
    'with a word that is not LAST': [
      'MAIL FROM:<a@sender.example>\r\nRCPT TO:<b@r.example>\r\nBDAT 6 FIRST\r\nQUIT\r\nBDAT 6 LAST\r\nQUIT\r\nRSET\r\nNOOP\r\n',
      ['250 2.1.0', '250 2.1.5', '501 5.5.4', '503 5.5.1', '250 2.0.0', '250 2.0.0'],
    ],
    'with DATA or a recipient in the middle': [
      'MAIL FROM:<a@sender.example>\r\nRCPT TO:<b@r.example>\r\nBDAT 1\r\nxDATA\r\nRCPT TO:<c@r.example>\r\nMAIL FROM:<>\r\nBDAT 0 LAST\r\n',
      ['250 2.1.0', '250 2.1.5', '250 2.0.0', '503 5.5.1', '503 5.5.1', '503 5.5.1', '250 2.0.0'],
    ],
    'taken back with RSET': [
      'MAIL FROM:<a@sender.example>\r\nRCPT TO:<b@r.example>\r\nBDAT 1\r\nxRSET\r\nBDAT 1 LAST\r\nxNOOP\r\n',
      ['250 2.1.0', '250 2.1.5', '250 2.0.0', '250 2.0.0', '503 5.5.1', '250 2.0.0'],
    ],
  };
  for (const [name, [sent, begins]] of Object.entries(REFUSED))
    test(`${name} is answered in step, and its octets are no commands`, async () => {
      const client = await signedIn();
      client.sendOctets(Buffer.from(sent));
      const said = await replies(client, begins.length);
      expect(said.map((reply, index) => reply.slice(0, begins[index]?.length))).toEqual([...begins]);
      client.end();
    });

  test('without a number, or without a password, ends the session', async () => {
    for (const [isSignedIn, command, begins] of [
      [true, 'BDAT', '501 5.5.4'],
      [true, 'BDAT x LAST', '501 5.5.4'],
      [true, 'BDAT -1', '501 5.5.4'],
      [true, 'BDAT 1234567890123456', '501 5.5.4'],
      [false, 'BDAT 6 LAST', '530 5.7.0'],
    ] as const) {
      const client = isSignedIn ? await signedIn() : await SmtpClient.open(server.port);
      expect(await firstLine(client, command)).toStartWith(begins);
      await client.ended;
    }
  });

  test('beyond its largest size is refused at the chunk that goes beyond, and the session goes on', async () => {
    const client = await ready();
    client.sendOctets(chunk('x'.repeat(1_000)));
    expect((await client.read())[0]).toStartWith('250 ');
    // The octets are dropped as they come.
    client.sendOctets(chunk('x'.repeat(25 * 1024 * 1024 - 999)));
    expect((await client.read())[0]).toStartWith('552 5.3.4 ');
    client.sendOctets(chunk('x', true));
    expect((await client.read())[0]).toStartWith('503 5.5.1 ');
    expect(await firstLine(client, 'RSET')).toStartWith('250 ');
    expect(submitted).toEqual([]);
    client.end();
  });

  test('in thousands of chunks that come in one packet is taken, and each is answered', async () => {
    const count = 20_000;
    const client = await ready();
    client.sendOctets(
      Buffer.concat([...Array.from({ length: count }, () => chunk('x')), chunk('\r\n', true)]),
    );
    const said = await replies(client, count + 1);
    expect(said.slice(0, -1).every((reply) => reply === '250 2.0.0 1 octets received')).toBe(true);
    expect(said.at(-1)).toBe('250 2.0.0 Accepted as em_1');
    expect(submitted.map(({ raw }) => raw)).toEqual([`${'x'.repeat(count)}\r\n`]);
    client.end();
  });

  test('gives its room back when the client goes, or gives it up', async () => {
    const large = 'x'.repeat(room - 200_000);
    for (const leave of [
      (client: SmtpClient) => client.end(),
      (client: SmtpClient) => void client.say('RSET'),
    ]) {
      const client = await ready();
      client.sendOctets(chunk(large));
      expect((await client.read())[0]).toStartWith('250 ');
      leave(client);
      await eventually('room for another one', async () => {
        const next = await ready();
        next.sendOctets(chunk(large, true));
        const [reply = ''] = await next.read();
        next.end();
        return reply.startsWith('250 ') || undefined;
      });
      client.end();
    }
  });
});

const LARGE = 20 * 1024 * 1024;

const submit = async (client: SmtpClient, octets: number): Promise<string> => {
  await client.say('MAIL FROM:<a@sender.example>');
  await client.say('RCPT TO:<b@receiver.example>');
  client.sendOctets(chunk('x'.repeat(octets), true));
  return (await client.read())[0] ?? '';
};

test('large messages are read and stored one after the other, and small ones beside them', async () => {
  const all = Promise.withResolvers<void>();
  let [begun, atOnce, most] = [0, 0, 0];
  const slow = await openSubmissionSink(10 * LARGE, async (octets) => {
    if (octets < LARGE) return;
    begun++;
    most = Math.max(most, ++atOnce);
    await all.promise;
    atOnce--;
  });
  const clients = await Promise.all([1, 2, 3, 4].map(() => slow.signedIn()));
  const [first, ...rest] = clients as [SmtpClient, ...SmtpClient[]];
  const replies = rest.map((client) => submit(client, LARGE));
  await eventually('one is being read', () => begun === 1 || undefined);
  expect(await submit(first, 60_000)).toStartWith('250 ');
  all.resolve();
  for (const reply of replies) expect(await reply).toStartWith('250 ');
  expect([begun, most]).toEqual([3, 1]);
  for (const client of clients) client.end();
  await slow.server.close();
});

describe('large messages that wait', () => {
  const begun: string[] = [];
  let first = Promise.withResolvers<void>();
  const sink = openSubmissionSink(10 * LARGE, async (octets, workspaceId) => {
    if (octets < LARGE) return;
    begun.push(workspaceId);
    if (begun.length === 1) await first.promise;
  });
  beforeEach(() => {
    begun.splice(0);
    first = Promise.withResolvers<void>();
  });
  afterAll(async () => (await sink).server.close());

  /** Sends a large message of a workspace, of which all but the end has come. */
  const send = async (workspaceId: string) => {
    const client = await (await sink).signedIn(workspaceId);
    await client.say('MAIL FROM:<a@sender.example>');
    await client.say('RCPT TO:<b@receiver.example>');
    client.sendOctets(chunk('x'.repeat(LARGE)));
    await client.read();
    client.sendOctets(chunk('\r\n', true));
    return { client, reply: client.read() };
  };
  /** Returns when what was sent before has come: small messages go by those that wait. */
  const come = async () => {
    const small = await (await sink).signedIn('ws_small');
    for (let sent = 0; sent < 3; sent++) expect(await submit(small, 100)).toStartWith('250 ');
    small.end();
  };

  test('are read workspace by workspace, however many of one came first', async () => {
    const many = [await send('ws_many')];
    await eventually('the first is being read', () => begun.length === 1 || undefined);
    for (let sent = 0; sent < 4; sent++) many.push(await send('ws_many'));
    const one = await send('ws_one');
    await come();
    first.resolve();
    for (const { client, reply } of [...many, one]) {
      expect((await reply)[0]).toStartWith('250 ');
      client.end();
    }
    expect(begun).toEqual(['ws_many', 'ws_one', 'ws_many', 'ws_many', 'ws_many', 'ws_many']);
  });

  test('are dropped when their client hangs up', async () => {
    const served = await send('ws_1');
    await eventually('the first is being read', () => begun.length === 1 || undefined);
    const gone = await send('ws_gone');
    await come();
    gone.client.end();
    await come();
    first.resolve();
    expect((await served.reply)[0]).toStartWith('250 ');
    const next = await send('ws_next');
    expect((await next.reply)[0]).toStartWith('250 ');
    for (const { client } of [served, next]) client.end();
    expect(begun).toEqual(['ws_1', 'ws_next']);
  });
});
