import { Type } from '@sinclair/typebox';
import type { Detail } from '../../platform/errors/failure.ts';
import { MOST_DETAILS, pointerSegment, shortened } from '../../platform/errors/schema-errors.ts';
import { isLonger } from '../../platform/errors/text-length.ts';
import { isPropertyKey, PROPERTY_KEY } from './column-names.ts';

/** The most properties of one contact. */
export const MOST_PROPERTIES = 100;
/** Characters (Unicode code points) of a text. */
export const LONGEST_PROPERTY = 1_000;

/** The value of a property; a date is a text. */
export type PropertyValue = string | number | boolean;

/** The properties of a contact. */
export type PropertyValues = Readonly<Record<string, PropertyValue>>;

/** Properties as a request states them: null removes one. */
export type GivenProperties = Readonly<Record<string, PropertyValue | null>>;

const scalar = [{ type: 'string', maxLength: LONGEST_PROPERTY }, { type: 'number' }, { type: 'boolean' }];

/** Properties in an answer. */
export const Properties = Type.Unsafe<Record<string, PropertyValue>>({
  ...Type.Unknown(),
  type: 'object',
  additionalProperties: { anyOf: scalar },
  description: 'Your data about the person, by names that you choose.',
});

/**
 * Properties in a request. Every value passes the schema: `readProperties` reports more precisely than a
 * schema could.
 */
export const GivenPropertiesSchema = Type.Unsafe<GivenProperties>({
  ...Type.Unknown(),
  type: 'object',
  propertyNames: { pattern: PROPERTY_KEY.source },
  additionalProperties: { anyOf: [...scalar, { type: 'null' }] },
  description: `At most ${MOST_PROPERTIES}, named by a letter and up to 63 letters, digits and underscores. Values are texts of up to ${LONGEST_PROPERTY.toLocaleString('en')} characters (Unicode code points), numbers, true, false, or ISO 8601 dates as texts; null removes one. They are merged with those that are there.`,
});

/** The properties of a request, split into those to set and those to remove. */
export interface PropertyChanges {
  readonly set: PropertyValues;
  readonly removed: readonly string[];
}

/** True for a text that no property holds. */
export const isLongProperty = (text: string): boolean => isLonger(text, LONGEST_PROPERTY);

/** True for a number that a program may have rounded already: beyond it integers are no longer told apart. */
export const isTooLarge = (value: number): boolean => Math.abs(value) > Number.MAX_SAFE_INTEGER;

/** The next step for a number that is too large. */
export const TOO_LARGE = `Send a number between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}, or a longer one as a text.`;

/** The reason why a value is none of a property; null when it is one. Null itself removes. */
export function problemOfProperty(value: unknown): string | null {
  if (value === null || typeof value === 'boolean') return null;
  if (typeof value === 'number')
    return Number.isNaN(value) ? 'Send a finite number.' : isTooLarge(value) ? TOO_LARGE : null;
  if (typeof value !== 'string') return 'Send a string, a number, true, false or null.';
  return isLongProperty(value) ? `Use at most ${LONGEST_PROPERTY.toLocaleString('en')} characters.` : null;
}

/** Reads the properties of a request; answers every mistake, or the changes. `at` is their own pointer. */
export function readProperties(value: unknown, at: string): PropertyChanges | readonly Detail[] {
  if (value === undefined) return { set: {}, removed: [] };
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [{ path: at, message: 'Send an object.' }];
  const details: Detail[] = [];
  const set: Record<string, PropertyValue> = {};
  const removed: string[] = [];
  for (const [key, given] of Object.entries(value)) {
    const path = shortened(at + pointerSegment(key));
    const problem = isPropertyKey(key)
      ? problemOfProperty(given)
      : 'Name a property by a letter and up to 63 letters, digits and underscores.';
    if (problem !== null) details.push({ path, message: problem });
    else if (given === null) removed.push(key);
    else set[key] = given as PropertyValue;
    if (details.length === MOST_DETAILS) break;
  }
  if (details.length > 0) return details;
  return Object.keys(set).length > MOST_PROPERTIES ? [tooManyProperties(at)] : { set, removed };
}

/** The mistake of a contact that would have too many. */
export const tooManyProperties = (path: string): Detail => ({
  path,
  message: `A contact has at most ${MOST_PROPERTIES} properties; remove some by sending null.`,
});
