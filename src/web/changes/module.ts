import { Type } from '@sinclair/typebox';
import type { Permission } from '../../http/auth/permissions.ts';
import type { Session } from '../../http/auth/sessions/session-store.ts';
import { socketGate } from '../../http/listen/socket-gate.ts';
import type { Module } from '../../http/module.ts';
import { SWITCHED } from '../../http/request/admission.ts';
import { compileQuery } from '../../http/request/query.ts';
import { Failure } from '../../platform/errors/failure.ts';
import type { ChangesApi } from './api.ts';
import { ChangeFeed } from './change-feed.ts';
import { ChangeSocket } from './change-socket.ts';

const NO_SESSION = new Failure('UNAUTHORIZED', 'This request carries no session of a member.', {
  suggestion: 'Sign in at /app.',
});

/** Most connections at once: the open tabs of one person, of one workspace, and of all together. */
export const MOST_CONNECTIONS = { each: 20, workspace: 200, total: 1_000 } as const;

const readQuery = compileQuery(Type.Object({ workspace: Type.Optional(Type.String()) }));

/** The one connection over which the pages of the application hear what has changed. */
export const changesModule: Module<undefined, object, ChangesApi> = {
  name: 'changes',
  open: ({ admission, sessions, database, clock, logger }) => ({
    connect({ engine, kinds }) {
      const feed = new ChangeFeed(engine, kinds, database.kind === 'postgres');
      const permissionsOf = async (
        session: Session,
        workspaceId: string,
      ): Promise<readonly Permission[] | null> => {
        const principal = await sessions.principalOf(session);
        // Another tab may have turned to another workspace.
        return principal?.kind === 'member' && principal.workspaceId === workspaceId
          ? principal.permissions
          : null;
      };
      const { limiter, clientAddress, baseUrl } = admission;
      const sockets = socketGate(
        { limiter, clientAddress, baseUrl, log: logger, sessionEnds: sessions.ends, now: () => clock.now() },
        {
          path: /^\/app\/api\/(live|test)\/changes$/,
          most: MOST_CONNECTIONS,
          countedBy: 'person',
          queryOf: () => readQuery,
          admit: async ({ headers, query, match: [, environment] }) => {
            const session = await sessions.find(headers);
            if (session?.subject.kind !== 'account') return NO_SESSION;
            const { workspaceId } = session.subject;
            if (query.get('workspace') !== workspaceId) return SWITCHED;
            const permissions = await permissionsOf(session, workspaceId);
            if (!permissions) return NO_SESSION;
            const scope = { workspaceId, livemode: environment === 'live' };
            return {
              id: session.subject.id,
              workspaceId,
              session,
              open: () =>
                new ChangeSocket(scope, permissions, {
                  feed,
                  readPermissions: () => permissionsOf(session, workspaceId),
                  monotonic: () => clock.monotonic(),
                }),
            };
          },
        },
      );
      return {
        api: { sockets, note: (noted) => feed.note(noted) },
        deps: undefined,
        close: () => feed.stop(),
      };
    },
  }),
};
