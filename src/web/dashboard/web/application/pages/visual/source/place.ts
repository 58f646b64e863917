import { asBeginning } from './attributes.ts';
import { isElement, newId, type SourceElement, type SourceNode, type SourceTree, writeNode } from './tree.ts';

/**
 * The place of an element among the elements of its parent; without a parent it is at the top of the source.
 */
export interface Place {
  readonly parent: number | null;
  readonly index: number;
  /**
   * The node that it comes right after, which may be characters between elements; null before all of them.
   */
  readonly after?: number | null | undefined;
}

/** The elements among nodes. */
export const elementsOf = (nodes: SourceTree): readonly SourceElement[] => nodes.filter(isElement);

/** The element with a number. */
export function findElement(tree: SourceTree, id: number | null): SourceElement | null {
  for (const node of elementsOf(tree)) {
    const found = node.id === id ? node : findElement(node.children, id);
    if (found) return found;
  }
  return null;
}

/**
 * The source before an element; null where it is not there. Equal elements differ here, as in no search.
 */
export function sourceBefore(nodes: SourceTree, id: number): string | null {
  let written = '';
  for (const node of nodes) {
    if (node.id === id) return written;
    const within = isElement(node) ? sourceBefore(node.children, id) : null;
    if (within !== null && isElement(node)) return written + node.open + within;
    written += writeNode(node);
  }
  return null;
}

/** The place of an element. */
export function placeOf(tree: SourceTree, id: number, parent: number | null = null): Place | null {
  for (const [index, node] of elementsOf(tree).entries()) {
    if (node.id === id) return { parent, index };
    const found = placeOf(node.children, id, node.id);
    if (found) return found;
  }
  return null;
}

/** The tree with another element in the place of one. All other nodes stay the same objects. */
export function withElement(
  tree: SourceTree,
  id: number,
  change: (element: SourceElement) => SourceNode,
): SourceTree {
  let isChanged = false;
  const nodes = tree.map((node) => {
    if (isChanged || !isElement(node)) return node;
    const changed =
      node.id === id ? change(node) : withChildren(node, withElement(node.children, id, change));
    isChanged = changed !== node;
    return changed;
  });
  return isChanged ? nodes : tree;
}

const withChildren = (element: SourceElement, children: SourceTree): SourceElement =>
  children === element.children ? element : { ...element, children };

/** The children of a parent, changed. */
const inParent = (
  tree: SourceTree,
  parent: number | null,
  change: (children: SourceTree) => SourceTree,
): SourceTree =>
  parent === null ? change(tree) : withElement(tree, parent, (element) => opened(element, change));

/** An element that ends itself gets an end, since it has content now. */
function opened(element: SourceElement, change: (children: SourceTree) => SourceTree): SourceElement {
  const children = change(element.children);
  if (element.close !== '' || children.length === 0) return { ...element, children };
  return { ...element, open: asBeginning(element.open), children, close: `</${element.name}>` };
}

/** A line end, and the white space before the children of a parent. */
export const lineOf = (tree: SourceTree, parent: number | null): string =>
  indentOf(tree, parent, parent === null ? tree : (findElement(tree, parent)?.children ?? [])) || '\n';

const isBlank = (node: SourceNode | undefined): boolean =>
  node !== undefined && !isElement(node) && !/\S/.test(node.text);

/** The tree without an element, and without the white space before it. */
export function withoutElement(tree: SourceTree, id: number): SourceTree {
  const place = placeOf(tree, id);
  if (!place) return tree;
  return inParent(tree, place.parent, (children) => {
    const at = children.findIndex((node) => node.id === id);
    const isIndented = isBlank(children[at - 1]);
    return children.filter((_, index) => index !== at && !(isIndented && index === at - 1));
  });
}

/**
 * True for a node that a person sees: an element, or characters that are more than white space and comments.
 */
export const isShown = (node: SourceNode): boolean =>
  isElement(node) || /\S/.test(withoutComments(node.text));

function withoutComments(text: string): string {
  let [rest, from] = ['', 0];
  for (let start = text.indexOf('<!--'); start !== -1; start = text.indexOf('<!--', from)) {
    const end = text.indexOf('-->', start + '<!--'.length);
    // Without an end it is no comment, and neither is one after it.
    if (end === -1) break;
    rest += text.slice(from, start);
    from = end + '-->'.length;
  }
  return rest + text.slice(from);
}

/** The last node that is more than white space. */
export const lastShown = (nodes: SourceTree): SourceNode | undefined =>
  nodes.findLast((node) => !isBlank(node));

/**
 * The tree with elements before the one that is at a place now; each on a line, indented as its neighbours.
 */
export function withInserted(
  tree: SourceTree,
  { parent, index, after }: Place,
  elements: readonly SourceElement[],
): SourceTree {
  return inParent(tree, parent, (children) => {
    const known = elementsOf(children);
    const next = known[index];
    const last = known.at(-1);
    const near = children.findIndex(({ id }) => id === after);
    const isNear = near !== -1 || after === null;
    const at = isNear ? near + 1 : next ? children.indexOf(next) : last ? children.indexOf(last) + 1 : 0;
    const isIndented = next !== undefined && isBlank(children[at - 1]);
    const indent = indentOf(tree, parent, children);
    const added = elements.flatMap((element) => [{ id: newId(), text: indent }, element]);
    const before = children[at - 1];
    if (before && !isElement(before) && !isBlank(before)) {
      const text = before.text.trimEnd();
      const rest = { id: newId(), text: before.text.slice(text.length) };
      return [...children.slice(0, at - 1), { ...before, text }, ...added, rest, ...children.slice(at)];
    }
    if (known.length === 0)
      return [
        ...added,
        { id: newId(), text: parent === null ? '\n' : endOf(indent) },
        ...children.filter((node) => !isBlank(node)),
      ];
    const from = isIndented ? at - 1 : at;
    return [...children.slice(0, from), ...added, ...children.slice(from)];
  });
}

const LINE_START = /(?:^|\n)([ \t]*)$/;

/**
 * The white space before the children of a parent: that of the first child, or two spaces more than the
 * parent's.
 */
function indentOf(tree: SourceTree, parent: number | null, children: SourceTree): string {
  const first = children.findIndex(isElement);
  const before = children[first - 1];
  if (first > 0 && before && !isElement(before)) {
    const indent = LINE_START.exec(before.text)?.[1];
    if (indent !== undefined) return `\n${indent}`;
  }
  if (first !== -1 || parent === null) return first === -1 && parent === null ? '' : '\n';
  return `\n  ${lineStartOf(tree, parent) ?? ''}`;
}

function lineStartOf(tree: SourceTree, id: number): string | null {
  for (const [at, node] of tree.entries()) {
    if (!isElement(node)) continue;
    const before = tree[at - 1];
    if (node.id === id) return before && !isElement(before) ? (LINE_START.exec(before.text)?.[1] ?? '') : '';
    const found = lineStartOf(node.children, id);
    if (found !== null) return found;
  }
  return null;
}

const endOf = (indent: string): string => indent.replace(/ {2}$/, '');
