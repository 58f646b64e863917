/** The letters of texts whose charset is named wrong, or by a name that the parser, postal-mime 4.0.0, does not know. */
import { isAscii, isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';

/** Encodings of the library that are no charsets. */
const NO_CHARSET = /^(?:base64|hex|binary|internal|utf-?7-imap)$/;
/** Charsets of two octets for a letter. Programs name them and write another one. */
const WIDE = /^(?:cs)?(?:unicode|ucs-?2|utf-?16(?:le|be)?|iso-10646-ucs-2)$/;
/** It has octets of ASCII alone (RFC 2152). */
const UTF_7 = /^(?:unicode-1-1-)?utf-?7$/;
const UTF_8 = /^utf-?8$/;
const ASCII = /^(?:(?:us-)?ascii|ansi_x3\.4-19\d\d)$/;
/** Octets of html in which a browser looks for its charset (WHATWG HTML 13.2.3.2). */
const LOOKED_AT = 1_024;
const META = /<meta\s[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})/i;

/**
 * The letters of a text where the parser would show others; null where it reads them right. The parser takes a name that it does not
 * know for Windows-1252, and no name for UTF-8. A name of one octet for each letter counts even where the text is UTF-8, as in mail
 * programs: only names that cannot be true are mended.
 */
export function lettersOf(content: Buffer, label: string, isHtml = false): string | null {
  const name = label.toLowerCase().replace(/^['"\s]+|['"\s]+$/g, '');
  if (UTF_7.test(name)) return iconv.decode(content, 'utf-7');
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
  lettersOf(content, label) ?? decoded(content, isReadByParser(label) ? label : 'utf-8');

/** The parser does not know a name with the marks that programs leave at it. */
const asNamed = (content: Buffer, name: string, label: string): string | null =>
  isReadByParser(label) ? null : decoded(content, name);

/** The text of a program that writes Windows-1252 and says UTF-8. A text that was damaged on the way has more letters that are UTF-8. */
function withoutUtf8(content: Buffer): string | null {
  const letters = content.toString();
  const damaged = letters.match(/\ufffd/g)?.length ?? 0;
  const right = letters.match(/[^\0-\x7f\ufffd]/g)?.length ?? 0;
  return damaged > right ? decoded(content, 'windows-1252') : null;
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
