import type { ClientAddress } from '../../http/client-address.ts';
import type { SocketDoor, Talk } from '../../http/listen.ts';
import { LiveTalk } from './live-talk.ts';
import type { Lookout } from './lookout.ts';
import type { Sight } from './sight.ts';
import { type Relayed, StatelyRelay } from './stately-relay.ts';
import type { Visit, Visits } from './visits.ts';

/** What the door works with. */
export interface DoorDeps extends Relayed {
  readonly visits: Visits;
  readonly lookout: Lookout;
  readonly limiter: { byAddress(client: string): { isOver: boolean } | null | Promise<{ isOver: boolean }> };
  readonly clientAddress: ClientAddress;
}

const refuse = (status: number): Response =>
  new Response(null, { status, headers: { 'cache-control': 'no-store' } });

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
      const beginning = begin(new URL(request.url, 'http://localhost').pathname);
      if (beginning === null) return null;
      return admit(deps, request, socketAddress, (visit, look) => {
        if (talks.size >= MOST_TALKS) return null;
        const talk = beginning(visit, look);
        talks.add(talk);
        return talk;
      });
    },
    close() {
      for (const talk of talks) talk.end();
    },
  };
}

type Begin = (visit: Visit, look: () => Promise<Sight | null>) => Talk;
type BeginWithin = (...given: Parameters<Begin>) => Talk | null;

async function admit(
  deps: DoorDeps,
  request: Request,
  socketAddress: string,
  begin: BeginWithin,
): Promise<Response | Talk> {
  const { visits, limiter } = deps;
  const client = deps.clientAddress(socketAddress, request.headers);
  if ((await limiter.byAddress(client))?.isOver) return refuse(429);
  if (request.method !== 'GET') return refuse(405);
  // A page of another site may open a WebSocket here; the cookie is not sent along, and this does not rely on it alone.
  if (!isSameOrigin(request)) return refuse(403);
  try {
    const ticket = new URL(request.url, 'http://localhost').searchParams.get('ticket');
    const visit = await visits.of(request.headers, ticket);
    if (!visit) return refuse(401);
    return begin(visit, () => visits.look(visit)) ?? refuse(503);
  } catch {
    return refuse(503);
  }
}

/** Tools that are no browser send no Origin. */
function isSameOrigin({ headers }: Request): boolean {
  const origin = headers.get('origin');
  return origin === null || origin.replace(/^https?:\/\//, '') === headers.get('host');
}
