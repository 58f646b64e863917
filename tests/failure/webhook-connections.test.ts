import { describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createPoster, type Poster, type PosterOptions } from '../../src/sending/webhooks/http/poster.ts';
import { livedMs } from '../support/own-time.ts';
import { answerOf, receiveRaw } from '../support/raw-receiver.ts';

const secret = `whsec_${'s'.repeat(43)}`;

/** A poster whose names resolve as `names` says at the moment of asking, and whose clock the test moves. */
function posterOf(names: Record<string, readonly string[]>, options: Partial<PosterOptions> = {}) {
  const clock = { time: 0, now: () => Date.now(), monotonic: () => clock.time };
  const asked: string[] = [];
  const poster = createPoster({
    guard: (address) => address === '127.0.0.1' || address === '127.0.0.2',
    resolve: async (name) => {
      asked.push(name);
      return names[name] ?? [];
    },
    clock,
    limitMs: 3_600_000,
    ...options,
  });
  return { poster, asked, clock };
}

const postTo = (poster: Poster, port: number, webhookId = 'wh_1', host = 'receiver.test') =>
  poster.post({ webhookId, url: `http://${host}:${port}/`, secret, body: '{}' });

const ok = answerOf('ok');

describe('the address a webhook connects to is the one that was checked', () => {
  test('a name that turns to a forbidden address gets no new connection', async () => {
    await using receiver = await receiveRaw((socket) =>
      socket.write(answerOf('ok', '200 OK', 'connection: close\r\n')),
    );
    const names: Record<string, readonly string[]> = { 'receiver.test': ['127.0.0.1'] };
    const { poster, asked } = posterOf(names);
    expect(await postTo(poster, receiver.port)).toMatchObject({ httpStatus: 200, error: null });

    names['receiver.test'] = ['127.0.0.3'];
    expect(await postTo(poster, receiver.port)).toMatchObject({ httpStatus: 0, error: 'forbidden_address' });
    expect(asked).toHaveLength(2);
    expect(receiver.requests).toHaveLength(1);
  });

  test('each connection asks once, and connects to that answer', async () => {
    await using receiver = await receiveRaw((socket) => socket.write(ok));
    // A name server that answers well the first time and badly ever after: what a second look-up would reach.
    let asked = 0;
    const { poster } = posterOf({}, { resolve: async () => (asked++ === 0 ? ['127.0.0.1'] : ['127.0.0.3']) });
    expect(await postTo(poster, receiver.port)).toMatchObject({ httpStatus: 200 });
    expect(await postTo(poster, receiver.port)).toMatchObject({ httpStatus: 200 });
    expect(asked).toBe(1);
    expect(receiver.connections).toHaveLength(1);
    expect(await postTo(poster, receiver.port, 'wh_2')).toMatchObject({ error: 'forbidden_address' });
    expect(receiver.connections).toHaveLength(1);
  });

  test('one forbidden address among several is enough', async () => {
    await using receiver = await receiveRaw((socket) => socket.write(ok));
    const { poster } = posterOf({ 'receiver.test': ['127.0.0.1', '10.0.0.1'] });
    expect(await postTo(poster, receiver.port)).toMatchObject({ httpStatus: 0, error: 'forbidden_address' });
    expect(receiver.connections).toHaveLength(0);
  });

  test('an address in the URL is checked though nothing is resolved', async () => {
    await using receiver = await receiveRaw((socket) => socket.write(ok));
    const { poster, asked } = posterOf({}, { guard: () => false });
    for (const host of ['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]', '[::1]'])
      expect(await postTo(poster, receiver.port, 'wh_1', host)).toMatchObject({ error: 'forbidden_address' });
    expect(asked).toEqual([]);
    expect(receiver.connections).toHaveLength(0);
  });

  test('a name that does not resolve, or to nothing, gets no connection', async () => {
    const { poster } = posterOf({}, { resolve: () => Promise.reject(new Error('ENOTFOUND 10.0.0.53')) });
    const answer = await postTo(poster, 1);
    expect(answer).toMatchObject({ httpStatus: 0, error: 'unresolved_host' });
    expect(answer.responseBody).not.toContain('10.0.0.53');
    expect(await postTo(posterOf({}).poster, 1)).toMatchObject({ error: 'unresolved_host' });
  });

  test('a name server that never answers delays no delivery past the limit', async () => {
    const { poster } = posterOf({}, { resolve: () => new Promise(() => {}), limitMs: 50 });
    expect(await postTo(poster, 1)).toMatchObject({ httpStatus: 0, error: 'timeout' });
  });

  test('every checked address is tried in turn', async () => {
    await using receiver = await receiveRaw((socket) => socket.write(ok));
    const { poster } = posterOf({ 'receiver.test': ['127.0.0.2', '127.0.0.1'] });
    expect(await postTo(poster, receiver.port)).toMatchObject({ httpStatus: 200 });
  });
});

