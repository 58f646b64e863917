import { CsvReader, type CsvRow } from './reader.ts';

/** The delimiters that are recognised, the more usual first. */
export const DELIMITERS = [',', ';', '\t', '|'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/** The parameters of reading a file. */
export interface Dialect {
  readonly delimiter: Delimiter;
  /** Characters before the header: a line `sep=;` as spreadsheets write it. */
  readonly skipped: number;
}

const isDelimiter = (text: string): text is Delimiter => (DELIMITERS as readonly string[]).includes(text);

/**
 * Finds the delimiter of a file by its beginning, with quotes respected: the one by which the most rows have
 * as many cells as the header. A file of one column has none, and is read with the first.
 */
export function dialectOf(sample: string, isWhole: boolean): Dialect {
  const [stated, named = ''] = /^sep=(.)(?:\r\n|\n|\r|$)/i.exec(sample) ?? [];
  if (stated !== undefined && isDelimiter(named)) return { delimiter: named, skipped: stated.length };
  let best: { readonly delimiter: Delimiter; readonly score: number } = { delimiter: ',', score: 0 };
  for (const delimiter of DELIMITERS) {
    const score = scoreOf(new CsvReader({ delimiter }).read(sample, isWhole));
    if (score > best.score) best = { delimiter, score };
  }
  return { delimiter: best.delimiter, skipped: 0 };
}

/** The share of the rows that have as many cells as the header; a wider header wins a tie. */
function scoreOf([header, ...rows]: readonly CsvRow[]): number {
  const width = header?.cells.length ?? 0;
  if (width < 2) return 0;
  const alike = rows.filter(({ cells }) => cells.length === width).length;
  return (alike + 1) / (rows.length + 1) + width / 10_000;
}
