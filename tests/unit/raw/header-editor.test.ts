import { describe, expect, test } from 'bun:test';
import {
  divideMessage,
  fieldOf,
  foldLongLines,
  joinMessage,
  LONGEST_LINE,
  readFields,
  replaceField,
  valueOfField,
  withField,
} from '../../../src/mail/raw/header-editor.ts';
import { randomFrom } from '../../../src/ops/torture/random.ts';

/** Pieces from which headers are made, whole ones and broken ones. */
const PIECES = [
  'Subject: Hi',
  'X-A:',
  'X B: c',
  ': no name',
  'From me',
  ' folded',
  '\tfolded',
  '',
  '=?utf-8?q?a?=',
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  '\n\n',
  '\0',
  '\xff\xfe',
  'Grüße',
  'a'.repeat(1_200),
  '.',
  '--b',
];

describe('the header editor', () => {
  test('changes no octet of any input that is not edited', () => {
    const random = randomFrom(37);
    for (let round = 0; round < 3_000; round++) {
      const text = Array.from({ length: random.between(0, 13) }, () => random.pick(PIECES)).join('');
      const message = Buffer.from(text, random.between(0, 1) === 0 ? 'latin1' : 'utf8');
      const divided = divideMessage(message);
      expect(joinMessage(divided)).toEqual(message);
      const field = fieldOf('X-New', 'value');
      const [more, without] = [withField(divided.fields, field), divided.fields.slice(1)];
      expect(joinMessage({ ...divided, fields: more }).toString('latin1')).toContain('X-New: value\r\n');
      const [first] = divided.fields;
      expect(joinMessage({ ...divided, fields: without })).toEqual(
        message.subarray(first?.octets.length ?? 0),
      );
    }
  });

  test('reads names, folds and values', () => {
    const { fields, rest } = divideMessage(
      Buffer.from('From x\r\nSUBJECT : a\r\n\tb\r\nTo: c@d.example\n\r\nText: no field\r\n'),
    );
    expect(fields.map(({ name }) => name)).toEqual(['', 'subject', 'to']);
    expect(fields.map(valueOfField)).toEqual(['From x', 'a\tb', 'c@d.example']);
    expect(rest.toString()).toBe('\r\nText: no field\r\n');
  });

  test('reads a name before a fold, as programs that unfold first do', () => {
    const { fields } = divideMessage(
      Buffer.from('From: a\r\nFrom\r\n : b\r\nBcc \n\t: c\r\nX\r\n y: d\r\n\r\n'),
    );
    expect(fields.map(({ name }) => name)).toEqual(['from', 'from', 'bcc', '']);
    expect(fields.map(valueOfField)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('replaces a field in its place, and adds it at the end where there is none', () => {
    const fields = readFields('A: 1\r\nB: 2\r\nC: 3');
    const written = (of: typeof fields) => of.map(({ octets }) => octets).join('');
    expect(written(replaceField(fields, fieldOf('b', 'ü')))).toBe('A: 1\r\nb: \xc3\xbc\r\nC: 3');
    expect(written(replaceField(fields, fieldOf('D', '4')))).toBe('A: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\n');
  });

  test('folds lines of more than 998 octets alone, and keeps their value', () => {
    const random = randomFrom(5);
    for (let round = 0; round < 300; round++) {
      const words = Array.from({ length: 1 + random.between(0, 59) }, () =>
        random.pick(['<id@a.example>', '"a  b\\" c"', 'x'.repeat(random.between(0, 89)), '', '\t']),
      );
      const [field] = readFields(`References: ${words.join(' ')}\r\n`);
      if (!field) throw new Error('No field.');
      const folded = foldLongLines(field);
      expect(valueOfField(folded)).toBe(valueOfField(field));
      if (field.octets.length - 2 <= LONGEST_LINE) expect(folded).toBe(field);
      else for (const line of folded.octets.split('\r\n')) expect(line.length).toBeLessThan(LONGEST_LINE);
      for (const line of folded.octets.split('\r\n').slice(0, -1)) expect(line).toMatch(/\S/);
    }
    const word = readFields(`X-A: ${'x'.repeat(1_000)}\r\n`)[0];
    if (word) expect(foldLongLines(word)).toBe(word);
    const exact = readFields(`X-A: ${'x '.repeat(496)}x\r\n`)[0];
    expect(exact?.octets.length).toBe(LONGEST_LINE + 2);
    if (exact) expect(foldLongLines(exact)).toBe(exact);
  });
});
