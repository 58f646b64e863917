import { MOST_VALUES, stringEnd } from '../../http/body/json-text.ts';

const [QUOTE, COLON, COMMA] = [0x22, 0x3a, 0x2c];
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * The member that holds the octets of a file, by the brackets that are open around it: those of an email or
 * of a batch, of its attachments, of one of them, and of the JSON of a Buffer.
 */
const HOLDERS: ReadonlyMap<string, string> = new Map([
  ['{[{', 'content'],
  ['{[{{', 'data'],
  ['[{[{', 'content'],
  ['[{[{{', 'data'],
]);

const LONGEST_HOLDER = 5;

/**
 * Writes a file that came as a list of octets in base64, and counts the values of the body; null where it has
 * too many. Each number of a list would count as one (json-text.ts), so that no file could have more than
 * 250,000 octets. Everything else stays as it is.
 */
export function octetsInBase64(json: Uint8Array): Uint8Array | null {
  const pieces: Uint8Array[] = [];
  let copied = 0;
  /** The outermost brackets that are open, and the number of all. */
  let open = '';
  let depth = 0;
  /** The octets of the latest text, and of the latest one before a colon. */
  let [textStart, textEnd, nameStart, nameEnd] = [0, 0, 0, 0];
  for (let at = 0, count = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) {
      textStart = at + 1;
      textEnd = stringEnd(json, at);
      at = textEnd;
    } else if (byte === COLON) {
      nameStart = textStart;
      nameEnd = textEnd;
    } else if (byte === LIST_END || byte === OBJECT_END) {
      depth = Math.max(0, depth - 1);
      if (depth < open.length) open = open.slice(0, depth);
    } else if (byte === COMMA || byte === LIST || byte === OBJECT) {
      if (++count > MOST_VALUES) return null;
      if (byte === COMMA) continue;
      const holder = byte === LIST && depth === open.length ? HOLDERS.get(open) : undefined;
      const file =
        holder !== undefined && isName(json, nameStart, nameEnd, holder) ? octetList(json, at) : null;
      if (file) {
        pieces.push(json.subarray(copied, at), Buffer.from(`"${file.octets.toBase64()}"`));
        at = file.end;
        copied = at + 1;
        continue;
      }
      if (depth++ < LONGEST_HOLDER) open += byte === LIST ? '[' : '{';
    }
  }
  return pieces.length === 0 ? json : Buffer.concat([...pieces, json.subarray(copied)]);
}

const isName = (json: Uint8Array, start: number, end: number, name: string): boolean =>
  end - start === name.length && Buffer.from(json.subarray(start, end)).toString('latin1') === name;

const [ZERO, NINE] = [0x30, 0x39];

/**
 * The octets of a list that begins at `start`, and the position of its closing bracket; null where it holds
 * anything else.
 */
function octetList(
  json: Uint8Array,
  start: number,
): { readonly octets: Uint8Array; readonly end: number } | null {
  const list = measured(json, start);
  if (!list) return null;
  const octets = new Uint8Array(list.count);
  let octet = -1;
  for (let at = start + 1, index = 0; at <= list.end; at++) {
    const byte = json[at] as number;
    if (isDigit(byte)) octet = Math.max(octet, 0) * 10 + byte - ZERO;
    else if (octet !== -1) {
      octets[index++] = octet;
      octet = -1;
    }
  }
  return { octets, end: list.end };
}

/**
 * The number of octets in a list, and its end. They are counted first: a list of numbers that grows takes
 * sixteen times their memory.
 */
function measured(json: Uint8Array, start: number): { readonly count: number; readonly end: number } | null {
  let at = afterSpace(json, start + 1);
  if (json[at] === LIST_END) return { count: 0, end: at };
  for (let count = 1; ; count++) {
    const first = at;
    let octet = 0;
    for (let byte = json[at]; at - first < 3 && byte !== undefined && isDigit(byte); byte = json[++at])
      octet = octet * 10 + byte - ZERO;
    const isNumber = at - first === 1 || (at > first && json[first] !== ZERO);
    if (!isNumber || octet > 255) return null;
    at = afterSpace(json, at);
    if (json[at] === LIST_END) return { count, end: at };
    if (json[at] !== COMMA) return null;
    at = afterSpace(json, at + 1);
  }
}

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE;

/** The position after white space (RFC 8259 2). */
function afterSpace(json: Uint8Array, start: number): number {
  let at = start;
  while (json[at] === 0x20 || json[at] === 0x0a || json[at] === 0x0d || json[at] === 0x09) at++;
  return at;
}
