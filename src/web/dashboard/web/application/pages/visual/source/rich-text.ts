import { Parser } from 'htmlparser2';
import { endOfAttributes } from './attributes.ts';
import { escapeText } from './escape.ts';
import { liquidIn, maskedLiquid, type Stretch } from './liquid.ts';
import { Unreadable } from './tree.ts';

/** A mark of characters. `attributes`: those of its tag, as they are written. */
export interface RichMark {
  readonly type: 'link' | 'strong' | 'em' | 'styled';
  readonly attrs: { readonly tag: string; readonly attributes: string };
}

/** A text, a break or a template tag, with its marks. */
export interface RichInline {
  readonly type: 'text' | 'break' | 'liquid';
  readonly text?: string;
  readonly attrs?: { readonly source: string };
  readonly marks?: readonly RichMark[];
}

/** A block of rich text in the form of ProseMirror. */
export interface RichBlock {
  readonly type: 'paragraph' | 'heading' | 'list' | 'item' | 'quote';
  /** `tag` is empty for text without a paragraph around it; `isBare` where the source has it so. */
  readonly attrs: { readonly tag: string; readonly attributes: string; readonly isBare?: boolean };
  readonly content?: readonly (RichBlock | RichInline)[];
}

/** A whole text. */
export interface RichText {
  readonly type: 'doc';
  readonly content: readonly RichBlock[];
}

/** By the names of tags, which may be any that a source has: an object has members that are none of these. */
const BLOCKS: ReadonlyMap<string, RichBlock['type']> = new Map<string, RichBlock['type']>([
  ...(['h1', 'h2', 'h3', 'h4', 'h5', 'h6'] as const).map((tag) => [tag, 'heading'] as const),
  ...(['ul', 'ol'] as const).map((tag) => [tag, 'list'] as const),
  ['p', 'paragraph'],
  ['li', 'item'],
  ['blockquote', 'quote'],
]);
/** The tags of characters with a look that has no button. */
export const STYLED = ['span', 'u', 's', 'small', 'sub', 'sup', 'font'] as const;
const MARKS: ReadonlyMap<string, RichMark['type']> = new Map<string, RichMark['type']>([
  ...STYLED.map((tag) => [tag, 'styled'] as const),
  ...(['strong', 'b'] as const).map((tag) => [tag, 'strong'] as const),
  ...(['em', 'i'] as const).map((tag) => [tag, 'em'] as const),
  ['a', 'link'],
]);
/** The tags of new blocks. */
export const USUAL_TAGS = {
  paragraph: 'p',
  heading: 'h2',
  list: 'ul',
  item: 'li',
  quote: 'blockquote',
} as const;
/** The blocks that a block may hold; undefined for those that hold text. */
const INSIDE: Readonly<Record<string, readonly RichBlock['type'][] | undefined>> = {
  doc: ['paragraph', 'heading', 'list', 'quote'],
  list: ['item'],
  quote: ['paragraph'],
  item: ['paragraph'],
};
const BARE = { tag: '', attributes: '', isBare: true };

/** A block whose end has not come yet. */
interface OpenBlock {
  readonly type: RichBlock['type'] | 'doc';
  readonly attrs: RichBlock['attrs'];
  readonly content: (RichBlock | RichInline)[];
}

