import { FormatRegistry, type SchemaOptions, type TSchema, Type } from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler';
import type { Detail } from '../../platform/errors/failure.ts';
import { detailsOf } from '../../platform/errors/schema-errors.ts';
import { withCharacters } from '../../platform/errors/text-length.ts';

/** Checks a value and returns its mistakes, or null. `at` is the pointer of the value itself (`/body`). */
export type Checker = (value: unknown, at: string) => readonly Detail[] | null;

/** The schema of a text that is one of these names. */
export const literals = <const Names extends readonly string[]>(names: Names, options: SchemaOptions = {}) =>
  Type.Unsafe<Names[number]>(
    Type.Union(
      names.map((name) => Type.Literal(name)),
      options,
    ),
  );

/**
 * Compiles a schema of client input, with the first value: all of them together would take a tenth of a
 * start. Members that it does not state are refused at every level.
 */
export function compileChecker(schema: TSchema): Checker {
  let compiled: TypeCheck<TSchema> | undefined;
  return (value, at) => {
    compiled ??= compile(schema);
    return compiled.Check(value) ? null : detailsOf(compiled.Errors(value), at);
  };
}

/** The routes of keys and of members share their schemas, so that each one is compiled once. */
const compiledOf = new WeakMap<TSchema, TypeCheck<TSchema>>();

function compile(schema: TSchema): TypeCheck<TSchema> {
  const known = compiledOf.get(schema);
  if (known) return known;
  // TypeBox keeps formats in one table for the process. Elysia puts a laxer one there, which takes 30
  // February.
  FormatRegistry.Set('date-time', isDateTime);
  const compiled = TypeCompiler.Compile(mapped(closed(schema), withCharacters));
  compiledOf.set(schema, compiled);
  return compiled;
}

/**
 * Closes every object of a schema that does not state otherwise: a misspelt `scheduledAt` must never send at
 * once.
 */
export const closed = (schema: TSchema): TSchema =>
  mapped(schema, (one) =>
    one.properties && one.additionalProperties === undefined ? { ...one, additionalProperties: false } : one,
  );

/**
 * Changes a schema and every one within it. Spreads keep TypeBox's symbols, by which the compiler recognises
 * the kinds.
 */
function mapped(schema: TSchema, change: (one: TSchema) => TSchema): TSchema {
  const { properties, items, anyOf, additionalProperties } = schema;
  const within = (one: TSchema): TSchema => mapped(one, change);
  return change({
    ...schema,
    ...(properties && { properties: mapValues(properties, within) }),
    ...(items && { items: Array.isArray(items) ? items.map(within) : within(items) }),
    ...(anyOf && { anyOf: anyOf.map(within) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: within(additionalProperties) }),
  });
}

function mapValues<Value>(
  record: Record<string, Value>,
  map: (value: Value) => Value,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}

const DATE_TIME_SHAPE =
  /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** True for RFC 3339 with an offset, on a day that exists. A leap second is refused. */
export function isDateTime(text: string): boolean {
  const parts = DATE_TIME_SHAPE.exec(text);
  if (!parts) return false;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  const lastDay = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  return month >= 1 && month <= 12 && day >= 1 && day <= lastDay;
}
