import type { TSchema } from '@sinclair/typebox';
import { type ValueError, type ValueErrorIterator, ValueErrorType } from '@sinclair/typebox/errors';
import type { Detail } from './failure.ts';
import { isShorter, ONE_LINE } from './text-length.ts';

/** Most details of one answer: a body with a million wrong elements must not become a million sentences. */
export const MOST_DETAILS = 20;
/** Longest JSON pointer: a member name is the client's own text and may be as long as the body. */
const LONGEST_PATH = 200;

/**
 * Most errors that are examined to find those details: many may share one pointer, such as long names of
 * unknown members.
 */
const MOST_ERRORS = 200;

/**
 * Turns TypeBox's errors into details: one for each pointer, at most twenty, and no message quotes the
 * client.
 */
export function detailsOf(errors: ValueErrorIterator, at: string): readonly Detail[] {
  const details = new Map<string, Detail>();
  let seen = 0;
  for (const error of errors) {
    for (const place of placesOf(error)) {
      const path = shortened(at + place.path);
      if (!details.has(path)) details.set(path, { path, message: messageOf(place) });
    }
    if (details.size >= MOST_DETAILS || ++seen === MOST_ERRORS) break;
  }
  return [...details.values()].slice(0, MOST_DETAILS);
}

/** One step of a JSON pointer (RFC 6901, 3). */
export const pointerSegment = (name: string | number): string =>
  typeof name === 'number' ? `/${name}` : `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Cuts a pointer at a segment, so that it still points at something that exists. */
export function shortened(path: string): string {
  return path.length <= LONGEST_PATH ? path : path.slice(0, path.lastIndexOf('/', LONGEST_PATH));
}

/**
 * Finds the relevant errors of a value that may have one of several forms. The client most likely intended
 * the form whose errors lie deepest: `to: ["a@b", 7]` is a list with one wrong member, not a failed string.
 */
function placesOf(error: ValueError): readonly ValueError[] {
  if (error.type !== ValueErrorType.Union) return [error];
  const forms = error.errors.map(firstOf);
  const deeper = forms.find(
    (inner) => inner.length > 0 && inner.every(({ path }) => path.length > error.path.length),
  );
  if (deeper) return deeper.flatMap(placesOf);
  // Only one of the forms may take values of this type: a text that is too long was not intended as null.
  const types: readonly TSchema[] = error.schema.anyOf ?? [];
  const fitting = forms.filter((_, n) => takes(types[n], error.value));
  return fitting.length === 1 && fitting[0]?.length ? fitting[0].flatMap(placesOf) : [error];
}

/** True when a form takes some values of this type. To it 1.5 is a wrong integer, rather than no number. */
function takes(form: TSchema | undefined, value: unknown): boolean {
  if (!form || form.const !== undefined) return false;
  const inner: readonly TSchema[] | undefined = form.anyOf;
  if (inner) return inner.some((one) => takes(one, value));
  const kind = Array.isArray(value) ? 'array' : typeof value;
  const type = typeOf(form);
  return type === kind || (type === 'integer' && kind === 'number');
}

/** The type of a schema; the parts of a string with a length have the same. */
const typeOf = ({ type, allOf }: TSchema): string => type ?? allOf?.[0]?.type;

function firstOf(errors: ValueErrorIterator): readonly ValueError[] {
  const first: ValueError[] = [];
  for (const error of errors) {
    // Each place reports its first mistake alone; where a text has a length, the whole is wrong besides the
    // part.
    if (first.at(-1)?.path !== error.path) first.push(error);
    if (first.length === MOST_DETAILS) break;
  }
  return first;
}

type Wording = (schema: TSchema, value: unknown) => string;

const counted = (count: number, thing: string) => `${count} ${thing}${count === 1 ? '' : 's'}`;

const atLeast: Wording = ({ minimum }) => `Must be at least ${minimum}.`;
const atMost: Wording = ({ maximum }) => `Must be at most ${maximum}.`;
const above: Wording = ({ exclusiveMinimum }) => `Must be more than ${exclusiveMinimum}.`;
const below: Wording = ({ exclusiveMaximum }) => `Must be less than ${exclusiveMaximum}.`;
const multiple: Wording = ({ multipleOf }) => `Must be a multiple of ${multipleOf}.`;

/** The pattern of names: something that can be seen. */
const NOT_BLANK = '\\S';

const WORDINGS: { readonly [Type in ValueErrorType]?: Wording } = {
  [ValueErrorType.ObjectRequiredProperty]: () => 'This is required.',
  // A record has no members of a given name.
  [ValueErrorType.ObjectAdditionalProperties]: ({ properties = {} }) => {
    const known = Object.keys(properties);
    return known.length === 0
      ? 'Unexpected here; leave it out.'
      : `No such member; known are ${known.join(', ')}.`;
  },
  [ValueErrorType.ObjectMinProperties]: ({ minProperties }) =>
    `Give at least ${counted(minProperties, 'member')}.`,
  [ValueErrorType.ObjectMaxProperties]: ({ maxProperties }) =>
    `Give at most ${counted(maxProperties, 'member')}.`,
  [ValueErrorType.ArrayMinItems]: ({ minItems }) => `Give at least ${counted(minItems, 'item')}.`,
  [ValueErrorType.ArrayMaxItems]: ({ maxItems }) => `Give at most ${counted(maxItems, 'item')}.`,
  [ValueErrorType.ArrayUniqueItems]: () => 'Give each item once.',
  // The only kind that is not TypeBox's own is the length of a text.
  [ValueErrorType.Kind]: ({ minLength = 0, maxLength }, value) =>
    !isShorter(String(value), minLength)
      ? `Use at most ${counted(maxLength, 'character')}.`
      : minLength === 1
        ? 'Must not be empty.'
        : `Use at least ${counted(minLength, 'character')}.`,
  [ValueErrorType.StringPattern]: ({ description, pattern }) =>
    pattern === NOT_BLANK
      ? 'Must not be blank.'
      : pattern === ONE_LINE
        ? 'Must be one line, without control characters.'
        : description
          ? `Wrong format: ${description}`
          : 'Wrong format.',
  [ValueErrorType.StringFormat]: () =>
    'Send an ISO 8601 date and time with an offset or Z, such as 2026-01-31T09:30:00Z.',
  [ValueErrorType.IntegerMinimum]: atLeast,
  [ValueErrorType.IntegerMaximum]: atMost,
  [ValueErrorType.IntegerExclusiveMinimum]: above,
  [ValueErrorType.IntegerExclusiveMaximum]: below,
  [ValueErrorType.IntegerMultipleOf]: multiple,
  [ValueErrorType.NumberMinimum]: atLeast,
  [ValueErrorType.NumberMaximum]: atMost,
  [ValueErrorType.NumberExclusiveMinimum]: above,
  [ValueErrorType.NumberExclusiveMaximum]: below,
  [ValueErrorType.NumberMultipleOf]: multiple,
};

function messageOf({ type, schema, value }: ValueError): string {
  if (type === ValueErrorType.Integer && typeof value === 'number') return 'Must be a whole number.';
  return WORDINGS[type]?.(schema, value) ?? `Send ${expected(schema)}.`;
}

const NOUNS: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'an array',
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
};

function expected(schema: TSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const forms: readonly TSchema[] | undefined = schema.anyOf;
  if (!forms) return NOUNS[typeOf(schema)] ?? 'another value';
  const isChoice = forms.every((form) => form.const !== undefined);
  const names = [...new Set(forms.map(expected))];
  return isChoice ? `one of ${names.join(', ')}` : names.join(' or ');
}
