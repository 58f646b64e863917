import { expect, test } from 'bun:test';
import { chipText } from '../../../../src/web/dashboard/web/application/pages/visual/chip-text.ts';
import {
  attributesOf,
  isFollowed,
  isHarmless,
  withAttribute,
} from '../../../../src/web/dashboard/web/application/pages/visual/source/attributes.ts';
import { readDesign } from '../../../../src/web/dashboard/web/application/pages/visual/source/blocks.ts';
import {
  choicesOf,
  insertMarkup,
} from '../../../../src/web/dashboard/web/application/pages/visual/source/edit.ts';
import {
  escapeWords,
  plainText,
} from '../../../../src/web/dashboard/web/application/pages/visual/source/escape.ts';
import {
  type RichBlock,
  type RichText,
  readRichText,
  writeRichText,
} from '../../../../src/web/dashboard/web/application/pages/visual/source/rich-text.ts';
import {
  readTree,
  writeTree,
} from '../../../../src/web/dashboard/web/application/pages/visual/source/tree.ts';
import { costMs } from '../../../support/own-time.ts';

const said = (text: string): RichBlock => ({
  type: 'paragraph',
  attrs: { tag: '', attributes: '' },
  content: [{ type: 'text', text }],
});

test('a list that buttons make has its tags, also where they were given none', () => {
  const untagged = { tag: '', attributes: '' };
  const list = (...items: readonly (readonly RichBlock[])[]): RichText => ({
    type: 'doc',
    content: [
      {
        type: 'list',
        attrs: untagged,
        content: items.map((content) => ({ type: 'item', attrs: untagged, content })),
      },
    ],
  });
  expect(writeRichText(list([said('One')]))).toBe('<ul>\n<li>One</li>\n</ul>');
  expect(writeRichText(list([said('One')], [said('Two')]))).toBe('<ul>\n<li>One</li>\n<li>Two</li>\n</ul>');
  const quote: RichText = {
    type: 'doc',
    content: [{ type: 'quote', attrs: untagged, content: [said('x')] }],
  };
  expect(writeRichText(quote)).toBe('<blockquote>x</blockquote>');
});

/** The text after a person typed a letter in its first block of words. */
const typedInto = (source: string): string => {
  const text = readRichText(source);
  if (!text) throw new Error('This is no rich text.');
  const at = text.content.findIndex(({ content }) =>
    content?.some((each) => each.type === 'text' && each.text !== undefined),
  );
  const block = text.content[at];
  const content = [...(block?.content ?? []), { type: 'text', text: '!' } as const] as RichBlock['content'];
  return writeRichText({
    type: 'doc',
    content: text.content.map((each, index) => (index === at ? ({ ...each, content } as RichBlock) : each)),
  });
};

test.each([
  ['{% if a %}<p>Hello</p>{% endif %}', '{% if a %}\n<p>Hello!</p>\n{% endif %}'],
  ['{% for x in y %}<p>a {{ x }}</p>{% endfor %}', '{% for x in y %}\n<p>a {{ x }}!</p>\n{% endfor %}'],
  ['Intro<p>x</p>', 'Intro!\n<p>x</p>'],
  ['<p>a</p><br><p>b</p>', '<p>a!</p>\n<br />\n<p>b</p>'],
  ['<ul><li>One<p>x</p></li></ul><p>y</p>', '<ul>\n<li>\nOne\n<p>x</p>\n</li>\n</ul>\n<p>y!</p>'],
  ['Hello {% if a %}you{% endif %}', 'Hello {% if a %}you{% endif %}!'],
])('a letter changes no words beside it: %s', (source, after) => {
  expect(typedInto(source)).toBe(after);
});

test('new text beside text without a paragraph does not run into it', () => {
  const [first] = readRichText('Intro')?.content ?? [];
  if (!first) throw new Error('No text.');
  const style = 'style="margin: 0 0 12px"';
  expect(writeRichText({ type: 'doc', content: [first, said('More')] })).toBe(
    `<p ${style}>Intro</p>\n<p ${style}>More</p>`,
  );
  expect(writeRichText({ type: 'doc', content: [first, first] })).toBe(
    `<p ${style}>Intro</p>\n<p ${style}>Intro</p>`,
  );
});

test.each([
  ['Read more &rarr;', 'Read more →'],
  ['It&rsquo;s &eacute;t&#233; &copy; &#8217; a&#160;b', 'It’s été © ’ a\u00a0b'],
  ['{{ a | default: "&amp;" }} &amp; b', '{{ a | default: "&amp;" }} & b'],
  ['https://x.example/?a=1&copy=2&amp;b="3"', 'https://x.example/?a=1&copy=2&b="3"'],
  ['AT&T &unknown; &', 'AT&T &unknown; &'],
  ['&#123;{ name }}', '{{ name }}'],
])('references are read as a person reads them: %s', (source, plain) => {
  expect(plainText(source)).toBe(plain);
});

test('a label keeps its signs when it is changed', () => {
  expect(escapeWords(`${plainText('Read more &rarr;')}!`)).toBe('Read more →!');
  expect(withAttribute('<mj-image alt="caf&eacute;">', 'alt', 'café')).toBe('<mj-image alt="caf&eacute;">');
  expect(attributesOf('<mj-button href="?a=1&copy=2">')).toEqual({ href: '?a=1&copy=2' });
});

const within = (inner: string) =>
  `<mjml><mj-body><mj-section><mj-column>${inner}</mj-column></mj-section></mj-body></mjml>`;
/** Names that every object has members of. */
const MEMBERS = ['constructor', 'toString', '__proto__', 'valueOf', 'hasOwnProperty'];

