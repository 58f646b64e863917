import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { ReceivedBody } from '../../../src/http/request/route.ts';
import { NotSubmittable } from '../../../src/mail/raw/raw-mail.ts';
import { MailRoom } from '../../../src/mail/submission/mail-room.ts';
import { Failure } from '../../../src/platform/errors/failure.ts';
import { UnavailableError } from '../../../src/platform/errors/unavailable.ts';
import { type RawDeps, rawEmailRoutes } from '../../../src/sending/emails/raw/raw-routes.ts';
import { eventually } from '../../support/eventually.ts';
import { openSubmissionSink } from './submission-sink.ts';

// Both SMTP ports and POST /v1/emails/raw have one room: its memory, and the turns of large messages.

const LARGE = 20 * 1024 * 1024;
const room = new MailRoom({ total: 10 * LARGE, each: 5 * LARGE });
/** The messages that are being read, by their way and workspace, and the end of the first one. */
const begun: string[] = [];
let first = Promise.withResolvers<void>();
const read = async (way: string, octets: number, workspaceId: string): Promise<void> => {
  if (octets < LARGE) return;
  begun.push(`${way} ${workspaceId}`);
  if (begun.length === 1) await first.promise;
};
const ports = await Promise.all(
  [1, 2].map((port) =>
    openSubmissionSink(
      LARGE,
      (octets, workspaceId) => read(`port ${port}`, octets, workspaceId),
      {},
      { mailRoom: room },
    ),
  ),
);
afterAll(() => Promise.all(ports.map(({ server }) => server.close())));
beforeEach(() => {
  begun.splice(0);
  first = Promise.withResolvers<void>();
});

const READ = new NotSubmittable('It was read');
const [sendRaw] = rawEmailRoutes({
  mailRoom: room,
  mailReader: {
    raw: async (octets: Buffer, workspaceId: string) => {
      await read('raw', octets.length, workspaceId);
      return READ;
    },
  },
} as unknown as RawDeps);

const PIECE = 1_048_576;

/** The answer to a raw message. */
async function post(workspaceId: string, octets: number, signal?: AbortSignal): Promise<unknown> {
  const call = {
    caller: { kind: 'key', workspaceId, livemode: true },
    headers: new Headers(),
    query: {},
    unheard: () => signal,
  };
  const pieces = async function* () {
    for (let at = 0; at < octets; at += PIECE) yield new Uint8Array(Math.min(PIECE, octets - at));
  };
  const body = await sendRaw?.receive?.(pieces(), call as never);
  if (!(body instanceof ReceivedBody)) return body;
  try {
    return await sendRaw?.handle({ ...call, body } as never);
  } catch (error) {
    return error;
  } finally {
    await body.release();
  }
}
const wasRead = (answer: unknown): boolean =>
  answer instanceof Failure && answer.extra.details?.[0]?.message === 'It was read.';

/** Submits a large message at a port, whose reply is awaited later. */
async function submit(
  port: 0 | 1,
  workspaceId: string,
): Promise<{ readonly reply: Promise<readonly string[]> }> {
  const client = await (ports[port] as (typeof ports)[number]).signedIn(workspaceId);
  await client.say('MAIL FROM:<a@sender.example>');
  await client.say('RCPT TO:<b@receiver.example>');
  client.sendOctets(Buffer.from(`BDAT ${LARGE}\r\n${'x'.repeat(LARGE)}`));
  await client.read();
  client.sendOctets(Buffer.from('BDAT 0 LAST\r\n'));
  return { reply: client.read() };
}

describe('large messages, whichever way they come,', () => {
  test('are read one after the other, workspaces in turn, and small ones at once', async () => {
    const many = [post('ws_many', LARGE)];
    await eventually('the first is being read', () => begun.length === 1 || undefined);
    for (let more = 0; more < 3; more++) many.push(post('ws_many', LARGE));
    const other = await submit(0, 'ws_port');
    const third = await submit(1, 'ws_other_port');
    expect(wasRead(await post('ws_many', 60_000))).toBe(true);
    // Both wait once a small message behind them at their port was taken.
    for (const [at, { signedIn }] of ports.entries()) {
      const client = await signedIn(`ws_small_${at}`);
      await client.say('MAIL FROM:<a@sender.example>');
      await client.say('RCPT TO:<b@receiver.example>');
      expect(await client.say('BDAT 2 LAST\r\n')).toEqual(['250 2.0.0 Accepted as em_1']);
      client.end();
    }
    expect(begun).toEqual(['raw ws_many']);
    first.resolve();
    expect((await Promise.all(many)).every(wasRead)).toBe(true);
    for (const { reply } of [other, third]) expect((await reply)[0]).toStartWith('250 ');
    expect(begun[0]).toBe('raw ws_many');
    expect(begun.slice(1, 3).toSorted()).toEqual(['port 1 ws_port', 'port 2 ws_other_port']);
    expect(begun.slice(3)).toEqual(['raw ws_many', 'raw ws_many', 'raw ws_many']);
  });

  test('have one memory: a workspace has its share of it, and the octet beyond is refused', async () => {
    const { reply: smtp } = await submit(0, 'ws_1');
    await eventually('it is being read', () => begun.length === 1 || undefined);
    const waiting = Array.from({ length: 4 }, () => post('ws_1', LARGE));
    await eventually('all have arrived', () => !room.hasRoom('ws_1', 65_537) || undefined);
    const refused = (await post('ws_1', 65_537)) as Failure;
    expect([refused.code, refused.extra.retryAfterSeconds]).toEqual(['SERVICE_UNAVAILABLE', 1]);
    expect(wasRead(await post('ws_1', 65_536))).toBe(true);
    const { reply: over } = await submit(1, 'ws_1');
    expect((await over)[0]).toStartWith('452 4.3.1 ');
    first.resolve();
    expect((await Promise.all(waiting)).every(wasRead)).toBe(true);
    expect((await smtp)[0]).toStartWith('250 ');
    expect(wasRead(await post('ws_1', LARGE))).toBe(true);
  });

  test('are dropped when their client is gone, or has its answer', async () => {
    const served = post('ws_1', LARGE);
    await eventually('the first is being read', () => begun.length === 1 || undefined);
    const gone = new AbortController();
    const dropped = post('ws_gone', LARGE, gone.signal);
    const next = post('ws_next', LARGE);
    gone.abort();
    const answer = await dropped;
    expect(answer instanceof UnavailableError && answer.applied).toBe('no');
    first.resolve();
    expect([wasRead(await served), wasRead(await next)]).toEqual([true, true]);
    expect(begun).toEqual(['raw ws_1', 'raw ws_next']);
  });
});
