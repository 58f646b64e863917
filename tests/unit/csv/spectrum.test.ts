import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parse as parseCsv } from 'csv-parse/sync';
import fc from 'fast-check';
import Papa from 'papaparse';
import { dialectOf } from '../../../src/platform/csv/delimiter.ts';
import { EncodingDetector } from '../../../src/platform/csv/encoding.ts';
import { CsvReader, type CsvRow } from '../../../src/platform/csv/reader.ts';

const SPECTRUM = dirname(require.resolve('csv-spectrum/package.json'));
const CHUNKS = [1, 3, 65_536] as const;

/** Reads bytes as an import does: encoding, delimiter, rows; in pieces of so many bytes. */
function readBytes(content: Uint8Array, size: number): CsvRow[] {
  const detector = new EncodingDetector();
  const stored: Uint8Array[] = [];
  for (let at = 0; at < content.length; at += size)
    stored.push(detector.take(content.subarray(at, at + size)));
  const { stored: encoding, rest } = detector.end();
  const bytes = Buffer.concat([...stored, rest]);
  const sample = new TextDecoder(encoding).decode(bytes);
  const decoder = new TextDecoder(encoding, { ignoreBOM: true });
  const { delimiter, skipped } = dialectOf(sample, true);
  const reader = new CsvReader({ delimiter, line: skipped > 0 ? 2 : 1 });
  const rows: CsvRow[] = [];
  for (let at = skipped; at < bytes.length; at += size)
    rows.push(...reader.read(decoder.decode(bytes.subarray(at, at + size), { stream: true }), false));
  return [...rows, ...reader.read(decoder.decode(), true)];
}

const cellsOf = (rows: readonly CsvRow[]) => rows.map(({ cells, fault }) => fault ?? cells);

for (const size of CHUNKS)
  test(`the files of csv-spectrum are read in chunks of ${size} bytes`, () => {
    const names = readdirSync(join(SPECTRUM, 'csvs'));
    expect(names).toHaveLength(12);
    // The expected JSON differs from the file: another telephone number, and no list.
    for (const name of names.filter((each) => each !== 'location_coordinates.csv')) {
      const rows = readBytes(readFileSync(join(SPECTRUM, 'csvs', name)), size);
      const [header = [], ...body] = rows.map(({ cells }) => cells);
      const read = body.map((cells) => Object.fromEntries(header.map((key, at) => [key, cells[at] ?? ''])));
      const wanted = JSON.parse(
        readFileSync(join(SPECTRUM, 'json', `${basename(name, '.csv')}.json`), 'utf8'),
      );
      expect({ name, rows: read }).toEqual({ name, rows: wanted });
      expect(rows.filter(({ fault }) => fault)).toEqual([]);
    }
  });

const cell = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.stringMatching(/^[ a",;\t'ü€\n-]{0,8}$/u),
  fc.constantFrom('', '""', 'a"b', ' x ', '\n', '=1+1', '🎈'),
);
const table = fc
  .integer({ min: 2, max: 5 })
  .chain((width) =>
    fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }),
  );

test('two kept parsers read the same from every well-formed file', () => {
  fc.assert(
    fc.property(
      table,
      fc.constantFrom(',', ';', '\t'),
      fc.constantFrom('\n', '\r\n'),
      (rows, delimiter, newline) => {
        const quoted = (text: string) =>
          /[",;\t\r\n]/.test(text) || text === '' ? `"${text.replaceAll('"', '""')}"` : text;
        const text = rows.map((cells) => cells.map(quoted).join(delimiter)).join(newline);
        const ours = cellsOf(new CsvReader({ delimiter }).read(text, true));
        expect(ours).toEqual(parseCsv(text, { delimiter, relax_column_count: true }));
        expect(ours).toEqual(Papa.parse<string[]>(text, { delimiter, newline }).data);
      },
    ),
    { numRuns: 400 },
  );
});

test('any text is read alike in chunks of any size, and from the end of any row on', () => {
  const text = fc.array(
    fc.constantFrom('a', '"', '""', ',', '\n', '\r', '\r\n', 'é', 'x,y\n', '"q\nr",', ' ', ', "'),
    {
      maxLength: 40,
    },
  );
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 7 }), (parts, size) => {
      const whole = parts.join('');
      const atOnce = new CsvReader({ delimiter: ',' }).read(whole, true);
      const reader = new CsvReader({ delimiter: ',' });
      const pieces: CsvRow[] = [];
      for (let at = 0; at < whole.length; at += size)
        pieces.push(...reader.read(whole.slice(at, at + size), false));
      expect([...pieces, ...reader.read('', true)]).toEqual(atOnce);
      for (const { end, nextLine } of atOnce) {
        const rest = new CsvReader({ delimiter: ',', line: nextLine }).read(whole.slice(end), true);
        const after = atOnce.filter((row) => row.end > end);
        expect(rest.map((row) => ({ ...row, end: row.end + end }))).toEqual(after);
      }
    }),
    { numRuns: 1_000 },
  );
});