test.each(['<x(></x(>', '<x(>', '<x*></x* >', '<mj-text><x[></x[></mj-text>', '<[[></[[>'])(
  'any name of an element is read or refused: %s',
  (odd) => {
    expect(() => readDesign(`<mjml><mj-body>${odd}</mj-body></mjml>`)).not.toThrow();
  },
);

test.each(MEMBERS)('a name that objects have is a name like another: %s', (name) => {
  expect(readRichText(`<${name}>x</${name}>`)).toBeNull();
  expect(chipText(`{{ ${name} }}`)).toBe(name);
  const source = within(`<${name}>x</${name}><mj-raw>{% ${name} %}</mj-raw><mj-text>{{ ${name} }}</mj-text>`);
  const design = readDesign(source);
  expect(design && choicesOf(design).map(({ block }) => block?.kind)).toEqual([
    undefined,
    'locked',
    'marker',
    'text',
  ]);
});

test.each([
  ['{% for a in b %}', { tag: 'for', words: 'a in b' }],
  [' {%- endfor -%}\n', { tag: 'endfor', words: '' }],
  ['{%if a > "b"%}', { tag: 'if', words: 'a > "b"' }],
  ['{% if a %} x', null],
  ['{% a %}{% b %}', null],
  ['{%%}', null],
  ['{%}', null],
  ['{%-%}', null],
])('a tag of Liquid alone: %s', (content, marker) => {
  const design = readDesign(`<mj-raw>${content}</mj-raw>`);
  const [row] = design?.rows ?? [];
  expect(row && 'marker' in row ? row.marker : null).toEqual(marker);
});

test.each([
  [' href="{{ url }}" style="color: red"', true],
  [" class='a' width=10px disabled", true],
  ['', true],
  [' href="{{ a > b }}"', true],
  [' onclick="x"', false],
  [' href="a"><b', false],
  ['b href="a"', false],
  [' a="b"c="d"', false],
  [' a="b', false],
  [' a=">"', false],
])('attributes that a paste may bring: %s', (written, isFine) => {
  expect(isHarmless(written)).toBe(isFine);
});

test.each([
  ['https://a.example', true],
  ['MAILTO:a@a.example', true],
  ['{{ url }}', true],
  ['javascript:alert(1)', false],
  ['javascript:{{ url }}', false],
  [' https://a.example', false],
  ['data:text/html,x', false],
])('a pasted link to %p is kept: %p', (href, isKept) => {
  expect(isFollowed(href)).toBe(isKept);
});

const MANY = 100_000;
const spaces = ' '.repeat(MANY);
test.each([
  ['spaces in a tag of text', within(`<mj-text><p${spaces}a="b">x</p></mj-text>`)],
  ['spaces in a tag', within(`<mj-image${spaces}/ ${spaces}alt="x"${spaces}=${spaces}>`)],
  ['spaces in a tag of Liquid', within(`<mj-raw>{% if x${spaces}y${spaces}z</mj-raw>`)],
  ['spaces after a tag of Liquid', within(`<mj-raw>{% if x %} y${spaces}z</mj-raw>`)],
  ['spaces in a chip', within(`<mj-text>{{ a${spaces}b }}</mj-text>`)],
  [
    'openings without an end',
    within(`<mj-text>${'{{ a '.repeat(MANY / 5)}{% b ${'{% c '.repeat(MANY / 5)}</mj-text>`),
  ],
  ['comments without an end', `<mj-section></mj-section>${'<!--'.repeat(MANY / 4)}`],
  ['many chips and breaks', within(`<mj-text>${'{{ a }}<br>'.repeat(MANY / 10)}</mj-text>`)],
  [
    'many marks',
    within(`<mj-text><b class="${'x'.repeat(MANY)}">${'a<br>'.repeat(MANY / 10)}</b></mj-text>`),
  ],
  [
    'references',
    within(`<mj-button href="${'&amp;'.repeat(MANY / 5)}">${'&rarr;'.repeat(MANY / 6)}</mj-button>`),
  ],
])('the cost of a long source is small: %s', (_, source) => {
  const cost = costMs(() => {
    const design = readDesign(source);
    for (const { block } of design ? choicesOf(design) : []) {
      if (block && 'element' in block && block.element) {
        attributesOf(block.element.open);
        withAttribute(block.element.open, 'width', '1px');
      }
      if (block && 'text' in block) {
        writeRichText(block.text);
        for (const each of block.text.content[0]?.content ?? [])
          if ('attrs' in each && each.type === 'liquid') chipText(each.attrs?.source ?? '');
      }
    }
    readTree(source);
  });
  expect(cost).toBeLessThan(500);
});

const BODY = '<mjml>\n  <mj-body>\n    ';
const END = '\n  </mj-body>\n</mjml>';
test.each([
  ['{{ content }}', 0, '{{ content }}\n    <mj-raw>x</mj-raw>'],
  [
    '<mj-raw>a</mj-raw>\n    {{ content }}',
    1,
    '<mj-raw>a</mj-raw>\n    {{ content }}\n    <mj-raw>x</mj-raw>',
  ],
  [
    '<mj-raw>a</mj-raw>\n    {{ content }}\n    <mj-raw>b</mj-raw>',
    1,
    '<mj-raw>a</mj-raw>\n    {{ content }}\n    <mj-raw>x</mj-raw>\n    <mj-raw>b</mj-raw>',
  ],
])('a new row comes after the content of a layout: %s', (rows, index, after) => {
  const design = readDesign(BODY + rows + END);
  const text = design?.body?.children.findLast((node) => 'text' in node && node.text.includes('content'));
  const place = { parent: design?.body?.id ?? null, index, after: text?.id };
  const { tree } = insertMarkup(design?.tree ?? [], place, '<mj-raw>x</mj-raw>');
  expect(writeTree(tree)).toBe(BODY + after + END);
});
