import { describe, expect, test } from 'bun:test';
import { render } from 'emailmd';
import { renderMarkdown } from '../../src/mail/content/render-markdown.ts';
import { countCells } from '../../src/mail/content/table-cells.ts';

/** The number of cells that emailmd makes. */
async function cellsMade(markdown: string): Promise<number> {
  let made = '';
  const wrapper = (segments: unknown): string => {
    made = JSON.stringify(segments);
    return '';
  };
  // The result for no segments at all is of no interest.
  await render(`\n${markdown}`, { wrapper }).catch(() => {});
  return made.match(/<t[dh]\b/g)?.length ?? 0;
}

describe('the cells of tables are counted as the parser makes them', () => {
  test.each<[string, string]>([
    ['with and without dividers at the edges', 'a|b\n-|-\nc|d\n\n|a|b|\n|:-:|-:|\n|c|d|'],
    ['in rows that are too short', '|a|b|c|\n|-|-|-|\n|d\nx'],
    ['in rows that are too long', '|a|b|\n|-|-|\n|c|d|e|f|'],
    ['with dividers as text', 'a\\|b|c\n-|-\n|\\||x\n\n|a|\\|\n|-|-|'],
    ['with delimiters as a row', '|a|\n|-|\n|-|\n|-|'],
    ['after other line breaks', '|a|b|\r\n|-|-|\r\n|c|d|\r\n\r\nx|y\r'],
    ['in a quote', '> |a|b|\n> |-|-|\n> |c|d|\n>\n> x|y'],
    ['in a list', '- |a|b|\n  |-|-|\n  |c|d|\n- x|y\n\n1. |a|\n   |-|'],
    ['until an item', '|a|b|\n|-|-|\n- x|y\n- z'],
    ['until a numbered item', '|a|b|\n|-|-|\n1. x\n2. y'],
    ['until a heading', '|a|b|\n|-|-|\n# x\ny|z'],
    ['until a rule', '|a|b|\n|-|-|\n---\ny|z'],
    ['until html', '|a|b|\n|-|-|\n<p>x</p>\ny|z'],
    ['until code', '|a|b|\n|-|-|\n```js\nx|y\n```'],
    ['not in code', '```\n|a|b|\n|-|-|\n```\n|a|b|\n|-|-|\n\n~~~\n```\n|a|\n|-|\n~~~'],
    ['not in what only looks like code', '```a``` b\n\n|a|b|\n|-|-|'],
    ['not under a head of another width', 'x|y|z\n|-|-|\na|b\n\na\n|-|\nx'],
    ['not in prose with rules', 'prose\n---\nmore | less\n\n***\n\n- - -'],
  ])('%s', async (_what, markdown) => {
    expect(countCells(markdown)).toBe(await cellsMade(markdown));
  });
});

describe('a markdown with too many cells is refused before it is rendered', () => {
  const refused = 'Must have at most 10,000 cells in its tables, all together.';
  const table = (columns: number, rows: string) =>
    `${'|a'.repeat(columns)}\n${'|-'.repeat(columns)}\n${rows}`;

  test.each<[string, string]>([
    ['in one row', table(20_000, '|b'.repeat(20_000))],
    ['of 4 KB with rows that are filled up', table(1_000, 'x\n'.repeat(64))],
    ['in tables that are small', `${table(10, 'x\n'.repeat(9))}\n\n`.repeat(101)],
  ])('%s', async (_what, markdown) => {
    await expect(renderMarkdown(markdown, 'Subject', 'nonce')).rejects.toThrow(refused);
  });

  test('and rendered with as many as there may be', async () => {
    const { html } = await renderMarkdown(table(10, 'x\n'.repeat(999)), 'Subject', 'nonce');
    expect(html.match(/<td style="border-bottom/g)).toHaveLength(9_990);
  });
});
