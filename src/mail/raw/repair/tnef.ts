/**
 * The files in a winmail.dat (MS-OXTNEF): Outlook puts them there where it sends a formatted text to an
 * address that it takes for one of Exchange.
 */

/** A file of a winmail.dat. */
export interface TnefFile {
  /** '' where it has no name. */
  readonly name: string;
  readonly octets: Buffer;
}

const SIGNATURE = 0x223e9f78;
/** A level, an attribute, a length and a sum of the octets around each content. */
const [ATTRIBUTE_HEAD, SUM] = [9, 2];
const ATTRIBUTES = { next: 0x9002, title: 0x8010, data: 0x800f, properties: 0x9005 } as const;
const PROPERTIES = { data: 0x3701, filename: 0x3704, longFilename: 0x3707 } as const;
/** Octets of the values that have one size, with their padding, by their types. */
const SIZES = new Map([
  [0x02, 4],
  [0x03, 4],
  [0x04, 4],
  [0x05, 8],
  [0x06, 8],
  [0x07, 8],
  [0x0a, 4],
  [0x0b, 4],
  [0x14, 8],
  [0x40, 8],
  [0x48, 16],
]);
const [TEXT_IN_CODE_PAGE, TEXT, OBJECT, BINARY] = [0x1e, 0x1f, 0x0d, 0x102];
const OF_ANY_SIZE: ReadonlySet<number> = new Set([TEXT_IN_CODE_PAGE, TEXT, OBJECT, BINARY]);
const MULTIPLE = 0x1000;
const NAMED = 0x8000;
const MOST_FILES = 100;

interface FileParts {
  title?: string;
  filename?: string;
  longFilename?: string;
  octets?: Buffer;
}

/** The files in their order; none where it is no such file, and those before a damage. */
export function tnefFiles(octets: Buffer): readonly TnefFile[] {
  if (octets.length < 6 || octets.readUInt32LE(0) !== SIGNATURE) return [];
  const found: FileParts[] = [];
  for (let at = 6; at + ATTRIBUTE_HEAD <= octets.length && found.length <= MOST_FILES; ) {
    const attribute = octets.readUInt16LE(at + 1);
    const start = at + ATTRIBUTE_HEAD;
    const end = start + octets.readUInt32LE(at + 5);
    if (end > octets.length) break;
    const content = octets.subarray(start, end);
    at = end + SUM;
    if (attribute === ATTRIBUTES.next) found.push({});
    const file = found.at(-1);
    if (!file) continue;
    if (attribute === ATTRIBUTES.title) file.title = lettersOf(content, 'windows-1252');
    if (attribute === ATTRIBUTES.data) file.octets = content;
    if (attribute === ATTRIBUTES.properties) readProperties(content, file);
  }
  return found
    .slice(0, MOST_FILES)
    .flatMap(({ title, filename, longFilename, octets: content }) =>
      content ? [{ name: longFilename ?? title ?? filename ?? '', octets: content }] : [],
    );
}

const lettersOf = (octets: Buffer, charset: 'utf-16le' | 'windows-1252'): string =>
  new TextDecoder(charset).decode(octets).replace(/\0.*$/s, '');

/** Reads the names from the properties of a file (MS-OXTNEF 2.1.3.4), as far as they can be read. */
function readProperties(octets: Buffer, file: FileParts): void {
  try {
    let at = 4;
    for (let left = octets.readUInt32LE(0); left > 0; left--) {
      const type = octets.readUInt16LE(at);
      const id = octets.readUInt16LE(at + 2);
      at += 4;
      if (id >= NAMED) {
        const isByNumber = octets.readUInt32LE(at + 16) === 0;
        at += isByNumber ? 24 : 24 + padded(octets.readUInt32LE(at + 20));
      }
      const isMultiple = (type & MULTIPLE) !== 0;
      const kind = type & ~MULTIPLE;
      const size = SIZES.get(kind);
      if (size === undefined && !OF_ANY_SIZE.has(kind)) return;
      let count = 1;
      if (isMultiple || size === undefined) {
        count = octets.readUInt32LE(at);
        at += 4;
      }
      for (; count > 0; count--) {
        // A count is not trusted: each value has to be there.
        if (at >= octets.length) return;
        const length = size ?? octets.readUInt32LE(at);
        if (size === undefined) at += 4;
        take(file, id, kind, octets.subarray(at, at + length));
        at += padded(length);
      }
    }
  } catch (error) {
    // It ends before its properties do: what was read counts.
    if (!(error instanceof RangeError)) throw error;
  }
}

const padded = (length: number): number => Math.ceil(length / 4) * 4;

function take(file: FileParts, id: number, kind: number, content: Buffer): void {
  const isText = kind === TEXT || kind === TEXT_IN_CODE_PAGE;
  const text = isText ? lettersOf(content, kind === TEXT ? 'utf-16le' : 'windows-1252') : '';
  if (id === PROPERTIES.longFilename && text !== '') file.longFilename = text;
  if (id === PROPERTIES.filename && text !== '') file.filename = text;
  if (id === PROPERTIES.data && kind === BINARY) file.octets ??= content;
}