/** The rich text of the content of mj-text; null where it holds something else. */
export function readRichText(source: string): RichText | null {
  const tags = liquidIn(source);
  const masked = maskedLiquid(source, tags);
  const blocks: OpenBlock[] = [{ type: 'doc', attrs: BARE, content: [] }];
  const marks: RichMark[] = [];
  let passed = 0;
  const top = (): OpenBlock => blocks.at(-1) ?? { type: 'doc', attrs: BARE, content: [] };
  const endBare = () => {
    const bare = top();
    if (bare.type !== 'paragraph' || bare.attrs.tag !== '') return;
    blocks.pop();
    const content = trimmed(bare.content);
    if (content.length > 0) top().content.push({ type: 'paragraph', attrs: BARE, content });
  };
  const add = (inline: RichInline) => {
    if (INSIDE[top().type]) {
      if (inline.type === 'text' && !/\S/.test(inline.text ?? '')) return;
      if (top().type === 'list') throw new Unreadable();
      blocks.push({ type: 'paragraph', attrs: BARE, content: [] });
    }
    top().content.push({ ...inline, ...(marks.length > 0 && { marks: [...marks] }) });
  };
  const parser = new Parser({
    onopentag(name, _, isImplied) {
      if (isImplied) throw new Unreadable();
      const tag = source.slice(parser.startIndex, parser.endIndex + 1);
      const attributes = tag.slice(0, endOfAttributes(tag)).replace(/^<[^\s/>]+/, '');
      const block = BLOCKS.get(name);
      const mark = MARKS.get(name);
      if (name === 'br') {
        if (attributes.trim() !== '') throw new Unreadable();
        add({ type: 'break' });
      } else if (mark) {
        const type = mark === 'strong' || mark === 'em' ? (attributes.trim() === '' ? mark : 'styled') : mark;
        if (marks.some((other) => other.type === type)) throw new Unreadable();
        marks.push({ type, attrs: { tag: name, attributes } });
      } else {
        if (!block || marks.length > 0) throw new Unreadable();
        endBare();
        if (!INSIDE[top().type]?.includes(block)) throw new Unreadable();
        blocks.push({ type: block, attrs: { tag: name, attributes }, content: [] });
      }
    },
    onclosetag(name, isImplied) {
      if (name === 'br') return;
      if (isImplied) throw new Unreadable();
      if (MARKS.has(name)) {
        if (marks.pop()?.attrs.tag !== name) throw new Unreadable();
        return;
      }
      endBare();
      const block = blocks.pop();
      if (!block || block.type === 'doc' || block.attrs.tag !== name) throw new Unreadable();
      const { type, attrs } = block;
      const content = INSIDE[type] ? block.content : trimmed(block.content);
      if (type === 'item' && content.length === 0) content.push({ type: 'paragraph', attrs: BARE });
      if (INSIDE[type] && content.length === 0) throw new Unreadable();
      top().content.push({ type, attrs, ...(content.length > 0 && { content }) });
    },
    ontext(data) {
      const [start, end] = [parser.startIndex, parser.endIndex + 1];
      const isEntity = source[start] === '&';
      if (isEntity && data !== masked.slice(start, end)) add({ type: 'text', text: data });
      else if (data !== masked.slice(start, end)) throw new Unreadable();
      else {
        // Texts come in their order, and so do the tags in them.
        while ((tags[passed]?.end ?? Number.POSITIVE_INFINITY) <= start) passed++;
        for (const piece of piecesBetween(source, tags, passed, start, end)) add(piece);
      }
    },
    oncomment: refuse,
    onprocessinginstruction: refuse,
    oncdatastart: refuse,
  });
  try {
    parser.end(masked);
  } catch (error) {
    if (error instanceof Unreadable) return null;
    throw error;
  }
  endBare();
  if (blocks.length !== 1) return null;
  const content = top().content as RichBlock[];
  return { type: 'doc', content: content.length > 0 ? content : [{ type: 'paragraph', attrs: BARE }] };
}

function refuse(): never {
  throw new Unreadable();
}

/** The texts and the template tags between two places. White space counts as browsers count it. */
function* piecesBetween(
  source: string,
  tags: readonly Stretch[],
  first: number,
  start: number,
  end: number,
): Generator<RichInline> {
  let from = start;
  const plain = (to: number): RichInline => ({
    type: 'text',
    text: source.slice(from, to).replace(/[ \t\r\n\f]+/g, ' '),
  });
  for (let at = first; at < tags.length; at++) {
    const tag = tags[at];
    if (!tag || tag.start >= end) break;
    if (tag.start < start || tag.end > end) throw new Unreadable();
    if (tag.start > from) yield plain(tag.start);
    yield { type: 'liquid', attrs: { source: source.slice(tag.start, tag.end) } };
    from = tag.end;
  }
  if (end > from) yield plain(end);
}

/**
 * Texts of a block without the white space that browsers do not show, neighbours with the same marks as one.
 */
function trimmed(content: readonly (RichBlock | RichInline)[]): RichInline[] {
  const result: RichInline[] = [];
  for (const inline of content as readonly RichInline[]) {
    const last = result.at(-1);
    let { text } = inline;
    if (text !== undefined) {
      const isAtStart = last === undefined || last.type === 'break' || last.text?.endsWith(' ');
      if (isAtStart) text = text.replace(/^ +/, '');
      if (text === '') continue;
    } else if (inline.type === 'break' && last?.text?.endsWith(' ')) result.push(...withoutEnd(result));
    if (last?.text !== undefined && text !== undefined && isSame(last.marks, inline.marks))
      result[result.length - 1] = { ...last, text: last.text + text };
    else result.push(text === undefined ? inline : { ...inline, text });
  }
  result.push(...withoutEnd(result));
  return result;
}

