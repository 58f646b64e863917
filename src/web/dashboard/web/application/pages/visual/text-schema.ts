import { type DOMOutputSpec, DOMSerializer, type Mark, type Node, Schema } from 'prosemirror-model';
import { chipText } from './chip-text.ts';
import { attributesOf, isFollowed, isHarmless } from './source/attributes.ts';
import { attributeText } from './source/escape.ts';
import { piecesOf } from './source/liquid.ts';
import { STYLED, USUAL_TAGS } from './source/rich-text.ts';

const tagged = (tag: string) => ({ tag: { default: tag }, attributes: { default: '' } }) as const;
const TAG = tagged('');

/** The style of an element that is written with these attributes. */
const styleOf = (attributes: string): Record<string, string> => {
  const { style } = attributesOf(`<p${attributes}>`);
  return style === undefined ? {} : { style };
};

/** The attribute of a copied element with those that it has in the source. */
const WRITTEN = 'data-written';

const block =
  (usual: string) =>
  ({ attrs }: Node): DOMOutputSpec => [
    attrs.tag || usual,
    {
      ...styleOf(attrs.attributes),
      ...(attrs.tag === '' ? { class: 'visual-bare' } : { [WRITTEN]: attrs.attributes }),
    },
    0,
  ];

/** The rules by which pasted elements are read. Markup from elsewhere may claim to be a copy. */
const blocks = (...tags: readonly string[]) =>
  tags.map((tag) => ({
    tag,
    getAttrs: (element: HTMLElement) => ({
      tag: element.classList.contains('visual-bare') ? '' : tag,
      attributes: writtenOf(element) ?? '',
    }),
  }));

/** The attributes of an element that was copied here; null for another one. */
function writtenOf(element: HTMLElement): string | null {
  const written = element.getAttribute(WRITTEN);
  return written !== null && isHarmless(written) ? written : null;
}

/** The attributes of a pasted link; false for one without an address that a message may have. */
function linkOf(link: HTMLElement) {
  const written = writtenOf(link);
  const href = written === null ? link.getAttribute('href') : attributesOf(`<a${written}>`).href;
  if (!href || !isFollowed(href)) return false;
  return { tag: 'a', attributes: written ?? ` href="${attributeText(href)}"` };
}

/** Rich text in a block: `source/rich-text.ts` reads and writes it. */
export const schema = new Schema({
  nodes: {
    doc: { content: 'block+' },
    paragraph: {
      group: 'block',
      content: 'inline*',
      toDOM: block('p'),
      attrs: { ...TAG, isBare: { default: false } },
      parseDOM: blocks('p'),
    },
    heading: {
      group: 'block',
      content: 'inline*',
      attrs: tagged(USUAL_TAGS.heading),
      defining: true,
      toDOM: block('h2'),
      parseDOM: blocks('h1', 'h2', 'h3', 'h4', 'h5', 'h6'),
    },
    list: {
      group: 'block',
      content: 'item+',
      attrs: tagged(USUAL_TAGS.list),
      toDOM: block('ul'),
      parseDOM: blocks('ul', 'ol'),
    },
    item: {
      content: 'paragraph+',
      attrs: tagged(USUAL_TAGS.item),
      defining: true,
      toDOM: block('li'),
      parseDOM: blocks('li'),
    },
    quote: {
      group: 'block',
      content: 'paragraph+',
      attrs: tagged(USUAL_TAGS.quote),
      toDOM: block('blockquote'),
      parseDOM: blocks('blockquote'),
    },
    text: { group: 'inline' },
    break: {
      group: 'inline',
      inline: true,
      selectable: false,
      toDOM: (): DOMOutputSpec => ['br'],
      parseDOM: [{ tag: 'br' }],
    },
    liquid: {
      group: 'inline',
      inline: true,
      atom: true,
      attrs: { source: {} },
      toDOM: ({ attrs }): DOMOutputSpec => [
        'span',
        { class: 'visual-chip', title: attrs.source, 'data-liquid': attrs.source },
        chipText(attrs.source),
      ],
      parseDOM: [
        {
          tag: 'span[data-liquid]',
          // Pasted markup may claim to be a chip.
          getAttrs: (span) => {
            const source = span.getAttribute('data-liquid') ?? '';
            const [piece, ...others] = piecesOf(source);
            return piece?.isLiquid && others.length === 0 ? { source } : false;
          },
        },
      ],
    },
  },
  marks: {
    link: {
      attrs: TAG,
      inclusive: false,
      toDOM: ({ attrs }): DOMOutputSpec => [
        'a',
        { ...styleOf(attrs.attributes), class: 'visual-link', [WRITTEN]: attrs.attributes },
        0,
      ],
      parseDOM: [{ tag: 'a', getAttrs: linkOf }],
    },
    styled: {
      attrs: TAG,
      toDOM: ({ attrs }): DOMOutputSpec => [
        attrs.tag || 'span',
        { ...styleOf(attrs.attributes), [WRITTEN]: attrs.attributes },
        0,
      ],
      parseDOM: [...STYLED, 'strong', 'b', 'em', 'i'].map((tag) => ({
        tag: `${tag}[${WRITTEN}]`,
        getAttrs: (element) => {
          const attributes = writtenOf(element);
          return attributes === null ? false : { tag, attributes };
        },
      })),
    },
    strong: {
      attrs: TAG,
      toDOM: (): DOMOutputSpec => ['strong', 0],
      parseDOM: ['strong', 'b'].map((tag) => ({ tag, attrs: { tag: 'strong' } })),
    },
    em: {
      attrs: TAG,
      toDOM: (): DOMOutputSpec => ['em', 0],
      parseDOM: ['em', 'i'].map((tag) => ({ tag, attrs: { tag: 'em' } })),
    },
  },
});

type Draw<Part> = (drawn: Part, isInline?: boolean) => DOMOutputSpec;

/** Styles in pasted markup are refused by the policy of the page; the attributes of the source have them. */
const withoutStyles = <Part>(draws: Readonly<Record<string, Draw<Part>>>): Record<string, Draw<Part>> =>
  Object.fromEntries(
    Object.entries(draws).map(([name, draw]) => [
      name,
      (drawn: Part, isInline?: boolean): DOMOutputSpec => {
        const drawing = draw(drawn, isInline);
        if (!Array.isArray(drawing)) return drawing;
        const [tag, ...rest] = drawing as readonly [string, ...unknown[]];
        return [
          tag,
          ...rest.map((part) =>
            typeof part === 'object' && part !== null && 'style' in part ? { ...part, style: null } : part,
          ),
        ];
      },
    ]),
  );

/** Writes what is copied. */
export const copies = new DOMSerializer(
  withoutStyles<Node>(DOMSerializer.nodesFromSchema(schema)),
  withoutStyles<Mark>(DOMSerializer.marksFromSchema(schema) as Record<string, Draw<Mark>>),
);
