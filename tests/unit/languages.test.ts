import { describe, expect, test } from 'bun:test';
import { inLanguage } from '../../src/mail/html/html-language.ts';
import { htmlLiquid, textLiquid } from '../../src/mail/liquid/engine.ts';
import { examine } from '../../src/mail/liquid/parts.ts';
import { directionOf, fallbacksOf, languageIn, readLanguage } from '../../src/platform/text/language.ts';
import { costMs } from '../support/own-time.ts';

describe('a language tag', () => {
  test.each([
    ['de', 'de'],
    ['pt-br', 'pt-BR'],
    ['ZH-hant-tw', 'zh-Hant-TW'],
    ['es-419', 'es-419'],
    ['iw', 'he'],
    ['fil', 'fil'],
  ])('%s is read as %s', (text, tag) => expect(readLanguage(text)).toBe(tag));

  test.each([
    '',
    'd',
    'xx',
    'klingon',
    'en-XX',
    'de_DE',
    'de-u-ca-buddhist',
    'de-1996',
    'und',
    'de-x-a',
    'a'.repeat(36),
  ])('%p is none that is registered', (text) => expect(readLanguage(text)).toBeNull());

  test('of a contact may be written in any letters, with an underscore, or be nothing of the kind', () => {
    expect(['de', ' DE_at ', 'Deutsch', 7, null, ['de']].map(languageIn)).toEqual([
      'de',
      'de-AT',
      null,
      null,
      null,
      null,
    ]);
  });

  test('falls back to those that contain it', () => {
    expect([...fallbacksOf('zh-Hant-TW')]).toEqual(['zh-Hant-TW', 'zh-Hant', 'zh']);
  });

  test('tells how it runs, by its script', () => {
    const rtl = ['ar', 'he', 'fa', 'ur', 'ckb', 'dv', 'yi', 'ku-Arab', 'pa-PK'];
    expect(rtl.filter((tag) => directionOf(tag) === 'rtl')).toEqual(rtl);
    expect(['de', 'ja', 'ku', 'pa', 'az'].map(directionOf)).toEqual(Array(5).fill('ltr'));
  });
});

describe('html in a language', () => {
  test('says it at its elements, where its author does not', () => {
    expect(inLanguage('<html><body><p>x</p></body></html>', 'ar')).toBe(
      '<html lang="ar" dir="rtl"><body lang="ar" dir="rtl"><p>x</p></body></html>',
    );
    expect(inLanguage('<html lang="ar-EG"><body dir=auto>', 'ar')).toBe(
      '<html dir="rtl" lang="ar-EG"><body lang="ar-EG" dir=auto>',
    );
    // The body says what the author says of the whole.
    expect(inLanguage('<html lang="en" dir="ltr"><body>', 'ar')).toBe('<html lang="en" dir="ltr"><body>');
    expect(inLanguage("<html dir='RTL'><body>", 'de')).toBe(
      `<html lang="de" dir='RTL'><body lang="de" dir="RTL">`,
    );
    expect(inLanguage('<html lang="{{ l }}"><body>', 'ar')).toBe(
      '<html dir="rtl" lang="{{ l }}"><body dir="rtl">',
    );
    expect(inLanguage('<html><body>', 'de')).toBe('<html lang="de" dir="ltr"><body>');
    expect(inLanguage('<p>x</p>', 'he')).toBe('<div lang="he" dir="rtl"><p>x</p></div>');
    expect(inLanguage('<!-- <html> --><html lang="und" dir="auto">', 'fa')).toBe(
      '<!-- <html> --><html lang="fa" dir="rtl">',
    );
  });

  test('leaves tags in values and styles as they are, and wraps what is shown behind the doctype and the head', () => {
    expect(inLanguage('<html><head><meta content="<body a>"></head><body>x', 'ar')).toBe(
      '<html lang="ar" dir="rtl"><head><meta content="<body a>"></head><body lang="ar" dir="rtl">x',
    );
    expect(inLanguage('<p title="<html >">x</p>', 'de')).toBe(
      '<div lang="de" dir="ltr"><p title="<html >">x</p></div>',
    );
    expect(inLanguage('<!doctype html><style>p::after{content:"<body >"}</style><p>x</p>', 'de')).toBe(
      '<!doctype html><style>p::after{content:"<body >"}</style><div lang="de" dir="ltr"><p>x</p></div>',
    );
  });

  test('is found in time that grows with the html alone', () => {
    const cost = costMs(() => {
      for (const html of [
        '<!--'.repeat(60_000),
        '<!---->'.repeat(40_000),
        '<html '.repeat(40_000),
        '<!--<html -->'.repeat(20_000),
      ])
        inLanguage(html, 'ar');
    });
    expect(cost).toBeLessThan(1_000);
  });
});

