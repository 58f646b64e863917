import { type DatabaseLocation, openDatabase } from '../../src/platform/db/open.ts';

const TABLES = `select c.relname as name from pg_class c
where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1`;

/**
 * The number of rows of every table of a database and a digest of them, whichever of the two databases it is.
 */
export async function tableDigests(where: DatabaseLocation): Promise<Record<string, string>> {
  const database = await openDatabase(where);
  try {
    const tables = await database.query<{ name: string }>(TABLES);
    const digests: Record<string, string> = {};
    for (const { name } of tables) {
      const [row] = await database.query<{ digest: string }>(
        `select count(*) || ' rows, ' || coalesce(md5(string_agg(md5(t::text), '' order by md5(t::text))), '') as digest from ${name} t`,
      );
      digests[name] = row?.digest ?? '';
    }
    return digests;
  } finally {
    await database.close();
  }
}
