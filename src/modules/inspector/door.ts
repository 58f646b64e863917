import type { ClientAddress } from '../../http/client-address.ts';
import type { SocketDoor, Talk } from '../../http/listen.ts';
import { LiveTalk } from './live-talk.ts';
import type { Lookout } from './lookout.ts';
import type { OpenSession } from './session.ts';
import { type Relayed, StatelyRelay } from './stately-relay.ts';
import type { Visits } from './visits.ts';

/** What the door works with. */
export interface DoorDeps extends Relayed {
  readonly visits: Visits;
  readonly lookout: Lookout;
  readonly limiter: { byAddress(client: string): { isOver: boolean } | null | Promise<{ isOver: boolean }> };
  readonly clientAddress: ClientAddress;
}

const refuse = (status: number): Response =>
  new Response(null, { status, headers: { 'cache-control': 'no-store' } });

/** The WebSockets: /inspector/live for the page, /inspect for Stately's tools. Both need a session, or a key in a header. */
export const inspectorDoor = (deps: DoorDeps): SocketDoor => ({
  admit(request, socketAddress) {
    const { pathname } = new URL(request.url, 'http://localhost');
    if (pathname === '/inspector/live') return admit(deps, request, socketAddress, liveTalk);
    return pathname === '/inspect' ? admit(deps, request, socketAddress, statelyTalk) : null;
  },
});

type Begin = (deps: DoorDeps, session: OpenSession, holds: () => Promise<boolean>) => Talk;

const liveTalk: Begin = ({ lookout }, session, holds) => new LiveTalk(session, lookout, holds);
const statelyTalk: Begin = (deps, session, holds) => new StatelyRelay(deps, session, holds);

async function admit(
  deps: DoorDeps,
  request: Request,
  socketAddress: string,
  begin: Begin,
): Promise<Response | Talk> {
  const { visits, limiter, lookout } = deps;
  const client = deps.clientAddress(socketAddress, request.headers);
  if ((await limiter.byAddress(client))?.isOver) return refuse(429);
  if (request.method !== 'GET') return refuse(405);
  // A page of another site may open a WebSocket here; the cookie is not sent along, and this does not rely on it alone.
  if (!isSameOrigin(request)) return refuse(403);
  try {
    const ticket = new URL(request.url, 'http://localhost').searchParams.get('ticket');
    const session = await visits.of(request.headers, ticket);
    if (!session) return refuse(401);
    if (lookout.isFull) return refuse(503);
    return begin(deps, session, () => visits.holds(session));
  } catch {
    return refuse(503);
  }
}

/** Tools that are no browser send no Origin. */
function isSameOrigin({ headers }: Request): boolean {
  const origin = headers.get('origin');
  return origin === null || origin.replace(/^https?:\/\//, '') === headers.get('host');
}
