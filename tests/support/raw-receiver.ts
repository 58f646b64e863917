import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A webhook receiver of bare TCP, free to answer in ways that no HTTP library would. */
export interface RawReceiver extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Every connection so far, open or not. */
  readonly connections: readonly Socket[];
  /** Requests that have arrived with their headers; the text each came in. */
  readonly requests: readonly string[];
}

/** The number of earlier requests on its connection, and the request's text. */
type Behaviour = (socket: Socket, request: string, earlier: number) => void;

/** Listens on a free port of 127.0.0.1; `behave` runs for every request that arrives. */
export async function receiveRaw(behave: Behaviour): Promise<RawReceiver> {
  const connections: Socket[] = [];
  const requests: string[] = [];
  const server = createServer((socket) => {
    let earlier = 0;
    connections.push(socket);
    // A receiver that is being destroyed by the test sees resets.
    socket.on('error', () => {});
    socket.on('data', (data) => {
      requests.push(data.toString());
      behave(socket, data.toString(), earlier);
      earlier += 1;
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/hook`,
    connections,
    requests,
    async [Symbol.asyncDispose]() {
      for (const socket of connections) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A whole answer that leaves the connection open. */
export const answerOf = (body: string, status = '200 OK', headers = ''): string =>
  `HTTP/1.1 ${status}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** Runs `step` again and again until the socket closes. */
export function repeatedly(socket: Socket, everyMs: number, step: () => void): void {
  const timer = setInterval(() => {
    if (socket.writable) step();
  }, everyMs);
  socket.once('close', () => clearInterval(timer));
}
