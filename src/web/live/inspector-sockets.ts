import { Type } from '@sinclair/typebox';
import type { SocketSession, SocketUpgrade } from '../../http/listen/listen.ts';
import { type SocketGateDeps, socketGate } from '../../http/listen/socket-gate.ts';
import { SWITCHED } from '../../http/request/admission.ts';
import { anyQuery, compileQuery } from '../../http/request/query.ts';
import { Failure } from '../../platform/errors/failure.ts';
import type { LiveFeed } from './exchange/live-feed.ts';
import { LiveSocket } from './exchange/live-socket.ts';
import type { InspectorSession, InspectorSessions } from './inspector-sessions.ts';
import { type RelaySource, StatelyRelay } from './stately/stately-relay.ts';

/** The parts that the live view's WebSockets use. */
export interface InspectorSocketDeps extends RelaySource, SocketGateDeps {
  readonly sessions: InspectorSessions;
  readonly liveFeed: LiveFeed;
}

const NO_SESSION = new Failure(
  'UNAUTHORIZED',
  'This request carries no session, ticket or key that may open the live view.',
  {
    suggestion:
      'Send the session cookie, a ticket, or an API key with emails:read in the Authorization header.',
  },
);

/** Most connections of these WebSockets at once: of one key or link, of one workspace, and of all together. */
export const MOST_CONNECTIONS = { each: 20, workspace: 50, total: 200 } as const;

const Text = Type.Optional(Type.String());
const readQuery = compileQuery(Type.Object({ ticket: Text, workspace: Text }));

/** The session of a member in the environment of the address; null for other callers, who have only one. */
const inEnvironment = (session: InspectorSession, environment: string): InspectorSession | null =>
  session.subject.kind === 'account'
    ? { ...session, subject: { ...session.subject, livemode: environment === 'live' } }
    : null;

/**
 * Serves the WebSockets: /inspector/live for the live view without the application,
 * /app/api/{live|test}/machines/socket for the application, and /inspect for Stately's tools. All need a
 * session; the first and the last also accept a key in a header.
 */
export function inspectorSockets(deps: InspectorSocketDeps): SocketUpgrade {
  const { sessions, liveFeed } = deps;
  return socketGate(deps, {
    path: /^\/(?:inspector\/live|app\/api\/(live|test)\/machines\/socket|inspect)$/,
    most: MOST_CONNECTIONS,
    countedBy: 'API key or link',
    // Programs that are not this service's own may append what they like.
    queryOf: ([path]) => (path === '/inspect' ? anyQuery : readQuery),
    async admit({ headers, query, match: [path, environment] }) {
      const found = await sessions.of(headers, query.get('ticket'));
      if (found instanceof Failure) return found;
      const session = found && environment !== undefined ? inEnvironment(found, environment) : found;
      if (!session) return NO_SESSION;
      const { id, workspaceId } = session.subject;
      const expected = query.get('workspace');
      if (expected !== null && expected !== workspaceId) return SWITCHED;
      const readVisibility = () => sessions.visibilityNow(session);
      const open = (): SocketSession =>
        path === '/inspect'
          ? new StatelyRelay(deps, session, readVisibility)
          : new LiveSocket(session, liveFeed, readVisibility);
      return { id, workspaceId, session, open };
    },
  });
}
