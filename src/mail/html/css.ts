/** A property's value in lower case, without `!important`. */
export interface CssValue {
  readonly value: string;
  readonly isImportant: boolean;
}

export type Declarations = ReadonlyMap<string, CssValue>;

/**
 * A block of a style sheet: the heads around it, outermost first, and the declarations directly within it.
 */
export interface Block {
  readonly heads: readonly string[];
  readonly body: string;
}

/** A value is read to this length: no keyword or length is longer. */
const LONGEST_VALUE = 200;

/** Begins a comment, a string or an escape; `<!--` and `-->` mean nothing in a sheet (CSS Syntax 3, 4.3). */
const NOISE = /\/\*|["'\\]|<!--|-->/g;
const STRING_END = { '"': /["\\\n]/g, "'": /['\\\n]/g } as const;
const ESCAPE = /\\([0-9a-f]{1,6})\s?|\\(?:\r\n|([\s\S]))/iy;
/**
 * An escaped or quoted character that would mean something where it is not: it is held at this offset until
 * it is compared.
 */
const HELD = 0xe000;
const HELD_CHARACTERS = /[\uE000-\uE07F]/g;
const IS_PLAIN = /[\w\u0080-\u{10FFFF}-]/u;

const held = (character: string): string =>
  IS_PLAIN.test(character) ? character : String.fromCharCode(HELD + (character.charCodeAt(0) & 0x7f));

/** A name or a string of CSS as it is compared. */
export const unheld = (text: string): string =>
  text.replace(HELD_CHARACTERS, (character) => String.fromCharCode(character.charCodeAt(0) - HELD));

/**
 * CSS without comments; what strings and escapes hold is no syntax any more. It goes once through the text: a
 * pattern would search to the end from each beginning.
 */
export function plainCss(css: string): string {
  let plain = '';
  let done = 0;
  NOISE.lastIndex = 0;
  for (let found = NOISE.exec(css); found !== null; found = NOISE.exec(css)) {
    const [mark] = found;
    plain += css.slice(done, found.index);
    done = NOISE.lastIndex;
    if (mark === '/*') {
      const end = css.indexOf('*/', done);
      // One that does not end takes the rest.
      if (end === -1) return plain;
      done = end + 2;
    } else if (mark === '\\') {
      const { text, end } = escapeAt(css, found.index);
      plain += text;
      done = end;
    } else if (mark === '"' || mark === "'") {
      const { text, end } = stringAt(css, done, mark);
      plain += `"${text}"`;
      done = end;
    } else plain += ' ';
    NOISE.lastIndex = done;
  }
  return plain + css.slice(done);
}

function escapeAt(css: string, at: number): { readonly text: string; readonly end: number } {
  ESCAPE.lastIndex = at;
  const [, code, character] = ESCAPE.exec(css) ?? [];
  const end = ESCAPE.lastIndex || css.length;
  if (character !== undefined) return { text: held(character), end };
  if (code === undefined) return { text: '', end };
  const point = Number.parseInt(code, 16);
  return { text: point > 0 && point <= 0x10ffff ? held(String.fromCodePoint(point)) : '\uFFFD', end };
}

/**
 * The string whose quote is before that place. One that does not end is over with its line (CSS Syntax 3,
 * 4.3.5).
 */
function stringAt(
  css: string,
  begin: number,
  quote: '"' | "'",
): { readonly text: string; readonly end: number } {
  const pattern = STRING_END[quote];
  let text = '';
  let done = begin;
  const add = (end: number): void => {
    text += css.slice(done, end).replace(/[^\w\u0080-\uFFFF-]/g, held);
  };
  for (;;) {
    pattern.lastIndex = done;
    const found = pattern.exec(css);
    add(found?.index ?? css.length);
    if (found === null) return { text, end: css.length };
    if (found[0] === '\n') return { text, end: found.index };
    if (found[0] === quote) return { text, end: found.index + 1 };
    const escaped = escapeAt(css, found.index);
    text += escaped.text;
    done = escaped.end;
  }
}

const BOUNDARY = /[{};]/g;

/**
 * The blocks of a plain sheet in the order of their ends. Those that do not end are over with the sheet, as
 * in a browser.
 */
export function blocksOf(css: string): readonly Block[] {
  const blocks: Block[] = [];
  const open: { readonly heads: readonly string[]; body: string }[] = [];
  let done = 0;
  const close = (last: string): void => {
    const block = open.pop();
    if (block) blocks.push({ heads: block.heads, body: block.body + last });
  };
  BOUNDARY.lastIndex = 0;
  for (let found = BOUNDARY.exec(css); found !== null; found = BOUNDARY.exec(css)) {
    const piece = css.slice(done, found.index);
    done = BOUNDARY.lastIndex;
    const around = open.at(-1);
    if (found[0] === '{') open.push({ heads: headsWithin(around?.heads ?? [], piece.trim()), body: '' });
    else if (found[0] === '}') close(piece);
    // Outside of all blocks it ends an `@import` or the like.
    else if (around) around.body += `${piece};`;
  }
  const rest = css.slice(done);
  for (let last = rest; open.length > 0; last = '') close(last);
  return blocks;
}

/** Groups within groups that are read: no sheet nests them deeper. */
const MOST_HEADS = 16;

const headsWithin = (heads: readonly string[], head: string): readonly string[] =>
  heads.length >= MOST_HEADS ? [...heads.slice(0, -1), head] : [...heads, head];

/** Keywords of the properties that decide most; a browser passes over what it does not know. */
const KNOWN: Readonly<Record<string, RegExp>> = {
  display:
    /^(?:none|block|inline|inline-block|(?:inline-)?(?:flex|grid|table)|table-[a-z-]+|list-item|contents|flow-root|run-in|ruby[a-z-]*|initial|inherit|unset|revert|revert-layer|-(?:webkit|moz|ms)-[a-z-]+|(?:inline|block) [a-z -]+)$/,
  visibility: /^(?:visible|hidden|collapse|initial|inherit|unset|revert|revert-layer)$/,
};

/** The declarations of those properties in plain CSS, by their names. */
export function declarationsOf(css: string, heeded: ReadonlySet<string>): Declarations {
  const declared = new Map<string, CssValue>();
  for (const declaration of css.split(';')) {
    const colon = declaration.indexOf(':');
    if (colon === -1) continue;
    const name = declaration.slice(0, colon).trim().toLowerCase();
    if (!heeded.has(name)) continue;
    const [text = '', ...marks] = declaration.slice(colon + 1).split('!');
    const value = text.trim().slice(0, LONGEST_VALUE).toLowerCase();
    const isImportant = marks.some((mark) => mark.trim().toLowerCase() === 'important');
    if (value === '' || KNOWN[name]?.test(value) === false) continue;
    if (!isImportant && declared.get(name)?.isImportant === true) continue;
    // The map is in the order in which the declarations count.
    declared.delete(name);
    declared.set(name, { value, isImportant });
  }
  return declared;
}
