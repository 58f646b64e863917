import { withoutGuard } from '../../platform/csv/write.ts';

/** `E-Mail-Adresse` → `emailadresse`: letters and digits alone, without case and marks. */
export const foldedHeader = (header: string): string =>
  header
    .replaceAll('ß', 'ss')
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

const names = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/**
 * The more certain ones first: a column of a later rank is the address only where none of an earlier one is
 * there.
 */
const ADDRESSES = [
  names(`email mail emailaddress mailaddress mailadresse emailadresse emailadress epost epostadresse epostadress emailid
    adresseemail adressemail adressedecourriel courriel adressedemessagerie adresseelectronique correo correoelectronico
    direcciondecorreo direcciondecorreoelectronico direccioncorreoelectronico correoe indirizzoemail indirizzopostaelettronica
    indirizzodipostaelettronica enderecodeemail enderecodecorreioeletronico emailadres adresemail adrese adresemailowy sahkoposti`),
  names(`primaryemail primaryemailaddress primareemail primareemailadresse primaereemailadresse erstemailadresse
    premiereadresseelectronique adresseelectroniqueprincipale correoprincipal correoelectronicoprincipal correoeprimario
    emailprincipal email1 email1value email1address mainemail
    subscriber subscriberemail useremail customeremail contactemail`),
  names('workemail businessemail emailwork personalemail homeemail emailhome privateemail'),
] as const;

/** The places of the columns that hold the address, by the most certain names that the header has. */
export function addressColumns(headers: readonly string[]): readonly number[] {
  const all = headers.map(foldedHeader);
  for (const rank of ADDRESSES) {
    const places = all.flatMap((name, at) => (rank.has(name) ? [at] : []));
    if (places.length > 0) return places;
  }
  return [];
}

/**
 * The addresses in the cell of a list, or one empty text. Google writes several addresses of one kind into a
 * cell, and programs that read a workbook write the link that Excel makes of an address,
 * `mailto:ann@home.example`.
 */
export const addressesOfCell = (cell: string): readonly string[] =>
  withoutGuard(visible(cell))
    .split(' ::: ')
    .map((address) => address.replace(/^mailto:/i, ''));

/** An address without what is not seen. */
const visible = (cell: string): string =>
  /^[\x21-\x7e]*$/.test(cell)
    ? cell
    : cell
        .replace(/[\u200b-\u200d\u2060\ufeff]/g, '')
        .replaceAll('\u00a0', ' ')
        .trim();

/**
 * Columns of Mailchimp with its own ids, its rating of a member, and what it guesses of a computer's place
 * and clock. Times and addresses of a consent are no such columns: they prove it.
 */
const OF_MAILCHIMP = new Set(
  'leid euid memberrating lastchanged latitude longitude gmtoff dstoff'.split(' '),
);
const MARKS_OF_MAILCHIMP = ['leid', 'euid'];

/** The columns of a file that mean something to the service alone that wrote it, by its marks. */
export function machineColumns(headers: readonly string[]): ReadonlySet<string> {
  const folded = headers.map(foldedHeader);
  if (!MARKS_OF_MAILCHIMP.every((mark) => folded.includes(mark))) return new Set();
  return new Set(headers.filter((header) => OF_MAILCHIMP.has(foldedHeader(header))));
}
