import { placeInWords } from '../../platform/text/places.ts';
import { VOID } from '../html/open-elements.ts';
import { LiquidProblem } from './limits.ts';

/** A piece of Liquid in html, with its kind and its place. */
export interface LiquidPiece {
  /** With its braces. */
  readonly source: string;
  /** Position in the html. */
  readonly at: number;
  /** Why no value may be written there; null where one may. */
  readonly danger: string | null;
  /** The same number for the same names of the elements around it. */
  readonly within: number;
}

const LIQUID = /\{\{[\s\S]*?\}\}|\{%-?\s*(comment)\b[\s\S]*?\{%-?\s*endcomment\s*-?%\}|\{%[\s\S]*?%\}/y;
/** The characters that can end text. */
const NOTABLE = /[<{]/g;
/** Elements whose content no browser reads as html, and their end tags. */
const UNPARSED = /^(?:script|style|title|textarea|xmp|iframe|noembed|noframes)$/;
const ENDS_UNPARSED = /^\/(script|style|title|textarea|xmp|iframe|noembed|noframes)[\t\n\f\r />]/;
const BEGINS_TAG = /^\/?[a-z]/i;
/** A value may begin with the letter that makes a tag. */
const BEGINS_WRITTEN_TAG = /^\/?(?:[a-z]|\{[{%])/i;
/** Elements from which on browsers may read html in another way than it is read here. */
const ODD = /^(?:frame|frameset|math|noscript|plaintext|script|select|svg|template)$/;
/** The spaces of HTML. Those that Unicode knows besides are characters of names and values there. */
const SPACES = /[\t\n\f\r ]/;
/** A comment has two characters before the other of its ends (HTML, 13.2.5.43). */
const ENDS_COMMENT = /--$|^..--!$/s;

const IN_SCRIPT = 'inside <script> or <style>, where escaping does not help';
const IN_TAG = 'inside a tag but in no attribute value';
const UNQUOTED = 'in an attribute value without quotes';
const IN_HANDLER = 'in an attribute that runs scripts';

type State =
  | 'text'
  | 'comment'
  | 'bogus comment'
  | 'name'
  | 'between'
  | 'attribute'
  | 'value'
  | '"'
  | "'"
  | 'unquoted';

/**
 * Finds the Liquid in html with the place of each piece, as a browser reads the html around it. Of the
 * branches of an `if` it reads one after the other.
 */
export const scanHtml = (html: string): readonly LiquidPiece[] => read(html, [], true).pieces;

/**
 * Reads html once. `places`: offsets in their order; `held`: true of one in text or in a quoted value that
 * runs nothing.
 */
function read(html: string, places: readonly number[], isSource: boolean) {
  const pieces: LiquidPiece[] = [];
  const held: boolean[] = [];
  const elements: { readonly name: string; readonly path: number }[] = [];
  const paths = new Map<string, number>();
  /** The number of open elements of each name: looking for one that is not open would take n². */
  const counts = new Map<string, number>();
  let state = 'text' as State;
  let name = '';
  let attribute = '';
  let isClosing = false;
  let isOdd = false;
  /** Offset of the last comment. */
  let comment = 0;

  const dangerHere = (): string | null => {
    if (state === 'text') return /^(?:script|style)$/.test(elements.at(-1)?.name ?? '') ? IN_SCRIPT : null;
    if (state === 'comment' || state === 'bogus comment') return null;
    if (state === 'value' || state === 'unquoted') return UNQUOTED;
    if (state === '"' || state === "'") return /^(?:on|srcdoc$)/.test(attribute) ? IN_HANDLER : null;
    return IN_TAG;
  };
  const isHeldHere = (): boolean =>
    !isOdd && (state === 'text' || state === '"' || state === "'") && dangerHere() === null;
  const pathHere = (): number => elements.at(-1)?.path ?? 0;
  /** Between attributes; `before`: the name of one whose value may come. */
  const between = (before: string) => {
    attribute = before;
    state = 'between';
  };
  const count = (tag: string, more: number) => counts.set(tag, (counts.get(tag) ?? 0) + more);
  const close = (tag: string) => {
    for (let last = ''; (counts.get(tag) ?? 0) > 0 && last !== tag; count(last, -1))
      last = elements.pop()?.name ?? tag;
  };
  const open = (tag: string) => {
    const key = `${pathHere()} ${tag}`;
    const path = paths.get(key) ?? paths.size + 1;
    paths.set(key, path);
    elements.push({ name: tag, path });
    count(tag, 1);
  };
  const endTag = (at: number) => {
    const tag = name.toLowerCase();
    if (isClosing) close(tag);
    // A slash closes no element of html (HTML, 13.1.2.1); authors who write one close no other.
    else if (UNPARSED.test(tag) || (!VOID.has(tag) && html[at - 1] !== '/')) open(tag);
    isOdd ||= !isClosing && ODD.test(tag);
    state = 'text';
  };

  for (let at = 0; at < html.length; at++) {
    if (state === 'text') {
      NOTABLE.lastIndex = at;
      at = NOTABLE.exec(html)?.index ?? html.length;
    }
    while ((places[held.length] ?? Number.POSITIVE_INFINITY) <= at) held.push(isHeldHere());
    const character = html[at] ?? '';
    if (character === '{' && isSource) {
      LIQUID.lastIndex = at;
      const [source] = LIQUID.exec(html) ?? [];
      if (source !== undefined) {
        pieces.push({ source, at, danger: dangerHere(), within: pathHere() });
        if (state === 'value') state = 'unquoted';
        at += source.length - 1;
        continue;
      }
    }
    switch (state) {
      case 'text': {
        if (character !== '<') break;
        const unparsed = elements.at(-1)?.name ?? '';
        const rest = html.slice(at + 1, at + 12);
        if (UNPARSED.test(unparsed) && ENDS_UNPARSED.exec(rest.toLowerCase())?.[1] !== unparsed) break;
        if (rest.startsWith('!--')) {
          comment = at;
          state = 'comment';
        } else if ((isSource ? BEGINS_WRITTEN_TAG : BEGINS_TAG).test(rest)) {
          isClosing = rest.startsWith('/');
          if (isClosing) at++;
          name = '';
          state = 'name';
        } else if (/^[!?/]/.test(rest)) state = 'bogus comment';
        break;
      }
      case 'comment':
        if (character === '>' && ENDS_COMMENT.test(html.slice(Math.max(comment + 2, at - 5), at)))
          state = 'text';
        break;
      case 'bogus comment':
        if (character === '>') state = 'text';
        break;
      case 'name':
        if (character === '>') endTag(at);
        else if (character === '/' || SPACES.test(character)) between('');
        else name += character;
        break;
      case 'between':
        if (character === '>') endTag(at);
        else if (character === '=' && attribute !== '') state = 'value';
        else if (character === '/') attribute = '';
        else if (!SPACES.test(character)) {
          // A sign without a name before it begins one (HTML, 13.2.5.32).
          attribute = character.toLowerCase();
          state = 'attribute';
        }
        break;
      case 'attribute':
        if (character === '>') endTag(at);
        else if (character === '=') state = 'value';
        else if (character === '/') between('');
        else if (SPACES.test(character)) between(attribute);
        else attribute += character.toLowerCase();
        break;
      case 'value':
        if (character === '>') endTag(at);
        else if (character === '"' || character === "'") state = character;
        else if (!SPACES.test(character)) state = 'unquoted';
        break;
      case 'unquoted':
        if (character === '>') endTag(at);
        else if (SPACES.test(character)) between('');
        break;
      default:
        if (character === state) between('');
    }
  }
  return { pieces, held };
}

/** Liquid that writes values: outputs, and the tags that write as they do. */
const WRITES = /^(?:\{\{|\{%-?\s*(?:echo|cycle|liquid)\b)/;
const IS_RAW = /\|\s*raw\s*-?[%}]\}$/;

/** Refuses values where escaping does not hold them, unless their author takes them as they are. */
export function refuseDangerousPlaces(html: string, placed: readonly LiquidPiece[]): void {
  const wrong = placed.find(({ source, danger }) => danger && WRITES.test(source) && !IS_RAW.test(source));
  if (wrong)
    throw new LiquidProblem(
      `${placeInWords(html, wrong.at)}: a value must not stand ${wrong.danger}; put it into a quoted attribute or into text, or write the filter raw.`,
    );
}

const BLOCK = /^\{%-?\s*(end)?(if|unless|case|for|tablerow|capture|render)\b/;
const MIDDLE = /^\{%-?\s*(?:elsif|else|when)\b/;

/** Refuses blocks that begin in one element and end in another: a loop would repeat half an element. */
export function refuseSplitBlocks(placed: readonly LiquidPiece[]): void {
  const open: number[] = [];
  for (const { source, within } of placed) {
    const [tag, end, name] = BLOCK.exec(source) ?? [];
    const begun = open.at(-1);
    if (tag !== undefined && !end) open.push(within);
    else if ((tag !== undefined || MIDDLE.test(source)) && begun !== undefined) {
      if (begun !== within)
        throw new LiquidProblem(
          `The markup splits ${name ? `the block {% ${name} %}` : 'a block'}: it begins in one element and ends in another. Put its tags on lines of their own, with empty lines around them.`,
        );
      if (end) open.pop();
    }
  }
}

const SPACE = '[\\x00-\\x20]*';
/**
 * The value of an attribute begins. Of two runs of spaces only a quote is between: else one run would be
 * divided in all ways.
 */
const BEGIN = `\\s*=[\\s\\x00-\\x20]*(?:["']${SPACE})?`;
const scheme = (name: string) => [...name].join(SPACE);
const RUN = `(?:${scheme('javascript')}|${scheme('vbscript')})`;
/** The address of a page that follows by itself, behind its seconds. */
const REFRESH = `content${BEGIN}[\\d.]{1,10}${SPACE}[;,]${SPACE}url${BEGIN}(?:${RUN}|${scheme('data')})`;
const SCRIPTED = new RegExp(
  `\\b(?:(?:href|src|action|formaction|background|poster|data)${BEGIN}${RUN}|href${BEGIN}${scheme('data')}|${REFRESH})${SPACE}:`,
  'gi',
);

/**
 * True when a link of html runs something. Escaping does not help there: the scheme is plain text. Words that
 * look like such a link may be text, or be in the value of another attribute. `isSource`: braces are Liquid.
 */
export function runsScripts(html: string, isSource = false): boolean {
  const places = [...html.matchAll(SCRIPTED)].map(({ index }) => index);
  return places.length > 0 && read(html, places, isSource).held.includes(false);
}
