import type { Socket } from 'bun';

/** The result of a load run. Latencies in milliseconds. */
export interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Replies by status. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** One request, prepared: the same bytes every time, so that the client costs as little as can be. */
export interface PreparedRequest {
  readonly port: number;
  /** The same each time, or made for each request. */
  readonly bytes: Uint8Array | (() => Uint8Array);
}

/** Prepares a POST of JSON with a key, of one body or of another one each time. */
export function preparePost(
  port: number,
  path: string,
  key: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): PreparedRequest {
  const bytesOf = (content: unknown) => {
    const json = JSON.stringify(content);
    const head = [
      `POST ${path} HTTP/1.1`,
      `host: 127.0.0.1:${port}`,
      `authorization: Bearer ${key}`,
      'content-type: application/json',
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      `content-length: ${Buffer.byteLength(json)}`,
      '',
      '',
    ].join('\r\n');
    return Buffer.from(head + json);
  };
  return { port, bytes: typeof body === 'function' ? () => bytesOf(body()) : bytesOf(body) };
}

/** Prepares a GET with a key, of one path or of another one each time. */
export function prepareGet(port: number, path: string | (() => string), key: string): PreparedRequest {
  const bytesOf = (asked: string) =>
    Buffer.from(`GET ${asked} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${key}\r\n\r\n`);
  return { port, bytes: typeof path === 'function' ? () => bytesOf(path()) : bytesOf(path) };
}

interface Connection {
  startedAt: number;
  text: string;
}

const LENGTH = /content-length: (\d+)/i;

/** The status of a whole reply at the start of the text, and where it ends; null while it is not whole. */
export function takeReply(text: string): { status: string; end: number } | null {
  const head = text.indexOf('\r\n\r\n');
  if (head === -1) return null;
  const length = Number(LENGTH.exec(text.slice(0, head))?.[1] ?? 0);
  const end = head + 4 + length;
  return text.length < end ? null : { status: text.slice(9, 12), end };
}

/**
 * Sends the same request `count` times over keep-alive connections, each waiting for its reply before the
 * next. Raw sockets: an HTTP client library would take more of the two cores than the service does.
 */
export async function load(
  request: PreparedRequest,
  connections: number,
  count: number,
): Promise<LoadResult> {
  const latencies = new Float64Array(count);
  const statuses: Record<string, number> = {};
  let sent = 0;
  let answered = 0;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const next = (socket: Socket<Connection>) => {
    if (sent >= count) return;
    sent++;
    socket.data.startedAt = performance.now();
    socket.write(typeof request.bytes === 'function' ? request.bytes() : request.bytes);
  };
  const sockets = await Promise.all(
    Array.from({ length: connections }, () =>
      Bun.connect<Connection>({
        hostname: '127.0.0.1',
        port: request.port,
        data: { startedAt: 0, text: '' },
        socket: {
          data(socket, chunk) {
            socket.data.text += chunk.toString('latin1');
            const reply = takeReply(socket.data.text);
            if (!reply) return;
            socket.data.text = socket.data.text.slice(reply.end);
            latencies[answered++] = performance.now() - socket.data.startedAt;
            statuses[reply.status] = (statuses[reply.status] ?? 0) + 1;
            if (answered === count) resolve();
            else next(socket);
          },
          close: () => {
            if (answered < count) reject(new Error('The service closed a connection.'));
          },
          error: (_, error) => reject(error),
        },
      }),
    ),
  );
  const start = performance.now();
  for (const socket of sockets) next(socket);
  await promise;
  const seconds = (performance.now() - start) / 1_000;
  for (const socket of sockets) socket.end();
  latencies.sort();
  return {
    requests: count,
    perSecond: count / seconds,
    p50: latencies[Math.floor(count * 0.5)] ?? 0,
    p99: latencies[Math.floor(count * 0.99)] ?? 0,
    statuses,
  };
}
