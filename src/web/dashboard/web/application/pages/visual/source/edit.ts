import { asBeginning, attributesOf, withAttribute } from './attributes.ts';
import { type Block, blockOf, type Defaults, type Design, designOf, type Row, readDesign } from './blocks.ts';
import {
  elementsOf,
  findElement,
  isShown,
  lastShown,
  lineOf,
  type Place,
  placeOf,
  withElement,
  withInserted,
  withoutElement,
} from './place.ts';
import {
  isElement,
  newId,
  once,
  readTree,
  type SourceElement,
  type SourceNode,
  type SourceTree,
  writeTree,
} from './tree.ts';

/** The tree with another value of an attribute of an element, or without it. */
export const setAttribute = (tree: SourceTree, id: number, name: string, value: string | null): SourceTree =>
  withElement(tree, id, (element) => {
    const open = withAttribute(element.open, name, value);
    if (open === element.open) return element;
    // Other sizes of the image that was there before would be shown in place of the new one.
    return { ...element, open: name === 'src' ? withAttribute(open, 'srcset', null) : open };
  });

/** The tree with other content in an element whose content MJML takes as it is. */
export const setContent = (tree: SourceTree, id: number, text: string): SourceTree =>
  withElement(tree, id, (element) => {
    if (element.children.map((child) => ('text' in child ? child.text : '')).join('') === text)
      return element;
    return {
      ...element,
      open: element.close === '' ? asBeginning(element.open) : element.open,
      children: [{ id: newId(), text }],
      close: element.close === '' ? `</${element.name}>` : element.close,
    };
  });

/** The tree with elements in markup before the one that is at a place now, and the first of them. */
export function insertMarkup(
  tree: SourceTree,
  place: Place,
  markup: string,
): { readonly tree: SourceTree; readonly id: number | null } {
  const elements = elementsOf(readTree(markup.replaceAll('\n', lineOf(tree, place.parent))) ?? []);
  return { tree: withInserted(tree, place, elements), id: elements[0]?.id ?? null };
}

const BEGINNINGS: ReadonlySet<string> = new Set(['for', 'if', 'unless', 'case']);

/** The elements that only move and go together: a loop with all that it repeats, or one element alone. */
export function unitOf(tree: SourceTree, id: number): readonly SourceElement[] {
  const place = placeOf(tree, id);
  const siblings = place ? siblingsAt(tree, place.parent) : [];
  const at = place?.index ?? 0;
  const own = siblings[at];
  if (!own) return [];
  const step = markerOf(own)?.tag.startsWith('end') ? -1 : 1;
  let depth = 0;
  for (let index = at; index >= 0 && index < siblings.length; index += step) {
    depth += depthOf(siblings[index]) * step;
    if (depth === 0 && index === at) return [own];
    if (depth === 0) return siblings.slice(Math.min(at, index), Math.max(at, index) + 1);
  }
  return [own];
}

function markerOf(element: SourceElement) {
  const block = blockOf(element);
  return block.kind === 'marker' ? block.marker : null;
}

function depthOf(element: SourceElement | undefined): -1 | 0 | 1 {
  const tag = element && markerOf(element)?.tag;
  if (tag === undefined || tag === null) return 0;
  return BEGINNINGS.has(tag) ? 1 : tag.startsWith('end') ? -1 : 0;
}

const childrenAt = (tree: SourceTree, parent: number | null): SourceTree =>
  parent === null ? tree : (findElement(tree, parent)?.children ?? []);

const siblingsAt = (tree: SourceTree, parent: number | null): readonly SourceElement[] =>
  elementsOf(childrenAt(tree, parent));

/** The tree without an element and those that go with it. A section that was left empty goes, too. */
export function removeBlock(tree: SourceTree, id: number): SourceTree {
  const parents = parentsOf(tree, id);
  const rest = unitOf(tree, id).reduce((left, element) => withoutElement(left, element.id), tree);
  return withoutEmpty(rest, parents);
}

function withoutEmpty(tree: SourceTree, [column, section]: readonly SourceElement[]): SourceTree {
  if (column?.name !== 'mj-column' || !section) return tree;
  const left = findElement(tree, section.id);
  const isEmpty =
    left !== null &&
    elementsOf(left.children).length === 1 &&
    siblingsAt(tree, column.id).length === 0 &&
    findElement(tree, column.id)?.children.every((node) => isElement(node) || !/\S/.test(node.text));
  return isEmpty ? withoutElement(tree, section.id) : tree;
}

/** The elements around one, the nearest first. */
export function parentsOf(tree: SourceTree, id: number): readonly SourceElement[] {
  const parents: SourceElement[] = [];
  let place = placeOf(tree, id);
  while (place && place.parent !== null) {
    const parent = findElement(tree, place.parent);
    if (parent) parents.push(parent);
    place = placeOf(tree, place.parent);
  }
  return parents;
}

const copied = (node: SourceNode): SourceNode =>
  isElement(node) ? { ...node, id: newId(), children: node.children.map(copied) } : { ...node, id: newId() };

/** The tree with a copy of an element after it, and the copy. */
export function duplicateBlock(
  tree: SourceTree,
  id: number,
): { readonly tree: SourceTree; readonly id: number } {
  const unit = unitOf(tree, id);
  const copies = unit.map(copied).filter(isElement);
  const place = placeOf(tree, unit.at(-1)?.id ?? id);
  const [first] = copies;
  if (!place || !first) return { tree, id };
  return {
    tree: withInserted(tree, { parent: place.parent, index: place.index + 1 }, copies),
    id: first.id,
  };
}

