import type { Filter } from '../../../../../client/operations.ts';

/** The operator that joins the conditions of a group. */
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

/** The first condition of a new group. */
export const newCondition = (): Condition => ({
  id: nextId(),
  field: 'status',
  operator: 'eq',
  value: 'subscribed',
});

export const newGroup = (joint: Joint = 'all'): Group => ({ id: nextId(), joint, nodes: [newCondition()] });

/**
 * The tree of a filter; its root is always a group. A flow draft written with the API may hold an invalid
 * filter: parts that cannot be edited here are left out.
 */
export function treeOf(filter: unknown): Group {
  const root = nodeOf(filter);
  if (root && isGroup(root)) return root;
  return { id: nextId(), joint: 'all', nodes: root ? [root] : [] };
}

type Members = Readonly<Record<string, unknown>>;

function nodeOf(filter: unknown): Node | null {
  if (typeof filter !== 'object' || filter === null) return null;
  const { and, or, not, field, operator, value } = filter as Members;
  const group = (joint: Joint, filters: readonly unknown[]): Group => ({
    id: nextId(),
    joint,
    nodes: filters.flatMap((each) => nodeOf(each) ?? []),
  });
  if (Array.isArray(and)) return group('all', and);
  if (Array.isArray(or)) return group('any', or);
  if (typeof field === 'string')
    return { id: nextId(), field, operator: operator as Operator, value: comparedWith(value) };
  if (typeof not !== 'object' || not === null) return null;
  const { or: none } = not as Members;
  return group('none', Array.isArray(none) ? none : [not]);
}

/** The value of a condition; empty when it is invalid. */
function comparedWith(value: unknown): Value {
  if (Array.isArray(value)) return value.filter((each) => typeof each !== 'object') as Value;
  if (typeof value !== 'object' || value === null) return (value ?? '') as Value;
  const { amount, unit } = value as Members;
  return typeof amount === 'number' && typeof unit === 'string' ? (value as Value) : '';
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
