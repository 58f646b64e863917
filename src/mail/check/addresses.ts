import { readSource, type SourceReading, type SourceTag } from './source-tags.ts';
import { withoutComments } from './style-facts.ts';

/** An address that a mail program asks for, or that a reader follows. */
interface WrittenAddress {
  readonly url: string;
  readonly isImage: boolean;
  /** The offset of its tag or style sheet. */
  readonly at: number;
}

/** The only links of a head that mail programs ask for. */
const IS_SHEET = /(?:^|\s)stylesheet(?:\s|$)/i;
const OF_IMAGES: ReadonlySet<string> = new Set(['img', 'image', 'v:fill', 'v:image', 'v:imagedata']);
const OF_FILES: ReadonlySet<string> = new Set(['video', 'audio', 'source', 'embed']);

const USER = /^(https?:\/*|\/{2,})[^/?#\s]*@/i;

/** True of an address with a user name, and a password perhaps. */
export const hasUser = (url: string): boolean => USER.test(url);

/** An address as messages show it: its password is no one's who reads a check. */
export const withoutUser = (url: string): string => url.replace(USER, '$1');

/**
 * The path of an address of this service behind the beginning of all its addresses; null for one of others.
 */
export function ownPath(url: string, ownUrl: string): string | null {
  const [parsed, own] = [URL.parse(url), new URL(ownUrl)];
  if (parsed?.origin !== own.origin || !parsed.pathname.startsWith(own.pathname)) return null;
  return parsed.pathname.slice(own.pathname.length) + parsed.search;
}

/**
 * The addresses of html beside the links that readers see: of images in tags, in styles and in what Outlook
 * alone reads (VML in conditional comments), of style sheets, fonts and films. Time and memory grow with the
 * length of the html.
 */
export function writtenAddresses(reading: SourceReading): readonly WrittenAddress[] {
  const found = reading.tags.flatMap((tag) => (tag.isEnd ? [] : ofTag(tag)));
  for (const { css, at } of reading.sheets) for (const each of inStyles(css)) found.push({ ...each, at });
  for (const { html, at } of reading.conditional)
    for (const each of writtenAddresses(readSource(html))) found.push({ ...each, at });
  return found;
}

function ofTag({ name, attributes, at }: SourceTag): WrittenAddress[] {
  const found: WrittenAddress[] = [];
  const take = (isImage: boolean, url: string | undefined): void => {
    if (url !== undefined) found.push({ url: decoded(url).trim(), isImage, at });
  };
  const src = attributes.get('src');
  const isButton = name === 'input' && /^image$/i.test(attributes.get('type')?.trim() ?? '');
  if (isButton || OF_IMAGES.has(name)) take(true, src);
  else if (OF_FILES.has(name)) take(false, src);
  take(true, attributes.get('background'));
  take(true, attributes.get('poster'));
  // The candidates of a picture, each with its width or density (HTML, 4.8.4.2.1).
  for (const candidate of (attributes.get('srcset') ?? '').split(/,\s+|,(?=https?:)/i))
    take(true, candidate.trim().split(/\s/, 1)[0]);
  // A link of a or area is read where readers see it.
  const isSheet = name === 'link' && IS_SHEET.test(attributes.get('rel') ?? '');
  if (isSheet || name.startsWith('v:')) take(false, attributes.get('href'));
  for (const { url, isImage } of inStyles(decoded(attributes.get('style') ?? ''))) take(isImage, url);
  return found;
}

/** An address, the words after which one is no image, and the end of what they are about. */
const IN_CSS =
  /\burl\(\s*(?:"([^"\n]*)"|'([^'\n]*)'|([^\s"'()]*))|@import\s+(?:"([^"\n]*)"|'([^'\n]*)')|(@import\b|\bsrc\s*:)|[;}]/gi;

/** The addresses in styles: those of other style sheets and of fonts are no images. */
function inStyles(css: string): readonly Pick<WrittenAddress, 'url' | 'isImage'>[] {
  if (!/url\(|@import/i.test(css)) return [];
  const found: Pick<WrittenAddress, 'url' | 'isImage'>[] = [];
  let isImage = true;
  for (const [, double, single, bare, imported, other, word] of withoutComments(css).matchAll(IN_CSS)) {
    const sheet = imported ?? other;
    const url = double ?? single ?? bare;
    if (sheet !== undefined) found.push({ url: sheet, isImage: false });
    else if (url !== undefined) found.push({ url: url.trim(), isImage });
    else isImage = word === undefined;
  }
  return found;
}

const REFERENCES: Readonly<Record<string, string>> = {
  amp: '&',
  quot: '"',
  apos: "'",
  '#39': "'",
  '#34': '"',
};

/** An attribute's value without the references that people write in addresses. */
const decoded = (value: string): string =>
  value.replace(/&(amp|quot|apos|#39|#34);/g, (_, name: string) => REFERENCES[name] ?? '');
