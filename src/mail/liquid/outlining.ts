import {
  type Context,
  type Emitter,
  evalQuotedToken,
  Output,
  type Template,
  type Token,
  TokenKind,
  TypeGuards,
} from 'liquidjs';
import { beginOfBody } from '../html/read-html.ts';
import type { ParsedSource } from './engine.ts';
import { LiquidProblem } from './limits.ts';
import type { Outline, OutlinedPart, OutlinedValue } from './outline.ts';
import { type ParsedParts, type PartName, renderParts } from './parts.ts';
import { isStorable, isUnprintable } from './written-values.ts';

/** The most values of an outline: it is filled by the thread that answers requests. */
const MOST_VALUES = 100;
/** Liquid counts lists and texts by these names. */
const COUNTING = new Set(['size', 'first', 'last']);
/** The names that the service sets itself: they are the same in every rendering. */
const SET_BY_SERVICE = 'unsubscribeUrl';

/** Stands for a value; characters for private use are in no mail. */
const held = (index: number): string => `\uE0F0${index}\uE0F1`;
const HELD = /\uE0F0(\d+)\uE0F1/;

/** An output whose value is left open. */
class HeldOutput implements Template {
  constructor(
    readonly token: Token,
    private readonly index: number,
  ) {}

  render(_: Context, emitter: Emitter): void {
    emitter.write(held(this.index));
  }
}

/** Outlines sources; null where they do more than to write values. */
export function outlineOf(parsed: ParsedParts): Outline | null {
  const values: OutlinedValue[] = [];
  const sources = new Map<PartName, ParsedSource | string>();
  const openIn = new Map<PartName, number>();
  for (const [part, source] of parsed.sources) {
    const before = values.length;
    const opened =
      typeof source === 'string'
        ? source
        : openedValues(source, values, part === 'subject' || part === 'previewText');
    if (opened === null || values.length > MOST_VALUES) return null;
    sources.set(part, opened);
    openIn.set(part, values.length - before);
  }
  // Its preview text is a line, and then html: two ways to write a value at once.
  if (parsed.placesPreview && openIn.get('previewText')) return null;
  try {
    const open = { ...parsed, sources };
    if (openIn.get('html') && !isBodyBegun(open)) return null;
    const rendered = renderParts(open, NO_NAMES);
    const rest = values.entries();
    const parts: { -readonly [Part in PartName]: OutlinedPart | null } = { ...NONE };
    // In the order in which their values were numbered.
    for (const [part, count] of openIn) {
      const made = rendered[part];
      if (made === null) return null;
      const split = cut(made, count, rest);
      if (split === null || (part === 'html' && parsed.placesLanguage && saysLanguage(split))) return null;
      parts[part] = split;
    }
    return { parts, writesLinks: parsed.writesLinks };
  } catch (error) {
    if (error instanceof LiquidProblem) return null;
    throw error;
  }
}

const NO_NAMES = { names: {}, now: 0 };
const NONE = { subject: null, previewText: null, html: null, text: null };

/**
 * The source with its values left open, which are added to `values`; null where something else is in it. What
 * a line loses must not lie beside a value that is empty.
 */
function openedValues(source: ParsedSource, values: OutlinedValue[], isLine: boolean): ParsedSource | null {
  const opened: Template[] = [];
  for (const template of source) {
    const { token } = template;
    if (token.kind === TokenKind.HTML) {
      if (isLine && isUnprintable(token.getText())) return null;
      opened.push(template);
    } else {
      const value = template instanceof Output ? openValue(template) : null;
      if (value === null) return null;
      if (value.path[0] === SET_BY_SERVICE) opened.push(template);
      else opened.push(new HeldOutput(token, values.push(value) - 1));
    }
  }
  return opened;
}

/** The value that an output writes as it is, or with a text for its absence; null for any other output. */
function openValue({ value: { initial, filters } }: Output): OutlinedValue | null {
  const [token, ...further] = initial.postfix;
  // The last one escapes.
  const [filter, ...others] = filters.slice(0, -1);
  if (!TypeGuards.isPropertyAccessToken(token) || token.variable || further.length > 0) return null;
  if (filters.length === 0 || filters.at(-1)?.raw || others.length > 0) return null;
  const path: string[] = [];
  for (const prop of token.props) {
    const name = TypeGuards.isWordToken(prop)
      ? prop.content
      : TypeGuards.isQuotedToken(prop)
        ? evalQuotedToken(prop)
        : null;
    if (name === null || COUNTING.has(name)) return null;
    path.push(name);
  }
  if (!filter) return { path, instead: '' };
  const [quoted, ...more] = filter.args;
  if (filter.name !== 'default' || more.length > 0 || !TypeGuards.isQuotedToken(quoted)) return null;
  const instead = evalQuotedToken(quoted);
  return isStorable(instead) ? { path, instead } : null;
}

/**
 * A part between its values, of which it takes the next ones; null where they are not all in it, one after
 * another.
 */
function cut(made: string, count: number, rest: ArrayIterator<[number, OutlinedValue]>): OutlinedPart | null {
  const pieces = made.split(HELD);
  if (pieces.length !== 2 * count + 1) return null;
  const values: OutlinedValue[] = [];
  for (let at = 1; at < pieces.length; at += 2) {
    const [index, value] = rest.next().value ?? [];
    if (value === undefined || pieces[at] !== String(index)) return null;
    values.push(value);
  }
  return { texts: pieces.filter((_, at) => at % 2 === 0), values };
}

/** True where the service adds nothing to an html, or its additions come before all values. */
function isBodyBegun(open: ParsedParts): boolean {
  if (!(open.placesPreview || open.placesLanguage)) return true;
  const { html } = renderParts({ ...open, placesPreview: false, placesLanguage: false }, NO_NAMES);
  const [head = ''] = html?.split(HELD) ?? [];
  return beginOfBody(head) < head.length;
}

/** The text before a value in an attribute that the service fills in, or in a part of it. */
const BEFORE_VALUE = /\b(?:lang|dir)\s*=\s*["']?[^"'\s>]*$/i;
const BEHIND_VALUE = /^[\w =]{0,12}"(?:und|auto|\w{0,4}$)/i;

const saysLanguage = ({ texts: [first = '', ...others] }: OutlinedPart): boolean =>
  others.length > 0 &&
  [first, ...others].some((text) => BEFORE_VALUE.test(text) || (text !== first && BEHIND_VALUE.test(text)));
