import type { ReceivedMail } from '../../mail/received/received-mail.ts';
import { bodyDay } from '../../platform/bodies/body-key.ts';
import { BodyLost, type BodyStore } from '../../platform/bodies/body-store.ts';
import type { BodyHolder } from '../../platform/bodies/holder.ts';
import type { Database } from '../../platform/db/database.ts';
import { mintId } from '../../platform/db/ids.ts';
import { pack, unpackOctets } from '../../platform/db/wire/packed-octets.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { isoOf } from '../../platform/time/clock.ts';
import type { ContentWriter } from './content-writer.ts';
import type { MessageSummary, ReceivedSummary } from './summary.ts';

/** The parts of a message that only its detail shows. */
export interface ReceivedParts
  extends Pick<ReceivedMail, 'references' | 'text' | 'html' | 'replyText' | 'headers' | 'attachments'> {
  /** The whole summary, where its rows hold less; absent otherwise. */
  readonly summary?: ReceivedSummary;
}

/** The octets above which a packed message lies outside the database, where there is a body store. */
const LARGEST_INSIDE = 32_768;

/** The owner of a content. */
interface Owner {
  readonly workspaceId: string;
  readonly livemode: boolean;
}

/** The services that storing and reading contents calls. */
export interface ContentDeps {
  readonly database: Database;
  /** Null where all contents lie in the database. */
  readonly bodies: BodyStore | null;
}

/** A message in the form in which it is stored, the same for every workspace that it came to. */
export interface PackedMessage {
  readonly parsed: string;
  readonly raw: Buffer<ArrayBuffer>;
  /** Every address that the envelope and the header name. */
  readonly addressKeys: readonly string[];
}

export async function packMessage(
  raw: Buffer,
  { references, text, html, replyText, headers, attachments }: ReceivedMail,
  { whole, isCut }: MessageSummary,
  addressKeys: readonly string[],
): Promise<PackedMessage> {
  const parts: ReceivedParts = {
    references,
    text,
    html,
    replyText,
    headers,
    attachments,
    ...(isCut && { summary: whole }),
  };
  const [parsed, packed] = await Promise.all([pack(JSON.stringify(parts)), pack(raw as Buffer<ArrayBuffer>)]);
  return { parsed: parsed.toString('base64'), raw: packed, addressKeys };
}

/** Stores a content before anything refers to it, and returns its id. @throws UnavailableError */
export async function storeContent(
  { contents, bodies }: Pick<ContentDeps, 'bodies'> & { readonly contents: Pick<ContentWriter, 'write'> },
  { workspaceId, livemode }: Owner,
  { parsed, raw, addressKeys }: PackedMessage,
  now: number,
): Promise<string> {
  const id = mintId('rcc', now);
  const body =
    bodies && raw.length > LARGEST_INSIDE
      ? await bodies.write({ kind: 'received', livemode, day: bodyDay(now), workspaceId }, raw)
      : null;
  const isStored = await contents.write({
    id,
    workspaceId,
    livemode,
    parsed,
    addressKeys,
    raw: body ? null : raw.toString('base64'),
    rawKey: body?.key ?? null,
    until: body ? isoOf(body.until) : null,
  });
  if (!isStored)
    throw new UnavailableError(
      'The workspace is archived, or the message lay outside for too long before it could be stored.',
    );
  return id;
}

/** SQL: true of a content that no received message has. */
export const UNUSED = 'not exists (select from received r where r.content_id = c.id)';

/**
 * SQL: CTEs that delete what belongs to the received messages in the relation `gone` of their id and
 * content_id: attempts, answers, journal, and the content that no other message has.
 */
export const remainsOf = (gone: string): string => `attempts as (
  delete from received_attempts a using ${gone} g where a.received_id = g.id
), answers as (
  delete from received_answers w using ${gone} g where w.received_id = g.id
), journal as (
  delete from received_journal j using ${gone} g where j.actor_id = g.id
), contents as (
  delete from received_contents c using ${gone} g where c.id = g.content_id
    and not exists (select from received r where r.content_id = c.id and r.id not in (select id from ${gone}))
)`;

/** SQL: the ids of the messages of an owner that name an address, all of them parameters. */
export const idsByAddress = (workspaceId: string, livemode: string, key: string): string => `array(
  select x.id from received x where x.workspace_id = ${workspaceId} and x.livemode = ${livemode} and x.address_keys @> array[${key}]
  union
  select x.id from received_contents c join received x on x.content_id = c.id and x.workspace_id = c.workspace_id
  where c.workspace_id = ${workspaceId} and c.livemode = ${livemode} and c.address_keys @> array[${key}]
)`;

/**
 * Deletes those of the contents that no received message has. Bodies of theirs are collected later. @throws
 * UnavailableError
 */
export const dropContents = (database: Database, ids: readonly string[]): Promise<unknown> =>
  database.query(`delete from received_contents c where c.id = any($1::text[]) and ${UNUSED}`, [ids]);

const PARTS = `select id, encode(parsed, 'base64') as parsed from received_contents where id = $1 and workspace_id = $2`;
const RAW = `select encode(raw, 'base64') as raw, raw_key as key from received_contents where id = $1 and workspace_id = $2`;

/** The parts of a content; null once it is deleted. @throws UnavailableError */
export async function readParts(
  database: Database,
  workspaceId: string,
  contentId: string,
): Promise<ReceivedParts | null> {
  const [row] = await database.query<{ parsed: string }>(PARTS, [contentId, workspaceId]);
  if (!row) return null;
  const parts = JSON.parse(
    (await unpackOctets(Buffer.from(row.parsed, 'base64'))).toString(),
  ) as ReceivedParts;
  // Contents that an earlier version stored have none.
  return { ...parts, replyText: parts.replyText ?? null };
}

/** The octets of a message; null once they are deleted or lost. @throws UnavailableError */
export async function readRaw(
  { database, bodies }: ContentDeps,
  workspaceId: string,
  contentId: string,
): Promise<Buffer | null> {
  const [row] = await database.query<{ raw: string | null; key: string | null }>(RAW, [
    contentId,
    workspaceId,
  ]);
  if (!row) return null;
  if (row.raw !== null) return unpackOctets(Buffer.from(row.raw, 'base64'));
  if (!bodies)
    throw new UnavailableError(
      'BODY_STORE is not set, and the content of this message lies there.',
      'no',
      60,
    );
  try {
    return await unpackOctets(await bodies.read(row.key ?? ''));
  } catch (error) {
    if (error instanceof BodyLost) return null;
    throw error;
  }
}

/** Received messages: a content refers to its octets. */
export const receivedBodies: BodyHolder = {
  plural: 'received messages',
  column: { table: 'received_contents', name: 'raw_key' },
  idPrefix: 'rcc',
  references: `select c.workspace_id, c.raw_key as key, c.id from received_contents c where c.raw_key is not null`,
  referred: `select c.raw_key as key from received_contents c where c.workspace_id = $1 and c.raw_key = any($2::text[])`,
  // The key is in the row.
  forgetRemoved: null,
  async bringInside(session, { workspaceId, key, octets }) {
    await session.query(
      `update received_contents set raw = decode($3::text, 'base64'), raw_key = null where workspace_id = $1 and raw_key = $2`,
      [workspaceId, key, Buffer.from(octets).toString('base64')],
    );
  },
};
