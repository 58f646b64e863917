import { Parser } from 'htmlparser2';
import mjml2html from 'mjml-browser';
import { MarkdownProblem } from './markdown-values.ts';
import { Shield } from './shield.ts';

/** A note on something in MJML that was left out or read in another way. */
export interface MjmlNote {
  /** A sentence. */
  readonly message: string;
  /** From 1. */
  readonly line: number;
  /** From 1; null where only the line is known. */
  readonly column: number | null;
}

/** The html of MJML, with its Liquid as it is. */
export interface RenderedMjml {
  readonly html: string;
  readonly notes: readonly MjmlNote[];
}

/** The most elements, those of html in texts included. Each takes 0.3 ms, and up to 2 KB of html. */
const MOST_ELEMENTS = 2_000;
/** Elements within each other; MJML itself nests six. The parser calls itself for each. */
const DEEPEST = 64;
/** In characters. Gmail shows the first 102 KB of an email. */
const LONGEST_HTML = 2_097_152;
/** An author mends the first ones and looks again. */
const MOST_NOTES = 20;

const NO_INCLUDE =
  'Must not include other files: mj-include reads none here. Put the content of the file in its place.';
const FONT_LEFT_OUT =
  'mj-font is left out, since its server would learn of every reader. The next family of font-family is shown.';
const REMOTE_ICON = 'The icon comes from a server of Mailjet. Name an icon of yours in src.';

/**
 * Makes the html of MJML; rejects with MarkdownProblem when it is at fault. Liquid stays as it is. Nothing is read from a file or a
 * server. `nonce`: letters and digits that the author cannot know.
 *
 * A usual newsletter takes 5 ms. Memory is bounded by the limits above. Time is not, so the caller needs a deadline.
 */
export async function renderMjml(mjml: string, nonce: string): Promise<RenderedMjml> {
  const shield = new Shield(nonce);
  const hidden = shield.hide(mjml);
  const placeAt = (at: number) => placeOf(mjml, shield.offsetBefore(at));
  const refuse = (at: number, message: string): never => {
    const { line, column } = placeOf(mjml, at);
    throw new MarkdownProblem(`Line ${line}, column ${column}: ${message}`);
  };
  const { includes, fonts, icons } = look(hidden);
  const [include] = includes;
  if (include !== undefined) refuse(shield.offsetBefore(include), NO_INCLUDE);
  const source = without(hidden, fonts);
  const { html, errors } = await madeOf(source);
  const lost = shield.firstMissing(html, (tag) => tag.startsWith('{%'));
  if (lost !== null) refuse(lost.at, lostTag(lost.tag));
  const restored = shield.restore(html, (tag) => tag);
  if (restored.length > LONGEST_HTML) throw new MarkdownProblem('Must make an html of at most 2 MiB.');

  const lines = lineStarts(hidden);
  const found = [
    ...fonts
      .filter(({ isEnd }) => !isEnd)
      .map(({ start }) => ({ message: FONT_LEFT_OUT, at: start, hasColumn: true })),
    ...icons.map((at) => ({ message: REMOTE_ICON, at, hasColumn: true })),
    ...errors
      // A value in Liquid is not the author's: nothing is known of it yet.
      .filter(({ message }) => !shield.hides(message))
      .map(({ line, message, tagName }) => {
        // MJML names the line alone: of several elements of that name it may be any.
        const begin = lines[line - 1] ?? 0;
        const end = lines[line] ?? hidden.length;
        const first = hidden.slice(0, end).indexOf(`<${tagName}`, begin);
        const isOnly = first !== -1 && first === hidden.slice(0, end).lastIndexOf(`<${tagName}`);
        return {
          message: `${tagName}: ${message.trim()}.`,
          at: first === -1 ? begin : first,
          hasColumn: isOnly,
        };
      }),
  ];
  const notes = found
    .toSorted((one, other) => one.at - other.at)
    .slice(0, MOST_NOTES)
    .map(({ message, at, hasColumn }) => {
      const { line, column } = placeAt(at);
      return { message, line, column: hasColumn ? column : null };
    });
  return { html: restored, notes };
}

/** A tag of mj-font. */
interface FontTag {
  readonly start: number;
  readonly end: number;
  readonly isEnd: boolean;
}

/** The places of elements that need a look of ours. @throws MarkdownProblem where there are too many elements */
function look(mjml: string) {
  const [includes, fonts, icons]: [number[], FontTag[], number[]] = [[], [], []];
  let [count, depth] = [0, 0];
  const fontTag = (isEnd: boolean): void => {
    fonts.push({ start: parser.startIndex, end: parser.endIndex + 1, isEnd });
  };
  const parser = new Parser(
    {
      onopentag(name, { name: icon, src }) {
        if (++count > MOST_ELEMENTS)
          throw new MarkdownProblem(`Must have at most ${MOST_ELEMENTS.toLocaleString('en')} elements.`);
        if (++depth > DEEPEST) throw new MarkdownProblem(`Must nest elements at most ${DEEPEST} deep.`);
        if (name === 'mj-include') includes.push(parser.startIndex);
        if (name === 'mj-font') fontTag(false);
        if (name === 'mj-social-element' && icon !== undefined && src === undefined)
          icons.push(parser.startIndex);
      },
      onclosetag(name) {
        depth--;
        // The end of an element that ends itself is no tag.
        if (name === 'mj-font' && mjml.startsWith('</', parser.startIndex)) fontTag(true);
      },
    },
    { recognizeSelfClosing: true },
  );
  parser.end(mjml);
  return { includes, fonts, icons };
}

/** The text without those tags. Kept line ends keep the lines of what MJML says of the rest. */
function without(text: string, tags: readonly FontTag[]): string {
  let [kept, from] = ['', 0];
  for (const { start, end } of tags) {
    kept += text.slice(from, start) + text.slice(start, end).replace(/[^\n]/g, '');
    from = end;
  }
  return kept + text.slice(from);
}

interface MjmlResult {
  readonly html: string;
  readonly errors: readonly { readonly line: number; readonly message: string; readonly tagName: string }[];
}

async function madeOf(source: string): Promise<MjmlResult> {
  try {
    // Without given fonts MJML links those of Google.
    return await mjml2html(source, { fonts: {}, validationLevel: 'soft' });
  } catch {
    // Its message may repeat what was written.
    throw new MarkdownProblem(
      'Must be MJML: an <mjml> element with an <mj-body> in it, each element with its end.',
    );
  }
}

const lostTag = (tag: string): string =>
  `Must not have {% ${/^\{%-?\s*(\w*)/.exec(tag)?.[1] ?? ''} %} between elements, where MJML leaves text out. Put it into <mj-raw>.`;

/** The offset of each line. */
function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function placeOf(text: string, at: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at);
  return { line: before.split('\n').length, column: at - before.lastIndexOf('\n') };
}
