import mjml2html from 'mjml-browser';
import type { Direction } from '../../platform/text/language.ts';
import { lineStarts, placeAt, placeInWords } from '../../platform/text/places.ts';
import { MarkdownProblem } from './markdown-values.ts';
import { look, type TagPlace } from './mjml/look.ts';
import { withSteadyIds } from './mjml/steady-ids.ts';
import { directionDefaults } from './mjml-direction.ts';
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

/** In characters. Gmail shows the first 102 KB of an email. */
const LONGEST_HTML = 2_097_152;
/** An author mends the first ones and looks again. */
const MOST_NOTES = 20;

const NO_INCLUDE =
  'Must not include other files: mj-include reads none here. Put the content of the file in its place.';
const FONT_LEFT_OUT =
  'mj-font is left out, since its server would learn of every reader. The next family of font-family is shown.';
/** The beginning of the addresses of icons that MJML takes where its author names none. */
const MJML_ICONS = 'https://i.imgur.com/';

/**
 * Makes the html of MJML; rejects with MarkdownProblem when it is at fault. Liquid stays as it is. Nothing is
 * read from a file or a server. `nonce`: letters and digits that the author cannot know. `direction`: that of
 * the language, where the mjml element has no `dir`.
 *
 * A usual newsletter takes 5 ms. Memory is bounded by the limits above. Time is not, so the caller needs a
 * deadline.
 */
export async function renderMjml(
  mjml: string,
  nonce: string,
  direction: Direction = 'ltr',
): Promise<RenderedMjml> {
  const shield = new Shield(nonce);
  const hidden = shield.hide(mjml);
  const refuse = (at: number, message: string): never => {
    throw new MarkdownProblem(`${placeInWords(mjml, at)}: ${message}`);
  };
  const { includes, fonts, raws, remarks, icons, calculated, excess, ...frame } = look(hidden, (text) =>
    shield.hides(text),
  );
  const [over] = excess;
  if (over !== undefined) refuse(shield.offsetBefore(over.at), over.message);
  const [include] = includes;
  if (include !== undefined) refuse(shield.offsetBefore(include), NO_INCLUDE);
  const [wrong] = calculated.toSorted((one, other) => one.at - other.at);
  if (wrong !== undefined)
    refuse(
      // Entities in the value are read by then: where it is not found as it is, the problem names the tag.
      shield.offsetBefore(Math.max(wrong.at, hidden.indexOf(wrong.value, wrong.at))),
      numberFor(wrong.attribute),
    );
  const source = edited(hidden, [...directionEdits(direction, frame), ...[...fonts, ...raws].map(leftOut)]);
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
    ...[...remarks, ...(html.includes(MJML_ICONS) ? icons : [])].map((remark) => ({
      ...remark,
      hasColumn: true,
    })),
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
      const { line, column } = placeAt(mjml, shield.offsetBefore(at));
      return { message, line, column: hasColumn ? column : null };
    });
  return { html: withSteadyIds(restored, mjml), notes };
}

/** A stretch of the text that something else takes the place of. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const leftOut = ({ start, end }: TagPlace): Edit => ({ start, end, text: '' });

/** Defaults for the direction. Attributes that an author writes have the last word. */
function directionEdits(
  direction: Direction,
  { head, root, named, decided }: Pick<ReturnType<typeof look>, 'head' | 'root' | 'named' | 'decided'>,
): readonly Edit[] {
  const text = directionDefaults(named ?? direction, decided);
  if (text === '') return [];
  if (typeof head === 'number') return [{ start: head, end: head, text }];
  return root === null ? [] : [{ start: root, end: root, text: `<mj-head>${text}</mj-head>` }];
}

/** The text with those edits. Kept line ends keep the lines of what MJML says of the rest. */
function edited(text: string, edits: readonly Edit[]): string {
  let [made, from] = ['', 0];
  for (const edit of edits.toSorted((one, other) => one.start - other.start)) {
    made += text.slice(from, edit.start) + edit.text + text.slice(edit.start, edit.end).replace(/[^\n]/g, '');
    from = edit.end;
  }
  return made + text.slice(from);
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

const numberFor = (attribute: string): string =>
  `MJML calculates with ${attribute} before values are filled in: write a number such as 20px in the place of the value.`;

const lostTag = (tag: string): string =>
  `Must not have {% ${/^\{%-?\s*(\w*)/.exec(tag)?.[1] ?? ''} %} between elements, where MJML leaves text out. Put it into <mj-raw>.`;
