import { describe, expect, test } from 'bun:test';
import { textLiquid } from '../../src/mail/liquid/engine.ts';
import { momentOf } from '../../src/mail/liquid/filters/moment.ts';
import { strftime, unknownDirective } from '../../src/mail/liquid/filters/strftime.ts';
import { examine } from '../../src/mail/liquid/parts.ts';
import { costMs } from '../support/own-time.ts';
import ruby from '../support/ruby-strftime.json';

const NOW = Date.UTC(2026, 10, 27, 10, 5, 9);
const write = (source: string, names: Readonly<Record<string, unknown>> = {}): string =>
  textLiquid.render(textLiquid.parse(source), { names, now: NOW });

describe('numbers are calculated in decimal digits, as by Ruby', () => {
  // Written by Liquid 5.4.0 on Ruby 3.1.2; a whole number that Ruby writes as 8.0 is 8 here.
  const cases: Readonly<Record<string, string>> = {
    '19.9 | times: 3': '59.7',
    '0.1 | plus: 0.2': '0.3',
    '1.1 | minus: 1': '0.1',
    '"19.9" | times: "3"': '59.7',
    '4.35 | times: 100': '435',
    '1.15 | round: 1': '1.2',
    '1.005 | round: 2': '1.01',
    '-1.005 | round: 2': '-1.01',
    '2.5 | round': '3',
    '-2.5 | round': '-3',
    '183.357 | round: 2': '183.36',
    '1250 | round: -2': '1300',
    '7 | divided_by: 2': '3',
    '-7 | divided_by: 2': '-4',
    '20 | divided_by: 7.0': '2.857142857142857',
    '10.5 | divided_by: 2': '5.25',
    '1 | divided_by: 3.0': '0.3333333333333333',
    '-7 | modulo: 3': '2',
    '7 | modulo: -3': '-2',
    '5.5 | modulo: 2': '1.5',
    '0.3 | modulo: 0.1': '0',
    '183.357 | modulo: 12': '3.357',
    '"a" | plus: 1': '1',
    '"12abc" | plus: 1': '13',
    'nil | plus: 1': '1',
    'true | plus: 1': '1',
    '9999999.99 | times: 0.19': '1899999.9981',
    '1.1 | times: 1.1': '1.21',
    '-0.1 | minus: -0.3': '0.2',
    '2.675 | round: 2': '2.68',
    '8.2 | minus: 0.2': '8',
  };
  for (const [source, result] of Object.entries(cases))
    test(source, () => expect(write(`{{ ${source} }}`)).toBe(result));

  test('sums', () => {
    expect(write('{{ list | sum }}', { list: [0.1, 0.2, '0.3'] })).toBe('0.6');
    expect(
      write('{{ list | sum: "price" }}', { list: [{ price: 19.9 }, { price: 19.9 }, { price: 19.9 }] }),
    ).toBe('59.7');
  });

  test('however many digits they have', () => {
    const digits = '9'.repeat(100_000);
    expect(write('{{ n | times: n | round: 2 | modulo: 7 }}', { n: digits })).toBeString();
    expect(write('{{ 1e300 | times: 1e300 }}')).toBeString();
    expect(() => write('{{ 1 | modulo: 0 }}')).toThrow('not divide by 0');
    expect(() => write('{{ 1.5 | divided_by: 0.0 }}')).toThrow('not divide by 0');
  });
});

describe('amounts', () => {
  const cases: Readonly<Record<string, string>> = {
    '19.9 | times: 3 | fixed: 2': '59.70',
    '5 | fixed': '5.00',
    '1.005 | fixed: 2': '1.01',
    '-0.005 | fixed: 2': '-0.01',
    '"1234.5" | fixed: 0': '1235',
    '"soon" | fixed: 2': 'soon',
    'nil | fixed: 2': '',
    '1234.5 | money: "EUR"': '€1,234.50',
    '1234.5 | money: "EUR", "de"': '1.234,50\u00a0€',
    '1.005 | money: "usd"': '$1.01',
    '1234.5 | money: "JPY", "ja"': '￥1,235',
    'nil | money: "EUR"': '',
  };
  for (const [source, result] of Object.entries(cases))
    test(source, () => expect(write(`{{ ${source} }}`)).toBe(result));
  test('of a currency or language that is none are refused', () => {
    for (const wrong of ['"EURO"', '"EUR", "x"', 'nil'])
      expect(() => write(`{{ 1 | money: ${wrong} }}`)).toThrow('a currency such as "EUR"');
  });
});

