import { isUtf8 } from 'node:buffer';
import type { Detail } from '../../platform/errors/failure.ts';
import { pointerSegment, shortened } from '../../platform/errors/schema-errors.ts';

/** RFC 8259 lets a receiver bound the nesting. Without a bound, serialising the value again would overflow the stack. */
const DEEPEST = 32;

/** A decoder that refuses takes four times as long as the check and this one (1.6 µs for 2 kB). */
const utf8 = new TextDecoder();

/**
 * Most commas and brackets of one body. A value that costs the client two bytes costs us hundreds of bytes of memory and
 * several checks: 29 MiB of `{},` occupied the process for 12 s and 1.5 GB (measured).
 */
export const MOST_VALUES = 250_000;

/** Parses bytes as JSON in UTF-8; undefined when they are not. */
export function parseJson(bytes: Uint8Array): { readonly value: unknown; readonly text: string } | undefined {
  if (!isUtf8(bytes)) return undefined;
  try {
    const text = utf8.decode(bytes);
    return { value: JSON.parse(text), text };
  } catch {
    return undefined;
  }
}

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

/** True when a body holds more values than any endpoint needs. They are counted before parsing, outside strings. */
export function hasTooManyValues(bytes: Uint8Array): boolean {
  // Every value except the first needs a comma or a bracket, so a shorter body cannot hold more.
  if (bytes.length <= MOST_VALUES) return false;
  let count = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if ((byte === COMMA || byte === BRACKET || byte === BRACE) && ++count > MOST_VALUES) return true;
  }
  return false;
}

/** The position of the closing quote of the string that opens at `start`; the end of the bytes when there is none. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let quote = bytes.indexOf(QUOTE, start + 1); quote !== -1; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let before = quote;
    while (bytes[before - 1] === BACKSLASH) before--;
    if ((quote - before) % 2 === 0) return quote;
  }
  return bytes.length;
}

/** An integer whose digits a double cannot hold; it takes the place of its value while that is looked for. */
const LOST_DIGITS = Symbol('lost digits');

/** No shorter integer is beyond what a double holds. */
const LONG_INTEGER = /\d{16}/;

/** The same value with a mark in place of every integer that lost digits when it was parsed: `12345678901234567890`. */
function withLostDigits(value: unknown, text: string): unknown {
  if (!LONG_INTEGER.test(text)) return value;
  const mark = (_: string, each: unknown, context?: { readonly source?: string }): unknown =>
    typeof each === 'number' && !Number.isSafeInteger(each) && /^-?\d+$/.test(context?.source ?? '')
      ? LOST_DIGITS
      : each;
  return JSON.parse(text, mark);
}

/**
 * Finds the first value that is valid JSON but that no endpoint can take: nesting deeper than 32, NUL and unpaired surrogates
 * (PostgreSQL stores neither), numbers beyond the range of a double,
 * and integers that it cannot hold: 9007199254740993 would be stored as another number.
 */
export function findUnstorable(value: unknown, text: string, at: string): Detail | null {
  // UTF-8 has no surrogates and JSON has no raw control characters, so both can only come from a \u escape.
  return locate(visit(withLostDigits(value, text), 1, text.includes('\\u')), at);
}

/** The same for a value that was not written as JSON. */
export const findUnstorableIn = (value: unknown, at: string): Detail | null =>
  locate(visit(value, 1, true), at);

/** The message of a problem and the names that lead to it, innermost first. */
interface Problem {
  readonly message: string;
  readonly names: (string | number)[];
}

const locate = (problem: Problem | null, at: string): Detail | null =>
  problem && {
    path: shortened(at + problem.names.toReversed().map(pointerSegment).join('')),
    message: problem.message,
  };

const problem = (message: string): Problem => ({ message, names: [] });

/** Builds the pointer only on the way back from a problem: building one for every value took 9.7 of the 11.8 s of a large body. */
function visit(value: unknown, depth: number, hasEscapes: boolean): Problem | null {
  switch (typeof value) {
    case 'string':
      return hasEscapes ? judgeString(value) : null;
    case 'number':
      return Number.isFinite(value) ? null : problem('This number is too large.');
    case 'symbol':
      return problem(
        `This number is too large: integers lie between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}; send longer ones as texts.`,
      );
    case 'object':
      if (value === null) return null;
      if (depth > DEEPEST) return problem(`Nest at most ${DEEPEST} levels deep.`);
      return Array.isArray(value)
        ? visitItems(value, depth, hasEscapes)
        : visitMembers(value as Readonly<Record<string, unknown>>, depth, hasEscapes);
    default:
      return null;
  }
}

function visitItems(items: readonly unknown[], depth: number, hasEscapes: boolean): Problem | null {
  for (let index = 0; index < items.length; index++) {
    const found = visit(items[index], depth + 1, hasEscapes);
    if (found) return within(found, index);
  }
  return null;
}

function visitMembers(
  members: Readonly<Record<string, unknown>>,
  depth: number,
  hasEscapes: boolean,
): Problem | null {
  for (const name in members) {
    const misnamed = hasEscapes ? judgeString(name) : null;
    if (misnamed) return misnamed;
    const found = visit(members[name], depth + 1, hasEscapes);
    if (found) return within(found, name);
  }
  return null;
}

function within(found: Problem, name: string | number): Problem {
  found.names.push(name);
  return found;
}

function judgeString(text: string): Problem | null {
  if (text.includes('\0')) return problem('Leave out NUL characters.');
  return text.isWellFormed() ? null : problem('Leave out unpaired surrogates (half a character).');
}
