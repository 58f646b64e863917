import { chipText } from './chip-text.ts';
import { attributesOf } from './source/attributes.ts';
import { type Block, linksOf, type SectionRow } from './source/blocks.ts';
import { COLUMN_BLOCKS } from './source/new-blocks.ts';
import type { RichText } from './source/rich-text.ts';
import { contentOf } from './source/tree.ts';

export function kindName(block: Block): string {
  if (block.kind === 'marker') return markerName(block.marker.tag);
  if (block.kind === 'locked') return 'Code';
  return block.kind === 'footer' ? 'Footer' : COLUMN_BLOCKS[block.kind];
}

const markerName = (tag: string): string =>
  tag === 'for'
    ? 'List'
    : tag === 'endfor'
      ? 'End of list'
      : tag.startsWith('end')
        ? 'End of condition'
        : 'Condition';

export function wordsOf(text: RichText): string {
  const read = (node: unknown): string => {
    const {
      text: words,
      attrs,
      content = [],
    } = node as {
      readonly text?: string;
      readonly attrs?: { readonly source?: string };
      readonly content?: readonly unknown[];
    };
    return words ?? (attrs?.source === undefined ? content.map(read).join('') : chipText(attrs.source));
  };
  return text.content.map(read).join(' ');
}

const MOST = 40;
const cut = (text: string): string => (text.length > MOST ? `${text.slice(0, MOST)}…` : text);

/** The name of a block for screen readers: its kind, and the beginning of its content. */
export function blockName(block: Block): string {
  const name = kindName(block);
  const content = (): string => {
    if ('text' in block) return wordsOf(block.text);
    switch (block.kind) {
      case 'button':
        return contentOf(block.element).trim();
      case 'image':
        return attributesOf(block.element.open).alt ?? '';
      case 'links':
        return linksOf(block.element).map(contentOf).join(', ');
      case 'marker':
        return block.marker.words;
      default:
        return '';
    }
  };
  const said = cut(content().trim());
  return said === '' ? name : `${name}: ${said}`;
}

/** The name of a section for screen readers. */
export function sectionName({ parts }: SectionRow): string {
  const columns = parts.filter(({ kind }) => kind === 'column').length;
  return columns === 1 ? 'Section' : `Section with ${columns} columns`;
}
