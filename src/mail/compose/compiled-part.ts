import { relaxedLine } from '../dkim/canonical.ts';
import {
  encodedLine,
  excessOfLatin,
  isPlain,
  LONGEST_LINE,
  type TransferEncoding,
} from './transfer-encoding.ts';

/** A piece of a text that copies have in common, or the number of a value that differs between them. */
export type Piece = string | number;

/** Lines of a body, and the same as a DKIM signature covers them (RFC 6376 3.4.4): mostly the same text. */
interface Lines {
  readonly body: string;
  readonly relaxed: string;
}

/** A part in its transfer encoding. */
export interface EncodedPart extends Lines {
  readonly encoding: TransferEncoding;
}

/** Lines that are the same in every copy, without the end of the last one: as they are, and encoded. */
interface CommonLines {
  readonly plain: Lines;
  readonly encoded: Lines;
}
type PersonalLine = readonly Piece[];

/**
 * Octets of what is common, and characters of the other lines: a part stays below the size that the composer
 * encodes in slices.
 */
const MOST_OCTETS = 49_152;
const MOST_PERSONAL = 5_461;
const VALUE = /^[^\s\p{Cc}]+$/u;
const ASCII = /^[\x21-\x7e]+$/;
const LINE_END = '\r\n';

/** A part that is the same in many copies except for some values, laid out once for all of them. */
export class CompiledPart {
  private constructor(
    private readonly lines: readonly (CommonLines | PersonalLine)[],
    /** Quoted-printable whatever the values are. */
    private readonly isEncoded: boolean,
    /** With fewer characters beyond ASCII in its values it is not base64. */
    private readonly excessOfLatin: number,
  ) {}

  /** Compiles a text whose line ends are CRLF; null for one whose encoding hangs on its values. */
  static of(pieces: readonly Piece[]): CompiledPart | null {
    const common = pieces.filter((piece) => typeof piece === 'string').join('');
    const isSuited =
      // The composer wraps no text that fits into one line.
      common.trimEnd().length > LONGEST_LINE &&
      Buffer.byteLength(common) <= MOST_OCTETS &&
      excessOfLatin(common) > 0;
    if (!isSuited) return null;
    const lines = linesOf(pieces);
    const grouped: (CommonLines | PersonalLine)[] = [];
    let same: string[] = [];
    const endGroup = (isLast: boolean): void => {
      if (same.length > 0) grouped.push(commonLines(same, isLast));
      same = [];
    };
    for (const line of lines) {
      if (line.every((piece) => typeof piece === 'string')) same.push(line.join(''));
      else {
        endGroup(false);
        grouped.push(line);
      }
    }
    endGroup(true);
    const isLong = lines.some((line) => lengthOf(line) > LONGEST_LINE);
    return new CompiledPart(grouped, isLong || !isPlain(common), excessOfLatin(common));
  }

  /** The part with these values; null where one has to be looked at by the composer. */
  fill(values: readonly string[]): EncodedPart | null {
    if (!values.every((value) => VALUE.test(value))) return null;
    let isEncoded = this.isEncoded;
    let characters = 0;
    const written = this.lines.map((line) => {
      if (!isPersonal(line)) return line;
      let text = '';
      for (const piece of line) text += typeof piece === 'string' ? piece : (values[piece] ?? '');
      isEncoded ||= text.length > LONGEST_LINE;
      characters += text.length;
      return text;
    });
    if (characters > MOST_PERSONAL) return null;
    if (!values.every((value) => ASCII.test(value))) {
      if (characters >= this.excessOfLatin) return null;
      isEncoded = true;
    }
    const lines = written.map((line, index) => {
      if (typeof line !== 'string') return isEncoded ? line.encoded : line.plain;
      return layOut(isEncoded ? encodedLine(line, index === written.length - 1) : line);
    });
    const body = lines.map(({ body: own }) => own).join(LINE_END);
    const isRelaxed = lines.every((one) => one.body === one.relaxed);
    return {
      encoding: isEncoded ? 'quoted-printable' : '7bit',
      body,
      relaxed: isRelaxed ? body : lines.map(({ relaxed }) => relaxed).join(LINE_END),
    };
  }
}

const isPersonal = (line: CommonLines | PersonalLine): line is PersonalLine => Array.isArray(line);

/** Each value counts as the one character that it has at least. */
const lengthOf = (line: PersonalLine): number =>
  line.reduce<number>((sum, piece) => sum + (typeof piece === 'string' ? piece.length : 1), 0);

function linesOf(pieces: readonly Piece[]): readonly PersonalLine[] {
  const lines: Piece[][] = [[]];
  for (const piece of pieces) {
    if (typeof piece === 'number') {
      lines.at(-1)?.push(piece);
      continue;
    }
    const [first = '', ...others] = piece.split(LINE_END);
    lines.at(-1)?.push(first);
    for (const other of others) lines.push([other]);
  }
  return lines;
}

function commonLines(lines: readonly string[], isLast: boolean): CommonLines {
  const plain = lines.join(LINE_END);
  const encoded = lines
    .map((line, index) => encodedLine(line, isLast && index === lines.length - 1))
    .join(LINE_END);
  return { plain: layOut(plain), encoded: layOut(encoded) };
}

const layOut = (body: string): Lines => ({
  body,
  relaxed: UNRELAXED.test(body) ? body.split(LINE_END).map(relaxedLine).join(LINE_END) : body,
});
const UNRELAXED = /\t| {2}| (?:\r\n|$)/;
