import { mintId } from '../../db/ids.ts';
import { NO_ROUTE, tooManyFrom } from '../../http/admission.ts';
import type { ClientAddress } from '../../http/client-address.ts';
import { Failure } from '../../http/failure.ts';
import type { SocketDoor, Talk } from '../../http/listen.ts';
import type { Log } from '../../http/log.ts';
import { mishapOf } from '../../http/mishap.ts';
import { targetOf } from '../../http/mount.ts';
import type { Standing } from '../../http/rate-limit.ts';
import { reply } from '../../http/reply.ts';
import { LiveTalk } from './live-talk.ts';
import type { Lookout } from './lookout.ts';
import type { Sight } from './sight.ts';
import { type Relayed, StatelyRelay } from './stately-relay.ts';
import type { Visit, Visits } from './visits.ts';

/** What the door works with. */
export interface DoorDeps extends Relayed {
  readonly visits: Visits;
  readonly lookout: Lookout;
  readonly limiter: { byAddress(client: string): Standing | null | Promise<Standing> };
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
const OTHER_SITE = new Failure('FORBIDDEN', 'A page of another site may not connect to the live view.');
const FULL = new Failure('SERVICE_UNAVAILABLE', 'As many connections are open as there may be.', {
  retryAfterSeconds: 30,
});
const NO_HANDSHAKE = new Failure('BAD_REQUEST', 'This is not the handshake of a WebSocket.', {
  suggestion: 'Connect with a WebSocket client: RFC 6455, 4.1, names the headers that it sends.',
});

/** Sockets of both sorts at once; each is small, and none is worth an unbounded number. */
const MOST_TALKS = 200;

/** The WebSockets: /inspector/live for the page, /inspect for Stately's tools. Both need a session, or a key in a header. */
export function inspectorDoor(deps: DoorDeps): SocketDoor {
  const talks = new Set<Talk>();
  const begin = (pathname: string): Begin | null => {
    if (pathname === '/inspector/live')
      return (visit, look) => new LiveTalk(visit, deps.lookout, look, (talk) => talks.delete(talk));
    if (pathname === '/inspect')
      return (visit, look) => new StatelyRelay(deps, visit, look, (talk) => talks.delete(talk));
    return null;
  };
  return {
    admit(request, socketAddress) {
      const { path, search } = targetOf(request.url);
      const beginning = begin(path);
      if (beginning === null) return null;
      const ticket = new URLSearchParams(search).get('ticket');
      return admit(deps, request, { path, ticket, socketAddress }, (visit, look) => {
        if (talks.size >= MOST_TALKS) return null;
        const talk = beginning(visit, look);
        talks.add(talk);
        return talk;
      });
    },
    refuseHandshake: () => refusal(deps, mintId('req', deps.now()), NO_HANDSHAKE, null),
    close() {
      for (const talk of talks) talk.end();
    },
  };
}

type Begin = (visit: Visit, look: () => Promise<Sight | null>) => Talk;
type BeginWithin = (...given: Parameters<Begin>) => Talk | null;

/** A refusal looks like that of any other request. */
const refusal = (
  { baseUrl }: DoorDeps,
  requestId: string,
  failure: Failure,
  standing: Standing | null,
): Response => reply(failure, { requestId, baseUrl, standing, status: 101 });

interface Asked {
  readonly path: string;
  readonly ticket: string | null;
  readonly socketAddress: string;
}

async function admit(
  deps: DoorDeps,
  request: Request,
  { path, ticket, socketAddress }: Asked,
  begin: BeginWithin,
): Promise<Response | Talk> {
  const requestId = mintId('req', deps.now());
  let standing: Standing | null = null;
  const refuse = (failure: Failure): Response => refusal(deps, requestId, failure, standing);
  try {
    standing = await deps.limiter.byAddress(deps.clientAddress(socketAddress, request.headers));
    if (standing?.isOver) return refuse(tooManyFrom(standing));
    if (request.method !== 'GET') return refuse(NO_ROUTE);
    // A page of another site may open a WebSocket here; the cookie is not sent along, and this does not rely on it alone.
    if (!isSameOrigin(request)) return refuse(OTHER_SITE);
    const visit = await deps.visits.of(request.headers, ticket);
    if (!visit) return refuse(NO_VISIT);
    return begin(visit, () => deps.visits.look(visit)) ?? refuse(FULL);
  } catch (thrown) {
    return refuse(mishapOf(thrown, deps.log, { requestId, route: path }));
  }
}

/** Tools that are no browser send no Origin. */
function isSameOrigin({ headers }: Request): boolean {
  const origin = headers.get('origin');
  return origin === null || origin.replace(/^https?:\/\//, '') === headers.get('host');
}
