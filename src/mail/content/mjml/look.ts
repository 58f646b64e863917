import { Parser } from 'htmlparser2';
import type { Direction } from '../../../platform/text/language.ts';
import { ownOf } from '../../../platform/text/own-member.ts';
import { MarkdownProblem } from '../markdown-values.ts';
import { calculates, calculatesWith } from './calculated.ts';

/** The most elements, those of html in texts included. Each takes 0.3 ms, and up to 2 KB of html. */
export const MOST_ELEMENTS = 2_000;
/** Elements within each other; MJML itself nests six. The parser calls itself for each. */
export const DEEPEST = 64;

/** Classes of one element: MJML copies all that it has so far for each, and for each element within it. */
const MOST_CLASSES = 32;
/** Attributes in mj-attributes, and characters of one: every element may take them. */
const MOST_DEFAULTS = 1_000;
const LONGEST_DEFAULT = 1_000;

/** The elements whose content MJML takes as it is. */
const WITH_TEXT: ReadonlySet<string> = new Set([
  'mj-accordion-text',
  'mj-accordion-title',
  'mj-breakpoint',
  'mj-button',
  'mj-carousel-image',
  'mj-html-attribute',
  'mj-navbar-link',
  'mj-preview',
  'mj-raw',
  'mj-social-element',
  'mj-style',
  'mj-table',
  'mj-text',
  'mj-title',
]);

/** The elements of MJML that have no text. */
const WITHOUT_TEXT: ReadonlySet<string | undefined> = new Set([
  undefined,
  'mjml',
  'mj-head',
  'mj-attributes',
  'mj-body',
  'mj-wrapper',
  'mj-section',
  'mj-group',
  'mj-column',
  'mj-hero',
  'mj-social',
  'mj-navbar',
  'mj-carousel',
  'mj-accordion',
  'mj-accordion-element',
  'mj-image',
  'mj-divider',
  'mj-spacer',
]);

/** The icons that MJML takes from another server where their attributes are missing. */
const ICONS: Readonly<Record<string, readonly string[]>> = {
  'mj-accordion': ['icon-wrapped-url', 'icon-unwrapped-url'],
  'mj-carousel': ['left-icon', 'right-icon'],
};

const LEFT_OUT = 'MJML leaves out text between elements. Put it into an element such as <mj-text>.';
const REMOTE_ICON = 'The icon comes from a server of Mailjet. Name an icon of yours in src.';
const IMPORT =
  'A style sheet is imported from its server, which learns of every reader. Put its rules in the place of the @import.';
const remoteIcons = (attributes: readonly string[]): string =>
  `The icons come from i.imgur.com, which learns of every reader. Name icons of yours in ${attributes.join(' and ')}.`;
const second = (name: string): string =>
  `MJML takes the first ${name} and leaves out this one. Put its content into the first.`;
const unclosed = (name: string): string => `This ${name} is closed nowhere: write </${name}> where it ends.`;

const CLASSES = `Must name at most ${MOST_CLASSES} classes in one mj-class, with one space between them.`;
const DEFAULTS = `Must set at most ${MOST_DEFAULTS.toLocaleString('en')} attributes in mj-attributes.`;
const DEFAULT = `Must set attributes of at most ${LONGEST_DEFAULT.toLocaleString('en')} characters in mj-attributes.`;

/** A tag that is left out. */
export interface TagPlace {
  readonly start: number;
  readonly end: number;
  readonly isEnd: boolean;
}

/** A thing to say of a place. */
interface Remark {
  readonly at: number;
  readonly message: string;
}

/** An attribute with its value, as it is written. */
interface Attribute {
  readonly attribute: string;
  readonly value: string;
  /** The offset of its tag. */
  readonly at: number;
}

interface OpenElement {
  readonly name: string;
  readonly at: number;
}

/**
 * The places of elements that need a look of ours. `isHeld`: of a text that Liquid fills in.
 * @throws MarkdownProblem where there are too many elements
 */
