import { isUtf8 } from 'node:buffer';
import type { Detail } from '../../platform/errors/failure.ts';
import { pointerSegment, shortened } from '../../platform/errors/schema-errors.ts';

/**
 * RFC 8259 lets a receiver bound the nesting. Without a bound, serialising the value again would overflow the
 * stack.
 */
const DEEPEST = 32;

/** A decoder that refuses takes four times as long as the check and this one (1.6 µs for 2 kB). */
const utf8 = new TextDecoder();

/**
 * The most commas and brackets of one body. A value that costs the client two bytes costs the service
 * hundreds of bytes of memory and several checks: 29 MiB of `{},` occupied the process for 12 s and 1.5 GB
 * (measured).
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

/**
 * True when a body holds more values than any endpoint needs. They are counted before parsing, outside
 * strings.
 */
export function hasTooManyValues(bytes: Uint8Array): boolean {
  // Every value except the first needs a comma or a bracket, so a shorter body cannot hold more.
  if (bytes.length <= MOST_VALUES) return false;
  let count = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = stringEnd(bytes, at);
    else if ((byte === COMMA || byte === BRACKET || byte === BRACE) && ++count > MOST_VALUES) return true;
  }
  return false;
}

/**
 * The position of the closing quote of the string that opens at `start`; the end of the bytes when there is
 * none.
 */
export function stringEnd(bytes: Uint8Array, start: number): number {
  for (let quote = bytes.indexOf(QUOTE, start + 1); quote !== -1; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let before = quote;
    while (bytes[before - 1] === BACKSLASH) before--;
    if ((quote - before) % 2 === 0) return quote;
  }
  return bytes.length;
}

/** No shorter integer is beyond what a double holds. */
const LONG_INTEGER = /\d{16}/;
const INTEGER = /^\d+$/;

const TOO_LONG_INTEGER = `This number is too large: integers lie between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}; send longer ones as strings.`;

/** The position of the closing quote of the string that opens at `start`, in valid JSON. */
function endOfText(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((quote - before) % 2 === 0) return quote;
  }
  return text.length;
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
/** True for what a number goes on with: digits, `.`, `e`, `E`, `+` and `-`. */
const isOfNumber = (code: number): boolean =>
  isDigit(code) || code === 0x2e || code === 0x65 || code === 0x45 || code === 0x2b || code === 0x2d;

/**
 * The first integer of valid JSON that lost digits when it was parsed, such as `12345678901234567890`; -1
 * without one.
 */
function lostInteger(text: string): number {
  if (!LONG_INTEGER.test(text)) return -1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfText(text, at);
    else if (isDigit(code)) {
      const start = at;
      while (isOfNumber(text.charCodeAt(at + 1))) at++;
      if (at - start < 15) continue;
      const written = text.slice(start, at + 1);
      if (INTEGER.test(written) && !Number.isSafeInteger(Number(written))) return start;
    }
  }
  return -1;
}

/** The names that lead to a place in valid JSON, outermost first. */
function namesAt(text: string, place: number): (string | number)[] {
  const names: (string | number)[] = [];
  let latest = '""';
  for (let at = 0; at < place; at++) {
    const last = names.length - 1;
    switch (text[at]) {
      case '"': {
        const end = endOfText(text, at);
        latest = text.slice(at, end + 1);
        at = end;
        break;
      }
      case ':':
        names[last] = JSON.parse(latest) as string;
        break;
      case ',': {
        const name = names[last];
        if (typeof name === 'number') names[last] = name + 1;
        break;
      }
      case '[':
        names.push(0);
        break;
      case '{':
        names.push('');
        break;
      case ']':
      case '}':
        names.pop();
    }
  }
  return names;
}

/**
 * Finds the first value that is valid JSON but that no endpoint can accept: nesting deeper than 32, NUL and
 * unpaired surrogates (PostgreSQL stores neither), numbers beyond the range of a double, and integers that it
 * cannot hold: 9007199254740993 would be stored as another number.
 */
export function findUnstorable(value: unknown, text: string, at: string): Detail | null {
  // UTF-8 has no surrogates and JSON has no raw control characters, so both can only come from a \u escape.
  const found = visit(value, 1, text.includes('\\u'));
  if (found) return locate(found, at);
  // Only now it is known that the value is not nested too deep.
  const place = lostInteger(text);
  return place === -1
    ? null
    : locate({ message: TOO_LONG_INTEGER, names: namesAt(text, place).toReversed() }, at);
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

/**
 * Builds the pointer only on the way back from a problem: building one for every value took 9.7 of the 11.8 s
 * of a large body.
 */
function visit(value: unknown, depth: number, hasEscapes: boolean): Problem | null {
  switch (typeof value) {
    case 'string':
      return hasEscapes ? judgeString(value) : null;
    case 'number':
      return Number.isFinite(value) ? null : problem('This number is too large.');
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
