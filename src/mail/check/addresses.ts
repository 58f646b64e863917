import { readSource, type SourceReading, type SourceTag } from './source-tags.ts';
import { withoutComments } from './style-facts.ts';

/** An address that a mail program asks for, or that a reader follows. */
interface WrittenAddress {
  readonly url: string;
  readonly isImage: boolean;
  readonly line: number;
  /** The offset of its tag or style sheet. */
  readonly at: number;
}

/** A hint for browsers: it names a host and no resource. */
const IS_HINT = /\b(?:preconnect|dns-prefetch)\b/i;
const OF_IMAGES: ReadonlySet<string> = new Set(['img', 'image', 'input', 'v:fill', 'v:image', 'v:imagedata']);
const OF_FILES: ReadonlySet<string> = new Set(['video', 'audio', 'source', 'embed']);

/**
 * The addresses of html beside the links that readers see: of images in tags, in styles and in what Outlook alone reads (VML in conditional
 * comments), of style sheets, fonts and films. Time and memory grow with the length of the html.
 */
export function writtenAddresses(reading: SourceReading): readonly WrittenAddress[] {
  const found = reading.tags.flatMap((tag) => (tag.isEnd ? [] : ofTag(tag)));
  for (const { css, line, at } of reading.sheets)
    for (const each of inStyles(css)) found.push({ ...each, line, at });
  for (const { html, line, at } of reading.conditional)
    for (const each of writtenAddresses(readSource(html))) found.push({ ...each, line, at });
  return found;
}

function ofTag({ name, attributes, line, at }: SourceTag): WrittenAddress[] {
  const found: WrittenAddress[] = [];
  const take = (isImage: boolean, url: string | undefined): void => {
    if (url !== undefined) found.push({ url: decoded(url).trim(), isImage, line, at });
  };
  const src = attributes.get('src');
  if (OF_IMAGES.has(name)) take(true, src);
  else if (OF_FILES.has(name)) take(false, src);
  take(true, attributes.get('background'));
  take(true, attributes.get('poster'));
  // The candidates of a picture, each with its width or density (HTML, 4.8.4.2.1).
  for (const candidate of (attributes.get('srcset') ?? '').split(/,\s+|,(?=https?:)/i))
    take(true, candidate.trim().split(/\s/, 1)[0]);
  // A link of a or area is read where readers see it.
  const isSheet = name === 'link' && !IS_HINT.test(attributes.get('rel') ?? '');
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
