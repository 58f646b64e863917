import { expect, test } from 'bun:test';
import type { FontName } from '../../../../src/platform/text/fonts.ts';
import {
  carryOver,
  isUnfinished,
} from '../../../../src/web/dashboard/web/application/pages/visual/carry-over.ts';
import {
  type DesignSession,
  historyOf,
  type KeptDesign,
  stepped,
} from '../../../../src/web/dashboard/web/application/pages/visual/history.ts';
import { placesOf, positionsIn } from '../../../../src/web/dashboard/web/application/pages/visual/places.ts';
import { readDesign } from '../../../../src/web/dashboard/web/application/pages/visual/source/blocks.ts';
import {
  choicesOf,
  moveBy,
  moveTo,
} from '../../../../src/web/dashboard/web/application/pages/visual/source/edit.ts';
import { writeTree } from '../../../../src/web/dashboard/web/application/pages/visual/source/tree.ts';
import { useActs } from '../../../../src/web/dashboard/web/application/pages/visual/use-acts.ts';

// Moving, adding and keeping blocks of the visual editor, without a browser.

const section = (name: string) =>
  `  <mj-section css-class="${name}"><mj-column><mj-text>${name}</mj-text></mj-column></mj-section>`;
const layoutOf = (...rows: readonly string[]) =>
  [
    '<mjml>',
    '<mj-body>',
    ...rows.map((row) => (row === 'content' ? '  {{ content }}' : section(row))),
    '</mj-body>',
    '</mjml>',
  ].join('\n');
