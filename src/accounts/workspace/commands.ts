import { setTimeout as pause } from 'node:timers/promises';
import { and, eq, isNull } from 'drizzle-orm';
import { laterSql } from '../../http/if-updated-at.ts';
import type { PlanName } from '../../platform/config/plans.ts';
import type { Database } from '../../platform/db/database.ts';
import { lowestIdAt, mintId } from '../../platform/db/ids.ts';
import { workspaces } from '../../platform/db/schema/workspaces.ts';
import { languageOfPersonSql } from '../member-language.ts';
import { SENDER_KNOWN_MS } from './queries.ts';

/** The first workspace of a new installation. */
export interface FirstWorkspace {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** The id is always the same, so that instances which start together on one database make one workspace. */
const FIRST_ID = lowestIdAt('ws', 0);

/** Creates the first workspace when there is none, and returns it. */
export async function ensureFirstWorkspace(
  database: Database,
  plan: PlanName,
  now: number,
): Promise<FirstWorkspace> {
  const first = { id: FIRST_ID, name: 'Workspace', plan, createdAt: new Date(now) };
  await database.read((orm) =>
    orm.insert(workspaces).values(first).onConflictDoNothing({ target: workspaces.id }),
  );
  const [row] = await database.read((orm) =>
    orm.select({ createdAt: workspaces.createdAt }).from(workspaces).where(eq(workspaces.id, FIRST_ID)),
  );
  if (row === undefined) throw new Error('The first workspace no longer exists.');
  return { id: FIRST_ID, createdAt: row.createdAt.getTime() };
}

/** Changes the plan of a workspace at once; false when there is no such workspace. */
export async function setPlan(database: Database, workspaceId: string, plan: PlanName): Promise<boolean> {
  const rows = await database.read((orm) =>
    orm
      .update(workspaces)
      .set({ plan })
      .where(eq(workspaces.id, workspaceId))
      .returning({ id: workspaces.id }),
  );
  return rows.length > 0;
}

/** Creates a workspace and returns its id; `owner` is the owner's account. @throws UnavailableError */
export async function createWorkspace(
  database: Database,
  workspace: { readonly name: string; readonly plan: PlanName; readonly owner: string | null },
  now: number,
): Promise<string> {
  const id = await createWithin(database, { ...workspace, most: null }, now);
  if (id === null) throw new Error('The number of workspaces has no limit.');
  return id;
}

/** The same for an owner with fewer than `most` workspaces; null at that limit. @throws UnavailableError */
export async function createWithin(
  database: Database,
  {
    name,
    plan,
    owner,
    most,
  }: {
    readonly name: string;
    readonly plan: PlanName;
    readonly owner: string | null;
    readonly most: number | null;
  },
  now: number,
): Promise<string | null> {
  const id = mintId('ws', now);
  const rows = await database.query(
    `with made as (
       insert into workspaces (id, name, plan, created_at)
       select $1, $2, $3, $4::text::timestamptz from workspaces_of($6) present where $7::integer is null or present < $7::integer
       returning id
     ), owned as (
     insert into members (id, workspace_id, account_id, role, joined_at, language)
     select $5, id, $6, 'owner', $4::text::timestamptz, ${languageOfPersonSql('$6')} from made where $6::text is not null
     )
     select id from made`,
    [id, name, plan, new Date(now).toISOString(), mintId('mem', now), owner, most],
  );
  return rows.length > 0 ? id : null;
}

/** Renames a workspace; false when it does not exist. @throws UnavailableError */
export async function renameWorkspace(
  database: Database,
  workspaceId: string,
  name: string,
): Promise<boolean> {
  const rows = await database.query(
    `update workspaces set name = $2, updated_at = ${laterSql('coalesce(updated_at, created_at)', 'now()')}
     where id = $1 and erase_at is null returning id`,
    [workspaceId, name],
  );
  return rows.length > 0;
}

/**
 * Archives or restores a workspace; false when it does not exist. Each instance knows when this settles:
 * email that none has started to send by then is held. @throws UnavailableError
 */
export async function archiveWorkspace(
  database: Database,
  workspaceId: string,
  archivedAt: number | null,
): Promise<boolean> {
  const rows = await database.read((orm) =>
    orm
      .update(workspaces)
      .set({ archivedAt: archivedAt === null ? null : new Date(archivedAt) })
      .where(and(eq(workspaces.id, workspaceId), isNull(workspaces.eraseAt)))
      .returning({ id: workspaces.id }),
  );
  if (rows.length > 0) await pause(SENDER_KNOWN_MS);
  return rows.length > 0;
}

/**
 * The reason that a workspace cannot be deleted (`deleted`: it was deleted before); null after a deletion.
 */
export type NotDeleted = 'absent' | 'first' | 'inUse' | 'deleted';

/**
 * Deletes an archived workspace: it is no longer found, and a duty removes its rows. The first workspace of
 * an installation stays, because every start looks for it. @throws UnavailableError
 */
export async function deleteWorkspace(
  database: Database,
  workspaceId: string,
  now: number,
): Promise<NotDeleted | null> {
  if (workspaceId === FIRST_ID) return 'first';
  const rows = await database.query<{ deleted: boolean; already: boolean }>(
    `with deleted as (
       update workspaces set erase_at = $2::text::timestamptz
       where id = $1 and archived_at is not null and erase_at is null returning id
     ), ended as (
       delete from browser_sessions s using deleted d where s.workspace_id = d.id
     )
     select exists (select from deleted) as deleted, erase_at is not null as already from workspaces where id = $1`,
    [workspaceId, new Date(now).toISOString()],
  );
  const [row] = rows;
  if (row === undefined) return 'absent';
  if (row.deleted) return null;
  return row.already ? 'deleted' : 'inUse';
}

/** Removes a workspace without members, keys or any other rows. @throws UnavailableError */
export async function deleteUnusedWorkspace(database: Database, workspaceId: string): Promise<void> {
  await database.read((orm) => orm.delete(workspaces).where(eq(workspaces.id, workspaceId)));
}
