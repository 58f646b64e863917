import { Tokenizer } from 'htmlparser2';
import { held, readSource } from './source-tags.ts';
import { unclosedInBoth, unclosedTags } from './unclosed.ts';

/** A warning of a preview. */
export interface PreviewNote {
  readonly code: string;
  readonly message: string;
  readonly line: number | null;
  /** The offset in the MJML that the html was made of; absent for a note on the html. */
  readonly at?: number;
}

/** Most warnings of one kind: an author mends the first ones and looks again. */
const MOST_OF_A_KIND = 20;

interface Tag {
  readonly name: string;
  readonly isEnd: boolean;
  /** Written as one that ends itself. */
  readonly endsItself: boolean;
  /** Those that are looked at, the first of each name. */
  readonly attributes: ReadonlyMap<CheckedAttribute, string>;
  readonly line: number;
}

const HEEDED = ['alt', 'href', 'src'] as const;
type CheckedAttribute = (typeof HEEDED)[number];
const LONGEST_NAME = 4;
const NONE: ReadonlyMap<CheckedAttribute, string> = new Map();

/**
 * The tags of a document as they are written, of a broken one too; text in comments, style sheets and scripts
 * is none.
 */
function tagsOf(html: string): readonly Tag[] {
  const tags: Tag[] = [];
  let line = 1;
  // The next line end is searched for once, not again for every tag of a long line.
  let lineEnd = html.indexOf('\n');
  const lineAt = (position: number): number => {
    for (; lineEnd !== -1 && lineEnd < position; lineEnd = html.indexOf('\n', lineEnd + 1)) line++;
    return line;
  };
  let name = '';
  let at = 0;
  /** The attribute that is being read, where it is looked at. */
  let attribute: CheckedAttribute | undefined;
  let value = '';
  let attributes: Map<CheckedAttribute, string> | null = null;
  const opened = (endsItself: boolean): void => {
    tags.push({ name, isEnd: false, endsItself, attributes: attributes ?? NONE, line: lineAt(at) });
  };
  const ignored = (): void => {};
  const tokenizer = new Tokenizer(
    { decodeEntities: false },
    {
      onopentagname(start, end) {
        name = html.slice(start, end).toLowerCase();
        at = start;
        attributes = null;
      },
      onattribname(start, end) {
        const written = end - start > LONGEST_NAME ? '' : html.slice(start, end).toLowerCase();
        attribute = HEEDED.find((each) => each === written);
        value = '';
      },
      onattribdata(start, end) {
        if (attribute !== undefined) value += html.slice(start, end);
      },
      onattribend() {
        if (attribute === undefined) return;
        attributes ??= new Map();
        if (!attributes.has(attribute)) attributes.set(attribute, value);
      },
      onopentagend: () => opened(false),
      onselfclosingtag: () => opened(true),
      onclosetag(start, end) {
        const closed = html.slice(start, end).toLowerCase();
        tags.push({ name: closed, isEnd: true, endsItself: false, attributes: NONE, line: lineAt(start) });
      },
      ...{ onattribentity: ignored, oncdata: ignored, oncomment: ignored, ondeclaration: ignored },
      ...{ onend: ignored, onprocessinginstruction: ignored, ontext: ignored, ontextentity: ignored },
    },
  );
  tokenizer.write(html);
  return tags;
}

const closedNowhere = (name: string): string => `This ${name} is closed nowhere.`;

/**
 * Warns of what a mail program shows badly in html. `hasLines`: its lines are the author's, so that they are worth telling. `mjml`: the
 * source that it was made of, in which an element without its end has its place.
 */
export function htmlWarnings(html: string, hasLines: boolean, mjml: string | null = null): PreviewNote[] {
  const warnings: PreviewNote[] = [];
  const counts = new Map<string, number>();
  const warn = (code: string, message: string, line: number, at?: number) => {
    const count = (counts.get(code) ?? 0) + 1;
    counts.set(code, count);
    if (count <= MOST_OF_A_KIND)
      warnings.push({ code, message, line: hasLines ? line : null, ...(at !== undefined && { at }) });
  };
  const tags = tagsOf(html);
  for (const { name, isEnd, attributes, line } of tags) {
    if (isEnd) continue;
    if (name === 'img' && !attributes.has('alt'))
      warn('image_without_alt', 'This image has no alt text, which shows where images are blocked.', line);
    if ((['href', 'src'] as const).some((each) => /^\s*http:/i.test(attributes.get(each) ?? '')))
      warn('insecure_link', 'This address begins with http: use https.', line);
  }
  if (mjml === null)
    for (const { name, line } of unclosedTags(tags)) warn('unclosed_tag', closedNowhere(name), line);
  else
    for (const { name, line, at } of unclosedInBoth(readSource(held(mjml)), tags))
      warn('unclosed_tag', closedNowhere(name), line, at - 1);
  return warnings;
}
