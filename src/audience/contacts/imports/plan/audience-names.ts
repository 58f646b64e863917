import { and, eq } from 'drizzle-orm';
import type { Database } from '../../../../platform/db/database.ts';
import { audiences } from '../../../../platform/db/schema/audiences.ts';
import type { Scope } from '../../lists/contact-rows.ts';

/**
 * The static audiences that a file can let people into, by id, and by name where only one is called so.
 * @throws UnavailableError
 */
export async function joinableAudiences(
  database: Database,
  { workspaceId, livemode }: Scope,
): Promise<ReadonlyMap<string, string>> {
  const rows = await database.read((orm) =>
    orm
      .select({ id: audiences.id, name: audiences.name })
      .from(audiences)
      .where(
        and(
          eq(audiences.workspaceId, workspaceId),
          eq(audiences.livemode, livemode),
          eq(audiences.type, 'static'),
          eq(audiences.confirm, false),
        ),
      )
      .orderBy(audiences.id),
  );
  const byName = new Map<string, string>();
  const shared = new Set<string>();
  for (const { id, name } of rows) {
    if (byName.has(name)) shared.add(name);
    byName.set(name, id);
  }
  for (const name of shared) byName.delete(name);
  return new Map([...byName, ...rows.map(({ id }): [string, string] => [id, id])]);
}
