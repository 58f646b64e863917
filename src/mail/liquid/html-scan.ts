import { LiquidProblem } from './limits.ts';

/** A piece of Liquid in html, with its kind and its place. */
export interface LiquidPiece {
  /** With its braces. */
  readonly source: string;
  /** Position in the html. */
  readonly at: number;
  /** Why no value may be written there; null where one may. */
  readonly danger: string | null;
  /** True of one in text or in a quoted value that runs nothing: whatever is written there stays there. */
  readonly isHeld: boolean;
  /** True when it begins the address of a link or a picture. */
  readonly beginsLink: boolean;
  /** The names of the elements around it, outermost first. */
  readonly within: string;
}

const LIQUID = /\{\{[\s\S]*?\}\}|\{%-?\s*(comment)\b[\s\S]*?\{%-?\s*endcomment\s*-?%\}|\{%[\s\S]*?%\}/y;
/** The characters that can end text. */
const NOTABLE = /[<{]/g;
const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;
/** Elements whose content no browser reads as html, and their end tags. */
const UNPARSED = /^(?:script|style|title|textarea)$/;
const ENDS_UNPARSED = /^\/(script|style|title|textarea)[\s/>]/;
const LINKS = /^(?:href|src|action|formaction|background|poster|xlink:href)$/;

const IN_SCRIPT = 'inside <script> or <style>, where escaping does not help';
const IN_TAG = 'inside a tag but in no attribute value';
const UNQUOTED = 'in an attribute value without quotes';
const IN_HANDLER = 'in an attribute that runs scripts';

type State = 'text' | 'comment' | 'name' | 'between' | 'attribute' | 'value' | '"' | "'" | 'unquoted';

/**
 * Finds the Liquid in html with the place of each piece, as a browser reads the html around it. Of the
 * branches of an `if` it reads one after the other.
 */
export function scanHtml(html: string): readonly LiquidPiece[] {
  const found: LiquidPiece[] = [];
  const elements: string[] = [];
  let state = 'text' as State;
  let name = '';
  let attribute = '';
  /** The value so far is empty, so that what comes now begins it. */
  let begins = false;
  let isClosing = false;

  const dangerHere = (): string | null => {
    if (state === 'text') return /^(?:script|style)$/.test(elements.at(-1) ?? '') ? IN_SCRIPT : null;
    if (state === 'comment') return null;
    if (state === 'value' || state === 'unquoted') return UNQUOTED;
    if (state === '"' || state === "'") return /^(?:on|srcdoc$)/.test(attribute) ? IN_HANDLER : null;
    return IN_TAG;
  };
  /** Between attributes; `before`: the name of one whose value may come. */
  const between = (before: string) => {
    attribute = before;
    state = 'between';
  };
  const endTag = (at: number) => {
    const tag = name.toLowerCase();
    if (isClosing) {
      const open = elements.lastIndexOf(tag);
      if (open !== -1) elements.length = open;
    } else if (!VOID.test(tag) && html[at - 1] !== '/') elements.push(tag);
    state = 'text';
  };

  for (let at = 0; at < html.length; at++) {
    if (state === 'text') {
      NOTABLE.lastIndex = at;
      at = NOTABLE.exec(html)?.index ?? html.length;
    }
    const character = html[at] ?? '';
    if (character === '{') {
      LIQUID.lastIndex = at;
      const [source] = LIQUID.exec(html) ?? [];
      if (source !== undefined) {
        const beginsLink = begins && (state === '"' || state === "'") && LINKS.test(attribute);
        const danger = dangerHere();
        const isHeld = danger === null && (state === 'text' || state === '"' || state === "'");
        found.push({ source, at, danger, isHeld, beginsLink, within: elements.join(' ') });
        // A value that is being written by Liquid has begun; a block may write nothing.
        if (source.startsWith('{{')) begins = false;
        if (state === 'value') state = 'unquoted';
        at += source.length - 1;
        continue;
      }
    }
    switch (state) {
      case 'text': {
        if (character !== '<') break;
        const open = elements.at(-1) ?? '';
        const rest = html.slice(at + 1, at + 12).toLowerCase();
        if (UNPARSED.test(open) && ENDS_UNPARSED.exec(rest)?.[1] !== open) break;
        if (rest.startsWith('!--')) state = 'comment';
        else if (/^\/?[a-z]/.test(rest)) {
          isClosing = rest.startsWith('/');
          if (isClosing) at++;
          name = '';
          state = 'name';
        }
        break;
      }
      case 'comment':
        if (character === '>' && html.slice(at - 2, at) === '--') state = 'text';
        break;
      case 'name':
        if (character === '>') endTag(at);
        else if (/[\s/]/.test(character)) between('');
        else name += character;
        break;
      case 'between':
        if (character === '>') endTag(at);
        else if (character === '=' && attribute !== '') state = 'value';
        else if (character === '/') attribute = '';
        else if (!/\s/.test(character)) {
          // A sign without a name before it begins one (HTML, 13.2.5.32).
          attribute = character.toLowerCase();
          state = 'attribute';
        }
        break;
      case 'attribute':
        if (character === '>') endTag(at);
        else if (character === '=') {
          state = 'value';
          begins = true;
        } else if (/[\s/]/.test(character)) between(character === '/' ? '' : attribute);
        else attribute += character.toLowerCase();
        break;
      case 'value':
        if (character === '>') endTag(at);
        else if (character === '"' || character === "'") {
          state = character;
          begins = true;
        } else if (!/\s/.test(character)) state = 'unquoted';
        break;
      case 'unquoted':
        if (character === '>') endTag(at);
        else if (/\s/.test(character)) between('');
        break;
      default:
        if (character === state) between('');
        else if (!/\s/.test(character)) begins = false;
    }
  }
  return found;
}

/** Liquid that writes values: outputs, and the tags that write as they do. */
const WRITES = /^(?:\{\{|\{%-?\s*(?:echo|cycle|liquid)\b)/;
const IS_RAW = /\|\s*raw\s*-?[%}]\}$/;

/** The position in words. */
export function placeOf(source: string, at: number): string {
  const before = source.slice(0, at).split('\n');
  return `Line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}

/** Refuses values where escaping does not hold them, unless their author takes them as they are. */
export function refuseDangerousPlaces(html: string, placed: readonly LiquidPiece[]): void {
  const wrong = placed.find(({ source, danger }) => danger && WRITES.test(source) && !IS_RAW.test(source));
  if (wrong)
    throw new LiquidProblem(
      `${placeOf(html, wrong.at)}: a value must not stand ${wrong.danger}; put it into a quoted attribute or into text, or write the filter raw.`,
    );
}

const BLOCK = /^\{%-?\s*(end)?(if|unless|case|for|tablerow|capture|render)\b/;
const MIDDLE = /^\{%-?\s*(?:elsif|else|when)\b/;

/** Refuses blocks that begin in one element and end in another: a loop would repeat half an element. */
export function refuseSplitBlocks(placed: readonly LiquidPiece[]): void {
  const open: string[] = [];
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
/** The value of an attribute begins. Of two runs of spaces only a quote is between: else one run would be divided in all ways. */
const BEGIN = `\\s*=[\\s\\x00-\\x20]*(?:["']${SPACE})?`;
const scheme = (name: string) => [...name].join(SPACE);
const RUN = `(?:${scheme('javascript')}|${scheme('vbscript')})`;
/** The address of a page that follows by itself, behind its seconds. */
const REFRESH = `content${BEGIN}[\\d.]{1,10}${SPACE}[;,]${SPACE}url${BEGIN}(?:${RUN}|${scheme('data')})`;
const SCRIPTED = new RegExp(
  `\\b(?:(?:href|src|action|formaction|background|poster|data)${BEGIN}${RUN}|href${BEGIN}${scheme('data')}|${REFRESH})${SPACE}:`,
  'gi',
);
/** Html that is read here in another way than by browsers: what looks like text in it may be none. */
const ODD =
  /<(?:xmp|iframe|noembed|noframes|noscript|plaintext|svg|math|template|select)\b|--!|<\?|<\/[^a-z]|<!(?!--|doctype\b[^<>]*>|\[(?:end)?if\b[^\]<>"']*\](?:--)?>)/i;

/**
 * True when a link of rendered html runs something. Escaping does not help there: the scheme is plain text. Words that look like such a link
 * may be text, or be in the value of another attribute.
 */
export function runsScripts(html: string): boolean {
  const places = [...html.matchAll(SCRIPTED)].map(({ index }) => index);
  if (places.length === 0) return false;
  if (ODD.test(html)) return true;
  const parts = places.map((at, index) => html.slice(places[index - 1] ?? 0, at));
  // Braces that are written are none here.
  const marked = [...parts, html.slice(places.at(-1))].map((part) => part.replaceAll('{', '(')).join(MARK);
  const marks = scanHtml(marked);
  return marks.length < places.length || marks.some(({ isHeld }) => !isHeld);
}

const MARK = '{{m}}';
