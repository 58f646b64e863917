import { Type } from '@sinclair/typebox';
import { SECOND_FACTOR_NEEDED } from '../../http/auth/principal.ts';
import type { Act } from '../../http/request/act.ts';
import { DASHBOARD_API, type Route, route } from '../../http/request/route.ts';
import { Failure, invalidAt, notFound } from '../../platform/errors/failure.ts';
import { hasUnseen } from '../../platform/text/characters.ts';
import { recordPerson } from '../audit-log/commands.ts';
import { archiveWorkspace, deleteWorkspace, renameWorkspace } from '../workspace/commands.ts';
import { listWorkspaces } from '../workspace/queries.ts';
import { accountById, hasSecondFactor } from './accounts.ts';
import { MOST_WORKSPACES, TOO_MANY_WORKSPACES } from './members.ts';
import { PersonName as Name } from './model.ts';
import type { EntryDeps } from './sign-in/entry-routes.ts';
import { FORM_LIMIT, memberOf, OF_MEMBER, of, withCookie } from './sign-in/session-routes.ts';
import { openFor } from './sign-in/sign-in.ts';

export interface WorkspaceRouteDeps extends EntryDeps {
  /** Creates a workspace owned by the account; null at the account's limit. */
  createOwnWorkspace(name: string, accountId: string, most: number, now: number): Promise<string | null>;
  /** True when owners must have a second factor. */
  readonly ownersNeedTwoFactor: boolean;
}

const path = `${DASHBOARD_API}/workspaces`;
const params = { id: { prefix: 'ws', resource: 'workspace' } } as const;
const FORM = { ...OF_MEMBER, bodyLimit: FORM_LIMIT } as const;

const UNSEEN_NAME = invalidAt('/body/name', 'Must not hold invisible characters.');
const OWNERS_ONLY = new Failure('FORBIDDEN', 'Only an owner of the workspace may do this.');
const CLOSED = new Failure('FORBIDDEN', 'Only an owner may create further workspaces here.', {
  suggestion: 'Ask an owner of this workspace. The operator can allow it to everyone with SIGNUP=open.',
});
const NOT_DELETED = {
  absent: notFound('workspace'),
  deleted: notFound('workspace'),
  first: new Failure(
    'CONFLICT',
    'The first workspace of an installation cannot be deleted; archive it instead.',
  ),
  inUse: new Failure('CONFLICT', 'Only an archived workspace can be deleted.', {
    suggestion: 'Archive it with PATCH {"archived": true} first; posthorn workspaces export keeps a copy.',
  }),
} as const;

/** The workspaces of the person who is signed in. */
export const workspaceRoutes = (deps: WorkspaceRouteDeps): readonly Route[] => {
  const { database } = deps;
  const roleIn = async (accountId: string, id: string) =>
    (await listWorkspaces(database, accountId)).find((each) => each.id === id)?.role ?? null;
  /** The refusal of an owner who lacks the required second factor. */
  const unlessSecured = async (accountId: string): Promise<Failure | null> => {
    if (!deps.ownersNeedTwoFactor) return null;
    const account = await accountById(database, accountId);
    return account && hasSecondFactor(account) ? null : SECOND_FACTOR_NEEDED;
  };
  /** The refusal of a person who is not an owner there; the workspaces of others are not found. */
  const unlessOwner = async (accountId: string, id: string): Promise<Failure | null> => {
    const role = await roleIn(accountId, id);
    if (role === null) return notFound('workspace');
    return role === 'owner' ? unlessSecured(accountId) : OWNERS_ONLY;
  };
  /**
   * Writes an act to the log of the workspace that it changed, because readers of the caller's current
   * workspace need not know of it.
   */
  const note = async (
    accountId: string,
    id: string,
    act: Pick<Act, 'action' | 'details' | 'now'> & { readonly requestId: string },
  ) => {
    try {
      await recordPerson(database, id, accountId, { ...act, targetId: id });
    } catch (error) {
      const { action, requestId } = act;
      deps.log.error({ requestId, err: error, action }, 'An act could not be written to the audit log');
    }
  };
  return [
    route(`GET ${path}`, {
      ...OF_MEMBER,
      summary: 'List the workspaces of the person',
      response: of<readonly object[]>(),
      handle: ({ caller }) => listWorkspaces(database, memberOf(caller).accountId),
    }),
    route(`POST ${path}`, {
      ...FORM,
      summary: 'Create a workspace, owned by the person',
      body: Type.Object({ name: Name }),
      response: of<object>(),
      status: 201,
      handle: async ({ caller, body, now, requestId }) => {
        const { accountId, role } = memberOf(caller);
        if (hasUnseen(body.name)) return UNSEEN_NAME;
        if (deps.signup === 'closed' && role !== 'owner') return CLOSED;
        const refusal = await unlessSecured(accountId);
        if (refusal) return refusal;
        const name = body.name.trim();
        const id = await deps.createOwnWorkspace(name, accountId, MOST_WORKSPACES, now);
        if (id === null) return TOO_MANY_WORKSPACES;
        await note(accountId, id, { action: 'workspace.created', details: { name }, now, requestId });
        return { id, name };
      },
    }),
    route(`PATCH ${path}/:id`, {
      ...FORM,
      summary: 'Rename, archive or restore a workspace',
      params,
      body: Type.Object({ name: Type.Optional(Name), archived: Type.Optional(Type.Boolean()) }),
      response: of<object>(),
      handle: async ({ caller, params: { id }, body, now, requestId }) => {
        const { accountId } = memberOf(caller);
        const refusal = await unlessOwner(accountId, id);
        if (refusal) return refusal;
        if (body.name !== undefined && hasUnseen(body.name)) return UNSEEN_NAME;
        if (body.name !== undefined) await renameWorkspace(database, id, body.name.trim());
        if (body.archived !== undefined) await archiveWorkspace(database, id, body.archived ? now : null);
        await note(accountId, id, { action: 'workspace.changed', details: { ...body }, now, requestId });
        return (await listWorkspaces(database, accountId)).find((each) => each.id === id) ?? {};
      },
    }),
    route(`DELETE ${path}/:id`, {
      ...FORM,
      summary: 'Delete an archived workspace and everything in it',
      params,
      audit: { action: 'workspace.deleted' },
      handle: async ({ caller, params: { id }, now }) => {
        const refusal = await unlessOwner(memberOf(caller).accountId, id);
        if (refusal) return refusal;
        const reason = await deleteWorkspace(database, id, now);
        if (reason !== null) return NOT_DELETED[reason];
        deps.sessions.ends.tell({ workspaceId: id });
        return null;
      },
    }),
    route(`POST ${path}/:id/switch`, {
      ...FORM,
      summary: 'Switch to another workspace',
      params,
      response: of<object>(),
      handle: async ({ caller, params: { id }, headers, client, now, requestId }) => {
        const { accountId } = memberOf(caller);
        if ((await roleIn(accountId, id)) === null) return notFound('workspace');
        const cookie = await openFor(
          deps,
          { id: accountId },
          { headers, client, now, requestId },
          { workspace: id, provided: 'replaced' },
        );
        return cookie instanceof Failure ? cookie : withCookie(cookie, 200, { workspaceId: id });
      },
    }),
  ];
};