/**
 * The tree with an element, and those that go with it, before the one that is at a place now, or after the
 * node that the place names.
 */
export function moveTo(tree: SourceTree, id: number, { parent, index, after }: Place): SourceTree {
  const unit = unitOf(tree, id);
  const from = placeOf(tree, unit[0]?.id ?? id);
  const isInside = unit.some((each) => each.id === parent || findElement(each.children, parent ?? 0));
  if (!from || isInside || unit.some((each) => each.id === after)) return tree;
  const isThere = from.parent === parent && index >= from.index && index <= from.index + unit.length;
  if (after === undefined ? isThere : after === previousOf(tree, from.parent, unit[0])) return tree;
  // Its elements alone would leave what a person sees between them behind.
  if (between(childrenAt(tree, from.parent), unit).some((node) => isShown(node) && !isElement(node)))
    return tree;
  const parents = parentsOf(tree, id);
  const rest = unit.reduce((left, element) => withoutElement(left, element.id), tree);
  const shift = from.parent === parent && index > from.index ? unit.length : 0;
  return withoutEmpty(withInserted(rest, { parent, index: index - shift, after }, unit), parents);
}

/** The node that a person sees before an element; null for none. */
function previousOf(
  tree: SourceTree,
  parent: number | null,
  element: SourceElement | undefined,
): number | null {
  const nodes = childrenAt(tree, parent);
  const at = nodes.findIndex(({ id }) => id === element?.id);
  return nodes.slice(0, at).findLast(isShown)?.id ?? null;
}

/** The nodes from the first of these elements to the last. */
function between(nodes: SourceTree, unit: readonly SourceElement[]): SourceTree {
  const at = (element: SourceElement | undefined) => nodes.findIndex(({ id }) => id === element?.id);
  return nodes.slice(at(unit[0]), at(unit.at(-1)) + 1);
}

/**
 * The place beyond characters that a person sees beside a unit, such as the content of a layout; undefined
 * where an element is next.
 */
function beyondText(nodes: SourceTree, unit: readonly SourceElement[], step: -1 | 1): Place['after'] {
  const [first, last] = [unit[0], unit.at(-1)].map((each) => nodes.findIndex(({ id }) => id === each?.id));
  const next =
    step === -1 ? nodes.slice(0, first).findLast(isShown) : nodes.slice((last ?? 0) + 1).find(isShown);
  if (!next || isElement(next)) return undefined;
  return step === 1 ? next.id : (lastShown(nodes.slice(0, nodes.indexOf(next)))?.id ?? null);
}

/**
 * The tree with a block or a row one place further up (-1) or down (1); the same tree where there is none.
 */
export function moveBy(tree: SourceTree, id: number, step: -1 | 1): SourceTree {
  const unit = unitOf(tree, id);
  const place = placeOf(tree, unit[0]?.id ?? id);
  if (!place) return tree;
  const siblings = siblingsAt(tree, place.parent);
  const next = siblings[step === -1 ? place.index - 1 : place.index + unit.length];
  const after = beyondText(childrenAt(tree, place.parent), unit, step);
  if (after !== undefined) {
    const index = step === -1 ? place.index : place.index + unit.length;
    return moveTo(tree, id, { parent: place.parent, index, after });
  }
  if (next) {
    // A loop passes another one as a whole.
    const passed = unit.length > 1 && depthOf(next) === -step ? unitOf(tree, next.id).length : 1;
    const index = step === -1 ? place.index - passed : place.index + unit.length + passed;
    return moveTo(tree, id, { parent: place.parent, index });
  }
  const isInColumn = findElement(tree, place.parent)?.name === 'mj-column';
  const columns = isInColumn ? columnsOf(designOf(tree)) : [];
  const column = columns[columns.findIndex((each) => each.id === place.parent) + step];
  if (!column) return tree;
  return moveTo(tree, id, { parent: column.id, index: step === -1 ? elementsOf(column.children).length : 0 });
}

/** The columns that blocks can be in, in the order of the message. */
const columnsOf = (design: Design | null): readonly SourceElement[] =>
  (design?.rows ?? []).flatMap((row) =>
    row.kind === 'section' ? row.parts.flatMap((part) => (part.kind === 'column' ? [part.element] : [])) : [],
  );

/** A block that a person can choose, or a section, which is none. */
export interface Choice {
  readonly id: number;
  readonly block: Block | null;
}

/** The choices of a row, in the order of the message. */
export const choicesIn = once((row: Row): readonly Choice[] =>
  row.kind === 'section'
    ? [
        { id: row.id, block: null },
        ...row.parts.flatMap((part) =>
          (part.kind === 'column' ? part.blocks : [part]).map((block) => ({ id: block.id, block })),
        ),
      ]
    : [{ id: row.id, block: row }],
);

/** All blocks that a person can choose, in the order of the message. */
export const choicesOf = once(({ rows }: Design): readonly Choice[] => rows.flatMap(choicesIn));

/**
 * True when the source of a tree is read as the same blocks: HTML that a person writes may hold an end of its
 * element.
 */
export function isWhole(tree: SourceTree): boolean {
  const [design, again] = [designOf(tree), readDesign(writeTree(tree))];
  const kinds = (of: Design) => choicesOf(of).map(({ block }) => block?.kind);
  return design !== null && again !== null && String(kinds(design)) === String(kinds(again));
}

/** The values of an element's attributes over those that the source gives to all of its name. */
export const looksOf = (
  defaults: Defaults,
  { name, open }: SourceElement,
): Readonly<Record<string, string>> => ({
  ...defaults.get('mj-all'),
  ...defaults.get(name),
  ...attributesOf(open),
});
