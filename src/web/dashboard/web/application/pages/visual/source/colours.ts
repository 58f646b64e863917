import { isElement, once, type SourceNode, type SourceTree } from './tree.ts';

/** The most colours that are offered. */
const MOST = 8;

const WRITTEN = /#[0-9a-f]{6}\b/gi;

const among = (lists: Iterable<readonly string[]>, first: readonly string[]): readonly string[] => {
  const colours = new Set(first);
  for (const list of lists)
    for (const colour of list) {
      if (colours.size === MOST) return [...colours];
      colours.add(colour);
    }
  return [...colours];
};

const inText = (text: string): readonly string[] =>
  (text.match(WRITTEN) ?? []).map((each) => each.toLowerCase());

const inNode = once((node: SourceNode): readonly string[] =>
  isElement(node)
    ? among([inText(node.open), ...node.children.map(inNode)], [])
    : among([inText(node.text)], []),
);

/** The colour of the workspace, and the first ones that a message has. */
export const coloursOf = (tree: SourceTree, own: string | null): readonly string[] =>
  among(tree.map(inNode), own === null ? [] : [own.toLowerCase()]);
