import { expect, test } from 'bun:test';
import { EncodingDetector } from '../../../src/platform/csv/encoding.ts';
import { otherFile } from '../../../src/platform/csv/other-file.ts';

/** The sentence for bytes, in the encoding that an import finds for them. */
function sentenceFor(bytes: Uint8Array): string | null {
  const detector = new EncodingDetector();
  const begun = detector.take(bytes);
  const { rest, stored } = detector.end();
  return otherFile(new TextDecoder(stored).decode(Buffer.concat([begun, rest])));
}

const bytes = (...values: number[]) => Uint8Array.from(values);

const OTHERS: readonly (readonly [string, Uint8Array, string])[] = [
  ['a workbook', bytes(0x50, 0x4b, 3, 4, 20, 0, 6, 0, 8, 0, 0, 0, 0x21, 0, 0xdf, 0xa4, 0xd2), '.xlsx'],
  ['an old workbook', bytes(0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 0, 0, 0, 0), '.xls)'],
  ['a PDF', Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1'), 'PDF'],
  ['a vCard', Buffer.from('BEGIN:VCARD\r\nVERSION:3.0\r\n'), 'vCard'],
  ['a page', Buffer.from('\n<!DOCTYPE html><html><table>'), 'HTML'],
  ['JSON', Buffer.from('[\n  { "email": "a@x.example" }]'), 'JSON'],
];
for (const [name, content, word] of OTHERS)
  test(`${name} in the place of CSV is named`, () => {
    expect(sentenceFor(content)).toContain(word);
  });

for (const text of [
  'email\n',
  '[email],[name]\n',
  '<email>\n',
  '{{email}}\n',
  '"email","<html>"\n',
  'PK,email\n',
  '',
])
  test(`${JSON.stringify(text)} is CSV`, () => {
    expect(sentenceFor(Buffer.from(text))).toBeNull();
  });
