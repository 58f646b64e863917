/**
 * The letters of texts whose charset is named wrong, or by a name that the parser, postal-mime 4.0.0, does
 * not know.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';

/**
 * Encodings of the library that are no charsets, and UTF-7, which no program writes any more: ASCII would
 * become other letters.
 */
const NO_CHARSET = /^(?:base64|hex|binary|internal|.*utf-?7.*)$/;
/** Charsets of several octets for each letter. Programs name them and write another one. */
const WIDE = /^(?:cs)?(?:unicode|ucs-?[24]|utf-?(?:16|32)(?:le|be)?|iso-10646-ucs-[24])$/;
const UTF_8 = /^utf-?8$/;
const ASCII = /^(?:(?:us-)?ascii|ansi_x3\.4-19\d\d)$/;
/** Octets of texts that are mended: no more is shown, and their letters take memory. */
export const LARGEST_TEXT = 1_048_576;
/** Octets of html in which a browser looks for its charset (WHATWG HTML 13.2.3.2). */
const LOOKED_AT = 1_024;
const META = /<meta\s[^>]{0,200}?charset\s{0,9}=[\s"']{0,9}([\w.:-]{1,40})/i;

/**
 * The letters of a text where the parser would show others; null where it reads them right. The parser takes
 * a name that it does not know for Windows-1252, and no name for UTF-8. A name of one octet for each letter
 * counts even where the text is UTF-8, as in mail programs: only names that cannot be true are mended.
 */
export function mendedLetters(content: Buffer, label: string, isHtml = false): string | null {
  const name = label.toLowerCase().replace(/^['"\s]+|['"\s]+$/g, '');
  if (WIDE.test(name)) return !content.includes(0) && isUtf8(content) ? content.toString() : null;
  if (isAscii(content)) return null;
  const isRead = isReadByParser(name);
  if (ASCII.test(name)) return isUtf8(content) ? content.toString() : null;
  if (UTF_8.test(name)) return isUtf8(content) ? asNamed(content, 'utf-8', label) : withoutUtf8(content);
  if (isRead) return asNamed(content, name, label);
  const known = [name, name.replace(/^x-/, '')].find(
    (one) => !NO_CHARSET.test(one) && iconv.encodingExists(one),
  );
  if (name !== '' && known !== undefined) return iconv.decode(content, known);
  if (isUtf8(content)) return name === '' ? null : content.toString();
  const own = (isHtml && META.exec(content.toString('latin1', 0, LOOKED_AT))?.[1]?.toLowerCase()) || '';
  return decoded(content, isReadByParser(own) && !UTF_8.test(own) ? own : 'windows-1252');
}

/** The letters of octets in a charset, mended where it is named wrong. */
export const readText = (content: Buffer, label: string): string =>
  mendedLetters(content, label) ?? decoded(content, isReadByParser(label) ? label : 'utf-8');

/** The parser does not know a name with the marks that programs leave at it. */
const asNamed = (content: Buffer, name: string, label: string): string | null =>
  isReadByParser(label) ? null : decoded(content, name);

/**
 * The text of a program that writes Windows-1252 and says UTF-8. A text that was damaged on the way has more
 * letters that are UTF-8.
 */
function withoutUtf8(content: Buffer): string | null {
  const letters = content.toString();
  let damaged = 0;
  let right = 0;
  for (let at = 0; at < letters.length; at++) {
    const code = letters.charCodeAt(at);
    if (code === REPLACEMENT) damaged++;
    else if (code > 0x7f) right++;
  }
  return damaged > right ? decoded(content, 'windows-1252') : null;
}

const REPLACEMENT = 0xfffd;
/** Octets of ASCII, those included that change the state of a charset with states. */
const ASCII_OCTETS = Buffer.from(Array.from({ length: 0x80 }, (_, octet) => octet));

/** True where the parser knows the charset, and the ASCII octets of a text are the same letters in it. */
export function keepsAscii(octets: Buffer, label: string): boolean {
  const ascii = octets.filter((octet) => octet < 0x80);
  return isReadByParser(label) && decoded(Buffer.from(ascii), label) === Buffer.from(ascii).toString();
}

/**
 * Reads values of fields that are no UTF-8 in the charset of the text, where that leaves ASCII as it is. Any
 * other one would change the fields of the header: what is shown would not be what was checked.
 */
export function valueReaderOf(label: string): (octets: string) => string {
  const charset = keepsAscii(ASCII_OCTETS, label) ? label : 'windows-1252';
  return (octets) =>
    octets.replace(/[^\r\n\0]+/g, (line) =>
      readText(Buffer.from(line, 'latin1'), charset).replace(/[\r\n\0]/g, '\ufffd'),
    );
}

const decoded = (content: Buffer, name: string): string =>
  new TextDecoder(name as Bun.Encoding).decode(content);

/** True of a name of a charset that the parser knows. */
export function isReadByParser(name: string): boolean {
  // Its letters are private ones (WHATWG Encoding 14.5): in mail the name says nothing.
  if (name === '' || name === 'x-user-defined') return false;
  try {
    return new TextDecoder(name as Bun.Encoding).encoding !== undefined;
  } catch {
    return false;
  }
}
