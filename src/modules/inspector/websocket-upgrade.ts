import { KeyedBudget } from '../../async/keyed-budget.ts';
import { isForeignHandshake, OTHER_SITE } from '../../auth/same-origin.ts';
import type { SessionSubject } from '../../auth/session-store.ts';
import { mintId } from '../../db/ids.ts';
import { NO_ROUTE, SWITCHED, tooManyFrom } from '../../http/admission.ts';
import { Failure } from '../../http/failure.ts';
import type { ClientAddress } from '../../http/limits/client-address.ts';
import type { RateLimitStatus } from '../../http/limits/rate-limit.ts';
import type { SocketSession, SocketUpgrade } from '../../http/listen.ts';
import type { Log } from '../../http/log.ts';
import { targetOf } from '../../http/mount.ts';
import { reply } from '../../http/reply.ts';
import { unexpectedError } from '../../http/unexpected-error.ts';
import type { InspectorSession, InspectorSessions } from './inspector-sessions.ts';
import type { LiveFeed } from './live-feed.ts';
import { LiveSocket } from './live-socket.ts';
import { type Relayed, StatelyRelay } from './stately-relay.ts';
import type { Visibility } from './visibility.ts';

/** The parts that the upgrade of a request to a WebSocket uses. */
export interface UpgradeDeps extends Relayed {
  readonly sessions: InspectorSessions;
  readonly liveFeed: LiveFeed;
  readonly limiter: { byAddress(client: string): RateLimitStatus | null | Promise<RateLimitStatus> };
  readonly clientAddress: ClientAddress;
  readonly log: Log;
  /** The public URL of the service without a trailing slash. The links in errors begin with it. */
  readonly baseUrl: string;
}

const NO_SESSION = new Failure(
  'UNAUTHORIZED',
  'This request carries no session, ticket or key that may open the live view.',
  {
    suggestion:
      'Send the session cookie, a ticket, or an API key with emails:read in the Authorization header.',
  },
);
const FULL = new Failure(
  'SERVICE_UNAVAILABLE',
  'The live view has reached its greatest number of connections.',
  {
    retryAfterSeconds: 30,
  },
);
const NO_HANDSHAKE = new Failure('BAD_REQUEST', 'This is not the handshake of a WebSocket.', {
  suggestion: 'Connect with a WebSocket client: RFC 6455, 4.1, names the headers that it sends.',
});

/** Most connections of both WebSockets at once: of one key or link, of one workspace, and of all together. */
export const MOST_CONNECTIONS = { key: 20, workspace: 50, total: 200 } as const;

const tooMany = (of: 'key' | 'workspace'): Failure =>
  new Failure(
    'RATE_LIMITED',
    `More than ${MOST_CONNECTIONS[of]} connections of one ${of === 'key' ? 'API key or link' : 'workspace'} cannot be open at once.`,
    {
      suggestion: 'Close a page of the live view, or a tool that is connected to it.',
      retryAfterSeconds: 30,
    },
  );

/** The WebSocket of a page of the application, which is in one environment by its address. */
const OF_APPLICATION = /^\/app\/api\/(live|test)\/machines\/socket$/;

/** The session of a member in the environment that the address names; null for anybody else, who has only one. */
const inEnvironment = (session: InspectorSession, environment: string): InspectorSession | null =>
  session.subject.kind === 'account'
    ? { ...session, subject: { ...session.subject, livemode: environment === 'live' } }
    : null;

/**
 * Serves the WebSockets: /inspector/live for the live view by itself, /app/api/{live|test}/machines/socket for the pages of the
 * application, and /inspect for Stately's tools. All need a session, the first and the last take a key in a header as well.
 */
