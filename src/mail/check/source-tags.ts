import { Tokenizer } from 'htmlparser2';
import { piecesOf } from '../liquid/pieces.ts';

/** A tag as it is written. */
export interface SourceTag {
  readonly name: string;
  readonly isEnd: boolean;
  readonly endsItself: boolean;
  /** Values by lower-case names, the first of each; with entities as they are. */
  readonly attributes: ReadonlyMap<string, string>;
  /** The offset of its name. */
  readonly at: number;
}

/** A style sheet within html. */
export interface SourceSheet {
  readonly css: string;
  readonly at: number;
}

/** Html in a comment that Outlook for Windows alone reads. */
interface ConditionalHtml {
  readonly html: string;
  readonly at: number;
}

/** The tags and style sheets of html, also of broken html. */
export interface SourceReading {
  readonly tags: readonly SourceTag[];
  readonly sheets: readonly SourceSheet[];
  readonly conditional: readonly ConditionalHtml[];
  /** False where a limit was met. */
  readonly isWhole: boolean;
}

/** The most characters and tags that are read. */
export const LONGEST_CHECKED = 262_144;
export const MOST_TAGS = 20_000;

/** The beginning of a comment that some Outlook reads, and not one that all others do. */
const CONDITION = /^\[if\s[^\]>]*\]>/i;
const LONGEST_CONDITION = 200;

const NONE: ReadonlyMap<string, string> = new Map();
const ignored = (): void => {};

/** Stands for a character of Liquid: it occurs in no text. */
export const HELD = '\uE000';
const HELD_PIECES = /\uE000[\uE000\n]*/g;

/** Html whose Liquid is held: each character but line ends is replaced, so that all places stay the same. */
export const held = (source: string): string =>
  piecesOf(source)
    .map(({ text, isLiquid }) => (isLiquid ? text.replace(/[^\n]/g, HELD) : text))
    .join('');

/** A held text as a problem shows it to its author. */
export const shortened = (text: string): string => text.replaceAll(HELD_PIECES, '…');

/** True of a text with a piece of Liquid in it. */
export const isHeld = (text: string): boolean => text.includes(HELD);

/** The part of html that is read. */
interface ReadingLimits {
  readonly longest: number;
  readonly mostTags: number;
  /** The attributes that are kept; null for all. */
  readonly attributes: ReadonlySet<string> | null;
}

const CHECKED: ReadingLimits = { longest: LONGEST_CHECKED, mostTags: MOST_TAGS, attributes: null };

/** Reads html once, within limits. */
export function readSource(
  given: string,
  { longest, mostTags, attributes: heeded }: ReadingLimits = CHECKED,
): SourceReading {
  const html = given.slice(0, longest);
  const tags: SourceTag[] = [];
  const sheets: SourceSheet[] = [];
  const conditional: ConditionalHtml[] = [];
  let name = '';
  let at = 0;
  let attribute = '';
  let value = '';
  let attributes: Map<string, string> | null = null;
  let isInSheet = false;
  const add = (tag: SourceTag): void => {
    tags.push(tag);
    if (tags.length >= mostTags) tokenizer.pause();
  };
  const opened = (endsItself: boolean): void => {
    add({ name, isEnd: false, endsItself, attributes: attributes ?? NONE, at });
    isInSheet = name === 'style' && !endsItself;
  };
  const tokenizer = new Tokenizer(
    { decodeEntities: false },
    {
      onopentagname(start, end) {
        name = html.slice(start, end).toLowerCase();
        at = start;
        attributes = null;
      },
      onattribname(start, end) {
        attribute = html.slice(start, end).toLowerCase();
        value = '';
      },
      onattribdata(start, end) {
        value += html.slice(start, end);
      },
      onattribend() {
        if (heeded && !heeded.has(attribute)) return;
        attributes ??= new Map();
        if (!attributes.has(attribute)) attributes.set(attribute, value);
      },
      onopentagend: () => opened(false),
      onselfclosingtag: () => opened(true),
      onclosetag(start, end) {
        const closed = html.slice(start, end).toLowerCase();
        isInSheet = false;
        add({ name: closed, isEnd: true, endsItself: false, attributes: NONE, at: start });
      },
      ontext(start, end) {
        if (isInSheet) sheets.push({ css: html.slice(start, end), at: start });
      },
      oncomment(start, end) {
        const [condition] = CONDITION.exec(html.slice(start, start + LONGEST_CONDITION)) ?? [];
        if (condition === undefined) return;
        const at = start + condition.length;
        conditional.push({ html: html.slice(at, end), at });
      },
      onattribentity: ignored,
      oncdata: ignored,
      ondeclaration: ignored,
      onend: ignored,
      onprocessinginstruction: ignored,
      ontextentity: ignored,
    },
  );
  tokenizer.write(html);
  return { tags, sheets, conditional, isWhole: given.length <= longest && tags.length < mostTags };
}
