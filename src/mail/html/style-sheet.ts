import { LruMap } from '../../platform/async/lru-map.ts';
import { type Block, blocksOf, type Declarations, plainCss } from './css.ts';
import { areHiding, areHidingInOutlook, areLettersTiny, maySay, seenDeclarations } from './hidden.ts';
import { type Selector, type Step, selectorsOf } from './selector.ts';

/** A rule that decides what is seen: that hides what it selects, or sets the size of its letters. */
export interface Rule extends Selector {
  readonly last: Step;
  readonly declared: Declarations;
  readonly hides: boolean;
  readonly hidesInOutlook: boolean;
  readonly tiny: boolean | null;
  /** Its place among all. */
  readonly order: number;
  /** Its place among those of several steps; null for one of a single step. */
  readonly chain: number | null;
}

/** The rules of all sheets of a document, which hold on every screen, by the last step of their selectors. */
export interface Rules {
  readonly byId: ReadonlyMap<string, readonly Rule[]>;
  readonly byClass: ReadonlyMap<string, readonly Rule[]>;
  readonly byName: ReadonlyMap<string, readonly Rule[]>;
  readonly ofAny: readonly Rule[];
  readonly chained: readonly Rule[];
  /** There were more than are read, so that any element may be hidden. */
  readonly isCut: boolean;
}

/** A sheet, and the medium that its element names. */
export interface Sheet {
  readonly css: string;
  readonly media: string;
}

/**
 * The most rules of one document that are heeded, and the characters of its sheets. Gmail reads 16,384
 * characters.
 */
const MOST_RULES = 1_000;
const LONGEST_SHEETS = 262_144;
/** The most documents whose rules are remembered: emails of one campaign share theirs. */
const MOST_KEPT = 32;
const LONGEST_KEPT = 65_536;

const known = new LruMap<string, Rules>({ entries: MOST_KEPT });

/** Reads the style sheets of a document. */
export function rulesOf(sheets: readonly Sheet[]): Rules {
  if (sheets.length === 0) return NONE;
  const size = sheets.reduce((total, { css, media }) => total + css.length + media.length, 0);
  if (size > LONGEST_SHEETS) return { ...NONE, isCut: true };
  const key = size > LONGEST_KEPT ? null : sheets.map(({ css, media }) => `${media}{${css}`).join('\0');
  const kept = key === null ? undefined : known.get(key);
  if (kept) return kept;
  const rules = indexed(sheets);
  if (key === null) return rules;
  known.set(key, rules);
  return rules;
}

const NONE: Rules = {
  byId: new Map(),
  byClass: new Map(),
  byName: new Map(),
  ofAny: [],
  chained: [],
  isCut: false,
};

function indexed(sheets: readonly Sheet[]): Rules {
  const [byId, byClass, byName] = [0, 1, 2].map(() => new Map<string, Rule[]>()) as [
    Map<string, Rule[]>,
    Map<string, Rule[]>,
    Map<string, Rule[]>,
  ];
  const ofAny: Rule[] = [];
  const chained: Rule[] = [];
  let order = 0;
  for (const read of readRules(sheets)) {
    if (order === MOST_RULES) return { byId, byClass, byName, ofAny, chained, isCut: true };
    const rule = { ...read, order: order++, chain: read.steps.length > 1 ? chained.length : null };
    if (rule.chain !== null) chained.push(rule);
    const { id, classes, name } = rule.last;
    if (id !== '') add(byId, id, rule);
    else if (classes[0] !== undefined) add(byClass, classes[0], rule);
    else if (name !== '*') add(byName, name, rule);
    else ofAny.push(rule);
  }
  return { byId, byClass, byName, ofAny, chained, isCut: false };
}

function add(rules: Map<string, Rule[]>, key: string, rule: Rule): void {
  const list = rules.get(key);
  if (list) list.push(rule);
  else rules.set(key, [rule]);
}

type ReadRule = Omit<Rule, 'order' | 'chain'>;

function* readRules(sheets: readonly Sheet[]): Generator<ReadRule> {
  for (const { css, media } of sheets)
    if (media.trim() === '' || isEveryScreen(media))
      for (const block of blocksOf(plainCss(css))) yield* rulesOfBlock(block);
}

function* rulesOfBlock({ heads, body }: Block): Generator<ReadRule> {
  const groups = heads.filter((each) => each.startsWith('@'));
  if (!groups.every(isOnEveryScreen)) return;
  // Declarations directly within a group belong to the rule around it (CSS Nesting).
  const selector = heads.findLast((each) => !each.startsWith('@'));
  if (selector === undefined || !maySay(body)) return;
  const declared = seenDeclarations(body);
  const says = {
    declared,
    hides: areHiding(declared),
    hidesInOutlook: areHidingInOutlook(declared),
    tiny: areLettersTiny(declared),
  };
  if (!says.hides && !says.hidesInOutlook && says.tiny === null) return;
  for (const { steps, specificity } of selectorsOf(selector)) {
    const last = steps.at(-1);
    if (last) yield { steps, specificity, last, ...says };
  }
}

/**
 * True for a group whose rules hold for all readers, or may: a mail program that knows `@supports` meets what
 * it asks for.
 */
function isOnEveryScreen(head: string): boolean {
  const [, name = '', condition = ''] = /^@([\w-]+)([\s\S]*)$/.exec(head) ?? [];
  if (name.toLowerCase() === 'media') return isEveryScreen(condition);
  return /^(?:supports|layer|scope)$/i.test(name);
}

const EVERY_SCREEN = /^(?:only\s+)?(?:all|screen)?$|^not\s+(?:print|speech|tty|tv|handheld)$/;
/** Conditions that every screen meets: it is wider than a watch and narrower than a wall. */
const NARROWEST = 240;
const WIDEST = 3_000;
const WIDTH = /^\(\s*(min|max)-(?:device-)?width\s*:\s*([\d.]+)(px|em|rem)?\s*\)$/;

function isEveryScreen(media: string): boolean {
  return media
    .toLowerCase()
    .split(',')
    .some((query) =>
      query.split(/\band\b/).every((part) => EVERY_SCREEN.test(part.trim()) || isEveryWidth(part.trim())),
    );
}

function isEveryWidth(condition: string): boolean {
  const [, bound, size = '', unit = 'px'] = WIDTH.exec(condition) ?? [];
  const pixels = Number(size) * (unit === 'px' ? 1 : 16);
  return bound === 'min' ? pixels <= NARROWEST : bound === 'max' && pixels >= WIDEST;
}
