import { Kind, type TSchema, Type, TypeRegistry } from '@sinclair/typebox';

/** The pattern of a text for a header: without line breaks and controls, but for the tab. */
export const ONE_LINE = '^[^\\u0000-\\u0008\\u000a-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$';

/**
 * A name that people give to a thing: headers may contain it, as the subject that asks to confirm contains
 * the name of an audience.
 */
export const nameSchema = (options: {
  readonly description?: string;
  readonly examples: readonly string[];
}) => Type.String({ minLength: 1, maxLength: 200, pattern: ONE_LINE, ...options });

/**
 * Characters of a text: Unicode code points, as JSON Schema counts them. An emoji of two UTF-16 units is one.
 */
function charactersOf(text: string): number {
  let count = 0;
  // The iterator of a string takes five times as long.
  for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) count++;
  return count;
}

/**
 * True for a text of more characters. Only a text of between once and twice as many units has to be counted.
 */
export const isLonger = (text: string, most: number): boolean =>
  text.length > most && (text.length > 2 * most || charactersOf(text) > most);

/** True for a text of fewer characters. */
export const isShorter = (text: string, least: number): boolean =>
  text.length < 2 * least && charactersOf(text) < least;

/** A text, or its first characters where it has more; none is cut in half. */
export const firstCharacters = (text: string, most: number): string =>
  isLonger(text, most) ? [...text].slice(0, most).join('') : text;

/** The kind of schema that checks a length, and nothing else. */
const LENGTH = 'Length';

/**
 * Makes the lengths of a string's schema count characters, where TypeBox counts UTF-16 units; TypeBox checks
 * all else.
 */
export function withCharacters(schema: TSchema): TSchema {
  const { minLength, maxLength, ...rest } = schema;
  if (schema[Kind] !== 'String' || (minLength === undefined && maxLength === undefined)) return schema;
  TypeRegistry.Set(LENGTH, hasLength);
  return { [Kind]: 'Intersect', allOf: [{ ...schema, [Kind]: LENGTH }, rest] } as unknown as TSchema;
}

/** A value that is no text has no length that could be wrong. */
const hasLength = ({ minLength = 0, maxLength = Infinity }: TSchema, value: unknown): boolean =>
  typeof value !== 'string' || !(isShorter(value, minLength) || isLonger(value, maxLength));
