import { expect, test } from 'bun:test';
import { dialectOf } from '../../../src/platform/csv/delimiter.ts';
import { BrokenEncoding, EncodingDetector } from '../../../src/platform/csv/encoding.ts';
import {
  CsvReader,
  LONGEST_CELL,
  LONGEST_ROW,
  MOST_CELLS,
  MOST_LINES_OF_CELL,
} from '../../../src/platform/csv/reader.ts';

/** Each row in short: its line and cells, or its fault. */
const read = (text: string, delimiter = ',') =>
  new CsvReader({ delimiter })
    .read(text, true)
    .map(({ line, cells, fault }) => (fault ? [fault.code, fault.line, fault.column] : [line, ...cells]));

test('LF, CRLF and CR end a row each time, and empty lines are passed over', () => {
  expect(read('a,b\r\n1,2\n3,4\r5,6\r\r\n\n7,8')).toEqual([
    [1, 'a', 'b'],
    [2, '1', '2'],
    [3, '3', '4'],
    [4, '5', '6'],
    [7, '7', '8'],
  ]);
  expect(read('')).toEqual([]);
  expect(read('\n\n')).toEqual([]);
  expect(read('""\n')).toEqual([[1, '']]);
});

test('a quote inside a cell that does not begin with one is data', () => {
  expect(read(`Conan O"Brien,5" disk\n x "y",z`)).toEqual([
    [1, 'Conan O"Brien', '5" disk'],
    [2, ' x "y"', 'z'],
  ]);
});

// mautic/mautic#2616, JoshClose/CsvHelper#204.
test('spaces around a cell in quotes are none of it, in texts of any length', () => {
  const text = '"email", "name" ,note\r\na@x.example,  "Lee, Ann" , "a ""b"""\n b ,"c"  \n';
  const rows = [
    ['email', 'name', 'note'],
    ['a@x.example', 'Lee, Ann', 'a "b"'],
    [' b ', 'c'],
  ];
  expect(read(text).map(([, ...cells]) => cells)).toEqual(rows);
  const reader = new CsvReader({ delimiter: ',' });
  const pieces = [...text].flatMap((character) => reader.read(character, false));
  expect([...pieces, ...reader.read('', true)].map(({ cells }) => cells)).toEqual(rows);
  expect(dialectOf('"email"; "name"\n"a@x.example"; "Lee, Ann"\n', true).delimiter).toBe(';');
});

test('a quote behind spaces that ends before its cell, or never, is data', () => {
  expect(read('1, "Best" customer,x\n2, "open,y\n3,z')).toEqual([
    [1, '1', ' "Best" customer', 'x'],
    [2, '2', ' "open', 'y'],
    [3, '3', 'z'],
  ]);
  const reader = new CsvReader({ delimiter: ',' });
  expect(reader.read(`"x"${' '.repeat(LONGEST_CELL)}`, false)).toEqual([]);
  expect(reader.read('\ny\n', false).map(({ fault, cells }) => fault?.code ?? cells)).toEqual([
    'cell_too_long',
    ['y'],
  ]);
});

test('a quote behind spaces reaches no further than its line: the next rows are not swallowed', () => {
  for (const end of ['\n', '\r\n', '\r']) {
    const text = ['a@x.example, "6 feet', 'b@x.example, 5"', 'c@x.example, "7, 8"', ''].join(end);
    const rows = [
      ['a@x.example', ' "6 feet'],
      ['b@x.example', ' 5"'],
      ['c@x.example', '7, 8'],
    ];
    expect(read(text).map(([, ...cells]) => cells)).toEqual(rows);
    const reader = new CsvReader({ delimiter: ',' });
    const pieces = [...text].flatMap((character) => reader.read(character, false));
    expect([...pieces, ...reader.read('', true)].map(({ cells }) => cells)).toEqual(rows);
  }
});

test('text after a closing quote is a fault of its line alone', () => {
  expect(read('a,b\n1,"x"y\n"2",3\n')).toEqual([
    [1, 'a', 'b'],
    ['stray_quote', 2, 2],
    [3, '2', '3'],
  ]);
});

test('an unclosed quote is reported where it was opened, and costs one line', () => {
  expect(read('a,b\n"1\n2",3\nx,"open\n5,6\n7,8')).toEqual([
    [1, 'a', 'b'],
    [2, '1\n2', '3'],
    ['unclosed_quote', 4, 2],
    [5, '5', '6'],
    [6, '7', '8'],
  ]);
});

test('cells have at most 100 lines and 65,536 characters', () => {
  const lines = (count: number) => `"${'x\r\n'.repeat(count - 1)}x",y\nz,z`;
  expect(read(lines(MOST_LINES_OF_CELL)).map((row) => row.length)).toEqual([3, 3]);
  expect(read(lines(MOST_LINES_OF_CELL + 1))[0]).toEqual(['unclosed_quote', 1, 1]);
  for (const quote of ['', '"']) {
    const long = (length: number) => `1,${quote}${'x'.repeat(length)}${quote}\n3,4`;
    expect(read(long(LONGEST_CELL))[0]).toHaveLength(3);
    const code = quote ? 'unclosed_quote' : 'cell_too_long';
    expect(read(long(LONGEST_CELL + 1))).toEqual([
      [code, 1, 2],
      [2, '3', '4'],
    ]);
  }
});