export function inspectorUpgrade(deps: UpgradeDeps): SocketUpgrade {
  const sockets = new Map<SocketSession, SessionSubject>();
  const { total, key, workspace } = MOST_CONNECTIONS;
  const ofKeys = new KeyedBudget({ total, each: key });
  const ofWorkspaces = new KeyedBudget({ total, each: workspace });
  const refuseBeyond = ({ id, workspaceId }: SessionSubject): Failure | null => {
    if (sockets.size >= total) return FULL;
    if (!ofKeys.take(id)) return tooMany('key');
    if (ofWorkspaces.take(workspaceId)) return null;
    ofKeys.give(id);
    return tooMany('workspace');
  };
  const onClosed = (socket: SocketSession): void => {
    const subject = sockets.get(socket);
    if (subject === undefined) return;
    sockets.delete(socket);
    ofKeys.give(subject.id);
    ofWorkspaces.give(subject.workspaceId);
  };
  const begin = (pathname: string): Begin | null => {
    if (pathname === '/inspector/live' || OF_APPLICATION.test(pathname))
      return (session, readVisibility) => new LiveSocket(session, deps.liveFeed, readVisibility, onClosed);
    if (pathname === '/inspect')
      return (session, readVisibility) => new StatelyRelay(deps, session, readVisibility, onClosed);
    return null;
  };
  return {
    admit(request, socketAddress) {
      const { path, search } = targetOf(request.url);
      const beginning = begin(path);
      if (beginning === null) return null;
      const query = new URLSearchParams(search);
      const ticket = query.get('ticket');
      const [, environment] = OF_APPLICATION.exec(path) ?? [];
      const workspace = query.get('workspace');
      return admit(deps, request, { path, ticket, socketAddress }, (found, readVisibility) => {
        const session = environment === undefined ? found : inEnvironment(found, environment);
        if (!session) return NO_SESSION;
        if (workspace !== null && workspace !== session.subject.workspaceId) return SWITCHED;
        const refusal = refuseBeyond(session.subject);
        if (refusal) return refusal;
        const socket = beginning(session, readVisibility);
        sockets.set(socket, session.subject);
        return socket;
      });
    },
    refuseHandshake: () => refusal(deps, mintId('req', deps.now()), NO_HANDSHAKE, null),
    close() {
      for (const socket of sockets.keys()) socket.end();
    },
  };
}

type Begin = (session: InspectorSession, readVisibility: () => Promise<Visibility | null>) => SocketSession;
type BeginWithin = (...given: Parameters<Begin>) => SocketSession | Failure;

/** Answers a refusal in the form of every other request. */
const refusal = (
  { baseUrl }: UpgradeDeps,
  requestId: string,
  failure: Failure,
  rateLimit: RateLimitStatus | null,
): Response => reply(failure, { requestId, baseUrl, rateLimit, status: 101 });

interface UpgradeRequest {
  readonly path: string;
  readonly ticket: string | null;
  readonly socketAddress: string;
}

async function admit(
  deps: UpgradeDeps,
  request: Request,
  { path, ticket, socketAddress }: UpgradeRequest,
  begin: BeginWithin,
): Promise<Response | SocketSession> {
  const requestId = mintId('req', deps.now());
  let rateLimit: RateLimitStatus | null = null;
  const refuse = (failure: Failure): Response => refusal(deps, requestId, failure, rateLimit);
  try {
    rateLimit = await deps.limiter.byAddress(deps.clientAddress(socketAddress, request.headers));
    if (rateLimit?.isOver) return refuse(tooManyFrom(rateLimit));
    if (request.method !== 'GET') return refuse(NO_ROUTE);
    if (isForeignHandshake(request.headers, deps.baseUrl)) return refuse(OTHER_SITE);
    const session = await deps.sessions.of(request.headers, ticket);
    if (!session) return refuse(NO_SESSION);
    const begun = begin(session, () => deps.sessions.visibilityNow(session));
    return begun instanceof Failure ? refuse(begun) : begun;
  } catch (thrown) {
    return refuse(unexpectedError(thrown, deps.log, { requestId, route: path }));
  }
}
