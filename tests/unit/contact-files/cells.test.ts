import { describe, expect, test } from 'bun:test';
import { readContactFile, statusesOf } from '../../support/read-contact-file.ts';

/** Reads one column of a type, and answers the values, or the problem that is reported. */
async function column(type: string, cells: readonly string[], delimiter = ';') {
  const quoted = cells.map((cell, at) => `p${at}@example.com${delimiter}"${cell}"`);
  const file = await readContactFile(`email${delimiter}x\n${quoted.join('\n')}\n`, {
    columns: { x: `properties.x:${type}` },
  });
  const problem = file.problems[0]?.message;
  const values = file.batch.contacts.map(({ properties }) => properties.x);
  return { ...(problem && { problem }), values, codes: file.batch.faults.map(([, , code]) => code) };
}

describe('numbers are read as their column writes them', () => {
  const CASES: readonly (readonly [readonly string[], readonly number[]])[] = [
    [
      ['1234,50', '0,5', '-3'],
      [1234.5, 0.5, -3],
    ],
    [
      ['1.234,50 €', '12,00 €', '1.000'],
      [1234.5, 12, 1000],
    ],
    [
      ['1,234.50', '$12.00', '2,000'],
      [1234.5, 12, 2000],
    ],
    [
      ['1.234.567', '1.234'],
      [1234567, 1234],
    ],
    [
      ['1,234,567', '1,234'],
      [1234567, 1234],
    ],
    [
      ['1 234,5', '1’234,5', "1'234"],
      [1234.5, 1234.5, 1234],
    ],
    [
      ['CHF 12.50', '12.50 EUR', '-$3.00', '£1'],
      [12.5, 12.5, -3, 1],
    ],
    [
      ['1e3', '.5', '+7', '0.125'],
      [1000, 0.5, 7, 0.125],
    ],
  ];
  for (const [cells, values] of CASES)
    test(cells.join('  '), async () => {
      expect(await column('number', cells)).toEqual({ values: [...values], codes: [] });
    });

  test('an ambiguity of a column is reported, and columns decide', async () => {
    expect((await column('number', ['1.234', '5'])).problem).toContain('number:comma');
    expect((await column('number', ['1,234'], ',')).problem).toContain('number:point');
    expect((await column('number:comma', ['1.234', '1,5'])).values).toEqual([1234, 1.5]);
    expect((await column('number:point', ['1.234', '1,500.5'])).values).toEqual([1.234, 1500.5]);
    // A file separated by commas comes from where decimals have a point.
    expect((await column('number', ['1.234'], ',')).values).toEqual([1.234]);
  });

  test('integers that a double cannot hold are refused, at the boundary too', async () => {
    const cells = ['9007199254740991', '-9007199254740991', '9007199254740992', '9007199254740993', '1e16'];
    const { values, codes } = await column('number', cells);
    expect(values).toEqual([9007199254740991, -9007199254740991]);
    expect(codes).toEqual(['number_too_large', 'number_too_large', 'number_too_large']);
  });

  test('what is no number is reported', async () => {
    const { codes } = await column('number', ['x', '12 apples', '1.2.3', '5 %']);
    expect(codes).toEqual(['invalid_number', 'invalid_number', 'invalid_number', 'invalid_number']);
  });
});