const designFor = (source: string) => {
  const design = readDesign(source);
  if (!design) throw new Error(`Not read: ${source}`);
  return design;
};
/** The rows of a source by their names. */
const rowsOf = (source: string) => source.match(/(?<=css-class=")\w+|content/g);
const rowId = (source: string, at: number) => {
  const design = designFor(source);
  return { design, id: design.rows[at]?.id ?? -1 };
};

test('two hundred edits can be undone, and none holds those before it', () => {
  let history = historyOf(layoutOf('a'));
  const { tree } = history;
  for (let edit = 1; edit <= 250; edit++) history = { ...history, past: stepped(history), chosen: edit };
  expect(history.past).toHaveLength(200);
  expect([history.past[0], history.past.at(-1)]).toEqual([
    { tree, chosen: 50 },
    { tree, chosen: 249 },
  ]);
});

test.each([
  [['a', 'content', 'b'], 0, 1, ['content', 'a', 'b']],
  [['a', 'content', 'b'], 2, -1, ['a', 'b', 'content']],
  [['content', 'a'], 1, -1, ['a', 'content']],
  [['a', 'content'], 0, 1, ['content', 'a']],
  [['a', 'b', 'content'], 0, 1, ['b', 'a', 'content']],
  [['content', 'a', 'b'], 2, -1, ['content', 'b', 'a']],
] as const)('a row of a layout passes one row at a time: %p, row %p by %p', (rows, at, step, moved) => {
  const { design, id } = rowId(layoutOf(...rows), at);
  const source = writeTree(moveBy(design.tree, id, step));
  expect(rowsOf(source)).toEqual([...moved]);
  expect(designFor(source).rows).toHaveLength(rows.length);
});

test('a row of a layout is dropped on either side of the content', () => {
  for (const [at, onto, side, moved] of [
    [0, 1, 1, ['content', 'a', 'b']],
    [2, 1, 0, ['a', 'b', 'content']],
    [2, 0, 1, ['a', 'b', 'content']],
    [0, 2, 0, ['content', 'a', 'b']],
  ] as const) {
    const { design, id } = rowId(layoutOf('a', 'content', 'b'), at);
    const target = design.rows[onto]?.id ?? -1;
    const position = positionsIn(design.body?.children ?? []).get(target);
    if (!position) throw new Error('It has no position.');
    const [before, after] = placesOf(design.body?.id ?? null, target, position);
    expect(rowsOf(writeTree(moveTo(design.tree, id, side === 1 ? after : before)))).toEqual([...moved]);
  }
});

test('a condition around the content of a layout does not leave it behind', () => {
  const source = [
    '<mjml><mj-body>',
    section('a'),
    '<mj-raw>{% if x %}</mj-raw>',
    '{{ content }}',
    '<mj-raw>{% endif %}</mj-raw>',
    '</mj-body></mjml>',
  ].join('\n');
  const { design, id } = rowId(source, 1);
  expect(writeTree(moveBy(design.tree, id, -1))).toBe(source);
});

/** The acts of a person on the block that is chosen. */
function actsOn(
  source: string,
  isChosen: (name: string, at: number) => boolean,
  font: FontName | null = null,
) {
  const design = designFor(source);
  const chosen = choicesOf(design).find(({ block }, at) => block && isChosen(JSON.stringify(block), at));
  if (!chosen) throw new Error('No such block.');
  let written = source;
  const session = {
    ...historyOf(source),
    design,
    tree: design.tree,
    chosen: chosen.id,
    edit: (tree: DesignSession['tree']) => {
      written = writeTree(tree);
    },
  } as unknown as DesignSession;
  let shown: number | null = null;
  const acts = useActs({
    session,
    colour: null,
    font,
    lists: [],
    say: () => {},
    focusBlock: () => {},
    pickImage: () => {},
    openCode: (line) => {
      shown = line;
    },
    unfinished: new Map(),
  });
  return { acts, written: () => written, shown: () => shown };
}

/** Adds a text after a chosen block, as the menu does. */
function addTextAfter(source: string, isChosen: (name: string) => boolean, font: FontName | null = null) {
  const { acts, written } = actsOn(source, isChosen, font);
  acts.add('text');
  return written();
}

test('Edit in Code leads to the block that is chosen, not to an equal one before it', () => {
  const table = '<mj-table><tr><td>1</td></tr></mj-table>';
  const source = ['<mjml><mj-body><mj-section><mj-column>', table, table, '</mj-column></mj-section>'];
  const whole = [...source, '</mj-body></mjml>'].join('\n');
  const lines = [0, 1].map((which) => {
    let tables = -1;
    const { acts, shown } = actsOn(whole, (block) => block.includes('mj-table') && ++tables === which);
    acts.openCode();
    return shown();
  });
  expect(lines).toEqual([2, 3]);
});

test('a new text has the font of the workspace, unless the message has its own', () => {
  const message = (head: string) =>
    `<mjml>${head}<mj-body><mj-section><mj-column><mj-text>One</mj-text></mj-column></mj-section></mj-body></mjml>`;
  const isText = (block: string) => block.includes('One');
  const own = '<mj-head><mj-attributes><mj-all font-family="Arial" /></mj-attributes></mj-head>';
  expect(addTextAfter(message(''), isText, 'georgia')).toContain('font-family="Georgia, Times, serif"');
  expect(addTextAfter(message(own), isText, 'georgia')).not.toContain('Georgia');
  expect(addTextAfter(message(''), isText)).not.toContain('font-family');
});

test('a block that is added at the beginning of a loop comes after the whole loop', () => {
  const inColumn = [
    '<mjml><mj-body><mj-section><mj-column>',
    '<mj-raw>{% for item in items %}</mj-raw>',
    '<mj-text>{{ item.title }}</mj-text>',
    '<mj-raw>{% endfor %}</mj-raw>',
    '</mj-column></mj-section></mj-body></mjml>',
  ].join('\n');
  const ofRows = [
    '<mjml><mj-body>',
    '<mj-raw>{% for item in items %}</mj-raw>',
    section('item'),
    '<mj-raw>{% endfor %}</mj-raw>',
    section('last'),
    '</mj-body></mjml>',
  ].join('\n');
  for (const source of [inColumn, ofRows]) {
    const written = addTextAfter(source, (block) => block.includes('item in items'));
    expect(written.indexOf('Write something here.')).toBeGreaterThan(written.indexOf('{% endfor %}'));
  }
  const before = addTextAfter(ofRows, (block) => block.includes('item in items'));
  expect(before.indexOf('Write something here.')).toBeLessThan(before.indexOf('>last<'));
});

const RAW = (html: string) => `<mj-raw>${html}</mj-raw>`;
const rawSource = (...html: readonly string[]) =>
  `<mjml><mj-body><mj-section><mj-column>${html.map(RAW).join('')}</mj-column></mj-section></mj-body></mjml>`;

test('unfinished HTML finds its block again in a source that was changed elsewhere', () => {
  const before = historyOf(rawSource('<td>a</td>', '<td>b</td>', '<td>b</td>'));
  const [, second, third] =
    choicesOf(designFor(before.source)).length > 0 && before.design ? choicesOf(before.design).slice(1) : [];
  const kept: KeptDesign = { history: before, unfinished: new Map(), orphans: [], isUnfinished: null };
  expect(isUnfinished(kept)).toBe(false);
  kept.unfinished.set(second?.id ?? -1, '<td class="');
  kept.unfinished.set(third?.id ?? -1, '<td>gone');
  expect(isUnfinished(kept)).toBe(true);
  const after = historyOf(rawSource('<td>new</td>', '<td>b</td>'));
  carryOver(kept, before, after);
  const found = after.design ? choicesOf(after.design).at(-1)?.id : undefined;
  expect([...kept.unfinished]).toEqual([[found ?? -1, '<td class="']]);
  expect(kept.orphans).toEqual(['<td>gone']);
});
