import type { RawIndex } from '../../../mail/raw/raw-mail.ts';
import type { BodyOwner } from '../../../platform/bodies/body-key.ts';
import type { BodyStore } from '../../../platform/bodies/body-store.ts';
import { packOctets, unpackOctets } from '../../../platform/db/wire/packed-octets.ts';
import { UnavailableError } from '../../../platform/errors/unavailable.ts';
import { isoOf } from '../../../platform/time/clock.ts';
import type { Content } from '../accept/message.ts';
import { readContent, unpackStored, writtenContent } from '../accept/packed-content.ts';

/**
 * The octets above which an attachment, or the rest of a content once it is packed, lies outside. Writing an
 * object costs at Amazon what 21 kB cost on a volume for ninety days: smaller ones are cheaper, and sooner
 * there, in the row.
 */
export const LARGEST_INSIDE = 32_768;

/** The part of the row in place of stored bodies: their keys. */
interface Outside {
  /** All but the attachments that are named; without it that lies in the row. */
  readonly rest?: string;
  /** By their places. */
  readonly attachments: Readonly<Record<number, string>>;
  /** The octets of a message that stays what it is. */
  readonly raw?: string;
}

/**
 * The value of `emails.content` where bodies are in the bucket: the rest of the content, unless that is in
 * the bucket as well.
 */
type ContentRemainder = Partial<Content> & { readonly outside?: Outside };

/** A content as it is stored, and the columns by which its insert is checked (insert-rule.ts). */
export interface StoredContent {
  /** As `packContent` makes it. */
  readonly content: string;
  /** Null where all of it lies in the row. */
  readonly judged: { readonly body_keys: readonly string[]; readonly body_until: string } | null;
}

/**
 * Writes what is large of a content to the store, all at once, and packs the rest. @throws UnavailableError
 */
export async function putAway(store: BodyStore, content: Content, owner: BodyOwner): Promise<StoredContent> {
  const isOutside = content.attachments.map((base64) => (base64.length * 3) / 4 > LARGEST_INSIDE);
  const octets = content.raw && content.raw.octets.length > LARGEST_INSIDE ? content.raw.octets : null;
  const rest = {
    ...content,
    attachments: content.attachments.map((one, at) => (isOutside[at] ? '' : one)),
    ...(content.raw && octets && { raw: { ...content.raw, octets: NOTHING } }),
  };
  const frame = await packOctets(writtenContent(rest));
  const [rawBody, restBody, ...attached] = await Promise.all([
    octets && store.write(owner, await packOctets(octets as Buffer<ArrayBuffer>)),
    frame.length > LARGEST_INSIDE ? store.write(owner, frame) : null,
    ...content.attachments.map(async (base64, at) =>
      isOutside[at] ? store.write(owner, await packOctets(Buffer.from(base64, 'base64'))) : null,
    ),
  ]);
  const written = [rawBody, restBody, ...attached].flatMap((one) => one ?? []);
  if (written.length === 0) return { content: frame.toString('base64'), judged: null };
  const outside: Outside = {
    ...(restBody && { rest: restBody.key }),
    ...(rawBody && { raw: rawBody.key }),
    attachments: Object.fromEntries(attached.flatMap((one, at) => (one ? [[at, one.key]] : []))),
  };
  const stored: ContentRemainder = restBody ? { outside } : { ...rest, outside };
  return {
    content: (await packOctets(writtenContent(stored))).toString('base64'),
    judged: {
      body_keys: [...new Set(written.map(({ key }) => key))],
      body_until: isoOf(Math.min(...written.map(({ until }) => until))),
    },
  };
}

/**
 * Reads a content from its stored form and its bodies. `shown` leaves out the attachments in the bucket, of
 * which only the names are shown. @throws BodyLost, UnavailableError
 */
export async function bringBack(
  store: BodyStore | null,
  packed: string,
  wanted: 'whole' | 'shown',
): Promise<Content> {
  const { outside, ...inside } = await unpackStored<ContentRemainder>(packed);
  if (!outside) return inside as Content;
  if (!store)
    throw new UnavailableError('BODY_STORE is not set, and the content of this email lies there.', 'no', 60);
  const read = async (key: string): Promise<Buffer> => unpackOctets(await store.read(key));
  const rest: Content =
    outside.rest === undefined ? (inside as Content) : readContent(await read(outside.rest));
  if (wanted === 'shown') return rest;
  const attachments = await Promise.all(
    rest.attachments.map(async (inRow, at) => {
      const key = outside.attachments[at];
      return key === undefined ? inRow : (await read(key)).toString('base64');
    }),
  );
  const octets = rest.raw && outside.raw !== undefined ? await read(outside.raw) : null;
  return { ...rest, attachments, ...(rest.raw && octets && { raw: { ...rest.raw, octets } }) };
}

/** The stored form of a content with one of its bodies in the row again, under whatever places it had. */
export async function broughtInside(packed: string, key: string, octets: Uint8Array): Promise<string> {
  const { outside, ...inside } = await unpackStored<ContentRemainder>(packed);
  if (!outside) return packed;
  const body = await unpackOctets(octets);
  const isRest = outside.rest === key;
  const isRaw = outside.raw === key;
  const restOf: Partial<Content> = isRest ? readContent(body) : inside;
  const content = { ...restOf, ...joinedRaw(isRaw ? body : null, inside, restOf) };
  // Attachments whose rest is still outside wait for it in their places.
  const attachments = [...(content.attachments ?? inside.attachments ?? [])];
  for (const [at, one] of (inside.attachments ?? []).entries()) if (one) attachments[at] = one;
  const left: Record<number, string> = {};
  for (const [at, of] of Object.entries(outside.attachments)) {
    if (of === key) attachments[Number(at)] = body.toString('base64');
    else left[Number(at)] = of;
  }
  const rest = isRest ? undefined : outside.rest;
  const raw = isRaw ? undefined : outside.raw;
  const isWhole = rest === undefined && raw === undefined && Object.keys(left).length === 0;
  const stored: ContentRemainder = {
    ...content,
    attachments,
    ...(!isWhole && { outside: { ...(rest && { rest }), ...(raw && { raw }), attachments: left } }),
  };
  return (await packOctets(writtenContent(stored))).toString('base64');
}

/** The octets of a message with their index, of which one may come before the other. */
function joinedRaw(body: Buffer | null, ...of: readonly Partial<Content>[]): Partial<Content> {
  const known = of.flatMap(({ raw }) => raw ?? []);
  const octets = [body, ...known.map((one) => one.octets)].find((one) => one && one.length > 0);
  if (!octets && known.length === 0) return {};
  const index = known.find((one) => Boolean(one.index))?.index as RawIndex;
  return { raw: { octets: octets ?? NOTHING, index } };
}

const NOTHING = Buffer.alloc(0);
