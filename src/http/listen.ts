import type { Server, ServerWebSocket, WebSocketHandler } from 'bun';
import type { App } from './mount.ts';

/** Where to listen; port 0 takes a free one. */
export interface ListenOptions {
  readonly hostname: string;
  readonly port: number;
  readonly sockets?: SocketUpgrade;
  /** Other processes listen on the same port, and the kernel spreads the connections. */
  readonly shared?: boolean;
}

/** What a WebSocket of this service is bound to: who reads what it says and hears when it ends. */
export interface SocketSession {
  opened(socket: ServerWebSocket<SocketSession>): void;
  heard(socket: ServerWebSocket<SocketSession>, text: string): void;
  closed(): void;
  /** The service stops: the client is told, and may come back. */
  end(): void;
}

/** Takes the requests that become WebSockets, and checks by itself who asks. */
export interface SocketUpgrade {
  /** Null: not a path of its own. A response: refused. Otherwise what the connection is to be bound to. */
  admit(request: Request, socketAddress: string): Promise<Response | SocketSession> | null;
  /** The answer to a request that was admitted and is no handshake after all (RFC 6455, 4.2.1). */
  refuseHandshake(): Response;
  /** Ends every talk. An open socket counts as a request in flight, and a stop would wait for it. */
  close(): void;
}

/** A pause on a connection; every handler's own deadline is shorter, so that it is answered before Bun cuts it. */
const IDLE_SECONDS = 30;
/** What a browser may say at once; it only names what it looks at. */
const LONGEST_MESSAGE = 4_096;

const websocket: WebSocketHandler<SocketSession> = {
  open: (socket) => socket.data.opened(socket),
  message: (socket, text) => socket.data.heard(socket, String(text)),
  close: (socket) => socket.data.closed(),
  maxPayloadLength: LONGEST_MESSAGE,
  // Senders look at the backlog before each message; a client that reads nothing at all is cut here.
  backpressureLimit: 4_194_304,
  closeOnBackpressureLimit: true,
  perMessageDeflate: false,
};

/** Serves the application over HTTP. The caller stops it. */
export function listen(
  app: App,
  { hostname, port, sockets, shared = false }: ListenOptions,
): Server<SocketSession> {
  return Bun.serve<SocketSession>({
    hostname,
    port,
    reusePort: shared,
    idleTimeout: IDLE_SECONDS,
    // Bun's own 413 has no body: every endpoint refuses by itself what is too large for it.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    websocket,
    fetch(request, server) {
      if (sockets && request.headers.get('upgrade') !== null) {
        const admitted = sockets.admit(request, server.requestIP(request)?.address ?? 'unknown');
        if (admitted) return upgrade(request, server, admitted, sockets);
      }
      return app.fetch(request, server);
    },
    error: (error) => app.unexpected(error),
  });
}

async function upgrade(
  request: Request,
  server: Server<SocketSession>,
  admitted: Promise<Response | SocketSession>,
  sockets: SocketUpgrade,
): Promise<Response | undefined> {
  const talk = await admitted;
  if (talk instanceof Response) return talk;
  if (server.upgrade(request, { data: talk })) return undefined;
  talk.closed();
  return sockets.refuseHandshake();
}
