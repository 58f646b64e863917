import { and, desc, eq, isNull } from 'drizzle-orm';
import { type IdRange, withinRange } from '../../http/lists/list.ts';
import type { Database } from '../../platform/db/database.ts';
import { NUMBERED_TIME } from '../../platform/db/numbered-time.ts';
import type { Reads } from '../../platform/db/reads.ts';
import { assets } from '../../platform/db/schema/templates.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { isoOf } from '../../platform/time/clock.ts';
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
 * The images that a workspace has, and true where one more has room: `$1` the workspace, `$2` the file, `$3`
 * its octets.
 */
const ROOM = `select exists (select from assets where workspace_id = $1 and file = $2 and deleted_at is null)
    or (count(*) < ${MOST_ASSETS} and coalesce(sum(size), 0) + $3::integer <= ${MOST_OCTETS}) as "hasRoom"
  from assets where workspace_id = $1 and deleted_at is null`;

/**
 * The same content is one image of a workspace. One that is uploaded live, and was uploaded in a test before,
 * is live from then on, and one that was deleted is listed again. Uploads at the same moment may exceed the
 * limits by themselves.
 *
 * An image with its octets in the body store is stored in time, or not at all: later they may have been
 * collected, since nothing referred to them. The time is read once the transaction has its number, as for
 * emails (sending/emails/bodies/insert-rule.ts).
 */
const INSERT = `with room as materialized (
  ${ROOM}
), judged as materialized (
  select "hasRoom", $14::timestamptz is null
    or $14::timestamptz > ${NUMBERED_TIME} as "isInTime" from room
), made as (
  insert into assets (workspace_id, file, size, id, livemode, filename, content_type, width, height, created_at, body_key)
  select $1, $2, $3::integer, $4, $5::boolean, $6, $7, $8::integer, $9::integer, $10::timestamptz, $12 from judged
  where "hasRoom" and "isInTime"
  on conflict (workspace_id, file) do update set livemode = assets.livemode or excluded.livemode, deleted_at = null,
    filename = case when assets.deleted_at is null then assets.filename else excluded.filename end,
    body_key = case when assets.body_key = $13 then excluded.body_key else assets.body_key end
  returning id, body_key
), stored as (
  insert into asset_contents (asset_id, content) select id, decode($11::text, 'base64') from made where body_key is null and $11 is not null
  on conflict (asset_id) do nothing
)
select "isInTime", (select id from made) as id from judged`;

/** The place of the octets of a new image. */
export type NewOctets = { readonly content: Uint8Array } | OutsideOctets;

/** Octets in the body store. */
export interface OutsideOctets {
  readonly bodyKey: string;
  /** The moment (ISO 8601) up to which they may be referred to. */
  readonly until: string;
}

/** An image that is stored. */
export type NewAsset = Omit<AssetRow, 'lastShownOn' | 'bodyKey' | 'deletedAt'>;

/**
 * Stores an image. Where the workspace has it already, it keeps its octets, unless they were `lost`: the key
 * of a body that is gone. Answers the id; null where the workspace has too many images. @throws
 * UnavailableError
 */
export async function insertAsset(
  database: Database,
  row: NewAsset,
  octets: NewOctets,
  lost: string | null,
): Promise<string | null> {
  const inside = 'content' in octets ? Buffer.from(octets.content).toString('base64') : null;
  const body = 'bodyKey' in octets ? octets : null;
  const [made] = await database.query<{ id: string | null; isInTime: boolean }>(INSERT, [
    row.workspaceId,
    row.file,
    row.size,
    row.id,
    row.livemode,
    row.filename,
    row.contentType,
    row.width,
    row.height,
    row.createdAt.toISOString(),
    inside,
    body?.bodyKey ?? null,
    lost,
    body?.until ?? null,
  ]);
  if (made?.isInTime === false)
    throw new UnavailableError(
      'The image lay in the body store for too long before it could be stored. Upload it again.',
    );
  return made?.id ?? null;
}

/** True where a workspace may have one more image of that size, or has this one. @throws UnavailableError */
export async function hasRoom(
  database: Database,
  { workspaceId, file, size }: Pick<AssetRow, 'workspaceId' | 'file' | 'size'>,
): Promise<boolean> {
  const [row] = await database.query<{ hasRoom: boolean }>(ROOM, [workspaceId, file, size]);
  return row?.hasRoom ?? false;
}

/**
 * The image of a workspace with that content, also a deleted one whose octets are kept. @throws
 * UnavailableError
 */
export async function findByFile(
  database: Database,
  { workspaceId, file }: Pick<AssetRow, 'workspaceId' | 'file'>,
): Promise<Pick<AssetRow, 'id' | 'bodyKey' | 'deletedAt'> | undefined> {
  const [row] = await database.read((orm) =>
    orm
      .select({ id: assets.id, bodyKey: assets.bodyKey, deletedAt: assets.deletedAt })
      .from(assets)
      .where(and(eq(assets.workspaceId, workspaceId), eq(assets.file, file))),
  );
  return row;
}

/**
 * Notes that an image was uploaded again; false where it has been deleted meanwhile. @throws UnavailableError
 */
export async function noteUpload(database: Database, id: string, livemode: boolean): Promise<boolean> {
  const rows = await database.query(
    'update assets set livemode = livemode or $2::boolean where id = $1 and deleted_at is null returning id',
    [id, livemode],
  );
  return rows.length > 0;
}

/** Images of a workspace, newest first. */
export const readAssets = (reads: Reads, workspaceId: string, range: IdRange, limit: number) =>
  reads.read((orm) =>
    orm
      .select()
      .from(assets)
      .where(
        and(eq(assets.workspaceId, workspaceId), isNull(assets.deletedAt), ...withinRange(assets.id, range)),
      )
      .orderBy(desc(assets.id))
      .limit(limit),
  );

