import { Tokenizer } from 'htmlparser2';
import { directionOf } from '../../platform/text/language.ts';
import { beginOfBody } from './read-html.ts';

/** The values that MJML writes where its author names none. */
const UNKNOWN = / lang="und"(?: dir="auto")?/g;
const AUTOMATIC = / dir="auto"/g;

/**
 * Html in a language: its element says which one it is and how it runs. Screen readers and the order of words
 * depend on it. An author's own `lang` or `dir` stays. Web mail drops the html element, so what runs from
 * right to left says so inside as well, in the author's words.
 */
export function inLanguage(html: string, language: string): string {
  const direction = directionOf(language);
  const attributes = ` lang="${language}" dir="${direction}"`;
  const known = html.replace(UNKNOWN, attributes).replace(AUTOMATIC, ` dir="${direction}"`);
  const begin = beginOfBody(known);
  const { html: root, body } = openingsIn(known.slice(0, begin));
  if (!root && !body) return `${known.slice(0, begin)}<div${attributes}>${known.slice(begin)}</div>`;
  const said = root ? attributesOver(attributes, root) : attributes;
  const inside = body && (/ dir="rtl"/i.test(said) || !root) ? withAttributes(known, body, said) : known;
  return root ? withAttributes(inside, root, attributes) : inside;
}

interface OpeningTag {
  /** The offset behind the name of the tag. */
  readonly at: number;
  /** The rest of the tag. */
  readonly rest: string;
}

/**
 * The first opening tags of both names; those in comments, in values of attributes and in styles are text.
 */
function openingsIn(html: string): { readonly html?: OpeningTag; readonly body?: OpeningTag } {
  const found: { html?: OpeningTag; body?: OpeningTag } = {};
  let named = { at: 0, name: '' };
  const ended = (end: number): void => {
    const { at, name } = named;
    if (name === 'html' || name === 'body') found[name] ??= { at, rest: html.slice(at, end) };
  };
  const tokenizer = new Tokenizer(
    { decodeEntities: false },
    {
      onopentagname: (start, end) => {
        named = { at: end, name: html.slice(start, end).toLowerCase() };
      },
      onopentagend: ended,
      onselfclosingtag: ended,
      isInForeignContext: () => false,
      onattribname: NOTHING,
      onattribend: NOTHING,
      onattribdata: NOTHING,
      onattribentity: NOTHING,
      onclosetag: NOTHING,
      ontext: NOTHING,
      ontextentity: NOTHING,
      oncomment: NOTHING,
      oncdata: NOTHING,
      ondeclaration: NOTHING,
      onprocessinginstruction: NOTHING,
      onend: NOTHING,
    },
  );
  tokenizer.write(html);
  return found;
}

const NOTHING = (): void => {};

/** Attributes with the values that a tag has for them; one whose value cannot be read is left out. */
const attributesOver = (attributes: string, { rest }: OpeningTag): string =>
  attributes.replace(/ (\w+)="[^"]*"/g, (whole, name: string) => {
    const own = new RegExp(`\\s${name}\\s*=\\s*(?:["']?([\\w-]+))?`, 'i').exec(rest);
    if (own === null) return whole;
    return own[1] === undefined ? '' : ` ${name}="${own[1]}"`;
  });

/** The html with those attributes in a tag that has not got them. */
function withAttributes(html: string, { at, rest }: OpeningTag, attributes: string): string {
  const added = attributes.replace(/ (\w+)="[^"]*"/g, (whole, name: string) =>
    new RegExp(`\\s${name}\\s*=`, 'i').test(rest) ? '' : whole,
  );
  return html.slice(0, at) + added + html.slice(at);
}
