import type { FoundProblem } from './codes.ts';
import type { SourceReading, SourceTag } from './source-tags.ts';
import { type Declaration, declarations, sheetDeclarations, withoutComments } from './style-facts.ts';
import { ELEMENTS, EMBEDDED_IMAGE, IMAGES, PROPERTIES, RULES, type Unsupported } from './support.ts';

/** A thing that programs leave out, and its first place. */
interface Dropped {
  readonly name: string;
  readonly fact: Unsupported;
  readonly at: number;
  /** The way in which an author writes it, in Markdown and MJML too. */
  readonly written: RegExp;
  count: number;
}

/** A problem that was found in html, and the way in which its author may have written it elsewhere. */
export interface WrittenProblem extends FoundProblem {
  readonly written: RegExp;
}

/**
 * Everything in html that Outlook, Gmail or Apple Mail leaves out, each thing once with its first place.
 * `counts`: its author wrote this html, so that the number of times is worth saying.
 */
export function droppedBy({ tags, sheets }: SourceReading, counts: boolean): WrittenProblem[] {
  const found = new Map<string, Dropped>();
  const note = (name: string, fact: Unsupported | undefined, at: number, written: () => RegExp): void => {
    if (!fact) return;
    const known = found.get(name);
    if (known) known.count++;
    else found.set(name, { name, fact, at, written: written(), count: 1 });
  };
  const noteProperty = ({ property, value }: Declaration, at: number): void => {
    note(property, own(PROPERTIES, property), at, () => asProperty(property));
    const [first = ''] = value.split(/[\s!]/, 1);
    const both = `${property}:${first}`;
    note(both, own(PROPERTIES, both), at, () => asProperty(property, first));
  };
  for (const tag of tags) {
    if (tag.isEnd) continue;
    const { name, attributes, at } = tag;
    if (name !== 'link' || isSheet(tag))
      note(`<${name}>`, own(ELEMENTS, name), at, () => new RegExp(`<${name}\\b`, 'i'));
    if (name === 'img')
      noteImage(attributes.get('src') ?? '', (what, fact, written) => note(what, fact, at, written));
    const style = attributes.get('style');
    if (style !== undefined) {
      for (const declaration of declarations(style)) noteProperty(declaration, at);
      for (const rule of RULES) if (rule.is.test(style)) note(rule.name, rule.fact, at, () => rule.is);
    }
  }
  for (const { css, at: begin } of sheets) {
    const bare = withoutComments(css);
    for (const rule of RULES) {
      const at = rule.is.exec(bare)?.index;
      if (at !== undefined) note(rule.name, rule.fact, begin + at, () => rule.is);
    }
    for (const declaration of sheetDeclarations(css)) noteProperty(declaration, begin + declaration.at);
  }
  return [...found.values()].map(({ name, fact, at, written, count }) => ({
    code: 'dropped',
    message: `${listOf(fact.by)} ${fact.by.length === 1 ? 'leaves' : 'leave'} out ${name}${counts && count > 1 ? ` (${count} times, first here)` : ''}. ${fact.mend}`,
    at,
    written,
  }));
}

/** A property in a style, or an attribute of MJML that becomes one. */
const asProperty = (property: string, value: string | null = null): RegExp =>
  value === null
    ? new RegExp(`(?<![\\w-])${property}\\s{0,20}[:=]`, 'i')
    : new RegExp(`(?<![\\w-])${property}\\s{0,20}:\\s{0,20}${value}(?![\\w-])`, 'i');

const own = (facts: Readonly<Record<string, Unsupported>>, name: string): Unsupported | undefined =>
  Object.hasOwn(facts, name) ? facts[name] : undefined;

/** Only a style sheet is left out in a way that readers see. */
const isSheet = ({ attributes }: SourceTag): boolean => /\bstylesheet\b/i.test(attributes.get('rel') ?? '');

function noteImage(
  src: string,
  note: (name: string, fact: Unsupported | undefined, written: () => RegExp) => void,
): void {
  if (/^\s*data:/i.test(src)) return note('images within the html (data:)', EMBEDDED_IMAGE, () => /data:/i);
  const [, ending] = /\.([a-z\d]{2,5})(?:[?#]|$)/i.exec(src.slice(0, 2_048)) ?? [];
  if (ending !== undefined)
    note(
      `${ending.toUpperCase()} images`,
      own(IMAGES, ending.toLowerCase()),
      () => new RegExp(`\\.${ending}(?!\\w)`, 'i'),
    );
}

const listOf = (names: readonly string[]): string =>
  names.length < 3 ? names.join(' and ') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