test('doubled quotes count towards the length of a cell, and one that they never end is not held whole', () => {
  const quotes = (pairs: number) => `1,"${'""'.repeat(pairs)}"\n3,4`;
  expect(read(quotes(LONGEST_CELL / 2))[0]).toEqual([1, '1', '"'.repeat(LONGEST_CELL / 2)]);
  expect(read(quotes(LONGEST_CELL / 2 + 1))).toEqual([
    ['unclosed_quote', 1, 2],
    [2, '3', '4'],
  ]);
  const reader = new CsvReader({ delimiter: ',' });
  for (let n = 0; n < 32; n++) expect(reader.read('"'.repeat(65_536), false)).toEqual([]);
  expect(reader.read('\na,b\n', true).map(({ fault }) => fault?.code ?? null)).toEqual([
    'unclosed_quote',
    null,
  ]);
});

test('a row has at most 2,000 cells, and none begins behind 262,144 characters', () => {
  const wide = (count: number) => `${'x,'.repeat(count - 1)}x\ny`;
  expect(read(wide(MOST_CELLS))[0]).toHaveLength(MOST_CELLS + 1);
  expect(read(wide(MOST_CELLS + 1))).toEqual([
    ['too_many_cells', 1, MOST_CELLS + 1],
    [2, 'y'],
  ]);
  const row = (length: number) => `${`${'x'.repeat(65_535)},`.repeat(3)}${'x'.repeat(length - 196_609)},y\nz`;
  expect(read(row(LONGEST_ROW))[0]).toHaveLength(6);
  expect(read(row(LONGEST_ROW + 1))).toEqual([
    ['row_too_long', 1, 5],
    [2, 'z'],
  ]);
});

test('a line without an end is never held whole', () => {
  const reader = new CsvReader({ delimiter: ',' });
  const rows = Array.from({ length: 64 }, () => reader.read('x'.repeat(65_536), false)).flat();
  expect(rows).toEqual([]);
  expect(
    reader.read('\na,b\n', true).map(({ line, fault, end }) => [line, fault?.code ?? null, end]),
  ).toEqual([
    [1, 'cell_too_long', 4_194_305],
    [2, null, 4_194_309],
  ]);
});

test('the delimiter is the one that gives rows the width of the header', () => {
  const delimiterOf = (text: string) => dialectOf(text, true).delimiter;
  expect(delimiterOf('email,name\na@b.example,"x;y;z"\n')).toBe(',');
  expect(delimiterOf('email;name;price\na@b.example;"x, y";1,5\n')).toBe(';');
  expect(delimiterOf('email\tname\na@b.example\tx, y; z\n')).toBe('\t');
  expect(delimiterOf('email|name\na@b.example|x\n')).toBe('|');
  expect(delimiterOf('email\na@b.example\n')).toBe(',');
  expect(delimiterOf('')).toBe(',');
  expect(dialectOf('sep=;\r\nemail;name\n', true)).toEqual({ delimiter: ';', skipped: 7 });
  expect(dialectOf('sep=x\nemail,name\n', true)).toEqual({ delimiter: ',', skipped: 0 });
});

/** The result of the detector for bytes that come one at a time, and the stored text. */
function detected(content: Uint8Array): { readonly encoding: string; readonly text: string } {
  const detector = new EncodingDetector();
  const stored = [...content].map((byte) => detector.take(new Uint8Array([byte])));
  const { encoding, stored: kept, rest } = detector.end();
  return {
    encoding,
    text: new TextDecoder(kept, { ignoreBOM: true }).decode(Buffer.concat([...stored, rest])),
  };
}

test('UTF-8, UTF-16 and Windows-1252 are distinguished, with and without a mark', () => {
  const text = 'email,név\nå@b.example,Ünïcödé 🎈';
  const big = (value: string) => Buffer.from(value, 'utf16le').swap16();
  for (const mark of ['', '\ufeff']) {
    expect(detected(Buffer.from(mark + text))).toEqual({ encoding: 'utf-8', text });
    expect(detected(Buffer.from(mark + text, 'utf16le'))).toEqual({ encoding: 'utf-16le', text });
    expect(detected(big(mark + text))).toEqual({ encoding: 'utf-16be', text });
  }
  expect(detected(Buffer.from('email,Stra\xdfe \x80 \x92', 'latin1'))).toEqual({
    encoding: 'windows-1252',
    text: 'email,Straße € ’',
  });
  for (const short of ['', 'a', 'ab', 'é'])
    expect(detected(Buffer.from(short))).toEqual({ encoding: 'utf-8', text: short });
});

test('bytes that contradict the mark of the file are refused', () => {
  expect(() => detected(Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff]))).toThrow(BrokenEncoding);
  expect(() => detected(Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xc3]))).toThrow(BrokenEncoding);
  expect(() => detected(Buffer.from([0xff, 0xfe, 0x61, 0x00, 0x00, 0xd8, 0x61, 0x00]))).toThrow(
    BrokenEncoding,
  );
  expect(() => detected(Buffer.from([0xff, 0xfe, 0x61, 0x00, 0x61]))).toThrow(BrokenEncoding);
});
