import type { Server, ServerWebSocket, WebSocketHandler } from 'bun';
import { openPort } from '../../platform/errors/port-not-opened.ts';
import { IDLE_SECONDS } from '../request/exchange.ts';
import type { App } from '../request/mount.ts';

/** The address and the port; port 0 takes a free one. */
export interface ListenOptions {
  readonly hostname: string;
  readonly port: number;
  readonly sockets?: SocketUpgrade;
  /** True when other processes listen on the same port: the kernel then distributes the connections. */
  readonly shared?: boolean;
  /** True while clients are to open their next connection elsewhere. */
  readonly isDraining?: () => boolean;
  /**
   * The address of the client behind a connection, where a front of this process hands it on: from the
   * address and port that it comes from. Undefined refuses a connection of anybody else.
   */
  readonly clientOf?: (port: number) => string | undefined;
}

/** The handler of one WebSocket connection. */
export interface SocketSession {
  opened(socket: ServerWebSocket<SocketSession>): void;
  received(socket: ServerWebSocket<SocketSession>, text: string): void;
  closed(): void;
  /** Ends the connection because the service stops; the client may connect again. */
  end(): void;
}

/** Accepts the requests that become WebSockets, and authenticates them itself. */
export interface SocketUpgrade {
  /** Null for a path of another gate, a response for a refusal, otherwise the handler of the connection. */
  admit(request: Request, socketAddress: string): Promise<Response | SocketSession> | null;
  /** Answers a request that was admitted but is not a valid handshake (RFC 6455, 4.2.1). */
  refuseHandshake(): Response;
  /** Ends every connection. An open one counts as a request in flight, and a stop would wait for it. */
  close(): void;
}

/** Bytes of one message from a browser, which only ever sends the names of what it displays. */
const LONGEST_MESSAGE = 4_096;

const websocket: WebSocketHandler<SocketSession> = {
  open: (socket) => socket.data.opened(socket),
  message: (socket, text) => socket.data.received(socket, String(text)),
  close: (socket) => socket.data.closed(),
  maxPayloadLength: LONGEST_MESSAGE,
  // Senders check the backlog before each message; this limit ends the connection of a client that reads
  // nothing at all.
  backpressureLimit: 4_194_304,
  closeOnBackpressureLimit: true,
  perMessageDeflate: false,
};

/** Serves the application over HTTP until the caller stops the server. @throws PortNotOpened */
export function listen(
  app: App,
  { hostname, port, sockets, shared = false, isDraining = () => false, clientOf }: ListenOptions,
): Server<SocketSession> {
  const serve = () =>
    Bun.serve<SocketSession>({
      hostname,
      port,
      reusePort: shared,
      // Handlers answer before Bun cuts the connection.
      idleTimeout: IDLE_SECONDS,
      // Bun's own 413 has no body, so the limit of each endpoint is enforced in readBody instead.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      websocket,
      fetch(request, server) {
        const asked = clientOf ? behind(request, server, clientOf) : server;
        if (asked === null) return new Response('This port serves other instances only.\n', { status: 421 });
        if (sockets && request.headers.get('upgrade') !== null) {
          const admitted = sockets.admit(request, asked.requestIP(request)?.address ?? 'unknown');
          if (admitted) return upgrade(request, server, admitted, sockets);
        }
        if (!isDraining()) return app.fetch(request, asked);
        return Promise.resolve(app.fetch(request, asked)).then((response) => {
          response.headers.set('connection', 'close');
          return response;
        });
      },
      error: (error) => app.unexpected(error),
    });
  return openPort({ hostname, port }, serve);
}

type ServerHandle = Pick<Server<SocketSession>, 'requestIP' | 'timeout'>;

/**
 * The server as the application sees it, with the address of the client; null for a connection that no front
 * has handed on.
 */
function behind(
  request: Request,
  server: Server<SocketSession>,
  clientOf: NonNullable<ListenOptions['clientOf']>,
): ServerHandle | null {
  const peer = server.requestIP(request);
  const address = peer && clientOf(peer.port);
  if (!peer || !address) return null;
  return {
    requestIP: () => ({ ...peer, address, family: address.includes(':') ? 'IPv6' : 'IPv4' }),
    timeout: (its, seconds) => server.timeout(its, seconds),
  };
}

async function upgrade(
  request: Request,
  server: Server<SocketSession>,
  admitted: Promise<Response | SocketSession>,
  sockets: SocketUpgrade,
): Promise<Response | undefined> {
  const session = await admitted;
  if (session instanceof Response) return session;
  if (server.upgrade(request, { data: session })) return undefined;
  session.closed();
  return sockets.refuseHandshake();
}
