import { afterAll, describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect } from 'node:net';
import { GuessLimit } from '../../../src/mail/inbound/port/guess-limit.ts';
import { eventually } from '../../support/eventually.ts';
import { openInboundSink } from './inbound-sink.ts';

const holding: { isOn: boolean; goOn: (() => void) | null } = { isOn: false, goOn: null };
const sink = await openInboundSink({
  onMessage: async ({ raw }) => {
    if (holding.isOn) await new Promise<void>((go) => Object.assign(holding, { goOn: go }));
    stored.push(raw.toString('latin1'));
  },
});
const stored: string[] = [];
afterAll(() => sink[Symbol.asyncDispose]());

const ENVELOPE = 'MAIL FROM:<a@customer.example>\r\nRCPT TO:<known@sender.example>\r\n';
const MESSAGE = 'Subject: x\r\n\r\nHello\r\n';

/**
 * Says `text` after the greeting, closes its side at once, and reads on until the server has closed its own.
 */
async function halfClosed(text: string, whenSent: () => Promise<void> = async () => {}): Promise<string[]> {
  const socket = connect({ port: sink.server.port, host: '127.0.0.1', allowHalfOpen: true });
  let said = '';
  socket.on('data', (octets) => {
    said += octets.toString('latin1');
  });
  await once(socket, 'data');
  const end = once(socket, 'end');
  socket.end(text);
  await once(socket, 'finish');
  await whenSent();
  await end;
  socket.destroy();
  return said.split('\r\n').flatMap((line) => (/^\d{3} /.test(line) ? [line.slice(0, 9).trim()] : []));
}

describe('a client that closes its side before it has read the replies gets them', () => {
  test('after a message by DATA', async () => {
    const said = await halfClosed(`EHLO client.test\r\n${ENVELOPE}DATA\r\n${MESSAGE}.\r\n`);
    expect(said.map((reply) => reply.slice(0, 3))).toEqual(['220', '250', '250', '250', '354', '250']);
    expect(stored.splice(0)).toEqual([MESSAGE]);
  });

  test('after a message in chunks, with QUIT behind it', async () => {
    const chunk = `BDAT ${MESSAGE.length} LAST\r\n${MESSAGE}`;
    const said = await halfClosed(`EHLO client.test\r\n${ENVELOPE}${chunk}QUIT\r\n`);
    expect(said.map((reply) => reply.slice(0, 3))).toEqual(['220', '250', '250', '250', '250', '221']);
    expect(stored.splice(0)).toEqual([MESSAGE]);
  });

  test('where storing takes longer than the close', async () => {
    holding.isOn = true;
    const said = await halfClosed(
      `EHLO client.test\r\n${ENVELOPE}DATA\r\n${MESSAGE}.\r\nQUIT\r\n`,
      async () => {
        const goOn = await eventually('the message is being stored', () => holding.goOn ?? undefined);
        goOn();
      },
    );
    holding.isOn = false;
    expect(said.slice(-2)).toEqual(['250 2.0.0', '221 2.0.0']);
    expect(stored.splice(0)).toEqual([MESSAGE]);
  });

  test('a command without a line end, and one who says nothing', async () => {
    expect(await halfClosed('EHLO client.test\r\nNOOP')).toHaveLength(3);
    expect(await halfClosed('')).toHaveLength(1);
  });
});

test('a message whose client closes before its end is not stored', async () => {
  const said = await halfClosed(`EHLO client.test\r\n${ENVELOPE}DATA\r\n${MESSAGE}`);
  expect(said.at(-1)?.slice(0, 3)).toBe('354');
  const parts = await halfClosed(`EHLO client.test\r\n${ENVELOPE}BDAT 100 LAST\r\n${MESSAGE}`);
  expect(parts).toHaveLength(4);
  expect(stored).toEqual([]);
});

test('a client that guesses addresses and hangs up is not waited for', async () => {
  const waits: (AbortSignal | undefined)[] = [];
  const wait = (_ms: number, signal?: AbortSignal) => {
    waits.push(signal);
    return new Promise((_, reject) => signal?.addEventListener('abort', reject));
  };
  const guesses = new GuessLimit({ free: 0 }, { monotonic: () => 0, wait });
  await using slow = await openInboundSink({ guesses });
  const client = await slow.greeted();
  await client.say('MAIL FROM:<a@customer.example>');
  client.sendOctets(Buffer.from('RCPT TO:<guess@sender.example>\r\n'));
  const signal = await eventually('the guess waits', () => waits[0]);
  client.end();
  await eventually('it waits no longer', () => signal.aborted || undefined);
});