const written = (source: string, language: string | null, names = {}): string =>
  textLiquid.render(textLiquid.parse(source), { names, now: 0, language });

describe('filters write in the language of the content', () => {
  test.each([
    ['{{ "2026-03-03" | date: "long" }}', 'de', '3. März 2026'],
    ['{{ "2026-03-03" | date: "long" }}', 'fr', '3 mars 2026'],
    ['{{ "2026-03-03" | date: "long" }}', null, 'March 3, 2026'],
    ['{{ "2026-07-03T10:00:00Z" | date: "short time", "Europe/Berlin" }}', 'de', '03.07.26, 12:00'],
    ['{{ 1234.5 | money: "EUR" }}', 'de', '1.234,50 €'],
    ['{{ 1234.5 | money: "EUR" }}', null, '€1,234.50'],
    ['{{ 1234.5 | money: "EUR", "en-IE" }}', 'de', '€1,234.50'],
    ['{{ 1234567.25 | number }}', 'de', '1.234.567,25'],
    ['{{ 2 | number: 2 }}', 'sv', '2,00'],
    ['{{ 1 | plural: one: "# Platz", other: "# Plätze" }}', 'de', '1 Platz'],
    ['{{ 1200 | plural: one: "# Platz", other: "# Plätze" }}', 'de', '1.200 Plätze'],
    ['{{ 3 | plural: one: "# plik", few: "# pliki", many: "# plików", other: "# pliku" }}', 'pl', '3 pliki'],
    ['{{ 5 | plural: one: "# plik", few: "# pliki", many: "# plików", other: "# pliku" }}', 'pl', '5 plików'],
    ['{{ 0 | plural: one: "# item", other: "# items" }}', 'en', '0 items'],
    ['{{ none | plural: one: "one", other: "some" }}', 'en', 'some'],
  ])('%s in %s', (source, language, text) => {
    expect(written(source, language).replaceAll(/\s/g, ' ')).toBe(text);
  });

  test('a partial writes in the language around it', () => {
    expect(
      written('{% render day: d %}{{ day | date: "long" }}{% endrender %}', 'de', { d: '2026-03-03' }),
    ).toBe('3. März 2026');
  });

  test('what a plural writes is escaped like every value', () => {
    const source = '{{ n | plural: one: "<b>", other: "<i>" }}';
    expect(htmlLiquid.render(htmlLiquid.parse(source), { names: { n: 1 }, now: 0 })).toBe('&lt;b&gt;');
  });

  test.each([
    ['{{ d | date: "lang" }}', /the filter date knows no lang: write full, long/],
    ...['long times', 'LONG', 'DD.MM.YYYY', 'Y-m-d', 'short time zone'].map(
      (style) => [`{{ d | date: "${style}" }}`, new RegExp(`knows no ${style}: write full`)] as const,
    ),
    ['{{ d | money: "EURO" }}', /knows no currency EURO/],
    ['{{ d | money: "EUR", "xx" }}', /knows no language xx/],
    ['{{ d | plural: one: "a" }}', /always other/],
    ['{{ d | plural: "a" }}', /always other/],
    ['{{ d | plural: other: "a", ones: "b" }}', /always other/],
    ['{% if d %}\n{{ d | plural: one: "a" }}{% endif %}', /^Line 2, column 8: /],
  ])('%s is refused when it is saved', (source, message) => {
    expect(() => textLiquid.examineValues(textLiquid.parse(source), null)).toThrow(message);
  });

  test('a plural form that a language does not have is refused in its bodies', () => {
    const source = '\n{{ n | plural: one: "a", few: "b", other: "c" }}';
    const told = (language: string | null) =>
      examine({ html: source, text: source }, { language }).problems.map(({ message }) => message);
    expect(told('de')[0]).toBe(
      'Line 2, column 8: the filter plural never writes the form few in the language de: leave it out, and give one, other.',
    );
    expect(told('de')).toHaveLength(2);
    expect([told('cs'), told(null)]).toEqual([[], []]);
    // A translation without a subject has that of its template, in another language.
    expect(examine({ subject: source }, { language: 'de' }).problems).toEqual([]);
  });

  test('formats that write a date are still formats', () => {
    const source = '{{ "2026-03-03" | date: "%d.%m.%Y" }} {{ "2026-03-03" | date }}';
    expect(() => textLiquid.examineValues(textLiquid.parse(source), null)).not.toThrow();
    expect(written(source, 'de')).toBe('03.03.2026 Tuesday, March 3, 2026 at 12:00 am +0000');
  });
});
