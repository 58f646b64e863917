import { KeyedBudget } from '../../platform/async/keyed-budget.ts';
import type { ClientAddress } from '../../platform/config/client-address.ts';
import { mintId } from '../../platform/db/ids.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { isForeignHandshake, OTHER_SITE } from '../auth/sessions/same-origin.ts';
import { type EndedSessions, isAmong, type SessionEnds } from '../auth/sessions/session-ends.ts';
import type { Session } from '../auth/sessions/session-store.ts';
import type { RateLimitStatus } from '../limits/rate-limit.ts';
import type { Log } from '../log.ts';
import { NO_ROUTE, tooManyFrom } from '../request/admission.ts';
import { targetOf } from '../request/mount.ts';
import type { QueryReader } from '../request/query.ts';
import { reply } from '../request/reply.ts';
import { unexpectedError } from '../unexpected-error.ts';
import type { SocketSession, SocketUpgrade } from './listen.ts';
import { SessionSocket } from './session-socket.ts';

/** The parts that a gate is made of. */
export interface SocketGateDeps {
  readonly limiter: { byAddress(client: string): RateLimitStatus | null | Promise<RateLimitStatus> };
  readonly clientAddress: ClientAddress;
  readonly log: Log;
  /** Tells which sessions have ended. */
  readonly sessionEnds: Pick<SessionEnds, 'listen'>;
  /** The public URL of the service without a trailing slash. The links in errors begin with it. */
  readonly baseUrl: string;
  now(): number;
}

/** A request for a WebSocket at an address of the gate. */
export interface SocketRequest {
  readonly headers: Headers;
  readonly query: URLSearchParams;
  /** The match of the address pattern. */
  readonly match: RegExpExecArray;
}

/** A request that may connect. */
export interface AdmittedSocket {
  /** The party that connections are counted by, and its workspace. */
  readonly id: string;
  readonly workspaceId: string;
  /** The session of the connection; it gets no messages once it has ended. */
  readonly session: Session;
  /** Makes the connection's handler. */
  open(): SocketSession;
}

/** The addresses of one kind of WebSocket. */
export interface SocketGate {
  readonly path: RegExp;
  /** The most connections at once. */
  readonly most: { readonly each: number; readonly workspace: number; readonly total: number };
  /** The unit that `each` counts by, for the refusal's message: "person". */
  readonly countedBy: string;
  admit(request: SocketRequest): Promise<AdmittedSocket | Failure>;
  /** The reader that refuses queries which an admitted caller may not send to this address. */
  queryOf(match: RegExpExecArray): QueryReader;
}

const NO_HANDSHAKE = new Failure('BAD_REQUEST', 'This request is not a WebSocket handshake.', {
  suggestion: 'Connect with a WebSocket client: RFC 6455, 4.1, names the headers that it sends.',
});
const OVER = new Failure('UNAUTHORIZED', 'The session has ended.', { suggestion: 'Sign in again.' });
const FULL = new Failure('SERVICE_UNAVAILABLE', 'The maximum number of connections is open.', {
  retryAfterSeconds: 30,
});
const tooMany = (most: number, of: string): Failure =>
  new Failure('RATE_LIMITED', `At most ${most} connections per ${of} can be open at once.`, {
    suggestion: 'Close another page that shows live data.',
    retryAfterSeconds: 30,
  });

/**
 * Opens WebSockets of one kind: after the limit of the client's address, for pages of this service alone, and
 * so many at once.
 */
export function socketGate(
  deps: SocketGateDeps,
  { path: pattern, most, countedBy, admit, queryOf }: SocketGate,
): SocketUpgrade {
  const open = new Set<SessionSocket>();
  const ofEach = new KeyedBudget({ total: most.total, each: most.each });
  const ofWorkspaces = new KeyedBudget({ total: most.total, each: most.workspace });
  const refusal = (failure: Failure, requestId: string, rateLimit: RateLimitStatus | null): Response =>
    reply(failure, { requestId, baseUrl: deps.baseUrl, rateLimit, status: 101 });

  deps.sessionEnds.listen((ended) => {
    for (const socket of open) if (isAmong(ended, socket.session)) socket.over();
  });

  const opened = ({ id, workspaceId, session, open: begin }: AdmittedSocket): SocketSession | Failure => {
    if (open.size >= most.total) return FULL;
    if (!ofEach.take(id)) return tooMany(most.each, countedBy);
    if (!ofWorkspaces.take(workspaceId)) {
      ofEach.give(id);
      return tooMany(most.workspace, 'workspace');
    }
    const socket = new SessionSocket(session, begin(), () => {
      if (!open.delete(socket)) return;
      ofEach.give(id);
      ofWorkspaces.give(workspaceId);
    });
    open.add(socket);
    return socket;
  };

  /** The request that the gate admits, unless its session ended while it was read. */
  async function stillThere(request: SocketRequest): Promise<AdmittedSocket | Failure> {
    const ends: EndedSessions[] = [];
    const leave = deps.sessionEnds.listen((ended) => void ends.push(ended));
    try {
      const admitted = await admit(request);
      if (admitted instanceof Failure) return admitted;
      return ends.some((ended) => isAmong(ended, admitted.session)) ? OVER : admitted;
    } finally {
      leave();
    }
  }

  async function answer(
    request: Request,
    match: RegExpExecArray,
    search: string,
    socketAddress: string,
  ): Promise<Response | SocketSession> {
    const requestId = mintId('req', deps.now());
    let rateLimit: RateLimitStatus | null = null;
    const refuse = (failure: Failure): Response => refusal(failure, requestId, rateLimit);
    try {
      rateLimit = await deps.limiter.byAddress(deps.clientAddress(socketAddress, request.headers));
      if (rateLimit?.isOver) return refuse(tooManyFrom(rateLimit));
      if (request.method !== 'GET') return refuse(NO_ROUTE);
      if (isForeignHandshake(request.headers, deps.baseUrl)) return refuse(OTHER_SITE);
      const query = new URLSearchParams(search);
      const admitted = await stillThere({ headers: request.headers, query, match });
      if (admitted instanceof Failure) return refuse(admitted);
      const read = queryOf(match)(search);
      const session = read instanceof Failure ? read : opened(admitted);
      return session instanceof Failure ? refuse(session) : session;
    } catch (thrown) {
      return refuse(unexpectedError(thrown, deps.log, { requestId, route: match[0] }));
    }
  }

  return {
    admit(request, socketAddress) {
      const { path, search } = targetOf(request.url);
      const match = pattern.exec(path);
      return match && answer(request, match, search, socketAddress);
    },
    refuseHandshake: () => refusal(NO_HANDSHAKE, mintId('req', deps.now()), null),
    close() {
      for (const socket of open) socket.end();
    },
  };
}

/** Several gates as one. */
export const allGates = (gates: readonly [SocketUpgrade, ...SocketUpgrade[]]): SocketUpgrade => ({
  admit(request, socketAddress) {
    for (const gate of gates) {
      const admitted = gate.admit(request, socketAddress);
      if (admitted) return admitted;
    }
    return null;
  },
  refuseHandshake: () => gates[0].refuseHandshake(),
  close() {
    for (const gate of gates) gate.close();
  },
});