describe('dates are written as by Ruby', () => {
  for (const [place, written] of Object.entries(ruby.written))
    test(`at ${place}`, () => {
      const [zone = '', seconds = ''] = place.split(' ');
      const moment = momentOf(Number(seconds), zone);
      if (!moment) throw new Error(place);
      const ours = ruby.formats.map((format) => `${format} ${JSON.stringify(strftime(moment, format))}`);
      expect(ours).toEqual(
        ruby.formats.map((format, index) => `${format} ${JSON.stringify(written[index])}`),
      );
    });

  test('a day without a time is that day in every zone', () => {
    for (const zone of ['UTC', 'America/New_York', 'Pacific/Apia', 'Europe/Berlin', 'Asia/Kolkata'])
      for (const day of ['2026-11-27', '2026-03-29', '2026-10-25'])
        expect(write(`{{ "${day}" | date: "%F %T", "${zone}" }}`)).toBe(`${day} 00:00:00`);
    expect(write('{{ "2026-11-27 18:30" | date: "%R %:z", "Europe/Berlin" }}')).toBe('18:30 +01:00');
    expect(write('{{ "March 14, 2016" | date: "%F", "America/New_York" }}')).toBe('2016-03-14');
  });

  test('a day that no month has is no date', () => {
    for (const day of ['2026-02-30', '2026-02-29T10:00:00Z', '2026-13-01', '2026-04-31 10:00'])
      expect(write(`{{ "${day}" | date: "%F" }}`)).toBe(day);
    expect(write('{{ "2028-02-29" | date: "%F" }}')).toBe('2028-02-29');
  });

  test('a moment is shown in the zone in force', () => {
    expect(write('{{ "2026-11-27T23:30:00Z" | date: "%F %R %Z", "Europe/Berlin" }}')).toBe(
      '2026-11-28 00:30 CET',
    );
    expect(write('{{ "2026-11-27T23:30:00+02:00" | date: "%F %R" }}')).toBe('2026-11-27 21:30');
    expect(write('{{ "2026-11-27 23:30:00 +0200" | date: "%F %R" }}')).toBe('2026-11-27 21:30');
    expect(write('{{ "Fri, 27 Nov 2026 10:00:00 GMT" | date: "%c", "America/New_York" }}')).toBe(
      'Fri Nov 27 05:00:00 2026',
    );
    expect(write('{{ "now" | date: "%F %T" }} {{ 0 | date: "%Y", -60 }} {{ "0" | date: "%s" }}')).toBe(
      '2026-11-27 10:05:09 1970 0',
    );
    expect(write('{{ "soon" | date: "%F" }}{{ nil | date: "%F" }}')).toBe('soon');
    expect(() => write('{{ 0 | date: "%F", "Mars/Olympus" }}')).toThrow('a time zone such as');
  });

  test('a format has at most 200 characters, whether the template writes it or is given it', () => {
    const format = (length: number) => '%Y'.padEnd(length, '.');
    expect(write(`{{ 0 | date: "${format(200)}" }}`)).toHaveLength(202);
    expect(() => write(`{{ 0 | date: "${format(201)}" }}`)).toThrow('a format of at most 200 characters');
    expect(() => write(`{% assign f = "${format(201)}" %}{{ 0 | date: f }}`)).toThrow(
      'at most 200 characters',
    );
    expect(examine({ text: `{{ d | date: "${format(201)}" }}` }).problems).toMatchObject([
      { message: 'Line 1, column 14: must give the filter date a format of at most 200 characters.' },
    ]);
  });

  test('a date has at most 2,000 characters, however many wide directives it has', () => {
    expect(write('{{ 0 | date: "%1000Y%1000d" }}')).toHaveLength(2_000);
    expect(() => write('{{ 0 | date: "%1000Y%1000d." }}')).toThrow('a date of at most 2000 characters');
    expect(() => write(`{{ 0 | date: "${'%1000d'.repeat(33)}" }}`)).toThrow('at most 2000 characters');
    expect(() => write('{{ 0 | date: "%1001Y" }}')).toThrow('at most 1000 characters');
  });

  test('flags and widths are read once, however long they are', () => {
    for (const piece of ['0', '-0', '1', '_10', ':', '%', '%0', '%E'])
      expect(costMs(() => unknownDirective(`%${piece.repeat(100_000)}!`))).toBeLessThan(1_000);
  });

  test('a format that Ruby does not know is reported when the template is saved', () => {
    const told = (text: string) => examine({ text }).problems.map(({ message }) => message);
    expect(told('{{ d | date: "%F %Q" }}')).toEqual([
      'Line 1, column 14: the filter date knows no %Q; write %% for a percent sign.',
    ]);
    expect(told('{% if a %}\n{% assign x = d | date: "%i" %}{% endif %}')).toHaveLength(1);
    expect(told('{% for x in y %}{{ x | upcase | date: "100%" }}{% endfor %}')).toHaveLength(1);
    for (const { format } of ruby.formats.map((each) => ({ format: each })))
      if (format !== '%OZ') expect([format, told(`{{ d | date: "${format}" }}`)]).toEqual([format, []]);
    expect(write('{{ 0 | date: "%Q" }}')).toBe('%Q');
  });
});
