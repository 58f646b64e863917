import type { BodyHolder } from '../../platform/bodies/holder.ts';

/** Images: an asset refers to its octets, until it is deleted. */
export const assetBodies: BodyHolder = {
  plural: 'images',
  column: { table: 'assets', name: 'body_key' },
  idPrefix: 'ast',
  references: `select a.workspace_id, a.body_key as key, a.id from assets a where a.body_key is not null`,
  referred: `select a.body_key as key from assets a where a.workspace_id = $1 and a.body_key = any($2::text[])`,
  // The key is in the row.
  forgetRemoved: null,
  async bringInside(session, { workspaceId, key, octets }) {
    await session.query(
      `with inside as (
        update assets set body_key = null where workspace_id = $1 and body_key = $2 returning id
      )
      insert into asset_contents (asset_id, content) select id, decode($3::text, 'base64') from inside
      on conflict (asset_id) do update set content = excluded.content`,
      [workspaceId, key, Buffer.from(octets).toString('base64')],
    );
  },
};
