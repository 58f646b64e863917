import { type Filter, not, Problems } from './condition.ts';
import type { Operator } from './operators.ts';

/**
 * Makes the condition of one operator from the value beside it; the paths of problems are relative to that
 * value.
 */
export type Bind<Row> = (value: unknown) => Filter<Row> | Problems;

/**
 * The operators of a field, each with the condition that it makes. Modules define their own kinds of fields
 * this way.
 */
export type Field<Row> = { readonly [Name in Operator]?: Bind<Row> };

/** Fields whose names share a prefix, such as `properties.<key>`. */
export interface FieldFamily<Row> {
  /** `properties.` */
  readonly prefix: string;
  /** The part after the prefix, such as `<key>`, for messages. */
  readonly rest: string;
  /** The field with that name; null when there is none. */
  field(rest: string): Field<Row> | null;
}

/** The fields that filters over one sort of rows may name. */
export interface Fields<Row> {
  readonly named: Readonly<Record<string, Field<Row>>>;
  readonly families: readonly FieldFamily<Row>[];
}

/** The field with a name; null when there is none. */
export function findField<Row>({ named, families }: Fields<Row>, name: string): Field<Row> | null {
  if (Object.hasOwn(named, name)) return named[name] ?? null;
  const family = families.find(({ prefix }) => name.startsWith(prefix));
  return family?.field(name.slice(family.prefix.length)) ?? null;
}

/** The names that a filter may use, for a message. */
export const fieldNames = <Row>({ named, families }: Fields<Row>): string =>
  [...Object.keys(named), ...families.map(({ prefix, rest }) => prefix + rest)].join(', ');

/** An operator whose value is read first, then made a condition. */
export const bind =
  <Row, Operand>(
    read: (value: unknown) => Operand | Problems,
    condition: (operand: Operand) => Filter<Row>,
  ): Bind<Row> =>
  (value) => {
    const operand = read(value);
    return operand instanceof Problems ? operand : condition(operand);
  };

/** The negation of an operator. */
export const negated =
  <Row>(positive: Bind<Row>): Bind<Row> =>
  (value) => {
    const condition = positive(value);
    return condition instanceof Problems ? condition : not(condition);
  };
