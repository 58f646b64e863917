import { buildHead, render, type Segment, segmentsToMjml } from 'emailmd';
import mjml2html from 'mjml-browser';
import { type Direction, directionOf, readLanguage } from '../../platform/text/language.ts';
import { previewLine } from '../html/preview-line.ts';
import { type Frontmatter, readFrontmatter } from './frontmatter.ts';
import { MarkdownProblem } from './markdown-values.ts';
import { directionDefaults } from './mjml-direction.ts';
import { cleanSegment, plainHtml } from './segments.ts';
import { Shield } from './shield.ts';
import { countCells } from './table-cells.ts';
import { textFromHtml } from './text-part.ts';

/** The two parts of an email. */
export interface RenderedMarkdown {
  readonly html: string;
  readonly text: string;
}

/** The parts that a template adds to its Markdown. */
export interface TemplateFrame {
  /** Takes the place of the preheader in the frontmatter. */
  readonly previewText: string | null;
}

/** The surroundings of a Markdown text. */
export interface MarkdownFrame {
  /** Of a template, whose Liquid stays. */
  readonly template?: TemplateFrame | null;
  readonly direction?: Direction;
}

/** The most segments. Each becomes several tables: 2 KB of html, and 1 ms. */
const MOST_SEGMENTS = 500;
/** The most cells of all tables together. Each is 70 characters of html, and takes 40 µs. */
const MOST_CELLS = 10_000;
/** Quotes and lists within each other. */
const DEEPEST = 40;
/** In characters. Gmail shows the first 102 KB of an email. */
const LONGEST_HTML = 2_097_152;
/**
 * The most characters that references to definitions may grow to: 256 KB of markdown could otherwise become
 * gigabytes.
 */
const MOST_REFERENCED = 16_777_216;

/**
 * Makes both parts of an email from emailmd markdown; rejects with MarkdownProblem when the markdown is at
 * fault. The html loads nothing but the images that the markdown names, and runs nothing. `nonce`: letters
 * and digits that no one can guess.
 *
 * 1 KB of prose takes 2 ms, a button one more; most of it is mjml's. Memory is bounded by the limits above.
 * Time is not, so the caller needs a deadline.
 */
export async function renderMarkdown(
  markdown: string,
  title: string,
  nonce: string,
  { template = null, direction = 'ltr' }: MarkdownFrame = {},
): Promise<RenderedMarkdown> {
  const { content, ...given } = readFrontmatter(markdown);
  refuseReferenceBomb(content);
  refuseDeepNesting(content);
  if (countCells(content) > MOST_CELLS)
    throw new MarkdownProblem('Must have at most 10,000 cells in its tables, all together.');
  const shield = new Shield(nonce);
  const frame = template
    ? { ...given, preheader: shield.hide(template.previewText ?? given.preheader) }
    : given;
  const found = await segmentsOf(shield.hide(content));
  const segments = found.map((segment) => cleanSegment(segment, (text) => shield.hides(text)));
  // Without given fonts mjml links those of Google. Soft validation would log what is in the email.
  const mjml = mjmlOf(segments, frame, template ? shield.hide(title) : title, direction);
  const { html } = await mjml2html(mjml, { fonts: {}, validationLevel: 'skip' });
  const finished = shield.restore(html, template ? keepLiquid : Bun.escapeHTML);
  if (finished.length > LONGEST_HTML) throw new MarkdownProblem('Must make an html of at most 2 MiB.');
  const text = textFromHtml(segments.map(plainHtml).join(''));
  return { html: finished, text: shield.restore(text, (tag) => tag) };
}

