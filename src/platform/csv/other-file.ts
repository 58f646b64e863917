/** Files that people send in the place of CSV, by how they begin. */
const OTHERS: readonly (readonly [string | RegExp, string])[] = [
  ['PK\u0003\u0004', 'a workbook (.xlsx, .ods) or a ZIP archive'],
  // The first octets of the older format of Excel, as Windows-1252 shows them.
  ['\u00d0\u00cf\u0011\u00e0', 'an Excel workbook (.xls)'],
  ['%PDF-', 'a PDF document'],
  ['BEGIN:VCARD', 'an address book in vCard'],
  [/^\s*<(?:!doctype|html|table|\?xml)/i, 'HTML or XML'],
  [/^\s*(?:\[\s*)?\{\s*"/, 'JSON'],
];

/** A sentence for the sender of a file that is no CSV, by its first characters; null for every other one. */
export function otherFile(text: string): string | null {
  const start = text.slice(0, 1_000);
  const kind = OTHERS.find(([mark]) =>
    typeof mark === 'string' ? start.startsWith(mark) : mark.test(start),
  )?.[1];
  return kind === undefined
    ? null
    : `This file is ${kind}, and no CSV. Save or export the table as CSV, in UTF-8 where you can choose, and send that.`;
}
