import { and, desc, eq, sql } from 'drizzle-orm';
import { type IdRange, withinRange } from '../../http/lists/list.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Reads } from '../../platform/db/reads.ts';
import { assetContents, assets } from '../../platform/db/schema/templates.ts';
import type { CheckedPicture } from '../../platform/pictures/picture.ts';
import type { AssetUse } from './api.ts';
import { type AssetUser, MOST_ASSETS, MOST_OCTETS, MOST_USES } from './model.ts';

export type AssetRow = typeof assets.$inferSelect;

/** Something that shows an image. */
export interface FoundUse {
  readonly file: string;
  readonly type: AssetUser;
  readonly id: string;
  readonly name: string;
  readonly livemode: boolean;
}

/**
 * The same content is one image of a workspace. One that is uploaded live, and was uploaded in a test before, is live from then on.
 * Uploads at the same moment may exceed the limits by themselves.
 */
const INSERT = `with taken as (
  select count(*) as images, coalesce(sum(size), 0) as octets from assets where workspace_id = $2
), made as (
  insert into assets (id, workspace_id, livemode, file, filename, content_type, width, height, size, created_at)
  select $1, $2, $3::boolean, $4, $5, $6, $7::integer, $8::integer, $9::integer, $10::timestamptz from taken
  where exists (select from assets where workspace_id = $2 and file = $4)
    or (images < ${MOST_ASSETS} and octets + $9::integer <= ${MOST_OCTETS})
  on conflict (workspace_id, file) do update set livemode = assets.livemode or excluded.livemode
  returning id
), stored as (
  insert into asset_contents (asset_id, content) select id, decode($11, 'base64') from made on conflict (asset_id) do nothing
)
select id from made`;

/** Stores an image; its id, or null where the workspace has too many. @throws UnavailableError */
export async function insertAsset(
  database: Database,
  {
    row,
    picture: { content },
  }: {
    readonly row: Omit<AssetRow, 'lastShownOn'>;
    readonly picture: Pick<CheckedPicture, 'content'>;
  },
): Promise<string | null> {
  const [made] = await database.query<{ id: string }>(INSERT, [
    ...[row.id, row.workspaceId, row.livemode, row.file, row.filename, row.contentType],
    ...[row.width, row.height, row.size, row.createdAt.toISOString()],
    Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('base64'),
  ]);
  return made?.id ?? null;
}

/** Images of a workspace, newest first. */
export const readAssets = (reads: Reads, workspaceId: string, range: IdRange, limit: number) =>
  reads.read((orm) =>
    orm
      .select()
      .from(assets)
      .where(and(eq(assets.workspaceId, workspaceId), ...withinRange(assets.id, range)))
      .orderBy(desc(assets.id))
      .limit(limit),
  );

/** One image of a workspace. */
export async function readAsset(
  reads: Pick<Reads, 'read'>,
  workspaceId: string,
  id: string,
): Promise<AssetRow | undefined> {
  const [row] = await reads.read((orm) =>
    orm
      .select()
      .from(assets)
      .where(and(eq(assets.workspaceId, workspaceId), eq(assets.id, id))),
  );
  return row;
}

/** Deletes an image; its emails show a gap from then on. */
export const deleteAssetRow = (database: Database, workspaceId: string, id: string) =>
  database.query('delete from assets where workspace_id = $1 and id = $2', [workspaceId, id]);

/** Finds all uses of images of a workspace. @throws UnavailableError */
export async function findUses(
  database: Pick<Reads, 'query'>,
  workspaceId: string,
  files: readonly string[],
  uses: readonly AssetUse[],
): Promise<readonly FoundUse[]> {
  if (files.length === 0) return [];
  const each = uses.map(({ type, uses: found }) => `select '${type}' as type, u.* from (${found}) u`);
  return database.query<FoundUse>(
    `select type, id, name, livemode, file from (
      select u.*, row_number() over (partition by file, livemode order by id desc) as n from (${each.join('\nunion all\n')}) u
    ) numbered where n <= ${MOST_USES} order by id desc`,
    [workspaceId, [...files]],
  );
}

/** The octets of an image by the name of its file, in whichever workspace; null where there is none. @throws UnavailableError */
export async function readContent(database: Database, file: string): Promise<Uint8Array<ArrayBuffer> | null> {
  const [row] = await database.read((orm) =>
    orm
      .select({ content: sql<string>`encode(${assetContents.content}, 'base64')` })
      .from(assets)
      .innerJoin(assetContents, eq(assetContents.assetId, assets.id))
      .where(eq(assets.file, file))
      .limit(1),
  );
  return row ? new Uint8Array(Buffer.from(row.content, 'base64')) : null;
}

/** True while some workspace has an image of that name. */
export async function isStored(database: Database, file: string): Promise<boolean> {
  const rows = await database.read((orm) =>
    orm.select({ id: assets.id }).from(assets).where(eq(assets.file, file)).limit(1),
  );
  return rows.length > 0;
}

/** Notes that an image was read on a day (`2026-11-28`). */
export const noteShown = (database: Database, file: string, day: string) =>
  database.query(
    `update assets set last_shown_on = $2::date where id in (
      select id from assets where file = $1 and (last_shown_on is null or last_shown_on < $2::date) order by id for update
    )`,
    [file, day],
  );
