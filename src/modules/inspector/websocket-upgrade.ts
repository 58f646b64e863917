import { KeyedBudget } from '../../async/keyed-budget.ts';
import { isForeignHandshake, OTHER_SITE } from '../../auth/same-origin.ts';
import type { SessionSubject } from '../../auth/session-cookie.ts';
import { mintId } from '../../db/ids.ts';
import { NO_ROUTE, tooManyFrom } from '../../http/admission.ts';
import { Failure } from '../../http/failure.ts';
import type { ClientAddress } from '../../http/limits/client-address.ts';
import type { RateLimitStatus } from '../../http/limits/rate-limit.ts';
import type { SocketSession, SocketUpgrade } from '../../http/listen.ts';
import type { Log } from '../../http/log.ts';
import { targetOf } from '../../http/mount.ts';
import { reply } from '../../http/reply.ts';
import { unexpectedError } from '../../http/unexpected-error.ts';
import type { LiveFeed } from './live-feed.ts';
import { LiveSocket } from './live-socket.ts';
import { type Relayed, StatelyRelay } from './stately-relay.ts';
import type { Visibility } from './visibility.ts';
import type { InspectorSession, InspectorSessions } from './visits.ts';

/** What the door works with. */
export interface UpgradeDeps extends Relayed {
  readonly visits: InspectorSessions;
  readonly liveFeed: LiveFeed;
  readonly limiter: { byAddress(client: string): RateLimitStatus | null | Promise<RateLimitStatus> };
  readonly clientAddress: ClientAddress;
  readonly log: Log;
  /** Where the service is reached, without a trailing slash; the links of errors begin with it. */
  readonly baseUrl: string;
}

const NO_VISIT = new Failure(
  'UNAUTHORIZED',
  'This request carries no session, ticket or key that may look.',
  {
    suggestion:
      'Send the session cookie, a ticket, or an API key with emails:read in the Authorization header.',
  },
);
const FULL = new Failure('SERVICE_UNAVAILABLE', 'As many connections are open as there may be.', {
  retryAfterSeconds: 30,
});
const NO_HANDSHAKE = new Failure('BAD_REQUEST', 'This is not the handshake of a WebSocket.', {
  suggestion: 'Connect with a WebSocket client: RFC 6455, 4.1, names the headers that it sends.',
});

/** Connections of both sorts at once: of one key or link, of one workspace, and of all. Each is small; nobody gets all of them. */
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

/** The WebSockets: /inspector/live for the page, /inspect for Stately's tools. Both need a session, or a key in a header. */
export function inspectorUpgrade(deps: UpgradeDeps): SocketUpgrade {
  const talks = new Map<SocketSession, SessionSubject>();
  const { total, key, workspace } = MOST_CONNECTIONS;
  const ofKeys = new KeyedBudget({ total, each: key });
  const ofWorkspaces = new KeyedBudget({ total, each: workspace });
  const refuseBeyond = ({ id, workspaceId }: SessionSubject): Failure | null => {
    if (talks.size >= total) return FULL;
    if (!ofKeys.take(id)) return tooMany('key');
    if (ofWorkspaces.take(workspaceId)) return null;
    ofKeys.give(id);
    return tooMany('workspace');
  };
  const leave = (talk: SocketSession): void => {
    const subject = talks.get(talk);
    if (subject === undefined) return;
    talks.delete(talk);
    ofKeys.give(subject.id);
    ofWorkspaces.give(subject.workspaceId);
  };
  const begin = (pathname: string): Begin | null => {
    if (pathname === '/inspector/live')
      return (visit, look) => new LiveSocket(visit, deps.liveFeed, look, leave);
    if (pathname === '/inspect') return (visit, look) => new StatelyRelay(deps, visit, look, leave);
    return null;
  };
  return {
    admit(request, socketAddress) {
      const { path, search } = targetOf(request.url);
      const beginning = begin(path);
      if (beginning === null) return null;
      const ticket = new URLSearchParams(search).get('ticket');
      return admit(deps, request, { path, ticket, socketAddress }, (visit, look) => {
        const refusal = refuseBeyond(visit.subject);
        if (refusal) return refusal;
        const talk = beginning(visit, look);
        talks.set(talk, visit.subject);
        return talk;
      });
    },
    refuseHandshake: () => refusal(deps, mintId('req', deps.now()), NO_HANDSHAKE, null),
    close() {
      for (const talk of talks.keys()) talk.end();
    },
  };
}

type Begin = (visit: InspectorSession, look: () => Promise<Visibility | null>) => SocketSession;
type BeginWithin = (...given: Parameters<Begin>) => SocketSession | Failure;

/** A refusal looks like that of any other request. */
const refusal = (
  { baseUrl }: UpgradeDeps,
  requestId: string,
  failure: Failure,
  rateLimit: RateLimitStatus | null,
): Response => reply(failure, { requestId, baseUrl, rateLimit, status: 101 });

interface Asked {
  readonly path: string;
  readonly ticket: string | null;
  readonly socketAddress: string;
}

async function admit(
  deps: UpgradeDeps,
  request: Request,
  { path, ticket, socketAddress }: Asked,
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
    const visit = await deps.visits.of(request.headers, ticket);
    if (!visit) return refuse(NO_VISIT);
    const begun = begin(visit, () => deps.visits.look(visit));
    return begun instanceof Failure ? refuse(begun) : begun;
  } catch (thrown) {
    return refuse(unexpectedError(thrown, deps.log, { requestId, route: path }));
  }
}
