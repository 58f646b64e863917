import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { textFromHtml } from '../../src/mail/content/text-part.ts';
import { costMs } from '../support/own-time.ts';

describe('the text part of', () => {
  test.each<[what: string, html: string, text: string]>([
    ['paragraphs', '<p>One\n  two</p><p>three</p>', 'One two\n\nthree'],
    [
      'headings, as they were written',
      '<h1>Code aB3x9 for {{ name }}</h1>Use it',
      'Code aB3x9 for {{ name }}\n\nUse it',
    ],
    ['line breaks', 'a<br>b<br><br><br><br>c', 'a\nb\n\nc'],
    ['divisions', '<div>a</div><div><div>b</div></div>c', 'a\nb\nc'],
    ['inline markup', 'a<b>b</b> <i> c </i>d', 'ab c d'],
    ['a link', '<a href="https://x.co/a?b=1&amp;c=2">Go</a>!', 'Go (https://x.co/a?b=1&c=2)!'],
    [
      'a link that says where it leads',
      '<a href="https://x.co/">https://x.co</a> <a href="mailto:a@x.co">a@x.co</a>',
      'https://x.co a@x.co',
    ],
    ['a link with spaces', '<a href="https://x.co/a b?c=d e">Go</a>', 'Go (https://x.co/a%20b?c=d%20e)'],
    [
      'a link with spaces that says where it leads',
      '<a href="https://x.co/a b">https://x.co/a b</a> <a href="https://x.co/a b">https://x.co/a%20b</a>',
      'https://x.co/a%20b https://x.co/a%20b',
    ],
    [
      'links with placeholders and spaces',
      `<a href="https://x.co/a b?u={{ url }}&v={% if a %}1 2{% endif %}">Go</a> <a href="https://x.co/{{ x | default: 'a b' }}/{{ y">on</a>`,
      "Go (https://x.co/a%20b?u={{ url }}&v={% if a %}1%202{% endif %}) on (https://x.co/{{ x | default: 'a b' }}/{{%20y)",
    ],
    ['a link without words', '<a href="https://x.co"><img src="a.png"></a>', 'https://x.co'],
    ['a linked image', '<a href="https://x.co"><img src="a.png" alt="Shop"></a>', '[Shop] (https://x.co)'],
    ['a link to be filled in', '<a href="{{ url }}">Go</a>', 'Go ({{ url }})'],
    [
      'links without space between',
      '<a href="https://a.co/T">A</a><a href="https://b.co">B</a>',
      'A (https://a.co/T) B (https://b.co)',
    ],
    [
      'words right behind a link',
      '<a href="https://a.co/T">Go</a>pc <a href="https://b.co">https://b.co</a>pc',
      'Go (https://a.co/T) pc https://b.co pc',
    ],
    ['words right around a link without words', 'see<a href="https://a.co"></a>pc', 'see https://a.co pc'],
    [
      'a bracket around a link without words',
      '(<a href="https://a.co"></a>), <a href="https://b.co">B</a>.',
      '(https://a.co), B (https://b.co).',
    ],
    ['a link at the end of a line', '<p><a href="https://a.co">A</a></p><p>B</p>', 'A (https://a.co)\n\nB'],
    ['a link to nowhere', '<a href="#top">up</a> <a>a</a> <a href=" JavaScript:x()">b</a>', 'up a b'],
    ['lists', '<ul><li>a<li>b<ul><li>c</li></ul></li></ul>d', '- a\n- b\n  - c\n\nd'],
    ['a numbered list', '<ol start="9"><li>a</li><li>b<br>c</li></ol>', '9. a\n10. b\n    c'],
    ['quotes', 'a<blockquote><p>b</p><p>c</p></blockquote>d', 'a\n\n> b\n>\n> c\n\nd'],
    ['a quote in a quote', '<blockquote>a<blockquote>b</blockquote></blockquote>', '> a\n>\n> > b'],
    ['code', '<pre><code>if (a &lt; b) {\n  c\n}\n</code></pre>d', 'if (a < b) {\n  c\n}\n\nd'],
    [
      'a price struck through',
      '<s>99 €</s> 49 €, <b><del> 9 </del></b>5, <strike></strike>',
      '~~99 €~~ 49 €, ~~9~~ 5,',
    ],
    [
      'a price struck through by its style',
      '<span style="color:red; text-decoration: line-through"><s>99</s> €</span> 49 €<span style="text-decoration:none">!</span>',
      '~~99 €~~ 49 €!',
    ],
    [
      'more than words struck through',
      '<del><p>a</p><blockquote>b</blockquote><a href="https://x.co">c</a></del>d',
      '~~a\n\n> b\n\nc (https://x.co) ~~d',
    ],
    [
      'raised cents and powers',
      '49<sup>99</sup> €, 10<b>0<sup><i>6</i></sup></b>, 49<span style="font-size:60%; vertical-align: super">95</span> €',
      '49^99 €, 100^6, 49^95 €',
    ],
    [
      'raised placeholders',
      '{{ whole }}<sup>{{ cents }}</sup> €, 49<sup>{{ cents }}</sup>, {{ whole }}<sup>99</sup>, {{ name }}<sup>TM</sup>',
      '{{ whole }}^{{ cents }} €, 49^{{ cents }}, {{ whole }}^99, {{ name }}TM',
    ],
    [
      'other raised text',
      'Acme<sup>TM</sup>, note<sup>1</sup>, R2D2<sup>1</sup>, 1<sup>st</sup>, 49 <sup>99</sup>, 4<br><sup>9</sup>, 5<sup></sup>6, 7<sup> 8</sup>',
      'AcmeTM, note1, R2D21, 1st, 49 99, 4\n9, 56, 7 8',
    ],
    ['a rule', 'a<hr>b', 'a\n\n---\n\nb'],
    [
      'a table',
      '<table><tr><th>Tea</th><th>3&nbsp;€</th></tr><tr><td>Milk</td><td></td></tr></table>',
      'Tea  3 €\nMilk',
    ],
    [
      'a layout of tables',
      '<table><tr><td><table><tr><td><p>a</p></td></tr></table></td></tr><tr><td>b</td></tr></table>',
      'a\n\nb',
    ],
    ['an image', 'Hi <img alt="a &amp; b">!', 'Hi [a & b] !'],
    ['entities', '&lt;b&gt; &amp;amp; &euro; &#128512; &nbsp;x', '<b> &amp; € 😀 x'],
    [
      'what is not shown',
      '<p hidden>a</p><div style="display: none">b<p>c</p></div>d<span style="VISIBILITY:hidden">e</span>',
      'd',
    ],
    [
      'a whole document',
      '<!doctype html><html><head><title>T</title><style>p{}</style><script>x</script><body>a<!-- b --></body></html>',
      'a',
    ],
    ['a head that is never closed', '<head><title>T</title><body>a', 'a'],
    ['comments for Outlook', 'a<!--[if mso]><p>b</p><![endif]-->', 'a'],
    ['markup that is broken', '<p>a<b>b</p></i><td>c', 'ab\n\nc'],
    ['text alone', ' a < b\n', 'a < b'],
    ['nothing', '', ''],
    ['nothing to read', '<p> &nbsp;</p><br><hr hidden>', ''],
  ])('%s', (_, html, text) => {
    expect(textFromHtml(html)).toBe(text);
  });

  test('the text part of hostile html is bounded in size and processor time', () => {
    const hostile = [
      '<div>'.repeat(200_000),
      `before${'<blockquote>x'.repeat(80_000)}`,
      '<ol><li>x<br>x'.repeat(60_000),
      '<a href="https://x.co">'.repeat(40_000),
      '<'.repeat(1_000_000),
      '&'.repeat(1_000_000),
      `<a ${'b '.repeat(500_000)}`,
      '<!--'.repeat(250_000),
      'word '.repeat(5_000_000),
      `<a href="https://x.co/${'{{ '.repeat(200_000)}">x</a>`,
      `<a href="https://x.co/${'{%%'.repeat(200_000)}">x</a>`,
      `${'a'.repeat(250_000)}${'<a href="mailto:"></a>'.repeat(36_000)}`,
      `${'a'.repeat(250_000)}${'<a href="https://x.co"></a>'.repeat(30_000)}`,
    ];
    for (const html of hostile) {
      const cost = costMs(() => expect(textFromHtml(html).length).toBeLessThan(1_100_000));
      // Measured: 140 ms for the slowest. A cost that grew with the square would take minutes.
      expect(cost).toBeLessThan(2_500);
    }
  });

  test('the text part of arbitrary html has no surplus white space and no known markup', () => {
    const pieces = fc.array(
      fc.oneof(
        fc.constantFrom(
          '<p>',
          '</p>',
          '<br>',
          '<ul>',
          '<li>',
          '</ul>',
          '<blockquote>',
          '</blockquote>',
          '<pre>',
          '</pre>',
          '<td>',
          '<tr>',
          '<a href="https://x.co">',
          '</a>',
          '<hr>',
          ' ',
          '\n',
        ),
        fc.string({ unit: fc.constantFrom('a', 'b', '&', '.') }),
      ),
    );
    fc.assert(
      fc.property(pieces, (parts) => {
        const text = textFromHtml(parts.join('').replaceAll('<pre>', ''));
        expect(text).not.toMatch(/[ \t]$/m);
        expect(text).not.toMatch(/^\s*\n|\n\s*$|\n\n\n/);
        expect(text).not.toMatch(/<[a-z/]/);
      }),
      { numRuns: 1_000 },
    );
  });
});
