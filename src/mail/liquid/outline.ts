import { runsScripts } from './html-scan.ts';
import { LIQUID_LIMITS } from './limits.ts';
import type { RenderedParts } from './parts.ts';
import { asLine, escapedInHtml, isStorable, writtenInText } from './written-values.ts';

/**
 * A value that a source writes: where it lies among the names, and the text in its place where it is empty.
 */
export interface OutlinedValue {
  readonly path: readonly string[];
  readonly instead: string;
}

/** The texts that a part always has, and the values between: there is one less of them. */
export interface OutlinedPart {
  readonly texts: readonly string[];
  readonly values: readonly OutlinedValue[];
}

/**
 * Sources that write values and do nothing else. Filling them takes a time that grows with their length
 * alone, so that they need no thread that can be ended: through one, a copy of a newsletter took a tenth of
 * its processor time.
 */
export interface Outline {
  readonly parts: { readonly [Part in keyof RenderedParts]: OutlinedPart | null };
  /** True when a value can name the scheme of a link. */
  readonly writesLinks: boolean;
}

/** Characters that take the memory of an object with its place in a list, about. */
const OBJECT = 64;

/** The characters of an outline: those between its values, and those of the values. */
export function weightOfOutline(outline: Outline | null): number {
  const parts = Object.values(outline?.parts ?? {}).flatMap((part) => part ?? []);
  const texts = parts.flatMap((part) => part.texts);
  const values = parts.flatMap((part) => part.values.flatMap(({ path, instead }) => [...path, instead]));
  return [...texts, ...values].reduce((sum, text) => sum + text.length + OBJECT, OBJECT);
}

/** Fills an outline; null where the values are such that only the thread knows what becomes of them. */
export function filled(
  { parts, writesLinks }: Outline,
  names: Readonly<Record<string, unknown>>,
): RenderedParts | null {
  const html = filledPart(parts.html, names, escapedInHtml);
  const text = filledPart(parts.text, names, writtenInText);
  const subject = filledPart(parts.subject, names, writtenInText);
  const previewText = filledPart(parts.previewText, names, writtenInText);
  if (html === undefined || text === undefined || subject === undefined || previewText === undefined)
    return null;
  if (writesLinks && html !== null && runsScripts(html)) return null;
  return {
    subject: lineOf(parts.subject, subject),
    previewText: lineOf(parts.previewText, previewText),
    html,
    text,
  };
}

/** A line without values is one already. */
const lineOf = (part: OutlinedPart | null, line: string | null): string | null =>
  line === null || part?.values.length === 0 ? line : asLine(line);

/** Null for a part that there is not; undefined where it cannot be told. */
function filledPart(
  part: OutlinedPart | null,
  names: Readonly<Record<string, unknown>>,
  write: (text: string) => string,
): string | null | undefined {
  if (part === null) return null;
  const { texts, values } = part;
  let made = texts[0] ?? '';
  for (const [index, value] of values.entries()) {
    const text = textAt(value, names);
    if (text === undefined) return undefined;
    made += write(text) + texts[index + 1];
    if (made.length > LIQUID_LIMITS.result) return undefined;
  }
  return made;
}

/** The text of a value; undefined for a list, an object, and what no mail can hold. */
function textAt(
  { path, instead }: OutlinedValue,
  names: Readonly<Record<string, unknown>>,
): string | undefined {
  let value: unknown = names;
  for (const name of path) {
    if (value === null || value === undefined) break;
    if (typeof value !== 'object' || Array.isArray(value)) return undefined;
    value = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
  }
  if (value === null || value === undefined || value === '') return instead;
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && isStorable(value) ? value : undefined;
}
