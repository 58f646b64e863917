import { inkOn } from '../../../../../../../mail/message/ink.ts';
import type { Asset } from '../../../../../../client/operations.ts';
import { attributeText } from './escape.ts';

/** An image in a message. */
export interface Picture extends Pick<Asset, 'url' | 'width'> {
  /**
   * Its two sizes, where there are two. Programs that do not read them, such as Gmail and Outlook, show the
   * large one.
   */
  readonly srcset: string | null;
}

/** The look of the workspace. */
export interface Brand {
  /** Six hexadecimal digits after #. */
  readonly colour: string;
  /** The fonts of new texts as CSS has them; null where the message has its own. */
  readonly font: string | null;
}

/** The attributes of a new section, taken from one beside it. */
export interface SectionLook {
  readonly 'background-color'?: string | undefined;
  readonly 'css-class'?: string | undefined;
}

/** Blocks of a column, and rows. */
export const COLUMN_BLOCKS = {
  text: 'Text',
  heading: 'Heading',
  list: 'List',
  quote: 'Quote',
  button: 'Button',
  image: 'Image',
  divider: 'Divider',
  spacer: 'Space',
  links: 'Social links',
  footer: 'Unsubscribe footer',
  html: 'HTML',
} as const;
export const ROW_BLOCKS = {
  columns2: 'Two columns',
  columns3: 'Three columns',
  products: 'Product list',
} as const;
export type ColumnBlock = keyof typeof COLUMN_BLOCKS;
export type RowBlock = keyof typeof ROW_BLOCKS;

type Font = Pick<Brand, 'font'>;
const fontIn = ({ font }: Font): string => (font === null ? '' : ` font-family="${attributeText(font)}"`);
const text = (words: string, brand: Font) =>
  `<mj-text${fontIn(brand)} font-size="16px" line-height="1.5" color="#3f3f46">${words}</mj-text>`;
const small = (words: string, brand: Font) =>
  `<mj-text${fontIn(brand)} align="center" font-size="13px" line-height="1.5" color="#62626b">${words}</mj-text>`;
const heading = (words: string, brand: Font, level = 2, size = '22px') =>
  `<mj-text${fontIn(brand)} font-size="${size}" line-height="1.3" color="#18181b"><h${level} style="margin: 0; font-size: inherit; font-weight: 600">${words}</h${level}></mj-text>`;

/** An image's markup: its address, what it shows, its width in pixels, and its sizes for screens. */
export const imageMarkup = (
  source: string,
  alt: string,
  width: number | null,
  srcset: string | null = null,
): string =>
  `<mj-image src="${attributeText(source)}"${srcset === null ? '' : ` srcset="${attributeText(srcset)}"`} alt="${attributeText(alt)}"${width === null ? '' : ` width="${width}px"`} border-radius="8px" />`;

/** Writes a new block of a column in MJML. `imageMarkup` writes an image. */
export function columnMarkup(kind: Exclude<ColumnBlock, 'image'>, brand: Brand): string {
  const { colour } = brand;
  switch (kind) {
    case 'text':
      return text('Write something here.', brand);
    case 'heading':
      return heading('A heading', brand);
    case 'list':
      return text('<ul>\n<li>One</li>\n<li>Two</li>\n</ul>', brand);
    case 'quote':
      return text(
        '<blockquote style="margin: 0; padding-left: 16px; border-left: 3px solid #d4d4d8">A sentence that someone said.</blockquote>',
        brand,
      );
    case 'button':
      return `<mj-button${fontIn(brand)} href="https://example.com" background-color="${colour}" color="${inkOn(colour)}" border-radius="8px" font-size="16px" font-weight="600" inner-padding="12px 24px">Read more</mj-button>`;
    case 'divider':
      return '<mj-divider border-width="1px" border-color="#e4e4e7" />';
    case 'spacer':
      return '<mj-spacer height="24px" />';
    case 'links':
      return [
        '<mj-navbar>',
        ...['LinkedIn', 'Instagram', 'YouTube'].map(
          (name) =>
            `  <mj-navbar-link href="https://example.com/${name.toLowerCase()}" color="#52525b" font-size="14px"${fontIn(brand)}>${name}</mj-navbar-link>`,
        ),
        '</mj-navbar>',
      ].join('\n');
    case 'footer':
      return small(
        '{{ workspace.name }}, {{ workspace.address }}<br /><a href="{{ unsubscribeUrl }}" style="color: #62626b">Unsubscribe</a>',
        brand,
      );
    case 'html':
      return '<mj-raw><tr><td style="padding: 10px 25px">Your HTML</td></tr></mj-raw>';
  }
}

const indented = (markup: string, spaces: number) => markup.replaceAll('\n', `\n${' '.repeat(spaces)}`);

const attributesIn = (look: SectionLook): string =>
  Object.entries(look)
    .map(([name, value]) => (value === undefined ? '' : ` ${name}="${attributeText(String(value))}"`))
    .join('');

/** The markup of a section with columns, each with blocks in markup. */
export const sectionMarkup = (columns: readonly (readonly string[])[], look: SectionLook): string =>
  [
    `<mj-section${attributesIn(look)}>`,
    ...columns.flatMap((blocks) => [
      '  <mj-column>',
      ...blocks.map((block) => `    ${indented(block, 4)}`),
      '  </mj-column>',
    ]),
    '</mj-section>',
  ].join('\n');

/** The markup of new rows. `list`: the variable with the products. */
export function rowMarkup(kind: RowBlock, look: SectionLook, list: string, brand: Font): string {
  const column = [heading('A heading', brand, 3, '18px'), text('Write something here.', brand)];
  if (kind !== 'products') return sectionMarkup(Array(kind === 'columns2' ? 2 : 3).fill(column), look);
  return [
    `<mj-raw>{% for item in ${list} %}</mj-raw>`,
    sectionMarkup(
      [
        [imageMarkup('{{ item.image }}', '{{ item.title }}', null)],
        [heading('{{ item.title }}', brand, 3, '18px'), text('{{ item.price }}', brand)],
      ],
      look,
    ),
    '<mj-raw>{% endfor %}</mj-raw>',
  ].join('\n');
}
