import type { BodyHolder, BodyHolders } from '../../platform/bodies/holder.ts';
import type { Statements } from '../../platform/db/database.ts';

/** Those of the keys that a row of any kind still has. @throws UnavailableError */
export async function referredKeys(
  database: Pick<Statements, 'query'>,
  holders: BodyHolders,
  workspaceId: string,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set();
  const each = Object.values(holders).map(({ referred }) => referred);
  const rows = await database.query<{ key: string }>(each.join('\nunion\n'), [workspaceId, keys]);
  return new Set(rows.map(({ key }) => key));
}

/**
 * SQL: the next references of a holder behind the workspace `$1` and the key `$2`, each body once, with the
 * lowest `id`.
 */
export const nextReferences = ({ references }: BodyHolder, rows: number, further = 'true'): string =>
  `select workspace_id, key, min(id) as id from (${references}) r
where (workspace_id, key) > ($1, $2) and ${further}
group by workspace_id, key order by workspace_id, key limit ${rows}`;

/**
 * The holders whose column a database has: one of an earlier version may lack some. @throws UnavailableError
 */
export async function presentHolders(
  session: Pick<Statements, 'query'>,
  holders: BodyHolders,
): Promise<readonly BodyHolder[]> {
  const present: BodyHolder[] = [];
  for (const holder of Object.values(holders)) {
    const { table, name } = holder.column;
    const [row] = await session.query<{ there: boolean }>(
      `select exists (select from pg_attribute where attrelid = to_regclass($1) and attname = $2 and not attisdropped) as there`,
      [table, name],
    );
    if (row?.there) present.push(holder);
  }
  return present;
}
