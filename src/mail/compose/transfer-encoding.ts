/** The transfer encodings of RFC 2045 6, chosen and laid out as nodemailer's composer does. */
import { hasLongerLines, isPlainText } from 'nodemailer/lib/mime-funcs';
import { encode, wrap } from 'nodemailer/lib/qp';

/** The transfer encoding of a text. */
export type TransferEncoding = '7bit' | 'quoted-printable' | 'base64';

/** 7bit for short lines of ASCII; quoted-printable where most letters are Latin, so that the source stays readable. */
export function transferEncodingOf(text: string): TransferEncoding {
  if (isPlainText(text) && !hasLongerLines(text, 76)) return '7bit';
  let latin = 0;
  let other = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if ((code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)) latin++;
    else if (code >= 0x80 || (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d)) other++;
  }
  return other < latin ? 'quoted-printable' : 'base64';
}

/** The text in that encoding, its lines at most 76 octets long unless they travel as they are. */
export function transferEncoded(text: string, encoding: TransferEncoding): string {
  if (encoding === '7bit') return text;
  if (encoding === 'quoted-printable') return quotedPrintable(text);
  return Buffer.from(text)
    .toString('base64')
    .replace(/.{76}(?!$)/g, '$&\r\n');
}

/** The composer keeps back white space at the end until it knows that nothing follows, and wraps the last line again with it. */
function quotedPrintable(text: string): string {
  let end = text.length;
  while (text[end - 1] === ' ' || text[end - 1] === '\t') end--;
  const lines = wrap(encode(text.slice(0, end)), 76);
  if (end === text.length) return lines;
  const last = lines.lastIndexOf('\n') + 1;
  return lines.slice(0, last) + wrap(lines.slice(last) + encode(text.slice(end)), 76);
}
