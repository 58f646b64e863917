import { type SchemaOptions, Type } from '@sinclair/typebox';
import { PERIOD_UNITS } from './dates.ts';
import { LONGEST_TEXT, MOST_UNITS, MOST_VALUES, OPERATORS } from './operators.ts';
import { DEEPEST, MOST_CONDITIONS } from './tree.ts';

/** The filter within the OpenAPI document, which every use refers to. */
const REFERENCE = '#/components/schemas/Filter';

const within = { $ref: REFERENCE };
const scalars = [
  { type: 'string', maxLength: LONGEST_TEXT },
  { type: 'number' },
  { type: 'boolean' },
] as const;

type Part = Readonly<Record<string, unknown>>;

const closedObject = (properties: Readonly<Record<string, Part>>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

/**
 * `components.schemas.Filter`: it refers to itself. The problems of a filter name the operators that a field
 * accepts.
 */
export const FilterComponent = {
  description: `A condition on the items of a list, or several of them joined. At most ${DEEPEST} levels and ${MOST_CONDITIONS} conditions.`,
  anyOf: [
    closedObject({ and: { type: 'array', minItems: 1, items: within } }),
    closedObject({ or: { type: 'array', minItems: 1, items: within } }),
    closedObject({ not: within }),
    closedObject({
      field: { type: 'string' },
      operator: { type: 'string', enum: OPERATORS },
      value: {
        description:
          '`neq` holds for items without the field as well. `exists` and `isEmpty` take true or false, `in` a list, `withinLast` and `olderThan` an amount and a unit. The text "50" is not the number 50. A moment is `eq` to a day such as 2026-01-31 for all of it, in UTC; everywhere else a day is its first moment.',
        anyOf: [
          ...scalars,
          { type: 'array', minItems: 1, maxItems: MOST_VALUES, items: { anyOf: scalars } },
          closedObject({
            amount: { type: 'integer', minimum: 1, maximum: MOST_UNITS },
            unit: { type: 'string', enum: Object.keys(PERIOD_UNITS) },
          }),
        ],
      },
    }),
  ],
};

/**
 * A filter as a member of a body. The schema accepts every value: `readFilter` knows the fields, and reports
 * more precisely.
 */
export const filterMember = (options: SchemaOptions = {}) =>
  Type.Unsafe<unknown>({ ...Type.Unknown(options), $ref: REFERENCE });

/**
 * The same for a draft, which may hold an unfinished filter. The publication of the draft reports what is
 * missing.
 */
export const draftFilterMember = (options: SchemaOptions = {}) =>
  Type.Unsafe<unknown>({
    ...Type.Unknown(options),
    anyOf: [{ $ref: REFERENCE }, { type: 'object', description: 'One that is not finished.' }],
  });
