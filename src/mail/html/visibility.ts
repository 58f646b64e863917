import type { Declarations } from './css.ts';
import { areHiding, areHidingInOutlook, areLettersTiny } from './hidden.ts';
import type { HtmlElement } from './html-element.ts';
import { isOf } from './selector.ts';
import { PARSING, type StepBudget } from './step-budget.ts';
import { type Rule, type Rules, rulesOf, type Sheet } from './style-sheet.ts';

/** The visibility of an element's content. */
interface ElementVisibility {
  /** The beginning of the outermost element that hides it; null for none. */
  readonly hider: number | null;
  readonly hidesItself: boolean;
  readonly isHiddenInOutlook: boolean;
  readonly areLettersTiny: boolean;
  /** The steps of each selector with several that elements around it satisfy. */
  readonly steps: Uint8Array;
}

const BARE = { hider: null, hidesItself: false, isHiddenInOutlook: false, areLettersTiny: false } as const;
const NO_RULES: readonly Rule[] = [];

/**
 * Decides who sees the parts of html, once all its style sheets are known. Each element is decided once, by
 * the one around it and by its own attributes and rules. When the steps are used up, all counts as hidden.
 */
export class Visibility {
  readonly #shown = new Map<HtmlElement, ElementVisibility>();
  #known: { readonly rules: Rules; readonly root: ElementVisibility } | undefined;

  constructor(
    private readonly sheets: readonly Sheet[],
    /** The elements of the document and its body, which are around all others. */
    private readonly roots: readonly HtmlElement[],
    private readonly budget: StepBudget,
  ) {}

  /** The sheets are read where an element is asked for: of most html none is open at its end. */
  get #document() {
    if (this.#known) return this.#known;
    const rules = rulesOf(this.sheets);
    let root: ElementVisibility = { ...BARE, steps: new Uint8Array(rules.chained.length) };
    for (const each of this.roots) root = this.#within(each, root, rules);
    this.#known = { rules, root };
    return this.#known;
  }

  isShown(element: HtmlElement | null, isText: boolean): boolean {
    const { rules, root } = this.#document;
    if (rules.isCut || root.hider !== null) return false;
    const shown = this.#at(element);
    return shown.hider === null && !(isText && shown.areLettersTiny) && !this.budget.isSpent;
  }

  isHiddenInOutlook(element: HtmlElement | null): boolean {
    return this.#at(element).isHiddenInOutlook;
  }

  /**
   * The beginning of the outermost element that hides the content of this one; null when only the body does,
   * beyond which nothing is put.
   */
  hiderAt(element: HtmlElement | null): number | null {
    return element === null || this.#document.root.hider !== null ? null : this.#at(element).hider;
  }

  /** True when an element hides its content, wherever it is put. */
  hides(element: HtmlElement): boolean {
    return this.#at(element).hidesItself;
  }

  #at(element: HtmlElement | null): ElementVisibility {
    const path: HtmlElement[] = [];
    const { rules, root } = this.#document;
    let shown = root;
    for (let at = element; at !== null; at = at.parent) {
      const known = this.#shown.get(at);
      if (known) {
        shown = known;
        break;
      }
      path.push(at);
    }
    for (const each of path.reverse()) {
      shown = this.#within(each, shown, rules);
      this.#shown.set(each, shown);
    }
    return shown;
  }

  #within(element: HtmlElement, around: ElementVisibility, rules: Rules): ElementVisibility {
    if (!this.budget.take(element.hasAttributes ? PARSING : 1))
      return { ...around, hider: around.hider ?? element.start, hidesItself: true };
    const matching = this.#rulesOf(element, around.steps, rules);
    const hides =
      element.hidesItself || matching.some((rule) => rule.hides && isHiddenBy(rule, element.style));
    return {
      hider: around.hider ?? (hides ? element.start : null),
      hidesItself: hides,
      isHiddenInOutlook:
        around.isHiddenInOutlook ||
        areHidingInOutlook(element.telling) ||
        matching.some(({ hidesInOutlook }) => hidesInOutlook),
      areLettersTiny: lettersOf(element, matching) ?? around.areLettersTiny,
      steps: this.#stepsWithin(element, around.steps, rules),
    };
  }

  #rulesOf(element: HtmlElement, steps: Uint8Array, rules: Rules): readonly Rule[] {
    const { byId, byClass, byName, ofAny } = rules;
    const lists = [ofAny, byName.get(element.name) ?? NO_RULES];
    if (element.hasAttributes) {
      if (byId.size > 0) lists.push(byId.get(element.id) ?? NO_RULES);
      if (byClass.size > 0) for (const each of element.classes) lists.push(byClass.get(each) ?? NO_RULES);
    }
    return lists.flatMap((list) =>
      list.filter(
        (rule) =>
          this.budget.take(1) &&
          (rule.chain === null || steps[rule.chain] === rule.steps.length - 1) &&
          // A rule that is read in part alone is not taken to hide the whole document.
          !(rule.last.isVague && isRoot(element)) &&
          isOf(element, rule.last),
      ),
    );
  }

  /** The first steps of a selector that are found from the outside leave most room for the others. */
  #stepsWithin(element: HtmlElement, around: Uint8Array, { chained }: Rules): Uint8Array {
    let steps = around;
    for (const [index, { steps: wanted }] of chained.entries()) {
      const done = around[index] ?? 0;
      const next = wanted[done];
      if (!this.budget.take(1) || done === wanted.length - 1 || !next || !isOf(element, next)) continue;
      if (steps === around) steps = around.slice();
      steps[index] = done + 1;
    }
    return steps;
  }
}

const isRoot = ({ name }: HtmlElement): boolean => name === 'html' || name === 'body';

/** A rule hides where the style of the element does not overrule it. */
function isHiddenBy({ declared }: Rule, style: Declarations): boolean {
  if (style.size === 0) return true;
  const together = new Map(declared);
  for (const [name, own] of style)
    if (own.isImportant || together.get(name)?.isImportant !== true) together.set(name, own);
  return areHiding(together);
}

const isLettersImportant = (declared: Declarations): boolean =>
  ['font', 'font-size'].some((name) => declared.get(name)?.isImportant === true);

/**
 * True when the style or the rule that wins makes the letters tiny (CSS Cascade 4, 6.1); null where none says
 * anything of them.
 */
function lettersOf({ telling: style }: HtmlElement, matching: readonly Rule[]): boolean | null {
  const own = areLettersTiny(style);
  if (own !== null && isLettersImportant(style)) return own;
  let best: Rule | null = null;
  for (const rule of matching) {
    if (rule.tiny === null || (own !== null && !isLettersImportant(rule.declared))) continue;
    if (best === null || isBefore(best, rule)) best = rule;
  }
  return best?.tiny ?? own;
}

function isBefore(one: Rule, other: Rule): boolean {
  const [first, second] = [one, other].map(({ declared }) => Number(isLettersImportant(declared)));
  if (first !== second) return Number(first) < Number(second);
  return one.specificity === other.specificity
    ? one.order < other.order
    : one.specificity < other.specificity;
}
