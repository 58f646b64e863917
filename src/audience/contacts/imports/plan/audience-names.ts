import type { Database } from '../../../../platform/db/database.ts';
import type { Scope } from '../../lists/contact-rows.ts';

const JOINABLE = `select id, name from audiences
where workspace_id = $1 and livemode = $2::boolean and type = 'static' and not confirm order by id`;

/** The static audiences that a file can let people into, by id, and by name where only one is called so. @throws Unavailable */
export async function joinableAudiences(
  database: Database,
  { workspaceId, livemode }: Scope,
): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query<{ id: string; name: string }>(JOINABLE, [workspaceId, livemode]);
  const byName = new Map<string, string>();
  const shared = new Set<string>();
  for (const { id, name } of rows) {
    if (byName.has(name)) shared.add(name);
    byName.set(name, id);
  }
  for (const name of shared) byName.delete(name);
  return new Map([...byName, ...rows.map(({ id }): [string, string] => [id, id])]);
}