describe('dates are read as their column writes them', () => {
  const CASES: readonly (readonly [readonly string[], readonly string[]])[] = [
    [
      ['31.12.2026', '1.2.2026'],
      ['2026-12-31', '2026-02-01'],
    ],
    [
      ['12/31/2026', '2/1/2026'],
      ['2026-12-31', '2026-02-01'],
    ],
    [
      ['31/12/2026', '2/1/2026'],
      ['2026-12-31', '2026-01-02'],
    ],
    [
      ['01-13-2026', '02-01-2026'],
      ['2026-01-13', '2026-02-01'],
    ],
    [
      ['2026-12-31', '2026/1/2', '5/5/2026'],
      ['2026-12-31', '2026-01-02', '2026-05-05'],
    ],
    [
      ['31.12.2026 14:30', '2024-03-01 09:00', '2026-01-01T00:30:00+01:00'],
      ['2026-12-31T14:30:00Z', '2024-03-01T09:00:00Z', '2026-01-01T00:30:00+01:00'],
    ],
    [
      ['12/31/2026 2:05 PM', '1/31/2026 12:00 am'],
      ['2026-12-31T14:05:00Z', '2026-01-31T00:00:00Z'],
    ],
  ];
  for (const [cells, values] of CASES)
    test(cells.join('  '), async () => {
      expect(await column('date', cells)).toEqual({ values: [...values], codes: [] });
    });

  test('an open order of a column is reported, and columns decide', async () => {
    expect((await column('date', ['2/1/2026', '3/4/2026'])).problem).toContain('date:mdy');
    expect((await column('date:dmy', ['2/1/2026'])).values).toEqual(['2026-01-02']);
    expect((await column('date:mdy', ['2/1/2026'])).values).toEqual(['2026-02-01']);
  });

  test('a column that shows both orders refuses what may be two days', async () => {
    const { values, codes } = await column('date', ['31/12/2026', '12/31/2026', '2/1/2026']);
    expect(values).toEqual(['2026-12-31', '2026-12-31']);
    expect(codes).toEqual(['ambiguous_date']);
  });

  test('what is no day is reported', async () => {
    const { codes } = await column('date', ['31.2.2026', '2026-02-30', '1/1/26', 'soon']);
    expect(codes).toEqual(['invalid_date', 'invalid_date', 'invalid_date', 'invalid_date']);
  });
});

test('yes and no are read in the languages of spreadsheets', async () => {
  const yes = ['WAHR', 'VRAI', 'VERDADERO', 'TRUE', 'ja', 'oui', 'sí', '1', 'x', 'Vero'];
  const no = ['FALSCH', 'FAUX', 'FALSO', 'FALSE', 'nein', 'non', 'no', '0'];
  expect((await column('boolean', yes)).values).toEqual(yes.map(() => true));
  expect((await column('boolean', no)).values).toEqual(no.map(() => false));
  expect((await column('boolean', ['perhaps'])).codes).toEqual(['invalid_boolean']);
});

describe('rows as spreadsheets leave them', () => {
  test('lack their empty last cells, and hold lines of blanks', async () => {
    const { batch } = await readContactFile(
      'Email,First Name,Note\na@example.com\n , ,\n\t\nb@example.com,Ben\n,,,\n',
    );
    expect(batch).toMatchObject({ total: 2, refused: 0 });
  });

  for (const header of ['unsubscribed', 'Bounced', 'complained', 'unsubscribed_at'])
    test(`say nothing of ${header} where they end before it`, async () => {
      const file = await readContactFile(
        `email,first_name,${header}\na@example.com,Ann\nb@example.com,Ben,2026-01-02\nc@example.com\n`,
      );
      expect(file.batch.faults).toEqual([]);
      expect(statusesOf(file)).toEqual({
        'a@example.com': 'subscribed',
        'b@example.com': expect.stringMatching(/^(?:unsubscribed|bounced|complained)$/),
        'c@example.com': 'subscribed',
      });
    });

  for (const [header, cell] of [
    ['status', 'active'],
    ['Newsletter', 'yes'],
  ])
    test(`begin out where they end before ${header}, which is reported`, async () => {
      const file = await readContactFile(`email,${header}\na@example.com\nb@example.com,${cell}\n`);
      expect(file.batch.faults).toEqual([]);
      expect(statusesOf(file)).toEqual({ 'a@example.com': 'not subscribed', 'b@example.com': 'subscribed' });
      expect(file.plan.warnings).toEqual([
        { column: 2, header: header as string, message: expect.stringContaining('1 row has no value here') },
      ]);
    });
});

test('a name keeps no line break, control or invisible character', async () => {
  const { batch } = await readContactFile(
    'email,first_name,last_name\na@example.com,"Ada\r\nBcc: x","\u202eLove\u0007lace\u200b"\n',
  );
  expect(batch.contacts[0]).toMatchObject({ first_name: 'Ada Bcc: x', last_name: 'Love lace' });
});
