import sanitizeHtml from 'sanitize-html';
import { ownOf } from '../../platform/text/own-member.ts';
import { ALIGNMENT, COLOUR, LENGTH } from './markdown-values.ts';

const LINKS = ['http', 'https', 'mailto', 'tel'];
const IMAGES = ['http', 'https', 'cid'];

/** The attributes that emailmd turns into styles of an image later, unescaped. */
const IMAGE_STYLES: Readonly<Record<string, RegExp>> = {
  valign: /^(?:top|middle|bottom|baseline|sub|super|text-top|text-bottom)$/,
  float: /^(?:left|right)$/,
  'border-radius': LENGTH,
  align: ALIGNMENT,
  width: /^\d{1,4}(?:px)?$/,
  height: /^\d{1,4}(?:px)?$/,
};

const POLICY: sanitizeHtml.IOptions = {
  allowedTags: [
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
    'p',
    'div',
    'span',
    'br',
    'hr',
    'blockquote',
    'pre',
    'code',
    'kbd',
    'samp',
    'a',
    'b',
    'strong',
    'i',
    'em',
    'u',
    's',
    'del',
    'ins',
    'mark',
    'small',
    'sub',
    'sup',
    'abbr',
    'cite',
    'q',
    'ul',
    'ol',
    'li',
    'dl',
    'dt',
    'dd',
    'table',
    'caption',
    'thead',
    'tbody',
    'tfoot',
    'tr',
    'th',
    'td',
    'img',
  ],
  allowedAttributes: {
    '*': ['style', 'title', 'lang', 'dir'],
    a: ['href'],
    img: ['src', 'alt', ...Object.keys(IMAGE_STYLES)],
    ol: ['start'],
    td: ['colspan', 'rowspan'],
    th: ['colspan', 'rowspan'],
  },
  allowedClasses: { ul: ['contains-task-list'], li: ['task-list-item'] },
  // Values with url(), expressions and escapes match none of these.
  allowedStyles: {
    '*': {
      color: [COLOUR],
      'background-color': [COLOUR],
      'text-align': [/^(?:left|center|right|justify)$/],
      'font-size': [LENGTH],
      'font-weight': [/^(?:normal|bold|[1-9]00)$/],
      'font-style': [/^(?:normal|italic)$/],
      'text-decoration': [/^(?:none|underline|line-through)$/],
    },
  },
  allowedSchemes: LINKS,
  allowedSchemesByTag: { img: IMAGES },
  allowProtocolRelative: false,
  nestingLimit: 64,
  transformTags: {
    img: (tagName, attribs) => {
      const kept = Object.entries(attribs).filter(
        ([name, value]) => ownOf(IMAGE_STYLES, name)?.test(value) ?? true,
      );
      return { tagName, attribs: Object.fromEntries(kept) };
    },
  },
};

/**
 * Html without anything that runs, loads (except images), or breaks out of its surroundings. It is
 * well-formed XML.
 */
export const sanitiseHtml = (html: string): string => sanitizeHtml(html, POLICY);

/** The text of an html, escaped for html. */
export const sanitiseText = (html: string): string =>
  sanitizeHtml(html, { allowedTags: [], allowedAttributes: {} });

/** The allowed attributes of an element, escaped; `given` are values as they stand in html. */
export function sanitiseAttributes(
  tag: 'a' | 'img',
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const pairs = Object.entries(given).map(([name, value]) => `${name}="${value.replaceAll('"', '&quot;')}"`);
  const element = sanitiseHtml(`<${tag} ${pairs.join(' ')}>`);
  return Object.fromEntries(
    [...element.matchAll(/ ([\w-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
}
