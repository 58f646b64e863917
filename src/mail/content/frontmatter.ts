import { darkTheme, extractFrontmatter, lightTheme, type Theme } from 'emailmd';
import { COLOUR, FONTS, LENGTH, MarkdownProblem } from './markdown-values.ts';

/** The settings in the block between two `---` lines at the top of a markdown. */
export interface Frontmatter {
  readonly theme: Theme;
  /** The line that inboxes show behind the subject. */
  readonly preheader: string;
  /** BCP 47. */
  readonly lang: string;
  /** The markdown without the block. */
  readonly content: string;
}

/** The most characters of a block, since parsing it takes time. */
const LONGEST_BLOCK = 8_192;
const BLOCK = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

/** emailmd's default is a web font, which mail programs would fetch from a third party. */
const FONT_FAMILY = "Arial, 'Helvetica Neue', Helvetica, sans-serif";

/** Undetermined (BCP 47): a wrong language makes a screen reader mispronounce every word. */
const NO_LANGUAGE = 'und';

interface Rule {
  readonly pattern: RegExp;
  readonly form: string;
}

const A_COLOUR: Rule = { pattern: COLOUR, form: 'a colour such as #0b5fff' };
const A_LENGTH: Rule = { pattern: LENGTH, form: 'a length such as 16px' };

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...Object.keys(lightTheme)
    .filter((name) => name.endsWith('Color'))
    .map((name) => [snakeCase(name), A_COLOUR] as const),
  ['font_size', A_LENGTH],
  ['border_radius', A_LENGTH],
  ['content_width', { pattern: /^\d{3,4}px$/, form: 'a width such as 600px' }],
  ['line_height', { pattern: /^\d(?:\.\d{1,2})?(?:px|em|%)?$/, form: 'a number such as 1.6' }],
  ['font_family', { pattern: FONTS, form: "names of fonts such as Georgia, 'Times New Roman', serif" }],
  ['theme', { pattern: /^(?:light|dark)$/, form: 'light or dark' }],
  ['preheader', { pattern: /^[\s\S]{0,500}$/, form: 'at most 500 characters' }],
  ['lang', { pattern: /^[a-z]{2,3}(?:-[a-z\d]{2,8}){0,3}$/i, form: 'a language tag such as en or de-AT' }],
]);

/** Splits the block off. A wrong value of a known member is refused; unknown members are ignored. */
export function readFrontmatter(markdown: string): Frontmatter {
  const [block = ''] = BLOCK.exec(markdown) ?? [];
  if (block.length > LONGEST_BLOCK)
    throw new MarkdownProblem(`Must have a frontmatter of at most ${LONGEST_BLOCK} characters.`);
  const { meta, error } = extractFrontmatter(block);
  if (error) throw new MarkdownProblem('Must have a frontmatter that is YAML.');
  // A block without members is a text between two rules, and no frontmatter.
  const isFrontmatter = block !== '' && typeof meta === 'object' && !Array.isArray(meta);
  const given = isFrontmatter ? checked(meta) : new Map<string, string>();
  return {
    theme: themeOf(given),
    preheader: given.get('preheader') ?? '',
    lang: given.get('lang') ?? NO_LANGUAGE,
    content: isFrontmatter ? markdown.slice(block.length) : markdown,
  };
}

function checked(meta: Readonly<Record<string, unknown>>): Map<string, string> {
  if (Object.hasOwn(meta, 'fonts'))
    throw new MarkdownProblem(
      'Must not set fonts in its frontmatter: nothing in an email is loaded from third parties.',
    );
  const given = new Map<string, string>();
  for (const [name, { pattern, form }] of RULES) {
    const value = Object.hasOwn(meta, name) ? meta[name] : undefined;
    if (value === undefined || value === null) continue;
    const text = typeof value === 'number' ? String(value) : value;
    if (typeof text !== 'string' || !pattern.test(text))
      throw new MarkdownProblem(`Must have in its frontmatter, as ${name}, ${form}.`);
    given.set(name, text);
  }
  return given;
}

function themeOf(given: ReadonlyMap<string, string>): Theme {
  const theme: Record<string, string> = {
    ...(given.get('theme') === 'dark' ? darkTheme : lightTheme),
    fontFamily: FONT_FAMILY,
  };
  for (const name of Object.keys(theme)) {
    const value = given.get(snakeCase(name));
    if (value !== undefined) theme[name] = value;
  }
  return theme as unknown as Theme;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
