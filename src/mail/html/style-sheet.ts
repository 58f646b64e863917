import { type Attributes, areHiding, attributeOf, declarationsOf, withoutComments } from './hidden.ts';

/** An element that is open, with its attributes. */
interface OpenElement {
  readonly name: string;
  readonly attributes: Attributes;
}

/** One step of a selector: an element with that name, those classes and that id. */
interface Compound {
  readonly name: string;
  readonly id: string;
  readonly classes: readonly string[];
}

/** A rule that hides: its selector, outermost step first. */
interface HidingRule {
  readonly steps: readonly Compound[];
  readonly isImportant: boolean;
}

/** The rules of a style sheet that hide what they select, on every screen. */
export type HidingRules = readonly HidingRule[];

/** The most rules of one sheet that are heeded, and the most sheets that are remembered: emails of one campaign share theirs. */
const MOST_RULES = 200;
const MOST_KEPT = 32;
const LONGEST_SHEET = 65_536;

const STEP = /^([a-z][\w-]*|\*)?((?:[.#][\w-]+)*)$/i;

const known = new Map<string, HidingRules>();

/** Reads a style sheet. Rules for some screens alone (`@media`) are left out: what they hide is seen on others. */
export function hidingRulesOf(written: string): HidingRules {
  const sheet = written.slice(0, LONGEST_SHEET);
  if (!/none|hidden|opacity/i.test(sheet)) return [];
  const kept = known.get(sheet);
  if (kept) return kept;
  if (known.size >= MOST_KEPT) known.clear();
  const rules = read(withoutComments(sheet).replace(/<!--|-->/g, ' '));
  known.set(sheet, rules);
  return rules;
}

function read(sheet: string): HidingRule[] {
  const rules: HidingRule[] = [];
  for (let at = 0; rules.length < MOST_RULES; ) {
    const open = sheet.indexOf('{', at);
    if (open === -1) break;
    // `@import "x";` and the like end without a block.
    const before = sheet.slice(at, open);
    const head = before.slice(before.lastIndexOf(';') + 1).trim();
    const close = head.startsWith('@') ? endOfBlock(sheet, open) : sheet.indexOf('}', open);
    const end = close === -1 ? sheet.length : close;
    if (!head.startsWith('@')) rules.push(...rulesOf(head, sheet.slice(open + 1, end)));
    at = end + 1;
  }
  return rules.slice(0, MOST_RULES);
}

function endOfBlock(sheet: string, open: number): number {
  let depth = 0;
  for (let at = open; at < sheet.length; at++) {
    if (sheet[at] === '{') depth++;
    else if (sheet[at] === '}' && --depth === 0) return at;
  }
  return -1;
}

function rulesOf(selectors: string, body: string): HidingRule[] {
  const declared = declarationsOf(body);
  if (!areHiding(declared)) return [];
  const isImportant = body.includes('!important');
  return selectors.split(',').flatMap((selector) => {
    const steps = selector.replaceAll('>', ' ').trim().split(/\s+/);
    const compounds = steps.map(compoundOf);
    return compounds.every((compound) => compound !== null) ? [{ steps: compounds, isImportant }] : [];
  });
}

/** Null for what is selected by more than names, classes and ids: such rules are for one program or one state. */
function compoundOf(step: string): Compound | null {
  const [whole, name = '*', marks = ''] = STEP.exec(step) ?? [];
  if (whole === undefined || step === '') return null;
  const parts = marks.match(/[.#][\w-]+/g) ?? [];
  return {
    name: name.toLowerCase(),
    id: parts.find((part) => part.startsWith('#'))?.slice(1) ?? '',
    classes: parts.filter((part) => part.startsWith('.')).map((part) => part.slice(1)),
  };
}

const isOf = ({ name, attributes }: OpenElement, { name: wanted, id, classes }: Compound): boolean => {
  if (wanted !== '*' && wanted !== name) return false;
  if (id !== '' && attributes.id !== id) return false;
  if (classes.length === 0) return true;
  const own = attributeOf(attributes.class).split(/\s+/);
  return classes.every((each) => own.includes(each));
};

/** True when a rule hides the element at that place among the open ones. A style of its own wins over rules without `!important`. */
export function isHiddenByRules(rules: HidingRules, open: readonly OpenElement[], at: number): boolean {
  const element = open[at];
  return (
    element !== undefined &&
    rules.some(({ steps, isImportant }) => {
      const last = steps.at(-1);
      if (!last || !isOf(element, last) || (!isImportant && showsItself(element.attributes))) return false;
      let next = steps.length - 2;
      for (let above = at - 1; above >= 0 && next >= 0; above--) {
        const [ancestor, step] = [open[above], steps[next]];
        if (ancestor && step && isOf(ancestor, step)) next--;
      }
      return next < 0;
    })
  );
}

const showsItself = ({ style }: Attributes): boolean =>
  !(declarationsOf(attributeOf(style)).get('display') ?? 'none').startsWith('none');
