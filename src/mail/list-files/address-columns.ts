/** `E-Mail-Adresse` → `emailadresse`: letters and digits alone, without case and marks. */
export const foldedHeader = (header: string): string =>
  header
    .replaceAll('ß', 'ss')
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

const names = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** The more certain ones first: a column of a later rank is the address only where none of an earlier one is there. */
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
