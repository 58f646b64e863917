import { hasControls } from '../../platform/text/characters.ts';
import type { Problem, Report } from '../../platform/text/problems.ts';
import { isReservedField } from './reserved-fields.ts';

/** A header field of the client's own. */
export interface Header {
  readonly name: string;
  readonly value: string;
}

const LONGEST_NAME = 76;
/** The most octets of a value. A long References field fits. */
const LONGEST_VALUE = 4_096;
/**
 * Folding happens at white space alone, and no line may have more than 998 octets (RFC 5322 2.1.1, 2.2.3).
 */
const UNFOLDABLE = /[^ \t]{900}/;

/** RFC 5322 3.6.8 ftext: visible ASCII but the colon. */
const FIELD_NAME = /^[!-9;-~]{1,76}$/;

const wrong = (problem: string): Problem => ({ problem });
const BAD_NAME = wrong(
  `Must have names of 1 to ${LONGEST_NAME} visible ASCII characters without a colon; one of them is not.`,
);
const RESERVED_NAME = wrong('This field is set by the service; leave it out.');
const REPEATED_NAME = wrong('Must be given once; the case of its letters makes no difference.');
const BROKEN_VALUE = wrong('Must not hold line breaks or control characters.');
const BLANK_VALUE = wrong('Must not be empty.');
const LONG_VALUE = wrong(`Must be at most ${LONGEST_VALUE} octets long.`);
const LONG_WORD = wrong('Must have white space at least every 900 characters, where its line can be folded.');

/**
 * Reads the client's header fields in the order they were given. `at` is the pointer to the object that holds
 * them.
 */
export function readHeaders(given: Readonly<Record<string, string>>, at: string, report: Report): Header[] {
  const headers: Header[] = [];
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(given)) {
    const key = name.toLowerCase();
    const wrong = problemOfName(name, key, seen) ?? problemOfValue(value);
    // A malformed name is not repeated, not even in a path.
    if (wrong) report(wrong === BAD_NAME ? at : `${at}/${escapePointer(name)}`, wrong.problem);
    seen.add(key);
    headers.push({ name, value });
  }
  return headers;
}

function problemOfName(name: string, key: string, seen: ReadonlySet<string>): Problem | null {
  if (!FIELD_NAME.test(name)) return BAD_NAME;
  if (isReservedField(key)) return RESERVED_NAME;
  return seen.has(key) ? REPEATED_NAME : null;
}

function problemOfValue(value: string): Problem | null {
  if (hasControls(value)) return BROKEN_VALUE;
  if (value.trim() === '') return BLANK_VALUE;
  if (Buffer.byteLength(value) > LONGEST_VALUE) return LONG_VALUE;
  return UNFOLDABLE.test(value) ? LONG_WORD : null;
}

/** RFC 6901 3. */
const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');
