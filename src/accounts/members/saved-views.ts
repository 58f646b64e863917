import { Type } from '@sinclair/typebox';
import { and, asc, eq } from 'drizzle-orm';
import { DASHBOARD_API, type Route, route } from '../../http/request/route.ts';
import { type Database, PREPARED } from '../../platform/db/database.ts';
import { mintId } from '../../platform/db/ids.ts';
import { savedViews } from '../../platform/db/schema/accounts.ts';
import { Failure, invalidAt, notFound } from '../../platform/errors/failure.ts';
import { hasUnseen } from '../../platform/text/characters.ts';
import { FORM_LIMIT, memberOf, OF_MEMBER, of } from './sign-in/session-routes.ts';

/** The most saved views of a member in a workspace. */
export const MOST_VIEWS = 100;

interface SavedView {
  readonly id: string;
  readonly page: string;
  readonly name: string;
  readonly search: string;
}

const path = `${DASHBOARD_API}/views`;
const FORM = { ...OF_MEMBER, bodyLimit: FORM_LIMIT } as const;

const Body = Type.Object({
  /** The environment and the list: `live/emails`. */
  page: Type.String({ pattern: '^(?:live|test)/[a-z][a-z-]{0,39}(?:/[a-z][a-z-]{0,39})?$' }),
  name: Type.String({ minLength: 1, maxLength: 60, pattern: '\\S' }),
  search: Type.String({ minLength: 1, maxLength: 2_000 }),
});

const UNSEEN_NAME = invalidAt('/body/name', 'Must not hold invisible characters.');
const TOO_MANY = new Failure('CONFLICT', `You have ${MOST_VIEWS} saved views in this workspace.`, {
  suggestion: 'Delete one that you no longer use, or save under a name that you have.',
});

/** A view with the same name on the same page gets the new filters. */
const SAVE = `insert into saved_views as v (id, workspace_id, account_id, page, name, search)
select $1, $2, $3, $4, $5, $6 where saved_views_beside($2, $3, $4, $5) < ${MOST_VIEWS}
on conflict (workspace_id, account_id, page, name) do update set search = excluded.search
returning id, page, name, search`;

/** The filters of lists that the person behind a session has saved in the workspace. */
export const savedViewRoutes = ({ database }: { readonly database: Database }): readonly Route[] => [
  route(`GET ${path}`, {
    ...OF_MEMBER,
    summary: 'List the saved views of the person',
    response: of<readonly SavedView[]>(),
    handle: ({ caller }) => {
      const { id, page, name, search, workspaceId, accountId } = savedViews;
      return database.read(
        (orm) =>
          orm
            .select({ id, page, name, search })
            .from(savedViews)
            .where(and(eq(workspaceId, caller.workspaceId), eq(accountId, memberOf(caller).accountId)))
            .orderBy(asc(page), asc(name)),
        PREPARED,
      );
    },
  }),
  route(`POST ${path}`, {
    ...FORM,
    summary: 'Save the filters of a list under a name',
    body: Body,
    response: of<SavedView>(),
    status: 201,
    handle: async ({ caller, body: { page, name, ...body }, now }) => {
      if (hasUnseen(name)) return UNSEEN_NAME;
      const { accountId } = memberOf(caller);
      // One form of each filter: forgetting a person finds the views that name the address.
      const search = new URLSearchParams(body.search).toString();
      const values = [mintId('view', now), caller.workspaceId, accountId, page, name.trim(), search];
      const [view] = await database.query<SavedView>(SAVE, values);
      return view ?? TOO_MANY;
    },
  }),
  route(`DELETE ${path}/:id`, {
    ...FORM,
    summary: 'Delete a saved view',
    params: { id: { prefix: 'view', resource: 'view' } },
    handle: async ({ caller, params }) => {
      const { id, workspaceId, accountId } = savedViews;
      const owned = [eq(workspaceId, caller.workspaceId), eq(accountId, memberOf(caller).accountId)];
      const gone = await database.read((orm) =>
        orm
          .delete(savedViews)
          .where(and(eq(id, params.id), ...owned))
          .returning({ id }),
      );
      return gone.length === 0 ? notFound('view') : null;
    },
  }),
];
