import { isShown, type Place } from './source/place.ts';
import { isElement, type SourceNode, type SourceTree } from './source/tree.ts';

/** A node among its siblings. */
export interface Position {
  /** The number of elements before it. */
  readonly index: number;
  /** The number of elements before the node that follows. */
  readonly next: number;
  /** The node before it, null for none; undefined between two elements, where the index says all. */
  readonly before: number | null | undefined;
}

/** Before all others. */
export const FIRST: Position = { index: 0, next: 0, before: undefined };

/** The positions of nodes that a person sees, by their numbers. */
export function positionsIn(siblings: SourceTree): ReadonlyMap<number, Position> {
  const positions = new Map<number, Position>();
  let index = 0;
  let last: SourceNode | null = null;
  for (const node of siblings.filter(isShown)) {
    const isPlain = isElement(node) && (last === null || isElement(last));
    const next = index + (isElement(node) ? 1 : 0);
    positions.set(node.id, { index, next, before: isPlain ? undefined : (last?.id ?? null) });
    [last, index] = [node, next];
  }
  return positions;
}

/** The places before and after a node. */
export const placesOf = (
  parent: number | null,
  id: number,
  { index, next, before }: Position,
): readonly [Place, Place] => [
  { parent, index, after: before },
  { parent, index: next, after: id },
];
