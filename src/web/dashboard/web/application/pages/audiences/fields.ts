import { CONTACT_FIELDS, eachField } from '../../../../../../platform/text/contact-fields.ts';
import type { Operator, Value } from './filter-tree.ts';

/** The type of a field, which decides its comparisons. */
export type Kind = 'text' | 'status' | 'date' | 'audience' | 'activity' | 'property' | 'event';

/** The fields to choose from; `properties.` and `activity.event:` need a name as well. */
export const FIELDS = {
  status: { text: 'Status', kind: 'status' },
  email: { text: 'Email address', kind: 'text' },
  ...eachField((name) => ({ text: CONTACT_FIELDS[name].label, kind: 'text' as const })),
  'properties.': { text: 'Property', kind: 'property' },
  audiences: { text: 'Audience', kind: 'audience' },
  createdAt: { text: 'Added', kind: 'date' },
  updatedAt: { text: 'Updated', kind: 'date' },
  lastActivityAt: { text: 'Last active', kind: 'date' },
  unsubscribedAt: { text: 'Unsubscribed', kind: 'date' },
  'activity.opened': { text: 'Opened an email', kind: 'activity' },
  'activity.clicked': { text: 'Clicked a link', kind: 'activity' },
  'activity.replied': { text: 'Replied to an email', kind: 'activity' },
  'activity.delivered': { text: 'Was reached', kind: 'activity' },
  'activity.event:': { text: 'Custom event', kind: 'event' },
  'event.': { text: 'Event property', kind: 'property' },
} as const satisfies Record<string, { readonly text: string; readonly kind: Kind }>;
/** The part of a field's name that people choose. */
export type Base = keyof typeof FIELDS;

/** The parts that a name follows, and an example of such a name. */
export const NAMED = ['properties.', 'event.', 'activity.event:'] as const satisfies readonly Base[];

/** The chosen part of a field's name, and the name that follows it. */
export function partsOf(field: string): { readonly base: Base; readonly name: string } {
  if (Object.hasOwn(FIELDS, field)) return { base: field as Base, name: '' };
  const base = NAMED.find((each) => field.startsWith(each)) ?? 'activity.event:';
  return { base, name: field.slice(base.length) };
}

/** The form of a value while it is edited. */
export type Shape = 'text' | 'texts' | 'number' | 'yes' | 'date' | 'period' | 'status' | 'audience' | 'truth';

/** A way of asking: its words, the operator, and what it compares with. */
export interface Way {
  readonly text: string;
  readonly operator: Operator;
  readonly shape: Shape;
}

const way = (text: string, operator: Operator, shape: Shape): Way => ({ text, operator, shape });
const TEXT = [
  way('is', 'eq', 'text'),
  way('is not', 'neq', 'text'),
  way('contains', 'contains', 'text'),
  way('begins with', 'startsWith', 'text'),
  way('ends with', 'endsWith', 'text'),
  way('is one of', 'in', 'texts'),
  way('is known', 'exists', 'yes'),
  way('is empty', 'isEmpty', 'yes'),
];
const DATE = [
  way('in the last', 'withinLast', 'period'),
  way('more than … ago', 'olderThan', 'period'),
  way('before', 'before', 'date'),
  way('after', 'after', 'date'),
];
const PRESENCE = [way('ever', 'exists', 'yes'), way('never', 'isEmpty', 'yes')];

/** The ways of asking for each kind of field. */
export const WAYS: Readonly<Record<Kind, readonly Way[]>> = {
  text: TEXT,
  status: [way('is', 'eq', 'status'), way('is not', 'neq', 'status')],
  audience: [way('is in', 'eq', 'audience'), way('is not in', 'neq', 'audience')],
  date: [...DATE, way('is known', 'exists', 'yes'), way('is empty', 'isEmpty', 'yes')],
  activity: [...PRESENCE, ...DATE],
  event: [...PRESENCE, ...DATE],
  property: [
    ...TEXT,
    way('equals the number', 'eq', 'number'),
    way('is more than', 'gt', 'number'),
    way('is at least', 'gte', 'number'),
    way('is less than', 'lt', 'number'),
    way('is at most', 'lte', 'number'),
    way('is true or false:', 'eq', 'truth'),
    way('before', 'before', 'date'),
    way('after', 'after', 'date'),
  ],
};

/** The types that the values of a property have. */
export type PropertyType = 'string' | 'number' | 'boolean' | 'date';

const SHAPES: Readonly<Record<PropertyType, readonly Shape[]>> = {
  string: ['text', 'texts'],
  number: ['number'],
  boolean: ['truth'],
  date: ['date', 'text', 'texts'],
};

/**
 * The ways of asking for a field: of a property whose types are known only those that can match. The way that
 * is chosen stays.
 */
export function waysOf(kind: Kind, types: readonly PropertyType[] | undefined, chosen?: Way): readonly Way[] {
  if (kind !== 'property' || types === undefined || types.length === 0) return WAYS[kind];
  const shapes = new Set<Shape>(['yes', ...types.flatMap((type) => SHAPES[type])]);
  return WAYS[kind].filter((each) => each === chosen || shapes.has(each.shape));
}

const SHAPE_OF = { number: 'number', boolean: 'truth' } as const;

/** The way that an operator and its value are of; the first one where the field knows none such. */
export function wayOf(kind: Kind, operator: Operator, value: Value): Way {
  const ways = WAYS[kind];
  const named = ways.filter((each) => each.operator === operator);
  const shape = SHAPE_OF[typeof value as keyof typeof SHAPE_OF];
  return named.find((each) => each.shape === shape) ?? named[0] ?? (ways[0] as Way);
}

/** The first value of each shape. */
export const FIRST_VALUE: Readonly<Record<Shape, Value>> = {
  text: '',
  texts: [''],
  number: 0,
  yes: true,
  truth: true,
  date: '',
  period: { amount: 30, unit: 'days' },
  status: 'subscribed',
  audience: '',
};

/** True when a condition is complete; incomplete ones are left out of the request. */
export const isFinished = (value: Value): boolean =>
  value !== '' && !(Array.isArray(value) && value.every((each) => each === ''));
