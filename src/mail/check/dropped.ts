import type { FoundProblem } from './codes.ts';
import type { SourceReading, SourceTag } from './source-tags.ts';
import { type Declaration, declarations, sheetDeclarations, withoutComments } from './style-facts.ts';
import { ELEMENTS, EMBEDDED_IMAGE, IMAGES, PROPERTIES, RULES, type Unsupported } from './support.ts';

interface Place {
  readonly line: number;
  readonly at: number;
}

/** A thing that programs leave out, and its first place. */
interface Dropped extends Place {
  readonly name: string;
  readonly fact: Unsupported;
  count: number;
}

/** Everything in html that Outlook, Gmail or Apple Mail leaves out, each thing once with its first place. */
export function droppedBy({ tags, sheets }: SourceReading): FoundProblem[] {
  const found = new Map<string, Dropped>();
  const note = (name: string, fact: Unsupported | undefined, { line, at }: Place): void => {
    if (!fact) return;
    const known = found.get(name);
    if (known) known.count++;
    else found.set(name, { name, fact, line, at, count: 1 });
  };
  const noteProperty = ({ property, value }: Declaration, place: Place): void => {
    note(property, own(PROPERTIES, property), place);
    const both = `${property}:${value.split(/[\s!]/, 1)[0] ?? ''}`;
    note(both, own(PROPERTIES, both), place);
  };
  for (const tag of tags) {
    if (tag.isEnd) continue;
    const { name, attributes } = tag;
    if (name !== 'link' || isSheet(tag)) note(`<${name}>`, own(ELEMENTS, name), tag);
    if (name === 'img') noteImage(attributes.get('src') ?? '', (what, fact) => note(what, fact, tag));
    const style = attributes.get('style');
    if (style !== undefined) {
      for (const declaration of declarations(style)) noteProperty(declaration, tag);
      for (const rule of RULES) if (rule.is.test(style)) note(rule.name, rule.fact, tag);
    }
  }
  for (const { css, line, at: begin } of sheets) {
    const bare = withoutComments(css);
    const lineOf = lineCounter(css, line);
    for (const rule of RULES) {
      const at = rule.is.exec(bare)?.index;
      if (at !== undefined) note(rule.name, rule.fact, { line: lineCounter(css, line)(at), at: begin + at });
    }
    for (const declaration of sheetDeclarations(css))
      noteProperty(declaration, { line: lineOf(declaration.at), at: begin + declaration.at });
  }
  return [...found.values()].map(({ name, fact, line, at, count }) => ({
    code: 'dropped',
    message: `${listOf(fact.by)} ${fact.by.length === 1 ? 'leaves' : 'leave'} out ${name}${count > 1 ? ` (${count} times, first here)` : ''}. ${fact.mend}`,
    ...{ line, at },
  }));
}

const own = (facts: Readonly<Record<string, Unsupported>>, name: string): Unsupported | undefined =>
  Object.hasOwn(facts, name) ? facts[name] : undefined;

/** Only a style sheet is left out in a way that readers see. */
const isSheet = ({ attributes }: SourceTag): boolean => /\bstylesheet\b/i.test(attributes.get('rel') ?? '');

function noteImage(src: string, note: (name: string, fact: Unsupported | undefined) => void): void {
  if (/^\s*data:/i.test(src)) return note('images within the html (data:)', EMBEDDED_IMAGE);
  const [, ending] = /\.([a-z\d]{2,5})(?:[?#]|$)/i.exec(src.slice(0, 2_048)) ?? [];
  if (ending !== undefined) note(`${ending.toUpperCase()} images`, own(IMAGES, ending.toLowerCase()));
}

const listOf = (names: readonly string[]): string =>
  names.length < 3 ? names.join(' and ') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

/** The lines of places that come in their order. */
function lineCounter(text: string, first: number): (at: number) => number {
  let line = first;
  let end = text.indexOf('\n');
  return (at) => {
    for (; end !== -1 && end < at; end = text.indexOf('\n', end + 1)) line++;
    return line;
  };
}
