import type { Detail } from './failure.ts';
import { shortened } from './schema-errors.ts';

/** RFC 8259 lets a receiver bound the nesting; a deeper value would overflow the stack of whoever serialises it again. */
const DEEPEST = 32;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** What the bytes say as JSON in UTF-8; undefined when they are not that. */
export function parseJson(bytes: Uint8Array): { readonly value: unknown; readonly text: string } | undefined {
  try {
    const text = utf8.decode(bytes);
    return { value: JSON.parse(text), text };
  } catch {
    return undefined;
  }
}

/**
 * What no endpoint can take although it is JSON: nesting beyond 32, NUL and unpaired surrogates (PostgreSQL stores
 * neither), numbers beyond a double. The first such place, or null.
 */
export function findUnstorable(value: unknown, text: string, at: string): Detail | null {
  // UTF-8 has no surrogates and JSON no raw control characters: both can only come out of a \u escape.
  return visit(value, at, 1, text.includes('\\u'));
}

/** The same for a value that was not written as JSON. */
export const findUnstorableIn = (value: unknown, at: string): Detail | null => visit(value, at, 1, true);

function visit(value: unknown, path: string, depth: number, hasEscapes: boolean): Detail | null {
  switch (typeof value) {
    case 'string':
      return hasEscapes ? judgeString(value, path) : null;
    case 'number':
      return Number.isFinite(value) ? null : { path: shortened(path), message: 'This number is too large.' };
    case 'object':
      return value === null ? null : visitMembers(value, path, depth, hasEscapes);
    default:
      return null;
  }
}

function visitMembers(value: object, path: string, depth: number, hasEscapes: boolean): Detail | null {
  if (depth > DEEPEST) return { path: shortened(path), message: `Nest at most ${DEEPEST} levels deep.` };
  for (const name in value) {
    const misnamed = hasEscapes ? judgeString(name, path) : null;
    const found = misnamed ?? visitMember(value[name as keyof typeof value], name, path, depth, hasEscapes);
    if (found) return found;
  }
  return null;
}

function visitMember(
  value: unknown,
  name: string,
  path: string,
  depth: number,
  hasEscapes: boolean,
): Detail | null {
  // Most values are strings without escapes: no pointer is made for them.
  if (typeof value === 'string' && !hasEscapes) return null;
  return visit(value, `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, depth + 1, hasEscapes);
}

function judgeString(text: string, path: string): Detail | null {
  if (text.includes('\0')) return { path: shortened(path), message: 'Leave out NUL characters.' };
  if (!text.isWellFormed())
    return { path: shortened(path), message: 'Leave out unpaired surrogates (half a character).' };
  return null;
}
