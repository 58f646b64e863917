import type { PlanName } from '../../auth/plans.ts';
import type { Database } from '../../db/database.ts';
import { lowestIdAt } from '../../db/ids.ts';

/** The first workspace of a new installation. */
export interface FirstWorkspace {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** The id is always the same, so that instances which start together on one database make one workspace. */
const FIRST_ID = lowestIdAt('ws', 0);

/** Makes the first workspace when there is none, and returns it. */
export async function ensureFirstWorkspace(
  database: Database,
  plan: PlanName,
  now: number,
): Promise<FirstWorkspace> {
  await database.query(
    `insert into workspaces (id, name, plan, created_at) values ($1, 'Workspace', $2, $3::text::timestamptz)
     on conflict (id) do nothing`,
    [FIRST_ID, plan, new Date(now).toISOString()],
  );
  const [row] = await database.query<{ at: number }>(
    'select (extract(epoch from created_at) * 1000)::float8 as at from workspaces where id = $1',
    [FIRST_ID],
  );
  if (row === undefined) throw new Error('The first workspace has gone.');
  return { id: FIRST_ID, createdAt: row.at };
}

/** Changes the plan of a workspace at once; false when there is no such workspace. */
export async function setPlan(database: Database, workspaceId: string, plan: PlanName): Promise<boolean> {
  const rows = await database.query('update workspaces set plan = $2 where id = $1 returning id', [
    workspaceId,
    plan,
  ]);
  return rows.length > 0;
}