export function look(mjml: string, isHeld: (text: string) => boolean) {
  const [includes, fonts, remarks]: [number[], TagPlace[], Remark[]] = [[], [], []];
  /** The tags of mj-raw in a text, where MJML would write them into the html. */
  const raws: TagPlace[] = [];
  /** Classes and defaults that are too many. */
  const excess: Remark[] = [];
  const open: OpenElement[] = [];
  const isWithin = (name: string): boolean => open.some((each) => each.name === name);
  let count = 0;
  // The offsets behind the first of these tags.
  let [root, head]: [number | null, number | 'empty' | null] = [null, null];
  let hasBody = false;
  let named: Direction | null = null;
  const decided = new Set<string>();
  /** The attributes that are defaults of elements, and the icons that are missing on an element itself. */
  const defaults = new Set<string>();
  const lacking: (Remark & { readonly attributes: readonly string[] })[] = [];
  const calculated: Attribute[] = [];
  /** The values of classes, and the elements that have them; the class of all elements has no name. */
  const shared = new Map<string, Attribute[]>();
  const takers = new Map<string, Set<string>>();
  const take = (shares: string, element: string): void => {
    if (calculates(element)) takers.set(shares, (takers.get(shares) ?? new Set()).add(element));
  };
  const tagPlace = (isEnd: boolean): TagPlace => ({
    start: parser.startIndex,
    end: parser.endIndex + 1,
    isEnd,
  });
  /** The outermost element whose content is taken as it is. */
  let holder: OpenElement | null = null;
  let isTold = false;

  let settings = 0;
  function boundDefaults(values: readonly string[]): void {
    settings += values.length;
    const at = parser.startIndex;
    if (settings > MOST_DEFAULTS) excess.push({ at, message: DEFAULTS });
    if (values.some(({ length }) => length > LONGEST_DEFAULT)) excess.push({ at, message: DEFAULT });
  }

  function lookAtAttributes(name: string, attributes: Readonly<Record<string, string>>): void {
    const at = parser.startIndex;
    const isDefault = isWithin('mj-attributes');
    // MJML copies for each space, and knows no other one.
    const classes = attributes['mj-class']?.split(' ') ?? [];
    if (classes.length > MOST_CLASSES) excess.push({ at, message: CLASSES });
    if (isDefault) boundDefaults(Object.values(attributes));
    const className = name === 'mj-all' ? '' : name === 'mj-class' ? attributes.name : undefined;
    for (const [attribute, value] of Object.entries(attributes)) {
      if (isDefault) defaults.add(attribute);
      if (name === 'mj-all') decided.add(attribute);
      if (!isHeld(value)) continue;
      if (className !== undefined) {
        const values = shared.get(className) ?? [];
        values.push({ attribute, value, at });
        shared.set(className, values);
      } else if (calculatesWith(name, { attribute, value }, isHeld))
        calculated.push({ attribute, value, at });
    }
    if (isDefault) return;
    take('', name);
    for (const each of classes) take(each, name);
    const icons = ownOf(ICONS, name);
    const missing = icons?.filter((each) => attributes[each] === undefined) ?? [];
    if (missing.length > 0) lacking.push({ at, message: remoteIcons(missing), attributes: missing });
    if (name === 'mj-social-element' && attributes.name !== undefined && attributes.src === undefined)
      remarks.push({ message: REMOTE_ICON, at });
  }

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        isTold = false;
        if (++count > MOST_ELEMENTS)
          throw new MarkdownProblem(`Must have at most ${MOST_ELEMENTS.toLocaleString('en')} elements.`);
        if (open.length >= DEEPEST) throw new MarkdownProblem(`Must nest elements at most ${DEEPEST} deep.`);
        if (name === 'mj-include') includes.push(parser.startIndex);
        if (name === 'mj-font') fonts.push(tagPlace(false));
        if (name === 'mj-raw' && holder !== null) raws.push(tagPlace(false));
        if (name === 'mjml' && root === null) {
          root = parser.endIndex + 1;
          const dir = attributes.dir?.toLowerCase();
          if (dir === 'rtl' || dir === 'ltr') named = dir;
        }
        // MJML reads the first head and the first body, and no other.
        if (open.length === 1 && (name === 'mj-head' || name === 'mj-body')) {
          if (name === 'mj-head' ? head !== null : hasBody)
            remarks.push({ message: second(name), at: parser.startIndex });
          if (name === 'mj-body') hasBody = true;
          else head ??= mjml[parser.endIndex - 1] === '/' ? 'empty' : parser.endIndex + 1;
        }
        if (holder === null) lookAtAttributes(name, attributes);
        const element = { name, at: parser.startIndex };
        open.push(element);
        if (holder === null && WITH_TEXT.has(name)) holder = element;
      },
      ontext(text) {
        if (holder !== null) {
          const at = holder.name === 'mj-style' ? text.search(/@import\b/i) : -1;
          if (at !== -1) remarks.push({ message: IMPORT, at: parser.startIndex + at });
        } else if (!isTold && WITHOUT_TEXT.has(open.at(-1)?.name) && /\S/.test(text)) {
          isTold = true;
          remarks.push({ message: LEFT_OUT, at: parser.startIndex + text.search(/\S/) });
        }
      },
      onclosetag(name) {
        isTold = false;
        const element = open.pop();
        const written = mjml.slice(parser.startIndex, parser.startIndex + name.length + 2).toLowerCase();
        // The end of an element that ends itself is no tag.
        const isTag = written === `</${name}`;
        if (element !== undefined && element === holder) holder = null;
        if (name === 'mj-font' && isTag) fonts.push(tagPlace(true));
        if (name === 'mj-raw' && isTag && holder !== null) raws.push(tagPlace(true));
        if (holder === null && element && !isTag && element.at !== parser.startIndex && name.startsWith('mj'))
          remarks.push({ message: unclosed(name), at: element.at });
      },
    },
    { recognizeSelfClosing: true },
  );
  parser.end(mjml);
  for (const [shares, attributes] of shared)
    for (const each of attributes)
      if ([...(takers.get(shares) ?? [])].some((element) => calculatesWith(element, each, isHeld)))
        calculated.push(each);
  const icons = lacking.filter(({ attributes }) => !attributes.every((each) => defaults.has(each)));
  return {
    includes,
    fonts,
    raws,
    remarks,
    icons,
    calculated,
    excess,
    head,
    root,
    decided,
    named: named as Direction | null,
  };
}