/** Of a template the Liquid stays as it is, so that it can be rendered for each email. */
const keepLiquid = (tag: string): string => (/^\{[{%]/.test(tag) ? tag : Bun.escapeHTML(tag));

/** emailmd's own, with the bar of a quotation and the room for bullets. */
const STYLES = /<mj-style>[^<]*<\/mj-style>/g;

type Frame = Omit<Frontmatter, 'content'>;

function mjmlOf(
  segments: Segment[],
  { theme, preheader, lang }: Frame,
  title: string,
  direction: Direction,
): string {
  const head = buildHead(theme, '');
  const written = readLanguage(lang);
  const runs = written === null ? direction : directionOf(written);
  const begun = `<mj-head><mj-title>${Bun.escapeHTML(title)}</mj-title>${directionDefaults(runs)}`;
  const sided =
    runs === 'rtl' ? head.replace(STYLES, (styles) => styles.replaceAll('-left:', '-right:')) : head;
  const titled = sided.replace('<mj-head>', () => begun);
  const line = previewLine(preheader);
  const body = (line === '' ? '' : `<mj-raw>${line}</mj-raw>`) + segmentsToMjml(segments, theme);
  return `<mjml lang="${lang}"${written !== null && runs === 'rtl' ? ' dir="rtl"' : ''}>${titled}
    <mj-body background-color="${theme.backgroundColor}" width="${theme.contentWidth}">${body}</mj-body>
  </mjml>`;
}

/** Thrown to leave emailmd once it has handed over the segments. */
const HANDED_OVER = Symbol('handed over');

/**
 * The segments that emailmd makes of markdown before it makes MJML. Its further steps are left out: its own
 * text part puts headings, and the codes in them, into capitals, pads tables to any width, and never ends on
 * an unclosed <blockquote>.
 */
async function segmentsOf(markdown: string): Promise<readonly Segment[]> {
  let segments: readonly Segment[] = [];
  const wrapper = (found: Segment[]): string => {
    segments = found;
    throw HANDED_OVER;
  };
  // The line break keeps emailmd from seeing frontmatter in what is left.
  await render(`\n${markdown}`, { wrapper }).catch((reason: unknown) => {
    if (reason !== HANDED_OVER) throw reason;
  });
  const weight = segments.reduce((sum, { buttons }) => sum + 1 + (buttons?.length ?? 0), 0);
  if (weight > MOST_SEGMENTS)
    throw new MarkdownProblem(
      `Must have at most ${MOST_SEGMENTS} blocks such as buttons, images, tables and rules.`,
    );
  return segments;
}

/** The markers that a line begins with, and the space between them: of quotes and of lists. */
const CONTAINERS = /^(?:[ \t]|>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))*/;

/** A line between paragraphs looks like many lists. */
const RULE = /^[ \t]*([-*])(?:[ \t]*\1)+[ \t]*$/;

/**
 * The parser leaves out, without a word, what lies a hundred levels deep; a list is two of them, and takes
 * two columns at least.
 */
function refuseDeepNesting(markdown: string): void {
  for (const line of markdown.split('\n')) {
    const [begin = ''] = CONTAINERS.exec(line) ?? [];
    const markers = begin.match(/>|[-+*]|\d+[.)]/g)?.length ?? 0;
    if (markers === 0) continue;
    const indent = /^[ \t]*/.exec(begin)?.[0].replaceAll('\t', '    ').length ?? 0;
    if (markers + Math.floor(indent / 2) > DEEPEST && !RULE.test(line))
      throw new MarkdownProblem(`Must nest quotes and lists at most ${DEEPEST} deep.`);
  }
}

/**
 * A definition ends with its paragraph at the latest, and there are no more references than closing brackets.
 */
function refuseReferenceBomb(markdown: string): void {
  let longest = 0;
  for (const paragraph of markdown.split(/\n[ \t>]*\n/)) {
    const definition = paragraph.indexOf(']:');
    if (definition !== -1) longest = Math.max(longest, paragraph.length - definition);
  }
  const references = markdown.split(']').length - 1;
  if (longest * references > MOST_REFERENCED)
    throw new MarkdownProblem('Must not refer to long definitions so often.');
}
