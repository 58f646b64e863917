import type { Database } from '../../../../platform/db/database.ts';
import type { Scope } from '../../lists/contact-rows.ts';

/** Contacts that are looked at, the newest ones. */
const LOOKED_AT = 1_000;

const TYPES = `select e.key, min(jsonb_typeof(e.value)) as type
from (
  select properties from contacts where workspace_id = $1 and livemode = $2::boolean order by id desc limit ${LOOKED_AT}
) c cross join lateral jsonb_each(c.properties) e
where e.key = any($3::text[])
group by e.key having min(jsonb_typeof(e.value)) = max(jsonb_typeof(e.value))`;

/**
 * The types of properties that are numbers, or true and false, in all contacts that were looked at. @throws
 * UnavailableError
 */
export async function typesThere(
  database: Database,
  { workspaceId, livemode }: Scope,
  keys: readonly string[],
): Promise<ReadonlyMap<string, 'number' | 'boolean'>> {
  if (keys.length === 0) return new Map();
  const rows = await database.query<{ key: string; type: string }>(TYPES, [workspaceId, livemode, keys]);
  return new Map(
    rows.flatMap(({ key, type }): [string, 'number' | 'boolean'][] =>
      type === 'number' || type === 'boolean' ? [[key, type]] : [],
    ),
  );
}
