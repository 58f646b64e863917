import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { withAttribute } from '../../../../src/web/dashboard/web/application/pages/visual/source/attributes.ts';
import {
  type Design,
  readDesign,
} from '../../../../src/web/dashboard/web/application/pages/visual/source/blocks.ts';
import {
  choicesOf,
  duplicateBlock,
  insertMarkup,
  moveBy,
  removeBlock,
  setAttribute,
  setContent,
} from '../../../../src/web/dashboard/web/application/pages/visual/source/edit.ts';
import {
  elementsOf,
  findElement,
} from '../../../../src/web/dashboard/web/application/pages/visual/source/place.ts';
import {
  readRichText,
  writeRichText,
} from '../../../../src/web/dashboard/web/application/pages/visual/source/rich-text.ts';
import {
  readTree,
  writeNode,
  writeTree,
} from '../../../../src/web/dashboard/web/application/pages/visual/source/tree.ts';
import { contents, sources } from './source-arbitrary.ts';

const RUNS = { numRuns: 500 };

const designIn = (source: string): Design => {
  const design = readDesign(source);
  if (!design) throw new Error('This source has no design.');
  return design;
};
/** The elements that a person can choose. */
const elementsIn = (design: Design) =>
  choicesOf(design).flatMap(({ id }) => findElement(design.tree, id) ?? []);
test('a source without an edit is the same octets', () => {
  fc.assert(
    fc.property(sources, (source) => {
      expect(writeTree(readTree(source) ?? [])).toBe(source);
      expect(writeTree(designIn(source).tree)).toBe(source);
    }),
    RUNS,
  );
});

test('an edit of one block leaves all octets around it', () => {
  fc.assert(
    fc.property(sources, fc.nat(), (source, choice) => {
      const design = designIn(source);
      const elements = elementsIn(design);
      const chosen = elements[choice % Math.max(1, elements.length)];
      if (!chosen) return;
      for (const edited of [
        setAttribute(design.tree, chosen.id, 'padding-top', '11px'),
        ...(chosen.name === 'mj-text' ? [setContent(design.tree, chosen.id, 'Changed')] : []),
      ]) {
        const after = writeTree(edited);
        const now = findElement(edited, chosen.id);
        const [was, is] = [writeNode(chosen), now ? writeNode(now) : ''];
        const at = [...octetsAt(source, was)].find(
          (start) => after === source.slice(0, start) + is + source.slice(start + was.length),
        );
        expect(at).toBeDefined();
      }
    }),
    RUNS,
  );
});

function* octetsAt(source: string, part: string): Generator<number> {
  for (let at = source.indexOf(part); at !== -1; at = source.indexOf(part, at + 1)) yield at;
}

test('moves keep the octets of every block, and what is written can be read again', () => {
  fc.assert(
    fc.property(sources, fc.array(fc.tuple(fc.nat(), fc.boolean()), { maxLength: 6 }), (source, moves) => {
      const blocks = (written: string) =>
        choicesOf(designIn(written))
          .flatMap(({ block }) => (block ? [block] : []))
          .map((block) => ('source' in block ? block.source : writeNode(block.element)))
          .toSorted();
      const all = blocks(source);
      let written = source;
      for (const [choice, isUp] of moves) {
        const design = designIn(written);
        const choices = choicesOf(design);
        const chosen = choices[choice % Math.max(1, choices.length)];
        if (!chosen) break;
        written = writeTree(moveBy(design.tree, chosen.id, isUp ? -1 : 1));
        expect(blocks(written)).toEqual(all);
      }
    }),
    RUNS,
  );
});

test('a copy that is removed again leaves the source as it was', () => {
  fc.assert(
    fc.property(sources, fc.nat(), (source, choice) => {
      const design = designIn(source);
      const elements = elementsIn(design);
      const chosen = elements[choice % Math.max(1, elements.length)];
      if (!chosen) return;
      const copy = duplicateBlock(design.tree, chosen.id);
      expect(choicesOf(designIn(writeTree(copy.tree))).length).toBeGreaterThan(choicesOf(design).length);
      expect(writeTree(removeBlock(copy.tree, copy.id))).toBe(source);
    }),
    RUNS,
  );
});

test('a new block is put on a line, indented as its neighbours', () => {
  const source = [
    '<mjml>',
    '  <mj-body>',
    '    <mj-section>',
    '      <mj-column>',
    '        <mj-text>One</mj-text>',
    '      </mj-column>',
    '    </mj-section>',
    '  </mj-body>',
    '</mjml>',
  ];
  const { tree, rows } = designIn(source.join('\n'));
  const [section] = rows;
  const column = section?.kind === 'section' ? section.parts[0] : undefined;
  if (column?.kind !== 'column') throw new Error('No column.');
  const { tree: edited } = insertMarkup(tree, { parent: column.element.id, index: 0 }, '<mj-spacer />');
  expect(writeTree(edited).split('\n')).toEqual([
    ...source.slice(0, 4),
    '        <mj-spacer />',
    ...source.slice(4),
  ]);
  const [body] = elementsOf(elementsOf(edited)[0]?.children ?? []);
  const added = insertMarkup(edited, { parent: body?.id ?? 0, index: 1 }, '<mj-section>\n</mj-section>');
  expect(writeTree(added.tree)).toContain(
    '    </mj-section>\n    <mj-section>\n    </mj-section>\n  </mj-body>',
  );
});

