/**
 * The content of a CMS signed-data (RFC 5652 5), in which Outlook and others sign a mail so that it is no
 * text any more (RFC 8551 3.5.2). The signature is not checked.
 */

/** A value in BER: its tag, its content, and the place behind it. */
interface Value {
  readonly tag: number;
  readonly start: number;
  readonly end: number;
  readonly next: number;
}

const SEQUENCE = 0x30;
const OID = 0x06;
const EXPLICIT = 0xa0;
const OCTETS = 0x04;
const CONSTRUCTED = 0x20;
const SIGNED_DATA = '2a864886f70d010702';
const DATA = '2a864886f70d010701';
/** Values within values: usual messages have seven. */
const DEEPEST = 20;
/** OpenSSL writes pieces of 1,024 octets or more; one of two octets would cost a hundred of memory. */
const MOST_PIECES = 100_000;

/** The value at a place; null where there is none. Mail programs write lengths that are not known before. */
function valueAt(octets: Buffer, at: number, limit: number, depth = 0): Value | null {
  const tag = octets[at];
  const first = octets[at + 1];
  if (tag === undefined || first === undefined || at + 2 > limit || depth > DEEPEST) return null;
  // Tags of several octets are in no signed mail.
  if ((tag & 0x1f) === 0x1f) return null;
  if (first === 0x80) {
    if ((tag & CONSTRUCTED) === 0) return null;
    let next = at + 2;
    while (octets[next] !== 0 || octets[next + 1] !== 0) {
      const inner = valueAt(octets, next, limit, depth + 1);
      if (!inner) return null;
      next = inner.next;
    }
    return { tag, start: at + 2, end: next, next: next + 2 };
  }
  const count = first < 0x80 ? 0 : first & 0x7f;
  const start = at + 2 + count;
  if (count > 5 || start > limit) return null;
  const length = count === 0 ? first : octets.readUIntBE(at + 2, count);
  return start + length > limit ? null : { tag, start, end: start + length, next: start + length };
}

/** The values within one. */
function* valuesWithin(octets: Buffer, { start, end }: Value): Generator<Value> {
  for (let at = start; at < end; ) {
    const value = valueAt(octets, at, end);
    if (!value) return;
    yield value;
    at = value.next;
  }
}

/** The content of a type that this structure holds, behind the object identifier of the type. */
function contentOf(octets: Buffer, value: Value | null | undefined, type: string): Value | null {
  if (value?.tag !== SEQUENCE) return null;
  const [name, content] = valuesWithin(octets, value);
  if (name?.tag !== OID || octets.toString('hex', name.start, name.end) !== type) return null;
  return content?.tag === EXPLICIT ? valueAt(octets, content.start, content.end) : null;
}

/** The octets of a string, which may be in pieces; null where they are too many. */
function octetsOf(octets: Buffer, value: Value): Buffer | null {
  const pieces: Buffer[] = [];
  const take = (each: Value, depth: number): boolean => {
    if (each.tag === OCTETS) return pieces.push(octets.subarray(each.start, each.end)) <= MOST_PIECES;
    if (each.tag !== (OCTETS | CONSTRUCTED) || depth > DEEPEST) return true;
    for (const piece of valuesWithin(octets, each)) if (!take(piece, depth + 1)) return false;
    return true;
  };
  return take(value, 0) && pieces.length > 0 ? Buffer.concat(pieces) : null;
}

/** The MIME entity that was signed; null where it is encrypted, or no such structure. */
export function signedContent(octets: Buffer): Buffer | null {
  const signed = contentOf(octets, valueAt(octets, 0, octets.length), SIGNED_DATA);
  if (signed?.tag !== SEQUENCE) return null;
  const [, , encapsulated] = valuesWithin(octets, signed);
  const content = contentOf(octets, encapsulated, DATA);
  return content ? octetsOf(octets, content) : null;
}
