import type { BodyHolder } from '../../../platform/bodies/holder.ts';
import type { Statements } from '../../../platform/db/database.ts';
import { broughtInside } from './content-bodies.ts';

/** The rows of one statement. */
const BATCH = 1_000;

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

const HAVING = `select e.id, encode(e.content, 'base64') as packed from email_bodies b join emails e on e.id = b.email_id
where b.workspace_id = $1 and b.key = $2`;

/** Emails: another table says which bodies they have, since a content has several. */
export const emailBodies: BodyHolder = {
  plural: 'emails',
  column: { table: 'email_bodies', name: 'key' },
  idPrefix: 'em',
  references: `select b.workspace_id, b.key, b.email_id as id
from email_bodies b join emails e on e.id = b.email_id and e.workspace_id = b.workspace_id`,
  // The email is looked up by itself: of a whole day there may be millions.
  referred: `select distinct b.key from unnest($2::text[]) k(key)
join email_bodies b on b.workspace_id = $1 and b.key = k.key
cross join lateral (select true from emails e where e.id = b.email_id and e.workspace_id = $1 offset 0) e`,
  async forgetRemoved(database, workspaceId, prefix, stop) {
    // Sorts behind everything that begins with the prefix: all of it is ASCII.
    const end = `${prefix}\u007f`;
    for (let after = ['', '']; !stop?.aborted; ) {
      const [last] = await database.query<{ key: string; email_id: string }>(OVER, [
        workspaceId,
        prefix,
        end,
        ...after,
      ]);
      if (!last) return;
      after = [last.key, last.email_id];
    }
  },
  async bringInside(session: Pick<Statements, 'query'>, { workspaceId, key, octets }) {
    const rows = await session.query<{ id: string; packed: string }>(HAVING, [workspaceId, key]);
    for (const { id, packed } of rows)
      await session.query(`update emails set content = decode($2::text, 'base64') where id = $1`, [
        id,
        await broughtInside(packed, key, octets),
      ]);
    await session.query('delete from email_bodies where workspace_id = $1 and key = $2', [workspaceId, key]);
  },
};