test('the last block of a section takes the section with it', () => {
  const source = '<mj-section><mj-column><mj-text>One</mj-text></mj-column></mj-section>\n<mj-raw>x</mj-raw>';
  const design = designIn(source);
  const chosen = elementsIn(design).find(({ name }) => name === 'mj-text');
  expect(writeTree(removeBlock(design.tree, chosen?.id ?? 0))).toBe('\n<mj-raw>x</mj-raw>');
});

test('a loop moves and goes as a whole', () => {
  const loop =
    '<mj-raw>{% for item in items %}</mj-raw>\n<mj-section><mj-column /></mj-section>\n<mj-raw>{% endfor %}</mj-raw>';
  const after = '<mj-section css-class="after"><mj-column /></mj-section>';
  const source = `\n${loop}\n${after}\n`;
  const { tree, rows } = designIn(source);
  expect(writeTree(moveBy(tree, rows[2]?.id ?? 0, 1))).toBe(`\n${after}\n${loop}\n`);
  expect(writeTree(removeBlock(tree, rows[0]?.id ?? 0))).toBe(`\n${after}\n`);
});

test('rich text that can be shown is the same when it is read again', () => {
  let shown = 0;
  fc.assert(
    fc.property(contents, (source) => {
      const text = readRichText(source);
      if (!text) return;
      shown++;
      const again = readRichText(writeRichText(text));
      expect(again && writeRichText(again)).toBe(writeRichText(text));
      expect(again).toEqual(text.content.length > 1 ? expect.anything() : text);
    }),
    RUNS,
  );
  expect(shown).toBeGreaterThan(300);
});

test.each([
  'Hello {{ name }}',
  'a<br />b',
  '<p style="margin:0">a</p>\n<p>b <strong>c <em>d</em></strong> <a class="x" href="{{ url }}">e</a></p>',
  '<h2 style="margin: 0">Title</h2>',
  '<ul>\n<li>One</li>\n<li>{{ two | default: "<b>" }}</li>\n</ul>',
  '<blockquote>\n<p>Said</p>\n</blockquote>',
  '<span style="color: red">red</span> &amp; &lt;b&gt;&nbsp;x',
  '{% if a %}yes{% endif %}',
])('the words of rich text are written as they were: %s', (source) => {
  const text = readRichText(source);
  expect(text && writeRichText(text)).toBe(source);
});

test.each([
  '<table><tr><td>x</td></tr></table>',
  '<div>a</div>',
  '<b>open',
  '<p>a<ul><li>b</li></ul></p>',
  'a <!-- note --> b',
  '<b class="x">a <b class="y">b</b></b>',
])('what rich text cannot hold is not shown as such: %s', (source) => {
  expect(readRichText(source)).toBeNull();
});

test('typed text is never a tag of a template or of html', () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a template tag
  const typed = '{{ a }} {% b %} ${c} %%d%% <b>&amp;';
  const written = writeRichText({
    type: 'doc',
    content: [
      { type: 'paragraph', attrs: { tag: '', attributes: '' }, content: [{ type: 'text', text: typed }] },
    ],
  });
  expect(readRichText(written)?.content[0]?.content).toEqual([{ type: 'text', text: typed }]);
});

test.each([
  [
    '<mj-image src="a" />',
    'alt',
    'x "y" & <z>',
    '<mj-image src="a" alt="x &quot;y&quot; &amp; &lt;z&gt;" />',
  ],
  [
    "<mj-image  src='a' width=10px>",
    'src',
    '{{ a | b: "c" }}',
    '<mj-image src="{{ a | b: "c" }}" width=10px>',
  ],
  ['<mj-image src="{{ a > b }}" alt="x"/>', 'alt', null, '<mj-image src="{{ a > b }}"/>'],
  ['<mj-image src="a&amp;b">', 'src', 'a&b', '<mj-image src="a&amp;b">'],
])('one attribute is changed: %s', (tag, name, value, changed) => {
  expect(withAttribute(tag, name, value)).toBe(changed);
});

test.each([
  '<mjml><mj-body><mj-section></mj-body></mjml>',
  '<mjml><mj-body><mj-text>a<mj-text></mj-body></mjml>',
  '<mjml><mj-body>',
  `${'<mj-wrapper>'.repeat(70)}${'</mj-wrapper>'.repeat(70)}`,
])('a source that cannot be read says so', (source) => {
  expect(readTree(source)).toBeNull();
});

test('another image loses the sizes of the one before it', () => {
  const image = '<mj-image src="/a.png" srcset="/a-small.png 1x, /a.png 2x" alt="A" />';
  const tree = readTree(image) ?? [];
  const id = elementsOf(tree)[0]?.id ?? 0;
  expect(writeTree(setAttribute(tree, id, 'src', '/b.png'))).toBe('<mj-image src="/b.png" alt="A" />');
  expect(writeTree(setAttribute(tree, id, 'src', '/a.png'))).toBe(image);
  expect(writeTree(setAttribute(tree, id, 'alt', 'B'))).toBe(image.replace('"A"', '"B"'));
});