/** One image of a workspace. A deleted one is found only where `deleted` says so. */
export async function readAsset(
  reads: Pick<Reads, 'read'>,
  workspaceId: string,
  id: string,
  deleted = false,
): Promise<AssetRow | undefined> {
  const [row] = await reads.read((orm) =>
    orm
      .select()
      .from(assets)
      .where(
        and(
          eq(assets.workspaceId, workspaceId),
          eq(assets.id, id),
          deleted ? undefined : isNull(assets.deletedAt),
        ),
      ),
  );
  return row;
}

/**
 * `$1` the workspace, `$2` the id, `$3` the time. Deletions at the same moment may exceed the limits by
 * themselves.
 */
const HIDE = `update assets a set deleted_at = $3::timestamptz where workspace_id = $1 and id = $2 and deleted_at is null and (
  select count(*) < ${MOST_ASSETS} and coalesce(sum(h.size), 0) + a.size <= ${MOST_OCTETS}
  from assets h where h.workspace_id = $1 and h.deleted_at is not null
) returning id`;

/**
 * Hides an image, whose address still serves it; false where too many hidden ones are served. @throws
 * UnavailableError
 */
export async function hideAsset(
  database: Database,
  workspaceId: string,
  id: string,
  now: number,
): Promise<boolean> {
  const hidden = await database.query(HIDE, [workspaceId, id, isoOf(now)]);
  return hidden.length > 0;
}

/** Removes an image; its emails show a gap from then on. */
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

/** The place of an image's octets: the database, or a key in the body store. */
export type StoredOctets = { readonly content: Uint8Array<ArrayBuffer> } | { readonly bodyKey: string };

/**
 * The row is chosen before its octets are read: with both in one step every copy is read and encoded for the
 * sort. Octets inside come first, also those of a row that has a body too (see MOVE); then the newest body,
 * because an upload that replaces a lost one makes a new one.
 */
const OF_FILE = `with one as materialized (
  select a.id, a.body_key from assets a left join asset_contents c on c.asset_id = a.id
  where a.file = $1 and (c.asset_id is not null or (a.body_key is not null and a.body_key <> all($2::text[])))
  order by c.asset_id is null, substring(a.body_key from '/gen_.*') desc, a.id limit 1
)
select o.body_key as "bodyKey", encode(c.content, 'base64') as content
from one o left join asset_contents c on c.asset_id = o.id`;

/**
 * The octets of an image by the name of its file, in whichever workspace, but not under one of the `lost`
 * keys; null where there is none.
 * @throws UnavailableError
 */
export async function readOctets(
  database: Pick<Database, 'query'>,
  file: string,
  lost: readonly string[],
): Promise<StoredOctets | null> {
  const [row] = await database.query<{ bodyKey: string | null; content: string | null }>(OF_FILE, [
    file,
    [...lost],
  ]);
  if (!row) return null;
  const { bodyKey, content } = row;
  if (content !== null) return { content: new Uint8Array(Buffer.from(content, 'base64')) };
  return bodyKey === null ? null : { bodyKey };
}

/** The octets of images by the names of their files, in whichever workspace. @throws UnavailableError */
export async function readSizes(
  database: Database,
  files: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (files.length === 0) return new Map();
  const rows = await database.query<{ file: string; size: number }>(
    'select distinct file, size from assets where file = any($1::text[])',
    [[...files]],
  );
  return new Map(rows.map(({ file, size }) => [file, size]));
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

/** An image whose octets are in the database. */
export interface InsideImage {
  readonly id: string;
  readonly workspaceId: string;
  /** The body that its row refers to all the same (see MOVE). */
  readonly bodyKey: string | null;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** The row is chosen before its octets are read, as in OF_FILE. */
const NEXT_INSIDE = `with one as materialized (select asset_id from asset_contents where asset_id > $1 order by asset_id limit 1)
select a.id, a.workspace_id as "workspaceId", a.body_key as "bodyKey", encode(c.content, 'base64') as content
from one o join asset_contents c on c.asset_id = o.asset_id join assets a on a.id = o.asset_id`;

/** The next image behind an id whose octets are in the database. @throws UnavailableError */
export async function nextInside(
  database: Pick<Database, 'query'>,
  after: string,
): Promise<InsideImage | null> {
  const [row] = await database.query<Omit<InsideImage, 'content'> & { content: string }>(NEXT_INSIDE, [
    after,
  ]);
  return row ? { ...row, content: new Uint8Array(Buffer.from(row.content, 'base64')) } : null;
}

/**
 * The reference and the end of the octets inside are one statement, in time or not at all, as for a new
 * image. An instance that does not know bodies of images stores the octets of a repeated upload inside,
 * whatever body the row has: the moved ones take its place.
 */
const MOVE = `with moved as (
  update assets set body_key = $2 where id = $1 and body_key is not distinct from $4
    and $3::timestamptz > ${NUMBERED_TIME} returning id
)
delete from asset_contents c using moved m where c.asset_id = m.id returning c.asset_id`;

/**
 * Has an image refer to a body in place of its octets in the database; false where it was moved or deleted
 * meanwhile. @throws UnavailableError
 */
export async function moveOutside(
  database: Database,
  image: Pick<InsideImage, 'id' | 'bodyKey'>,
  { bodyKey, until }: { readonly bodyKey: string; readonly until: string },
): Promise<boolean> {
  const rows = await database.query(MOVE, [image.id, bodyKey, until, image.bodyKey]);
  return rows.length > 0;
}
