import { Drop, type Emitter } from 'liquidjs';
import { exceeded, LIQUID_LIMITS } from './limits.ts';
import { escapedInHtml, rawInHtml, writtenInText } from './written-values.ts';

/** Text that is html already: what a filter has escaped, or a block has captured. It is not escaped again. */
export class SafeText extends Drop {
  constructor(readonly text: string) {
    super();
  }

  override valueOf(): string {
    return this.text;
  }

  get size(): number {
    return this.text.length;
  }

  toJSON(): string {
    return this.text;
  }
}

/**
 * A value that its author wants as it is. Further filters read the value, so that their result is escaped.
 */
export class RawText extends SafeText {
  constructor(
    text: string,
    readonly value: string,
  ) {
    super(text);
  }
}

/**
 * A placeholder of the service, such as that of the link to unsubscribe. A filter that leaves its text as it
 * is gives the placeholder back: a template's `default` and `raw` behind a link would otherwise turn it into
 * text, and the link would lead nowhere.
 */
export class Placeholder extends SafeText {}

/** The text of a value as it is written into an email. Lists are written one item after another. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  if (value instanceof Drop) return textOf(value.valueOf());
  if (!Array.isArray(value)) return String(value);
  weigh(value);
  return value.map(textOf).join('');
}

/**
 * Refuses a value that filters must not be given or give: too long a text, too many items, or both inside one
 * another.
 */
export function weigh(value: unknown): void {
  if (typeof value === 'string') {
    if (value.length > LIQUID_LIMITS.result) exceeded('result');
  } else if (Array.isArray(value)) {
    if (value.length > LIQUID_LIMITS.items) exceeded('items');
    if (weightOf(value, LIQUID_LIMITS.result) > LIQUID_LIMITS.result) exceeded('result');
  }
}

/**
 * Characters and members of a value. Counting ends soon after `most`: one item can be in a list a thousand
 * times.
 */
export function weightOf(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  let weight = 1;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    weight += weightOf(member, most - weight);
    if (weight > most) break;
  }
  return weight;
}

/** Collects what is rendered, and ends a rendering that makes too much. */
export class BoundedEmitter implements Emitter {
  buffer = '';

  write(piece: unknown): void {
    this.buffer += textOf(piece);
    if (this.buffer.length > LIQUID_LIMITS.result) exceeded('result');
  }
}

/** The escaping of values in one kind of text. */
export interface ValueWriter {
  /** The escaped value; a safe one stays as it is. */
  readonly write: (value: unknown) => string;
  /** A value that the author wants as it is. */
  readonly raw: (value: unknown) => string;
  /** True when something is escaped, and so can be safe already. */
  readonly escapes: boolean;
}

/** Values in html. */
export const IN_HTML: ValueWriter = {
  write: (value) => (value instanceof SafeText ? value.text : escapedInHtml(textOf(value))),
  raw: (value) => rawInHtml(textOf(value)),
  escapes: true,
};

const inText = (value: unknown): string => writtenInText(textOf(value));

/** Values in plain text and in subjects. */
export const IN_TEXT: ValueWriter = {
  write: (value) => (value instanceof SafeText ? value.text : inText(value)),
  raw: inText,
  escapes: false,
};
