/**
 * The largest message that receiving servers can be expected to take: the limit of Gmail, and of most others.
 */
export const LARGEST_MESSAGE = 25 * 1024 * 1024;

/**
 * Base64 in lines of 76 characters and CRLF: 57 octets become 78. Quoted-printable, which the composer takes
 * for what is mostly ASCII, is shorter.
 */
const encoded = (octets: number): number => Math.ceil(octets / 57) * 78;

/** Header fields, part boundaries, DKIM signatures and the trace fields of servers on the way. */
const FRAME = 4_096;
const PART_FRAME = 512;

/** The parts of a message that weigh something. */
export interface Weights {
  readonly text: string | null;
  readonly html: string | null;
  readonly attachments: readonly { readonly size: number }[];
  readonly calendar?: string | null;
  /** Octets of the client's own header fields and address lines. */
  readonly headerOctets: number;
}

/** The estimated octets of the finished message, rather too many than too few. */
export function estimateSize({ text, html, attachments, calendar = null, headerOctets }: Weights): number {
  let size = FRAME + headerOctets;
  if (text !== null) size += PART_FRAME + encoded(Buffer.byteLength(text));
  if (html !== null) size += PART_FRAME + encoded(Buffer.byteLength(html));
  if (calendar !== null) size += PART_FRAME + encoded(Buffer.byteLength(calendar));
  for (const attachment of attachments) size += PART_FRAME + encoded(attachment.size);
  return size;
}
