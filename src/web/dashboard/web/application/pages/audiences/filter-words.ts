import { FIELDS, partsOf, wayOf } from './fields.ts';
import { type Condition, isGroup, type Joint, type Node, treeOf, type Value } from './filter-tree.ts';

const BETWEEN = { all: ' and ', any: ' or ', none: ' or ' } as const satisfies Record<Joint, string>;

/** A filter in words, such as "plan is pro and Status is subscribed"; empty for one without conditions. */
export function filterText(filter: unknown, audiences: Readonly<Record<string, string>> = {}): string {
  return nodeText(treeOf(filter), audiences, true);
}

function nodeText(node: Node, audiences: Readonly<Record<string, string>>, isOuter = false): string {
  if (!isGroup(node)) return conditionText(node, audiences);
  const texts = node.nodes.map((each) => nodeText(each, audiences)).filter((text) => text !== '');
  const text = texts.join(BETWEEN[node.joint]);
  if (text === '') return '';
  const inside = isOuter || texts.length < 2 ? text : `(${text})`;
  return node.joint === 'none' ? `not ${texts.length < 2 ? text : `(${text})`}` : inside;
}

function conditionText(
  { field, operator, value }: Condition,
  audiences: Readonly<Record<string, string>>,
): string {
  const { base, name } = partsOf(field);
  const { kind, text } = FIELDS[base];
  const way = wayOf(kind, operator, value);
  const subject = name === '' ? text : name;
  if (way.shape === 'yes') return `${subject} ${way.text}`;
  const shown = way.shape === 'audience' ? (audiences[String(value)] ?? String(value)) : valueText(value);
  return way.text.includes('…')
    ? `${subject} ${way.text.replace('…', shown)}`
    : `${subject} ${way.shape === 'truth' ? 'is' : way.text} ${shown}`;
}

function valueText(value: Value): string {
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return value.join(', ');
  const { amount, unit } = value as { readonly amount: number; readonly unit: string };
  return `${amount} ${unit}`;
}