/**
 * Takes the last text from a list, and gives it back without the space at its end; nothing where none is
 * left.
 */
function withoutEnd(content: RichInline[]): RichInline[] {
  const last = content.at(-1);
  if (!last?.text?.endsWith(' ')) return [];
  content.pop();
  const text = last.text.replace(/ +$/, '');
  return text === '' ? [] : [{ ...last, text }];
}

const isSameMark = (one: RichMark | undefined, other: RichMark | undefined): boolean =>
  one === other ||
  (one?.type === other?.type &&
    one?.attrs.tag === other?.attrs.tag &&
    one?.attrs.attributes === other?.attrs.attributes);

const isSame = (one: RichInline['marks'] = [], other: RichInline['marks'] = []): boolean =>
  one.length === other.length && one.every((mark, at) => isSameMark(mark, other[at]));

/** Paragraphs that the editor makes keep the distance that programs have between lines. */
const NEW_PARAGRAPH = ' style="margin: 0 0 12px"';

/** The content of mj-text for a rich text. */
export const writeRichText = ({ content }: RichText): string => bareIn(content) ?? writeBlocks(content);

/** The text of a block that holds one bare paragraph alone. */
function bareIn(content: readonly RichBlock[]): string | null {
  const [first] = content;
  return content.length === 1 && isOpen(first) ? writeInlines(first?.content) : null;
}

/** A paragraph without a tag. */
const isOpen = (block: RichBlock | undefined): boolean =>
  block?.type === 'paragraph' && block.attrs.tag === '';

/**
 * A paragraph that was read without a tag, and holds tags of Liquid alone: what is between them may be left
 * out or repeated.
 */
const isTags = (block: RichBlock | undefined): boolean =>
  isOpen(block) &&
  block?.attrs.isBare === true &&
  (block.content as readonly RichInline[] | undefined)?.every(
    ({ attrs, text }) => attrs?.source.startsWith('{%') || (text !== undefined && !/\S/.test(text)),
  ) === true;

/** Text that was read without a paragraph stays so where it cannot run together with what is beside it. */
const writeBlocks = (blocks: readonly RichBlock[]): string =>
  blocks
    .map((block, at) => {
      const [before, after] = [blocks[at - 1], blocks[at + 1]];
      const isApart = isTags(block) ? !isTags(before) : !isOpen(before) && !isOpen(after);
      return isOpen(block) && block.attrs.isBare && isApart ? writeInlines(block.content) : writeBlock(block);
    })
    .join('\n');

function writeBlock({ type, attrs, content = [] }: RichBlock): string {
  const isNew = attrs.tag === '';
  const tag = isNew ? USUAL_TAGS[type] : attrs.tag;
  const open = `<${tag}${isNew && type === 'paragraph' ? NEW_PARAGRAPH : attrs.attributes}>`;
  return `${open}${insideOf(type, content)}</${tag}>`;
}

function insideOf(type: RichBlock['type'], content: NonNullable<RichBlock['content']>): string {
  if (!INSIDE[type]) return writeInlines(content);
  const blocks = content as readonly RichBlock[];
  return bareIn(blocks) ?? `\n${writeBlocks(blocks)}\n`;
}

function writeInlines(content: RichBlock['content'] = []): string {
  let written = '';
  let open: readonly RichMark[] = [];
  for (const { type, text, attrs, marks = [] } of content as readonly RichInline[]) {
    const differs = open.findIndex((mark, at) => !isSameMark(mark, marks[at]));
    const common = differs === -1 ? open.length : differs;
    written += closing(open.slice(common));
    written += marks
      .slice(common)
      .map((mark) => `<${mark.attrs.tag}${mark.attrs.attributes}>`)
      .join('');
    open = marks;
    if (type === 'break') written += '<br />';
    else written += type === 'liquid' ? (attrs?.source ?? '') : escapeText(text ?? '');
  }
  return written + closing(open);
}

const closing = (marks: readonly RichMark[]): string =>
  marks
    .toReversed()
    .map(({ attrs }) => `</${attrs.tag}>`)
    .join('');
