import fc from 'fast-check';
import { NEWS } from '../../../../src/web/dashboard/web/application/pages/templates/starters/news.ts';
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
  COLUMN_BLOCKS,
  type ColumnBlock,
  columnMarkup,
  imageMarkup,
  ROW_BLOCKS,
  type RowBlock,
  rowMarkup,
} from '../../../../src/web/dashboard/web/application/pages/visual/source/new-blocks.ts';
import { placeOf } from '../../../../src/web/dashboard/web/application/pages/visual/source/place.ts';
import {
  type SourceTree,
  writeTree,
} from '../../../../src/web/dashboard/web/application/pages/visual/source/tree.ts';

const BRAND = { colour: '#7c3aed', font: 'Georgia, Times, serif' };
const markupOf = (kind: ColumnBlock): string =>
  kind === 'image' ? imageMarkup('https://x.example/a.png', 'A "b"', 300) : columnMarkup(kind, BRAND);

/** The acts of a person on a message, one after the other. */
export const acts = fc.array(
  fc.tuple(
    fc.constantFrom('add', 'row', 'up', 'down', 'copy', 'delete', 'colour', 'words'),
    fc.nat(),
    fc.constantFrom(...(Object.keys(COLUMN_BLOCKS) as ColumnBlock[])),
    fc.constantFrom(...(Object.keys(ROW_BLOCKS) as RowBlock[])),
  ),
  { minLength: 5, maxLength: 15 },
);
export type Act = (typeof acts extends fc.Arbitrary<infer All> ? All : never)[number];

/** The message after one thing more. */
export function edited(design: Design, [act, choice, kind, row]: Act): SourceTree {
  const { tree } = design;
  const choices = choicesOf(design);
  const chosen = choices[choice % Math.max(1, choices.length)];
  const rows = { parent: design.body?.id ?? null, index: choice % (design.rows.length + 1) };
  if (!chosen || act === 'row') return insertMarkup(tree, rows, rowMarkup(row, {}, 'items', BRAND)).tree;
  const { id, block } = chosen;
  const place = placeOf(tree, id);
  switch (act) {
    case 'add':
      return block && place && place.parent !== design.body?.id
        ? insertMarkup(tree, place, markupOf(kind)).tree
        : tree;
    case 'copy':
      return duplicateBlock(tree, id).tree;
    case 'delete':
      return removeBlock(tree, id);
    case 'colour':
      return block?.kind === 'button' ? setAttribute(tree, id, 'background-color', '#112233') : tree;
    case 'words':
      return block && 'text' in block ? setContent(tree, id, 'Words {{ name }}') : tree;
    default:
      return moveBy(tree, id, act === 'up' ? -1 : 1);
  }
}

/** The source of a message that a number of acts make, the same for the same seed. */
export function generatedSource(seed: number): string {
  const [all = []] = fc.sample(acts, { seed, numRuns: 1 });
  return all.reduce((source: string, act) => {
    const design = readDesign(source);
    if (!design) throw new Error(`Not read again: ${source}`);
    return writeTree(edited(design, act));
  }, NEWS.newsletter.content.mjml);
}
