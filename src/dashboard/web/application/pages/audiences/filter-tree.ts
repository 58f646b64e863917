import type { Filter } from '../../api/operations.ts';

/** How the conditions of a group are joined. */
export type Joint = 'all' | 'any' | 'none';

/** A filter while it is edited; what is not finished yet has an empty value. */
export type Node = Group | Condition;
export interface Group {
  readonly id: number;
  readonly joint: Joint;
  readonly nodes: readonly Node[];
}
export interface Condition {
  readonly id: number;
  readonly field: string;
  readonly operator: Operator;
  readonly value: Value;
}
type Leaf = Extract<Filter, { readonly field: string }>;
/** An operator, and what it compares with. */
export type Operator = Leaf['operator'];
export type Value = Leaf['value'];

let latest = 0;
/** A number that no other node of this page has. */
export const nextId = (): number => ++latest;

export const isGroup = (node: Node): node is Group => 'joint' in node;

/** A condition that somebody begins with. */
export const newCondition = (): Condition => ({
  id: nextId(),
  field: 'status',
  operator: 'eq',
  value: 'subscribed',
});

/** A group with one condition in it. */
export const newGroup = (joint: Joint = 'all'): Group => ({ id: nextId(), joint, nodes: [newCondition()] });

/** The tree of a filter; its root is always a group. */
export function treeOf(filter: Filter): Group {
  const root = nodeOf(filter);
  return isGroup(root) ? root : { id: nextId(), joint: 'all', nodes: [root] };
}

function nodeOf(filter: Filter): Node {
  if ('and' in filter) return { id: nextId(), joint: 'all', nodes: filter.and.map(nodeOf) };
  if ('or' in filter) return { id: nextId(), joint: 'any', nodes: filter.or.map(nodeOf) };
  if ('field' in filter) return { id: nextId(), ...filter };
  const inner = filter.not;
  return { id: nextId(), joint: 'none', nodes: 'or' in inner ? inner.or.map(nodeOf) : [nodeOf(inner)] };
}

/** The filter that a tree says. */
export function filterOf(node: Node): Filter {
  if (!isGroup(node)) return { field: node.field, operator: node.operator, value: node.value };
  const nodes = node.nodes.map(filterOf);
  if (node.joint === 'all') return { and: nodes };
  return node.joint === 'any' ? { or: nodes } : { not: { or: nodes } };
}

/** The pointer from a group to one of its nodes in the filter that it says. */
export const pointerTo = (joint: Joint, index: number): string =>
  `${{ all: '/and', any: '/or', none: '/not/or' }[joint]}/${index}`;
