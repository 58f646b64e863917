import { createServer, type Socket } from 'node:net';

/** Every way in which the dead endpoint fails, in turn. None of them ever takes an event. */
const WAYS_TO_FAIL: readonly ((socket: Socket) => void)[] = [
  () => {},
  (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nX-Slow: ', 'a'),
  (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n', 'b'),
  (socket) => drip(socket, 'HTTP/1.1 100 Continue\r\n\r\n', ''),
  (socket) => void socket.write(`HTTP/1.1 500 No\r\nContent-Length: 99999999\r\n\r\n${'x'.repeat(8_000)}`),
  (socket) => void socket.end('HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n'),
  (socket) => void socket.resetAndDestroy(),
];

function drip(socket: Socket, begin: string, more: string): void {
  socket.write(begin);
  const dripping = setInterval(() => socket.write(more), 250);
  socket.on('close', () => clearInterval(dripping));
}

/** The POSTs that the receivers of a storm have got: for each path and event, their arrivals (epoch ms). */
export type Arrivals = ReadonlyMap<string, readonly number[]>;

/** The receivers of a storm: any number of endpoints by their path, and one that is dead. */
export interface StormReceivers extends AsyncDisposable {
  readonly url: string;
  readonly deadUrl: string;
  readonly arrivals: Arrivals;
  /** The number of refusals of the flaky endpoint before it takes that event. */
  refusals(eventId: string): number;
}

/** The number of first refusals of the flaky endpoint: decided by the event, so that retries fare better. */
const refusalsOf = (eventId: string, most: number): number => {
  const roll = Number.parseInt(eventId.slice(-4), 36) % 50;
  return Math.min(most, roll === 0 ? 2 : roll < 8 ? 1 : 0);
};

/** `mostRefusals`: of one event by the flaky endpoint; the second one costs half a minute. */
export async function openStormReceivers(mostRefusals: number): Promise<StormReceivers> {
  const refusals = (eventId: string): number => refusalsOf(eventId, mostRefusals);
  const arrivals = new Map<string, number[]>();
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const at = Date.now();
      const { id } = (await request.json()) as { id: string };
      const { pathname } = new URL(request.url);
      const key = `${pathname} ${id}`;
      const times = arrivals.get(key) ?? [];
      arrivals.set(key, [...times, at]);
      if (pathname === '/flaky' && times.length < refusals(id))
        return new Response('not yet', { status: 503 });
      return new Response('ok');
    },
  });
  let turn = 0;
  const dead = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => WAYS_TO_FAIL[turn++ % WAYS_TO_FAIL.length]?.(socket));
  });
  await new Promise<void>((resolve) => dead.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.port}`,
    deadUrl: `http://127.0.0.1:${(dead.address() as { port: number }).port}/dead`,
    arrivals,
    refusals,
    async [Symbol.asyncDispose]() {
      dead.close();
      await server.stop(true);
    },
  };
}
