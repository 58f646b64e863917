import type { Segment } from 'emailmd';
import { ownOf } from '../../platform/text/own-member.ts';
import { ALIGNMENT, COLOUR, LENGTH } from './markdown-values.ts';
import { sanitiseAttributes, sanitiseHtml, sanitiseText } from './sanitise.ts';

type Attributes = Readonly<Record<string, string>>;
type Patterns = Readonly<Record<string, RegExp>>;

const BLOCK: Patterns = {
  align: ALIGNMENT,
  bg: COLOUR,
  color: COLOUR,
  padding: /^(?:compact|spacious)$/,
  'border-radius': LENGTH,
};

const BUTTON: Patterns = {
  variant: /^(?:secondary|success|danger|warning)$/,
  color: COLOUR,
  width: /^full$/,
  'border-radius': LENGTH,
};

/**
 * A part of an email as emailmd made it out of markdown, with everything harmful gone. emailmd writes both
 * content and attributes into MJML as they are, so that only checked values may be left. `isOpen` tells texts
 * that are still to be filled in, and so cannot be checked.
 */
export function cleanSegment(
  { type, content, attrs = {}, buttons }: Segment,
  isOpen: (text: string) => boolean,
): Segment {
  switch (type) {
    case 'hr':
      return { type, content: '' };
    case 'button':
      return { type, content: '', attrs: cleanButton(attrs) };
    case 'button-group':
      return { type, content: '', buttons: (buttons ?? []).map(cleanButton) };
    case 'image':
      return { type, content: '', attrs: cleanImage(attrs) };
    default:
      return {
        type,
        content: sanitiseHtml(content),
        attrs: {
          ...matching(attrs, BLOCK),
          url: isOpen(attrs.url ?? '') ? '' : backgroundUrl(attrs.url ?? ''),
        },
        ...(buttons && { buttons: buttons.map(cleanButton) }),
      };
  }
}

/** The same part in plain html, for the text part to be made from. */
export function plainHtml({ type, content, attrs = {}, buttons = [] }: Segment): string {
  switch (type) {
    case 'hr':
      return '<hr>';
    case 'button':
      return plainButton(attrs);
    case 'image':
      return `<p>${linked(attrs.href, `<img alt="${attrs.alt ?? ''}">`)}</p>`;
    default:
      return `<div>${content}</div>${buttons.map(plainButton).join('')}`;
  }
}

const matching = (attributes: Attributes, patterns: Patterns): Record<string, string> =>
  Object.fromEntries(
    Object.entries(attributes).filter(([name, value]) => ownOf(patterns, name)?.test(value)),
  );

function cleanButton(given: Attributes): Record<string, string> {
  const { href = '' } = sanitiseAttributes('a', { href: given.href ?? '' });
  const fallback = given.fallback === undefined ? {} : { fallback: sanitiseText(given.fallback) };
  return { ...matching(given, BUTTON), ...fallback, href, text: sanitiseText(given.text ?? '') };
}

function cleanImage({ href, ...given }: Attributes): Record<string, string> {
  const link = href === undefined ? {} : sanitiseAttributes('a', { href });
  return { src: '', ...sanitiseAttributes('img', given), ...link };
}

/** The url of a background. It also becomes a css url('…'), which quotes and brackets would end. */
function backgroundUrl(url: string): string {
  const { src = '' } = sanitiseAttributes('img', { src: url });
  if (!/^https?:\/\//i.test(src)) return '';
  return src.replace(
    /['()\\\s]/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

const plainButton = (attributes: Attributes): string =>
  `<p>${linked(attributes.href, attributes.text ?? '')}</p>`;

const linked = (href: string | undefined, label: string): string =>
  href ? `<a href="${href}">${label}</a>` : label;
