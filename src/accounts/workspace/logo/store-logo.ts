import { eq, sql } from 'drizzle-orm';
import type { Principal } from '../../../http/auth/principal.ts';
import type { Database } from '../../../platform/db/database.ts';
import { workspaceLogos } from '../../../platform/db/schema/workspaces.ts';
import { type Failure, invalidAt } from '../../../platform/errors/failure.ts';
import { checkPicture, typeOfFile } from '../../../platform/pictures/picture.ts';

/** The most octets of a logo. */
export const LARGEST_LOGO = 1_048_576;
/** The most pixels of a logo per side. */
export const MOST_PIXELS = 4_096;

/** Earlier logos that stay, because sent emails show them. */
const KEPT_LOGOS = 10;

const STORE = `with stored as (
  insert into workspace_logos (workspace_id, file, content, created_at)
  values ($1, $2, decode($3, 'base64'), $4::text::timestamptz)
  on conflict (workspace_id, file) do update set created_at = excluded.created_at
), outdated as (
  delete from workspace_logos where workspace_id = $1 and file <> $2 and file not in (
    select file from workspace_logos where workspace_id = $1 order by created_at desc limit ${KEPT_LOGOS}
  )
)
update workspaces set logo = $2 where id = $1`;

const REMOVE = `with removed as (delete from workspace_logos where workspace_id = $1)
update workspaces set logo = null where id = $1`;

/** Checks a logo by its content and sets it for the caller's workspace. @throws UnavailableError */
export async function putLogo(
  database: Database,
  { workspaceId }: Principal,
  sent: Uint8Array,
  now: number,
): Promise<Failure | null> {
  const picture = await checkPicture(sent, { types: ['image/png', 'image/jpeg'], mostPixels: MOST_PIXELS });
  if ('problem' in picture) return invalidAt('/body', picture.problem);
  const { file } = picture;
  const content = Buffer.from(picture.content).toString('base64');
  await database.query(STORE, [workspaceId, file, content, new Date(now).toISOString()]);
  return null;
}

/** Removes the logo of the caller's workspace and its earlier ones. @throws UnavailableError */
export const deleteLogo = async (database: Database, { workspaceId }: Principal): Promise<void> => {
  await database.query(REMOVE, [workspaceId]);
};

/** Reads a logo by the name of its file; null when there is none. @throws UnavailableError */
export async function findLogo(
  database: Database,
  file: string,
): Promise<{ readonly type: string; readonly content: Uint8Array<ArrayBuffer> } | null> {
  const type = typeOfFile(file);
  if (type === null) return null;
  const [row] = await database.read((orm) =>
    orm
      .select({ content: sql<string>`encode(${workspaceLogos.content}, 'base64')` })
      .from(workspaceLogos)
      .where(eq(workspaceLogos.file, file))
      .limit(1),
  );
  if (!row) return null;
  return {
    type,
    content: new Uint8Array(Buffer.from(row.content, 'base64')),
  };
}
