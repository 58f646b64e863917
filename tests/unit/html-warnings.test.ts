import { expect, test } from 'bun:test';
import { htmlWarnings } from '../../src/mail/check/html-warnings.ts';
import { costMs } from '../support/own-time.ts';

const told = (html: string) => htmlWarnings(html, true).map(({ code, line }) => [code, line]);

test('images without alt, links without https and tags without an end are reported with their lines', () => {
  const html =
    '<!-- <img> -->\n<div><img src="https://a.example/x.png">\n<a href="http://a.example">x</a><IMG alt="x" src=x><br>';
  expect(told(html)).toEqual([
    ['image_without_alt', 2],
    ['insecure_link', 3],
    ['unclosed_tag', 2],
  ]);
  expect(htmlWarnings(html, false).map(({ line }) => line)).toEqual([null, null, null]);
  expect(told('<style>a<b{}</style><p>one<p>two<li>three<div/><h1>x</h1>')).toEqual([]);
});

test('an author hears of twenty faults of a kind, however long or broken the html', () => {
  const long = (text: string) => text.repeat(1_048_576 / text.length);
  expect(told(long('<img>x\n'))).toHaveLength(20);
  expect(told(long('<div>'))).toHaveLength(20);
  for (const broken of ['<', '<!--', '<style>', '<style', '</', '<a '])
    expect(told(long(broken)).length).toBeLessThanOrEqual(20);
});

test('an element without its end has its place in MJML', () => {
  const mjml = '<mjml>\n{{ a }} <mj-text>\n  <b>bold</mj-text>';
  expect(htmlWarnings('<p><b>bold</p>', false, mjml)).toEqual([
    {
      code: 'unclosed_tag',
      message: 'This b is closed nowhere.',
      line: null,
      at: mjml.indexOf('<b>'),
    },
  ]);
  const branches = '{% if a %}<b class="v">{% else %}<b>{% endif %}x</b>';
  expect(htmlWarnings('<b>x</b>', false, branches)).toEqual([]);
  expect(htmlWarnings('<b>x', false, `<mj-text><b>${'x'.repeat(262_144)}</b></mj-text>`)).toEqual([]);
});

test('of a tag with as many attributes as fit, the first of each name counts, and reading it takes a second at the most', () => {
  const many = Array.from({ length: 100_000 }, (_, index) => `a${index}=x`).join(' ');
  const html = `<img ${many} src="https://a.example" ${'src="http://b.example" '.repeat(10_000)}>`;
  expect(costMs(() => expect(told(html)).toEqual([['image_without_alt', 1]]))).toBeLessThan(1_000);
});
