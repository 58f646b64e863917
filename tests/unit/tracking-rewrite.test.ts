import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readHtml } from '../../src/mail/html/read-html.ts';
import { rewriteHtml } from '../../src/sending/tracking/rewrite.ts';
import { costMs } from '../support/own-time.ts';

const rewriteLinks = (html: string, link: (url: string) => string): string =>
  rewriteHtml(html, readHtml(html), { link, added: '' });
const marked = (html: string): string => rewriteLinks(html, (url) => `[${url}]`);

describe('tracked links', () => {
  const rewritten: Readonly<Record<string, readonly [string, string]>> = {
    'in double quotes': ['<a href="https://a.example/x">x</a>', '<a href="[https://a.example/x]">x</a>'],
    'in single quotes': ["<a href='http://a.example'>x</a>", '<a href="[http://a.example]">x</a>'],
    // sendgrid/sendgrid-csharp#1220: a plus sign in a path would be another file.
    'with spaces': [
      '<a href=" https://a.example/a (1).png?utm_campaign=Spring sale">x</a>',
      '<a href="[https://a.example/a%20(1).png?utm_campaign=Spring%20sale]">x</a>',
    ],
    'without quotes': ['<a href=https://a.example/?b=1>x</a>', '<a href="[https://a.example/?b=1]">x</a>'],
    'with entities': [
      '<a href="https://a.example/?a=1&amp;b=2">x</a>',
      '<a href="[https://a.example/?a=1&b=2]">x</a>',
    ],
    'in capitals': [
      '<A CLASS=b HREF="HTTPS://A.example">x</A>',
      '<A CLASS=b HREF="[HTTPS://A.example]">x</A>',
    ],
    'of an image map': [
      '<area shape="rect" href="https://a.example">',
      '<area shape="rect" href="[https://a.example]">',
    ],
    'after an attribute that looks like one': [
      '<a title=" href=&quot;https://b.example&quot;" data-href="https://c.example" href="https://a.example">x</a>',
      '<a title=" href=&quot;https://b.example&quot;" data-href="https://c.example" href="[https://a.example]">x</a>',
    ],
    'after an end tag with space in it': [
      '<b>x</b ><a href="https://a.example">x</a>',
      '<b>x</b ><a href="[https://a.example]">x</a>',
    ],
    'whose tag has a quote out of place': [
      '<a "href="https://b.example" href="https://a.example">x</a>',
      '<a "href="https://b.example" href="[https://a.example]">x</a>',
    ],
    'over several lines': [
      '<a\n  href =\n "https://a.example"\n>x</a>',
      '<a\n  href =\n "[https://a.example]"\n>x</a>',
    ],
  };
  for (const [name, [before, after]] of Object.entries(rewritten))
    test(`${name} are rewritten`, () => expect(marked(before)).toBe(after));

  const kept = [
    '<a href="mailto:a@b.example">x</a>',
    '<a href="tel:+49">x</a>',
    '<a href="#top">x</a>',
    '<a href="javascript:alert(1)">x</a>',
    '<a href="JavaScript:alert(1)//https://a.example">x</a>',
    '<a href="data:text/html,x">x</a>',
    '<a href="/relative">x</a>',
    '<a href="//a.example">x</a>',
    '<a href="https://">x</a>',
    '<a href="https://a.example/&#10;x">x</a>',
    '<a name="https://a.example">x</a>',
    '<img src="https://a.example/i.png">',
    '<link href="https://a.example/s.css">',
    '<!-- <a href="https://a.example">x</a> -->',
    '<style>a{content:\'<a href="https://a.example">\'}</style>',
    '<p>https://a.example</p>',
  ];
  for (const html of kept) test(`${html} stays as it is`, () => expect(marked(html)).toBe(html));

  test('are all that changes, whatever the html is', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom(
        '<a href="https://a.example/">',
        '</a>',
        '<!--',
        '-->',
        '<',
        '>',
        '"',
        "'",
        '&',
        '<a href=',
        '<style>',
        '</style>',
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const html = pieces.join('');
        const unchanged = rewriteLinks(html, (url) => url);
        expect(rewriteLinks(html, () => 'L').length).toBeLessThanOrEqual(html.length + 2 * pieces.length);
        if (!/https:/.test(html)) expect(unchanged).toBe(html);
      }),
      { numRuns: 500 },
    );
  });
});

test('link rewriting bounds nesting depth and processor time', () => {
  const link = '<a href="https://a.example">x</a>';
  const changed = '<a href="[https://a.example]">x</a>';
  const deep = (depth: number, of: string) => `${of}${'<b>'.repeat(depth)}${of}${'</i>'.repeat(depth)}${of}`;
  expect(marked(deep(998, link))).toBe(deep(998, changed));
  const cost = costMs(() => {
    expect(marked(deep(50_000, link))).toBe(`${changed}${deep(50_000, link).slice(link.length)}`);
    expect(marked(`${link}</p>${link}`.repeat(10_000))).toBe(`${changed}</p>${changed}`.repeat(10_000));
  });
  // It took 4.6 s.
  expect(cost).toBeLessThan(1_000);
});

test('what is added comes behind the links before it, and before those behind it', () => {
  const html = '<a href="https://a.example">x</a></body><a href="https://b.example">y</a>';
  const change = { link: (url: string) => `[${url}]`, added: '!' };
  expect(rewriteHtml(`<body>${html}`, readHtml(`<body>${html}`), change)).toBe(
    '<body><a href="[https://a.example]">x</a>!</body><a href="[https://b.example]">y</a>',
  );
  expect(rewriteHtml('<p>x</p>', readHtml('<p>x</p>'), { link: null, added: '!' })).toBe('<p>x</p>!');
});
