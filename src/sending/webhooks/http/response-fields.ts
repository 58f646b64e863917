/** The fields in the head of a response that determine its end. */
export interface Framing {
  readonly status: number;
  /** `content-length`, digits alone. */
  readonly length: string | null;
  /** All of `transfer-encoding`, in lower case. */
  readonly coding: string | null;
  /** True when the connection carries no other response. */
  readonly isLast: boolean;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const LENGTH = /^\d{1,15}$/;

const setOf = (octets: RegExp): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, octet) => (octets.test(String.fromCharCode(octet)) ? 1 : 0));
/** The octets of names (RFC 9110 5.6.2). */
const TOKEN = setOf(/[!#$%&'*+\-.^_`|~\w]/);
/** The octets of values (RFC 9110 5.5); no control characters but the tabulator. */
const TEXT = setOf(/[\t\x20-\x7e\x80-\xff]/);
const [TAB, LF, CR, SPACE, COLON] = [9, 10, 13, 32, 58];

/** The first place from `from` on whose octet is not in the set, or `to`. */
function endOf(set: Uint8Array, octets: Uint8Array, from: number, to: number): number {
  let place = from;
  while (place < to && set[octets[place] as number] === 1) place += 1;
  return place;
}

/**
 * The place of the colon of the field that begins at `from`; -1 where none begins. RFC 9112 5: there is no
 * white space before the colon, and none before the name.
 */
function colonOf(octets: Uint8Array, from: number, to: number): number {
  const end = endOf(TOKEN, octets, from, to);
  return end > from && octets[end] === COLON ? end : -1;
}

/** True when the first octets up to `to` are one field. */
export function isField(octets: Uint8Array, to: number): boolean {
  const colon = colonOf(octets, 0, to);
  return colon > 0 && endOf(TEXT, octets, colon + 1, to) === to;
}

/**
 * The end of a value whose first line ends at `from`, with the lines into which it is folded (RFC 9112 5.2).
 * nginx writes a long `add_header` as it stands in its file, where lines end with LF alone.
 */
function endOfFolded(octets: Uint8Array, from: number, to: number): number {
  let place = from;
  while (isFold(octets, place, to)) place = endOf(TEXT, octets, octets.indexOf(LF, place) + 1, to);
  return place;
}

function isFold(octets: Uint8Array, place: number, to: number): boolean {
  const lineEnd = octets[place] === CR ? place + 1 : place;
  const next = octets[lineEnd + 1];
  return lineEnd + 1 < to && octets[lineEnd] === LF && (next === SPACE || next === TAB);
}

/**
 * Reads the head of a response, of which `to` is the end without the empty line; null when it is malformed.
 * It looks at each octet once: lines cut up and matched one by one took three times as long. No field that
 * determines the end may be folded: a proxy before the receiver could read another value.
 */
export function framingOf(octets: Buffer, to: number): Framing | null {
  let place = endOf(TEXT, octets, 0, to);
  const [, minor, code] = STATUS_LINE.exec(octets.toString('latin1', 0, place)) ?? [];
  if (code === undefined) return null;
  let length: string | null = null;
  let coding: string | null = null;
  let isLast = minor === '0';
  while (place < to) {
    if (octets[place] !== CR || octets[place + 1] !== LF) return null;
    const from = place + 2;
    const colon = colonOf(octets, from, to);
    if (colon < 0) return null;
    place = endOf(TEXT, octets, colon + 1, to);
    const name = framingNameOf(octets, from, colon);
    if (name === null) {
      place = endOfFolded(octets, place, to);
      continue;
    }
    const value = octets
      .toString('latin1', colon + 1, place)
      .trim()
      .toLowerCase();
    if (name === 'content-length') {
      if (length !== null || !LENGTH.test(value)) return null;
      length = value;
    } else if (name === 'transfer-encoding') coding = coding === null ? value : `${coding}, ${value}`;
    else isLast ||= value.split(',').some((option) => option.trim() === 'close');
  }
  return { status: Number(code), length, coding, isLast };
}

const FRAMING = ['content-length', 'transfer-encoding', 'connection'] as const;

/** Returns which of the three fields a name is; null for all others, most of which have another length. */
function framingNameOf(octets: Buffer, from: number, to: number): (typeof FRAMING)[number] | null {
  for (const name of FRAMING)
    if (name.length === to - from && octets.toString('latin1', from, to).toLowerCase() === name) return name;
  return null;
}
