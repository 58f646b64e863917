import type { Statements } from '../../../platform/db/database.ts';

/** The rows of one statement. */
const BATCH = 1_000;

/** The email is looked up by itself: of a whole day there may be millions. Received messages lie in the same store. */
const REFERRED = `select distinct b.key from unnest($2::text[]) k(key)
join email_bodies b on b.workspace_id = $1 and b.key = k.key
cross join lateral (select true from emails e where e.id = b.email_id and e.workspace_id = $1 offset 0) e
union select c.raw_key from received_contents c where c.workspace_id = $1 and c.raw_key = any($2::text[])`;

const OVER = `with over as materialized (
  select b.key, b.email_id from email_bodies b
  where b.workspace_id = $1 and b.key >= $2 and b.key < $3 and (b.key, b.email_id) > ($4, $5)
  order by b.key, b.email_id limit ${BATCH}
), gone as (
  delete from email_bodies b using over o
  where b.workspace_id = $1 and b.key = o.key and b.email_id = o.email_id
    and not exists (select true from emails e where e.id = o.email_id and e.workspace_id = $1)
)
select key, email_id from over order by key desc, email_id desc limit 1`;

/** Those of the keys that an email or a received message still has. @throws UnavailableError */
export async function referredKeys(
  database: Pick<Statements, 'query'>,
  workspaceId: string,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ key: string }>(REFERRED, [workspaceId, keys]);
  return new Set(rows.map(({ key }) => key));
}

/** Forgets which bodies removed emails had, of those whose keys begin with the prefix. @throws UnavailableError */
export async function forgetRemoved(
  database: Pick<Statements, 'query'>,
  workspaceId: string,
  prefix: string,
  stop?: AbortSignal,
): Promise<void> {
  // Sorts behind everything that begins with the prefix: all of it is ASCII.
  const end = `${prefix}\u007f`;
  for (let after = ['', '']; !stop?.aborted; ) {
    const [last] = await database.query<{ key: string; email_id: string }>(OVER, [
      ...[workspaceId, prefix, end, ...after],
    ]);
    if (!last) return;
    after = [last.key, last.email_id];
  }
}
