import { listen, type Socket } from 'bun';

/**
 * A server that speaks as much of Redis (RESP3) as the counters use, so that the tests need none installed.
 */
export interface RedisStandIn extends Disposable {
  readonly url: string;
  /** Milliseconds by which its clock has been moved on. */
  advance(ms: number): void;
  /** While frozen it takes commands and answers none. */
  freeze(frozen: boolean): void;
}

/** Starts one on a free port, or on the port where another one stopped. */
export function startRedisStandIn(port = 0): RedisStandIn {
  const counts = new Map<string, { value: number; endsAt: number }>();
  let now = 0;
  let isFrozen = false;

  const live = (key: string) => {
    const entry = counts.get(key);
    if (entry && entry.endsAt <= now) counts.delete(key);
    return counts.get(key);
  };
  const commands: Record<string, (key: string, argument: string) => string> = {
    HELLO: () => '%1\r\n+server\r\n+stand-in\r\n',
    INCR: (key) => {
      const entry = live(key) ?? { value: 0, endsAt: Number.POSITIVE_INFINITY };
      counts.set(key, { ...entry, value: entry.value + 1 });
      return `:${entry.value + 1}\r\n`;
    },
    // With NX, as it is always sent.
    PEXPIRE: (key, ms) => {
      const entry = live(key);
      if (!entry || entry.endsAt !== Number.POSITIVE_INFINITY) return ':0\r\n';
      counts.set(key, { ...entry, endsAt: now + Number(ms) });
      return ':1\r\n';
    },
    PTTL: (key) => {
      const entry = live(key);
      if (!entry) return ':-2\r\n';
      return entry.endsAt === Number.POSITIVE_INFINITY ? ':-1\r\n' : `:${entry.endsAt - now}\r\n`;
    },
  };

  const sockets = new Set<Socket<{ text: string }>>();
  const server = listen<{ text: string }>({
    hostname: '127.0.0.1',
    port,
    socket: {
      open(socket) {
        socket.data = { text: '' };
        sockets.add(socket);
      },
      close: (socket) => void sockets.delete(socket),
      data(socket, bytes) {
        socket.data.text += bytes.toString();
        for (let command = takeCommand(socket.data); command; command = takeCommand(socket.data)) {
          const [name = '', key = '', argument = ''] = command;
          const answer = commands[name.toUpperCase()]?.(key, argument) ?? '-ERR unknown command\r\n';
          if (!isFrozen) socket.write(answer);
        }
      },
    },
  });
  return {
    url: `redis://127.0.0.1:${server.port}`,
    advance: (ms) => {
      now += ms;
    },
    freeze: (frozen) => {
      isFrozen = frozen;
    },
    [Symbol.dispose]() {
      for (const socket of sockets) socket.end();
      server.stop(true);
    },
  };
}

/**
 * Takes the first whole command, an array of bulk strings, off the text; undefined while it has not all
 * arrived.
 */
function takeCommand(data: { text: string }): string[] | undefined {
  const head = /^\*(\d+)\r\n/.exec(data.text);
  if (!head) return undefined;
  let at = head[0].length;
  const words: string[] = [];
  for (let i = 0; i < Number(head[1]); i++) {
    const length = /^\$(\d+)\r\n/.exec(data.text.slice(at));
    if (!length) return undefined;
    at += length[0].length;
    if (data.text.length < at + Number(length[1]) + 2) return undefined;
    words.push(data.text.slice(at, at + Number(length[1])));
    at += Number(length[1]) + 2;
  }
  data.text = data.text.slice(at);
  return words;
}
