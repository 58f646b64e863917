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

/** The most elements. Each takes 0.1 ms, and up to 2 KB of html. */
const MOST_ELEMENTS = 2_000;
/** Elements within each other; MJML itself nests four. The parser calls itself for each. */
const DEEPEST = 64;
/** In characters. Gmail shows the first 102 KB of an email. */
const LONGEST_HTML = 2_097_152;
/** An author mends the first ones and looks again. */
const MOST_NOTES = 20;

const ELEMENT = /<(\/?)([a-z][\w-]*)(?:[^<>"']|"[^"]*"|'[^']*')*?(\/?)>/gi;
/** A font of another server: that one would learn of every reader. */
const FONT = /<mj-font\b(?:[^<>"']|"[^"]*"|'[^']*')*>(?:\s*<\/mj-font\s*>)?/gi;
const INCLUDE = /<mj-include\b/i;

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
  refuseLarge(mjml);
  const notes: MjmlNote[] = [];
  const note = (message: string, at: number): void => {
    notes.push({ message, ...placeOf(mjml, at) });
  };
  const shield = new Shield(nonce);
  const hidden = shield.hide(mjml);
  if (INCLUDE.test(hidden)) throw problemAt(mjml, mjml.search(INCLUDE), NO_INCLUDE);
  for (const { index } of mjml.matchAll(FONT)) note(FONT_LEFT_OUT, index);
  for (const { 0: tag, index } of mjml.matchAll(/<mj-social-element\b[^<>]*>/gi))
    if (/\bname\s*=/i.test(tag) && !/\bsrc\s*=/i.test(tag)) note(REMOTE_ICON, index);
  // Kept line ends keep the lines of what MJML says of the rest.
  const source = hidden.replace(FONT, (font) => font.replace(/[^\n]/g, ''));
  const { html, errors } = await madeOf(source);
  // A value in Liquid is none of the author's: nothing is known of it yet.
  for (const { line, message, tagName } of errors)
    if (!shield.hides(message))
      notes.push({ message: sentenceOf(message, tagName), line, column: columnOf(mjml, line, tagName) });
  const lost = shield.firstMissing(html, (tag) => tag.startsWith('{%'));
  if (lost !== null) throw problemAt(mjml, lost.at, lostTag(lost.tag));
  const restored = shield.restore(html, (tag) => tag);
  if (restored.length > LONGEST_HTML) throw new MarkdownProblem('Must make an html of at most 2 MiB.');
  return {
    html: restored,
    notes: notes.toSorted((one, other) => one.line - other.line).slice(0, MOST_NOTES),
  };
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

function refuseLarge(mjml: string): void {
  let [count, depth] = [0, 0];
  for (const [, end, , itself] of mjml.matchAll(ELEMENT)) {
    count++;
    if (end) depth--;
    else if (!itself) depth++;
    if (depth > DEEPEST) throw new MarkdownProblem(`Must nest elements at most ${DEEPEST} deep.`);
    if (count > MOST_ELEMENTS * 2)
      throw new MarkdownProblem(`Must have at most ${MOST_ELEMENTS.toLocaleString('en')} elements.`);
  }
}

const lostTag = (tag: string): string =>
  `Must not have {% ${/^\{%-?\s*(\w*)/.exec(tag)?.[1] ?? ''} %} between elements, where MJML leaves text out. Put it into <mj-raw>.`;

const sentenceOf = (message: string, tagName: string): string => `${tagName}: ${message.trim()}.`;

const problemAt = (mjml: string, at: number, message: string): MarkdownProblem => {
  const { line, column } = placeOf(mjml, at);
  return new MarkdownProblem(`Line ${line}, column ${column}: ${message}`);
};

function placeOf(text: string, at: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at);
  return { line: before.split('\n').length, column: at - before.lastIndexOf('\n') };
}

/** MJML tells the line alone. */
function columnOf(mjml: string, line: number, tagName: string): number | null {
  const found = mjml.split('\n')[line - 1]?.indexOf(`<${tagName}`) ?? -1;
  return found === -1 ? null : found + 1;
}
