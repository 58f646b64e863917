import { unheld } from './css.ts';

/** One attribute that a selector asks for; without an operator it only has to be there. */
interface AttributeTest {
  readonly name: string;
  readonly operator: string;
  readonly value: string;
}

/** One step of a selector: an element with that name, those classes, that id and those attributes. */
export interface Step {
  readonly name: string;
  readonly id: string;
  readonly classes: readonly string[];
  readonly attributes: readonly AttributeTest[];
  /** A part of it was not read, so that it selects fewer elements than it seems to. */
  readonly isVague: boolean;
}

/** A selector, its outermost step first, and its specificity (Selectors 4, 17). */
export interface Selector {
  readonly steps: readonly Step[];
  readonly specificity: number;
}

/**
 * An element as selectors see it, all in lower case: documents without a doctype, as many emails are, ignore
 * the case of names.
 */
export interface SelectorElement {
  readonly name: string;
  readonly id: string;
  readonly classes: ReadonlySet<string>;
  attribute(name: string): string | undefined;
}

const IDENT = '[\\w\\u0080-\\uffff-]+';
const TOKEN = new RegExp(
  `([.#]?)(${IDENT})|(::?)(${IDENT})(\\()?|\\[\\s*(${IDENT})\\s*(?:([~|^$*]?=)\\s*(?:"([^"]*)"|(${IDENT}))\\s*[is]?\\s*)?\\]|(\\s*[>+~]\\s*|\\s+)|[\\s\\S]`,
  'gy',
);
/** Pseudo-classes of a moment, and boxes within an element: their rules hide no element that is only read. */
const PASSING =
  /^(?:hover|active|focus(?:-within|-visible)?|visited|target(?:-within)?|checked|disabled|invalid|valid|indeterminate|fullscreen|before|after|first-line|first-letter|marker|selection|placeholder|backdrop)$/;
const LINKS = /^(?:link|any-link)$/;
const MOST_STEPS = 20;

/** The selectors of a list, between its commas. */
export function selectorsOf(list: string): readonly Selector[] {
  // Single spaces keep the pattern below from searching a long run of them again and again.
  return splitOutside(list.replace(/\s+/g, ' ')).flatMap((text) => selectorOf(text.trim()) ?? []);
}

function splitOutside(list: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let done = 0;
  for (let at = 0; at < list.length; at++) {
    const character = list[at];
    if (character === '(' || character === '[') depth++;
    else if (character === ')' || character === ']') depth = Math.max(0, depth - 1);
    else if (character === ',' && depth === 0) {
      parts.push(list.slice(done, at));
      done = at + 1;
    }
  }
  return [...parts, list.slice(done)];
}

type MutableStep = {
  -readonly [Key in keyof Step]: Step[Key] extends readonly (infer One)[] ? One[] : Step[Key];
};

const newStep = (): MutableStep => ({ name: '*', id: '', classes: [], attributes: [], isVague: false });

/**
 * Reads one selector; null for one that selects nothing that is only read. What cannot be read of it is left
 * out, so that it may select more than it says: where it hides, a reader who may see a link less counts as
 * one who does not.
 */
function selectorOf(text: string): Selector | null {
  let steps: MutableStep[] = [];
  let step = newStep();
  let specificity = 0;
  TOKEN.lastIndex = 0;
  for (let found = TOKEN.exec(text); found !== null && found[0] !== ''; found = TOKEN.exec(text)) {
    const [
      whole,
      mark = '',
      ident,
      colons,
      pseudo,
      call,
      attribute,
      operator = '',
      quoted,
      bare,
      combinator,
    ] = found;
    if (ident !== undefined) {
      const name = unheld(ident).toLowerCase();
      specificity += mark === '#' ? 10_000 : mark === '.' ? 100 : 1;
      if (mark === '#') step.id = name;
      else if (mark === '.') step.classes.push(name);
      else step.name = name;
    } else if (colons !== undefined && pseudo !== undefined) {
      const name = pseudo.toLowerCase();
      if (colons === '::' || PASSING.test(name)) return null;
      if (LINKS.test(name)) step.name = 'a';
      else step.isVague = true;
      if (call !== undefined) TOKEN.lastIndex = endOfCall(text, TOKEN.lastIndex);
      specificity += 100;
    } else if (attribute !== undefined) {
      specificity += 100;
      const value = unheld(quoted ?? bare ?? '').toLowerCase();
      step.attributes.push({ name: unheld(attribute).toLowerCase(), operator, value });
    } else if (combinator !== undefined) {
      // Siblings are not known any more: any may have been there.
      steps = /[+~]/.test(combinator) ? steps : [...steps.slice(-MOST_STEPS), step];
      step = newStep();
    } else if (whole === ')' || whole === ']') continue;
  }
  return { steps: [...steps, step], specificity };
}

/** Behind the bracket that closes a call; the end of the text where none does. */
function endOfCall(text: string, begin: number): number {
  let depth = 1;
  for (let at = begin; at < text.length; at++) {
    if (text[at] === '(') depth++;
    else if (text[at] === ')' && --depth === 0) return at + 1;
  }
  return text.length;
}

/** True when an element may be the one of that step. */
export function isOf(element: SelectorElement, { name, id, classes, attributes }: Step): boolean {
  return (
    (name === '*' || name === element.name) &&
    (id === '' || id === element.id) &&
    classes.every((each) => element.classes.has(each)) &&
    attributes.every((test) => passes(element.attribute(test.name)?.toLowerCase(), test))
  );
}

function passes(found: string | undefined, { operator, value }: AttributeTest): boolean {
  if (found === undefined) return false;
  if (operator === '') return true;
  if (operator === '=') return found === value;
  if (operator === '|=') return found === value || found.startsWith(`${value}-`);
  if (value === '') return false;
  if (operator === '^=') return found.startsWith(value);
  if (operator === '$=') return found.endsWith(value);
  return operator === '*=' ? found.includes(value) : found.split(/\s+/).includes(value);
}
