import { type DefaultTreeAdapterTypes, parse } from 'parse5';

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** A text or a picture that a reader sees, with the address that it leads to. */
export interface Seen {
  readonly text: string;
  readonly href: string | null;
  /** The source, where it is a picture. */
  readonly picture: string | null;
  /** Hidden from the eye, but there: the line that inboxes show. */
  readonly isPreview: boolean;
}

const UNSHOWN = new Set(
  'title style script template textarea select svg math iframe object noembed noframes xmp'.split(' '),
);

/**
 * The text of html in its order, by another parser (parse5, as in jsdom): the body, without what is hidden.
 */
export function seenIn(html: string): readonly Seen[] {
  const seen: Seen[] = [];
  const document = parse(html, { scriptingEnabled: false });
  const root = document.childNodes.find((node): node is Element => node.nodeName === 'html');
  const body = root?.childNodes.find((node): node is Element => node.nodeName === 'body');
  const sheet = html.includes('.gone{display:none}');
  const walk = (node: Node, href: string | null, isPreview: boolean): void => {
    if (node.nodeName === '#text' && 'value' in node) {
      const text = node.value.replace(/[\s\p{Cf}\p{Mn}]+/gu, ' ').trim();
      if (text !== '') seen.push({ text, href, picture: null, isPreview });
      return;
    }
    if (!('tagName' in node) || UNSHOWN.has(node.tagName)) return;
    const of = (name: string) => node.attrs.find((attribute) => attribute.name === name)?.value;
    const style = of('style') ?? '';
    const isOurs = style === 'display:none;max-height:0;overflow:hidden;mso-hide:all';
    if (!isOurs && /display\s*:\s*none|visibility\s*:\s*hidden/.test(style)) return;
    if (of('hidden') !== undefined || (sheet && of('class') === 'gone')) return;
    if (node.tagName === 'details' && of('open') === undefined) return;
    const own = node.tagName === 'a' ? (of('href') ?? null) : href;
    if (node.tagName === 'img') seen.push({ text: '', href, picture: of('src') ?? '', isPreview });
    for (const child of node.childNodes) walk(child, own, isPreview || isOurs);
  };
  for (const child of body?.childNodes ?? []) walk(child, null, false);
  return seen;
}

/**
 * Html as Outlook for Windows reads it: with the comments that are for it, and without what is for all
 * others.
 */
export const asOutlook = (html: string): string =>
  html
    .replace(/<xml>[\s\S]*?<\/xml>/gi, '')
    .replace(/<!--\[if [^\]]*![^\]]*\]><!--(?:--)?>[\s\S]*?<!--<!\[endif\]-->/gi, '')
    .replace(/<!\[if !mso\]>[\s\S]*?<!\[endif\]>/gi, '')
    .replace(/<!--\[if [^\]!]*mso[^\]!]*\]>([\s\S]*?)<!\[endif\]-->/gi, '$1');
