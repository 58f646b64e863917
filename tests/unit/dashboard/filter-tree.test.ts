import { expect, test } from 'bun:test';
import {
  FIELDS,
  partsOf,
  WAYS,
  wayOf,
} from '../../../src/web/dashboard/web/application/pages/audiences/fields.ts';
import {
  filterOf,
  isGroup,
  type Node,
  treeOf,
} from '../../../src/web/dashboard/web/application/pages/audiences/filter-tree.ts';

const IS_ADA = { field: 'firstName', operator: 'eq', value: 'Ada' } as const;
const SINCE = { field: 'createdAt', operator: 'withinLast', value: { amount: 3, unit: 'days' } } as const;

test.each<[string, object]>([
  ['all', { and: [IS_ADA, SINCE] }],
  ['any, in all', { and: [{ or: [IS_ADA, SINCE] }, SINCE] }],
  ['one of several numbers', { and: [{ field: 'properties.age', operator: 'in', value: [1, 2] }] }],
  ['none', { not: { or: [IS_ADA] } }],
])('a filter comes out of the builder as it went in: %s', (_, filter) => {
  expect(filterOf(treeOf(filter)) as object).toEqual(filter);
});

/** The text that the builder shows for each condition. */
function shown(node: Node): readonly string[] {
  if (isGroup(node)) return node.nodes.flatMap(shown);
  const { base, name } = partsOf(node.field);
  const { text, kind } = FIELDS[base];
  expect(WAYS[kind]).toContain(wayOf(kind, node.operator, node.value));
  return [`${text} ${name} ${JSON.stringify(node.value)}`];
}

test.each<[unknown, readonly string[]]>([
  [{}, []],
  [[], []],
  ['a text', []],
  [{ and: 5 }, []],
  [{ or: [null, 1, {}, IS_ADA] }, ['First name  "Ada"']],
  [{ not: null }, []],
  [{ not: {} }, []],
  [{ field: 'createdAt', operator: 'withinLast', value: null }, ['Added  ""']],
  [{ field: 'createdAt', value: { amount: 'x' } }, ['Added  ""']],
  [{ field: 'audiences', operator: 'eq', value: [{}] }, ['Audience  []']],
  [{ field: 'toString' }, ['Custom event  ""']],
])(
  'the draft of a flow may hold what is no filter yet, and the builder opens it: %j',
  (draft, conditions) => {
    expect(shown(treeOf(draft))).toEqual([...conditions]);
  },
);
