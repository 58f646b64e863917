/** A file of contacts that is the same for the same size. */
export interface ContactFile {
  readonly content: Uint8Array;
  /** The counts of its import. */
  readonly counts: {
    readonly total: number;
    readonly created: number;
    readonly updated: number;
    readonly skipped: number;
    readonly failed: number;
  };
}

const CITIES = ['Berlin', 'Zürich', 'New York', '東京', 'São Paulo', 'Łódź', '"Quoted"', 'a, b'];
const quoted = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/**
 * So many rows of about 50 bytes: names, a city, an age. Every 100th has no address, every 1,000th comes
 * again, and every 250th has a cell of two lines.
 */
export function contactFile(rows: number, width = 0): ContactFile {
  const lines = ['email,first_name,city,age'];
  let [failed, updated] = [0, 0];
  for (let at = 0; at < rows; at++) {
    const isWrong = at % 100 === 7;
    const isAgain = at % 1_000 === 999;
    if (isWrong) failed++;
    else if (isAgain) updated++;
    const number = String(isAgain ? at - 900 : at).padStart(7, '0');
    const city = CITIES[at % CITIES.length] ?? '';
    const cells = [
      isWrong ? `nobody ${number}` : `person${number}@contacts.example`,
      at % 250 === 3 ? `Ann\nBee ${at}` : `Ann${at % 911}`,
      city + 'x'.repeat(width),
      String(at % 97),
    ];
    lines.push(cells.map(quoted).join(','));
  }
  const created = rows - failed - updated;
  const counts = { total: rows, created, updated, skipped: 0, failed };
  return { content: Buffer.from(`${lines.join('\n')}\n`), counts };
}

/** The mapping that the file is imported with. */
export const CONTACT_COLUMNS = encodeURIComponent('{"age": "properties.age:number"}');
