import { Type } from '@sinclair/typebox';
import { holds } from '../../http/auth/permissions.ts';
import type { Session } from '../../http/auth/sessions/session-store.ts';
import { NO_SUCH_WORKSPACE, type Sessions } from '../../http/auth/sessions/sessions.ts';
import type { SocketSession, SocketUpgrade } from '../../http/listen/listen.ts';
import { allGates, type SocketGateDeps, socketGate } from '../../http/listen/socket-gate.ts';
import { SWITCHED } from '../../http/request/admission.ts';
import { anyQuery, compileQuery } from '../../http/request/query.ts';
import { KeyedBudget } from '../../platform/async/keyed-budget.ts';
import { Failure } from '../../platform/errors/failure.ts';
import type { PageFeed } from './feed/page-feed.ts';
import { type InspectorSessions, NEEDED } from './inspector-sessions.ts';
import { type PageAccess, PageSocket } from './page-socket.ts';
import { type RelaySource, StatelyRelay } from './stately/stately-relay.ts';
import type { Visibility, VisibilityOf } from './visibility.ts';

/** The parts that the WebSockets use. */
export interface PageSocketsDeps extends RelaySource, SocketGateDeps {
  readonly sessions: InspectorSessions;
  readonly memberSessions: Pick<Sessions, 'find' | 'principalOf'>;
  readonly visibilityOf: VisibilityOf;
  readonly feed: PageFeed;
  readonly monotonic: () => number;
}

const NO_GUEST = new Failure(
  'UNAUTHORIZED',
  'This request carries no session, ticket or key that may open the live view.',
  {
    suggestion:
      'Send the session cookie, a ticket, or an API key with emails:read in the Authorization header.',
  },
);

const NO_MEMBER = new Failure('UNAUTHORIZED', 'This request carries no session of a member.', {
  suggestion: 'Sign in at /app.',
});

/**
 * Most connections of guests and Stately's tools at once: of one key or link, of one workspace, and of all
 * together.
 */
export const MOST_GUESTS = { each: 20, workspace: 50, total: 200 } as const;
/**
 * Most connections of members at once: the open tabs of one person, of one workspace, and of all together.
 */
export const MOST_MEMBERS = { each: 20, workspace: 200, total: 1_000 } as const;
/** Most pages of members that show machines at once. */
export const MOST_SHOWN = { each: 50, total: 200 } as const;

const Text = Type.Optional(Type.String());
const readQuery = compileQuery(Type.Object({ ticket: Text, workspace: Text }));
const readMemberQuery = compileQuery(Type.Object({ workspace: Text }));

/** Serves the one WebSocket of each page, and that of Stately's tools. All need a session. */
export const pageSockets = (deps: PageSocketsDeps): SocketUpgrade =>
  allGates([guestSockets(deps), memberSockets(deps)]);

/**
 * /inspector/live for guests, and /inspect for Stately's tools. Both also accept a key in a header, and a
 * ticket in the query.
 */
export function guestSockets(deps: PageSocketsDeps): SocketUpgrade {
  const { sessions } = deps;
  return socketGate(deps, {
    path: /^\/(?:inspector\/live|inspect)$/,
    most: MOST_GUESTS,
    countedBy: 'API key or link',
    // Programs that are not this service's own may append what they like.
    queryOf: ([path]) => (path === '/inspect' ? anyQuery : readQuery),
    async admit({ headers, query, match: [path] }) {
      const session = await sessions.of(headers, query.get('ticket'));
      if (session instanceof Failure) return session;
      if (!session) return NO_GUEST;
      const { id, workspaceId, livemode } = session.subject;
      const expected = query.get('workspace');
      if (expected !== null && expected !== workspaceId) return SWITCHED;
      const readVisibility = () => sessions.visibilityNow(session);
      const readAccess = async () => accessOfGuest(await readVisibility());
      const access = { permissions: [], visibility: session.visibility };
      const scope = { workspaceId, livemode };
      const open = (): SocketSession =>
        path === '/inspect'
          ? new StatelyRelay(deps, session, readVisibility)
          : new PageSocket(scope, access, 'guest', { ...deps, readAccess, shown: UNBOUNDED });
      return { id, workspaceId, session, open };
    },
  });
}

/** The gate bounds the pages of guests, which show nothing but machines. */
const UNBOUNDED = { take: () => true, give: () => {} };

const accessOfGuest = (visibility: Visibility | null): PageAccess | null =>
  visibility && { permissions: [], visibility };

/**
 * /app/api/{live|test}/changes for members: the address names the environment, and the query the workspace
 * that the page shows.
 */
function memberSockets(deps: PageSocketsDeps): SocketUpgrade {
  const { memberSessions, visibilityOf } = deps;
  const shown = new KeyedBudget(MOST_SHOWN);
  const accessOf = async (session: Session, workspaceId: string): Promise<PageAccess | null> => {
    const principal = await memberSessions.principalOf(session);
    if (principal?.kind !== 'member' || principal.workspaceId !== workspaceId) return null;
    const { permissions } = principal;
    return { permissions, visibility: holds(permissions, NEEDED) ? visibilityOf(permissions) : null };
  };
  return socketGate(deps, {
    path: /^\/app\/api\/(live|test)\/changes$/,
    most: MOST_MEMBERS,
    countedBy: 'person',
    queryOf: () => readMemberQuery,
    async admit({ headers, query, match: [, environment] }) {
      const named = query.get('workspace');
      if (named === null) return NO_SUCH_WORKSPACE;
      const found = await memberSessions.find(headers, named);
      if (!found) return (await memberSessions.find(headers)) ? NO_SUCH_WORKSPACE : NO_MEMBER;
      if (found.subject.kind !== 'account') return NO_MEMBER;
      const scope = { workspaceId: found.subject.workspaceId, livemode: environment === 'live' };
      const session = { ...found, subject: { ...found.subject, ...scope } };
      const { id, workspaceId } = session.subject;
      const access = await accessOf(session, workspaceId);
      if (!access) return NO_SUCH_WORKSPACE;
      const readAccess = () => accessOf(session, workspaceId);
      return {
        id,
        workspaceId,
        session,
        open: () => new PageSocket(scope, access, 'member', { ...deps, readAccess, shown }),
      };
    },
  });
}