describe('webhook connections', () => {
  test('serve one endpoint event after event, never another endpoint', async () => {
    await using receiver = await receiveRaw((socket) => socket.write(ok));
    const { poster } = posterOf({ 'receiver.test': ['127.0.0.1'] });
    for (const webhookId of ['wh_1', 'wh_2', 'wh_1', 'wh_2', 'wh_1'])
      await postTo(poster, receiver.port, webhookId);
    expect(receiver.connections).toHaveLength(2);
    expect(receiver.requests.filter((request) => request.includes('wh_1'))).toHaveLength(3);
  });

  test('that the receiver closed in the meantime cost no attempt', async () => {
    await using receiver = await receiveRaw((socket, _request, earlier) =>
      earlier === 0 ? socket.write(ok) : socket.resetAndDestroy(),
    );
    const { poster } = posterOf({ 'receiver.test': ['127.0.0.1'] });
    expect(await postTo(poster, receiver.port)).toMatchObject({ httpStatus: 200 });
    expect(await postTo(poster, receiver.port)).toMatchObject({ httpStatus: 200, error: null });
    expect(receiver.connections).toHaveLength(2);
    expect(receiver.requests).toHaveLength(3);
  });

  test('that fall silent when used again time out once, and nothing is sent again', async () => {
    await using receiver = await receiveRaw((socket, _request, earlier) => {
      if (earlier === 0) socket.write(ok);
    });
    const { poster } = posterOf({ 'receiver.test': ['127.0.0.1'] }, { limitMs: 2_000 });
    await postTo(poster, receiver.port);
    expect(await postTo(poster, receiver.port)).toMatchObject({ httpStatus: 0, error: 'timeout' });
    // A repetition would have arrived before this.
    expect(await postTo(poster, receiver.port, 'wh_2')).toMatchObject({ httpStatus: 200 });
    expect(receiver.connections).toHaveLength(2);
    expect(receiver.requests).toHaveLength(3);
  });

  test('do not carry an answer that was not asked for over to the next event', async () => {
    await using receiver = await receiveRaw((socket, _request, earlier) => {
      socket.write(earlier === 0 ? answerOf('first') + answerOf('forged', '500 No') : answerOf('second'));
    });
    const { poster } = posterOf({ 'receiver.test': ['127.0.0.1'] });
    expect(await postTo(poster, receiver.port)).toMatchObject({ responseBody: 'first' });
    expect(await postTo(poster, receiver.port)).not.toMatchObject({ responseBody: 'forged' });
  });

  test('end when an answer comes without a request, or the receiver sends no more', async () => {
    for (const behave of [
      (socket: Socket) => void socket.write(answerOf('forged', '500 No')),
      (socket: Socket) => void socket.end(),
    ]) {
      await using receiver = await receiveRaw((socket, _request, earlier) =>
        socket.write(answerOf(earlier === 0 ? 'first' : 'taken again')),
      );
      const { poster } = posterOf({ 'receiver.test': ['127.0.0.1'] });
      expect(await postTo(poster, receiver.port)).toMatchObject({ responseBody: 'first' });
      const [kept] = receiver.connections as [Socket];
      const closed = once(kept, 'close');
      behave(kept);
      await closed;
      expect(await postTo(poster, receiver.port)).toMatchObject({ responseBody: 'first', error: null });
      expect(receiver.connections).toHaveLength(2);
      poster.close();
    }
  });

  test('carry one request at a time, and as many as are asked for at once', async () => {
    const waiting: Socket[] = [];
    await using receiver = await receiveRaw((socket) => {
      waiting.push(socket);
      if (waiting.length === 3) for (const each of waiting.splice(0)) each.write(ok);
    });
    const { poster } = posterOf({ 'receiver.test': ['127.0.0.1'] });
    for (let round = 0; round < 2; round += 1)
      expect(await Promise.all([1, 2, 3].map(() => postTo(poster, receiver.port)))).toMatchObject([
        { httpStatus: 200 },
        { httpStatus: 200 },
        { httpStatus: 200 },
      ]);
    expect(receiver.connections).toHaveLength(3);
    poster.close();
  });

  test('that give no answer at all cost one attempt where they are new, whatever was read', async () => {
    await using receiver = await receiveRaw((socket) => socket.resetAndDestroy());
    const { poster } = posterOf({ 'receiver.test': ['127.0.0.1'] });
    expect(await postTo(poster, receiver.port)).toMatchObject({ httpStatus: 0, error: 'connection_lost' });
    expect(receiver.requests).toHaveLength(1);
  });

  test('that broke within an answer are not tried again', async () => {
    await using receiver = await receiveRaw((socket, _request, earlier) => {
      if (earlier === 0) socket.write(ok);
      else socket.end('HTTP/1.1 2');
    });
    const { poster } = posterOf({ 'receiver.test': ['127.0.0.1'] });
    expect(await postTo(poster, receiver.port)).toMatchObject({ httpStatus: 200 });
    expect(await postTo(poster, receiver.port)).toMatchObject({ httpStatus: 0, error: 'connection_lost' });
    expect(receiver.requests).toHaveLength(2);
  });

  test('are left after a minute, so that a host that moved is followed', async () => {
    await using receiver = await receiveRaw((socket) => socket.write(ok));
    const { poster, clock } = posterOf({ 'receiver.test': ['127.0.0.1'] });
    await postTo(poster, receiver.port);
    clock.time = 60_000;
    await postTo(poster, receiver.port);
    expect(receiver.connections).toHaveLength(1);
    clock.time = 60_001;
    await postTo(poster, receiver.port);
    await postTo(poster, receiver.port);
    expect(receiver.connections).toHaveLength(2);
  });

  test('are kept for a thousand endpoints, and end after use beyond', async () => {
    await using receiver = await receiveRaw((socket) => socket.write(ok));
    const { poster } = posterOf({ 'receiver.test': ['127.0.0.1'] });
    for (let n = 1; n <= 1_001; n += 1) await postTo(poster, receiver.port, `wh_${n}`);
    const last = receiver.connections[1_000];
    if (last && !last.closed) await once(last, 'close');
    expect(receiver.connections.filter((connection) => !connection.closed)).toHaveLength(1_000);

    await postTo(poster, receiver.port, 'wh_1');
    expect(receiver.connections).toHaveLength(1_001);
    poster.close();
  });

  test('end when the poster closes', async () => {
    await using receiver = await receiveRaw((socket) => socket.write(ok));
    const { poster } = posterOf({ 'receiver.test': ['127.0.0.1'] });
    await postTo(poster, receiver.port);
    const [connection] = receiver.connections;
    const closed = once(connection as Socket, 'close');
    // Left alone, it would have stayed for four seconds.
    const ms = await livedMs(async () => {
      poster.close();
      await closed;
    });
    expect(ms).toBeLessThan(2_000);
  });
});

test('a process that has no descriptor left for a webhook does not blame the receiver', async () => {
  await using receiver = await receiveRaw(() => {});
  const script = `
    const { createPoster } = await import(${JSON.stringify(join(import.meta.dir, '../../src/sending/webhooks/http/poster.ts'))});
    const { systemClock } = await import(${JSON.stringify(join(import.meta.dir, '../../src/platform/time/clock.ts'))});
    const poster = createPoster({ guard: () => true, resolve: async () => [], clock: systemClock, limitMs: 3_600_000 });
    for (let n = 0; n < 100; n += 1)
      poster.post({ webhookId: 'wh_' + n, url: ${JSON.stringify(receiver.url)}, secret: 'whsec_x', body: '{}' }).then(
        ({ error }) => { console.log('answered', error); process.exit(); },
        ({ name, applied }) => { console.log(name, applied); process.exit(); },
      );`;
  const child = Bun.spawn(['sh', '-c', 'ulimit -n 64; exec "$0" -e "$1"', process.execPath, script]);
  expect((await new Response(child.stdout).text()).trim()).toBe('Unavailable no');
});
