import { attributesOf } from './attributes.ts';
import { elementsOf, isShown } from './place.ts';
import { type RichText, readRichText } from './rich-text.ts';
import {
  contentOf,
  isElement,
  once,
  readTree,
  type SourceElement,
  type SourceNode,
  type SourceTree,
  writeNode,
} from './tree.ts';

/** A part of a message that a person edits as one. */
export type Block = { readonly id: number } & (
  | {
      readonly kind: 'text' | 'heading' | 'footer';
      readonly element: SourceElement;
      readonly text: RichText;
    }
  | {
      readonly kind: 'button' | 'image' | 'divider' | 'spacer' | 'links';
      readonly element: SourceElement;
    }
  | {
      /** A tag of Liquid alone, such as the beginning of a loop. */
      readonly kind: 'marker';
      readonly element: SourceElement;
      readonly marker: Marker;
    }
  | { readonly kind: 'html'; readonly element: SourceElement }
  /** Kept as it is, for the source editor. `element` is null for characters between elements. */
  | { readonly kind: 'locked'; readonly element: SourceElement | null; readonly source: string }
);

/** A tag of Liquid: `for`, and `item in items`. */
export interface Marker {
  readonly tag: string;
  readonly words: string;
}

/** A column, or something between columns. */
export type SectionPart =
  | { readonly kind: 'column'; readonly element: SourceElement; readonly blocks: readonly Block[] }
  | Block;

/** A section with its columns. */
export interface SectionRow {
  readonly kind: 'section';
  readonly id: number;
  readonly element: SourceElement;
  readonly parts: readonly SectionPart[];
}

export type Row = SectionRow | Block;

/** A message as the visual editor shows it. */
export interface Design {
  readonly tree: SourceTree;
  /** The element that holds the rows; null for a source that is rows alone. */
  readonly body: SourceElement | null;
  readonly rows: readonly Row[];
}

/** The design of a source; null where the visual editor cannot show it. */
export function readDesign(source: string): Design | null {
  const tree = readTree(source);
  return tree && designOf(tree);
}

/** The design of a tree; null where it has no body. */
export function designOf(tree: SourceTree): Design | null {
  const mjml = elementsOf(tree).find(({ name }) => name === 'mjml');
  if (!mjml) {
    const isRows = elementsOf(tree).every(({ name }) => ROWS.has(name));
    return isRows ? { tree, body: null, rows: partsOf(tree, rowOf) } : null;
  }
  const body = elementsOf(mjml.children).find(({ name }) => name === 'mj-body');
  return body ? { tree, body, rows: partsOf(body.children, rowOf) } : null;
}

/** The elements that stand between sections. */
export const ROWS: ReadonlySet<string> = new Set(['mj-section', 'mj-wrapper', 'mj-hero', 'mj-raw']);

/** The parts among nodes; white space and comments are none. */
function partsOf<Part>(
  nodes: SourceTree,
  read: (element: SourceElement) => Part | Block,
): readonly (Part | Block)[] {
  return nodes.flatMap((node) => {
    if (isElement(node)) return [read(node)];
    return isShown(node) ? [lockedNode(node)] : [];
  });
}

const lockedNode = once(
  (node: SourceNode): Block => ({
    id: node.id,
    kind: 'locked',
    element: isElement(node) ? node : null,
    source: writeNode(node),
  }),
);

const rowOf = once(readRow);

function readRow(element: SourceElement): Row {
  const { id, name, children } = element;
  if (name !== 'mj-section') return name === 'mj-raw' ? rawBlock(element) : lockedNode(element);
  const isReadable = elementsOf(children).every(
    (each) => each.name === 'mj-column' || each.name === 'mj-raw',
  );
  if (!isReadable) return lockedNode(element);
  return { kind: 'section', id, element, parts: partsOf<SectionPart>(children, columnOf) };
}

const columnOf = (element: SourceElement): SectionPart =>
  element.name === 'mj-raw'
    ? rawBlock(element)
    : { kind: 'column', element, blocks: partsOf<Block>(element.children, blockOf) };

const SIMPLE: ReadonlyMap<string, 'image' | 'divider' | 'spacer'> = new Map([
  ['mj-image', 'image'],
  ['mj-divider', 'divider'],
  ['mj-spacer', 'spacer'],
]);
const LINKS: ReadonlyMap<string, string> = new Map([
  ['mj-social', 'mj-social-element'],
  ['mj-navbar', 'mj-navbar-link'],
]);

function rawBlock(element: SourceElement): Block {
  const { id } = element;
  const marker = readMarker(contentOf(element).trim());
  return marker ? { id, kind: 'marker', element, marker } : { id, kind: 'html', element };
}

/** The tag that a text is; null where it is another text. */
function readMarker(text: string): Marker | null {
  if (text.length < '{%%}'.length || !text.startsWith('{%')) return null;
  if (text.indexOf('%}') !== text.length - '%}'.length) return null;
  const inner = text.slice(text[2] === '-' ? 3 : 2, text.at(-3) === '-' ? -3 : -2).trim();
  const tag = /^\w+/.exec(inner)?.[0];
  return tag === undefined ? null : { tag, words: inner.slice(tag.length).trim() };
}

/** The block of an element in a column. */
export const blockOf = once(readBlock);

function readBlock(element: SourceElement): Block {
  const { id, name, children } = element;
  if (name === 'mj-raw') return rawBlock(element);
  if (name === 'mj-text') return textBlock(element);
  if (name === 'mj-button' && !/[<]/.test(contentOf(element))) return { id, kind: 'button', element };
  const simple = SIMPLE.get(name);
  if (simple && elementsOf(children).length === 0) return { id, kind: simple, element };
  const link = LINKS.get(name);
  const isLinks = elementsOf(children).every((each) => each.name === link);
  if (link !== undefined && isLinks && children.every((child) => isElement(child) || !/\S/.test(child.text)))
    return { id, kind: 'links', element };
  return lockedNode(element);
}

function textBlock(element: SourceElement): Block {
  const text = readRichText(contentOf(element));
  if (!text) return lockedNode(element);
  const { id } = element;
  const isHeading = text.content.length === 1 && text.content[0]?.type === 'heading';
  const isFooter = !isHeading && contentOf(element).includes('unsubscribeUrl');
  return { id, kind: isHeading ? 'heading' : isFooter ? 'footer' : 'text', element, text };
}

/** The links of a block of links. */
export const linksOf = (element: SourceElement): readonly SourceElement[] => elementsOf(element.children);

/** The attributes of all elements of a name, by the names. */
export type Defaults = ReadonlyMap<string, Readonly<Record<string, string>>>;
const NO_DEFAULTS: Defaults = new Map();

/** The attributes that a source gives to every element of a name (`mj-attributes`). */
export function defaultsOf(tree: SourceTree): Defaults {
  const head = elementsOf(tree)
    .flatMap(({ children }) => elementsOf(children))
    .find(({ name }) => name === 'mj-head');
  return head ? defaultsIn(head) : NO_DEFAULTS;
}

const defaultsIn = once((head: SourceElement): Defaults => {
  const found = new Map<string, Readonly<Record<string, string>>>();
  const read = (nodes: SourceTree, isInside: boolean): void => {
    for (const { name, open, children } of elementsOf(nodes)) {
      if (isInside) found.set(name, { ...found.get(name), ...attributesOf(open) });
      else if (name === 'mj-attributes') read(children, true);
    }
  };
  read(head.children, false);
  return found;
});
