import { eq, sql } from 'drizzle-orm';
import type { Principal } from '../../../http/auth/principal.ts';
import { Semaphore } from '../../../platform/async/semaphore.ts';
import type { Database } from '../../../platform/db/database.ts';
import { workspaceLogos } from '../../../platform/db/schema/workspaces.ts';
import { type Failure, invalid } from '../../../platform/errors/failure.ts';
import { UnavailableError } from '../../../platform/errors/unavailable.ts';
import { isJpeg, readJpeg } from './jpeg.ts';
import { isPng, type ReadPicture, readPng } from './png.ts';

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
  const bytes = Buffer.from(sent.buffer, sent.byteOffset, sent.byteLength);
  const picture = await readInTurn(bytes);
  if ('problem' in picture) return invalid([{ path: '/body', message: picture.problem }]);
  const file = fileOf(picture.content, isPng(bytes) ? 'png' : 'jpg');
  const content = Buffer.from(picture.content).toString('base64');
  await database.query(STORE, [workspaceId, file, content, new Date(now).toISOString()]);
  return null;
}

/**
 * A PNG of a few kilobytes may take a fifth of a second to count (134 MB of pixels), so one is read at a
 * time, and few wait.
 */
const room = new Semaphore(1, undefined, 20);

async function readInTurn(bytes: Buffer): Promise<ReadPicture> {
  if (!(await room.take())) throw new UnavailableError('Too many logos are being read at once.');
  try {
    return await readPicture(bytes);
  } finally {
    room.release();
  }
}

const NO_PICTURE = { problem: 'Must be a PNG or a JPEG.' };

function readPicture(bytes: Buffer): ReadPicture | Promise<ReadPicture> {
  if (isPng(bytes)) return readPng(bytes, MOST_PIXELS);
  return isJpeg(bytes) ? readJpeg(bytes, MOST_PIXELS) : NO_PICTURE;
}

/** The name of a logo is the hash of its content, so the content of an address never changes. */
const fileOf = (content: Uint8Array, suffix: 'png' | 'jpg'): string =>
  `${new Bun.CryptoHasher('sha256').update(content).digest('hex')}.${suffix}`;

/** Removes the logo of the caller's workspace and its earlier ones. @throws UnavailableError */
export const deleteLogo = async (database: Database, { workspaceId }: Principal): Promise<void> => {
  await database.query(REMOVE, [workspaceId]);
};

const FILE = /^[0-9a-f]{64}\.(?:png|jpg)$/;

/** Reads a logo by the name of its file; null when there is none. @throws UnavailableError */
export async function findLogo(
  database: Database,
  file: string,
): Promise<{ readonly type: string; readonly content: Uint8Array<ArrayBuffer> } | null> {
  if (!FILE.test(file)) return null;
  const [row] = await database.read((orm) =>
    orm
      .select({ content: sql<string>`encode(${workspaceLogos.content}, 'base64')` })
      .from(workspaceLogos)
      .where(eq(workspaceLogos.file, file))
      .limit(1),
  );
  if (!row) return null;
  return {
    type: file.endsWith('.png') ? 'image/png' : 'image/jpeg',
    content: new Uint8Array(Buffer.from(row.content, 'base64')),
  };
}
