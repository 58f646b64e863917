import { type Declarations, declarationsOf, plainCss } from './css.ts';

/** The attributes of an element, in lower case, as the parser hands them over. */
export type Attributes = Readonly<Record<string, string>>;

/** Elements whose content no mail program shows as a part of the message. */
export const UNREAD: ReadonlySet<string> = new Set(
  'title style script template noscript svg math object textarea select iframe noembed noframes xmp plaintext audio video canvas datalist dialog'.split(
    ' ',
  ),
);

const SIZES = ['height', 'max-height', 'width', 'max-width'] as const;
const CUTS = ['overflow', 'overflow-x', 'overflow-y'] as const;
const PLACES = [
  'left',
  'right',
  'top',
  'bottom',
  'inset',
  'text-indent',
  'margin',
  'margin-left',
  'margin-right',
  'margin-top',
  'margin-bottom',
] as const;
const LETTERS = ['font', 'font-size'] as const;

/** The properties that decide what is seen. */
const HEEDED: ReadonlySet<string> = new Set([
  'display',
  'visibility',
  'content-visibility',
  'opacity',
  'filter',
  'zoom',
  'scale',
  'transform',
  'clip',
  'clip-path',
  'mso-hide',
  ...SIZES,
  ...CUTS,
  ...PLACES,
  ...LETTERS,
]);

/** Without one of these nothing is hidden: most styles are passed over by this one look. */
const HINT = /none|hid|collapse|opacity|clip|indent|-\d{3}|scale|zoom|[\s:(+]\d{4}|\\/i;

/** True when CSS may declare something that hides, or a size of letters. */
export const maySay = (css: string): boolean => HINT.test(css) || /font/i.test(css);

/** The declarations of a style that decide what is seen. */
export const seenDeclarations = (css: string): Declarations => declarationsOf(css, HEEDED);

/** The same of a style that has none. */
export const NOTHING: Declarations = new Map();

/** The same of an attribute, which may hold comments and strings. */
export const styleOf = ({ style }: Attributes): Declarations =>
  style === undefined ? NOTHING : seenDeclarations(plainCss(style));

const LENGTH = /^(?:calc\(\s*)?([-+]?(?:\d+(?:\.\d*)?|\.\d+))([a-z]+|%)?/;
/** Pixels of a unit, as far as it takes to see that something is tiny. */
const PIXELS: Readonly<Record<string, number>> = { px: 1, pt: 1.3, mm: 3.8, q: 0.9 };

/** Pixels of a length, about; null for what is none. */
function pixelsOf(value: string): number | null {
  const [, size, unit = 'px'] = LENGTH.exec(value) ?? [];
  return size === undefined ? null : Number(size) * (PIXELS[unit] ?? 16);
}

/** True for a length that nothing can be seen in. */
function isTiny(value: string): boolean {
  const pixels = pixelsOf(value);
  return pixels !== null && pixels <= 1;
}

function isFaint(value: string): boolean {
  const [, size, unit] = LENGTH.exec(value) ?? [];
  return size !== undefined && Number(size) <= (unit === '%' ? 10 : 0.1);
}

const FAR_AWAY = /(?:^|[\s(])(?:-\d{3}|\+?\d{4})/;
const NO_SCALE = /scale[xy3d]*\(\s*[-+]?0*(?:\.0*)?\s*[,)]|translate[xyz3d]*\([^)]*-\d{3}/;
const NO_CLIP = /^rect\(\s*[01](?:px)?[\s,]/;
const NO_PATH =
  /^(?:inset\(\s*(?:[5-9]\d|\d{3})|(?:circle|ellipse)\(\s*0|polygon\(\s*0[a-z%]*\s+0[a-z%]*\s*(?:\)|,\s*0[a-z%]*\s+0))/;

/** True when declarations hide an element and all that is in it, in the ways that emails use. */
export function areHiding(declared: Declarations): boolean {
  const of = (name: string): string => declared.get(name)?.value ?? '';
  const visibility = of('visibility');
  if (of('display') === 'none' || visibility === 'hidden' || visibility === 'collapse') return true;
  if (of('content-visibility') === 'hidden' || isFaint(of('opacity'))) return true;
  if (/opacity\(\s*(?:0|\.0)(?![\d.]*[1-9])/.test(of('filter'))) return true;
  if (/^0*(?:\.0*)?(?:%|\s|$)/.test(of('scale') || '1') || /^0*(?:\.0*)?%?$/.test(of('zoom') || '1'))
    return true;
  if (NO_SCALE.test(of('transform')) || NO_CLIP.test(of('clip')) || NO_PATH.test(of('clip-path')))
    return true;
  const isCut = CUTS.some((name) => /^(?:hidden|clip)/.test(of(name)));
  if (isCut && (SIZES.some((name) => isTiny(of(name))) || /^\d{3}%/.test(of('text-indent')))) return true;
  return PLACES.some((name) => FAR_AWAY.test(of(name)));
}

/** True when a picture of that style has no size that can be seen. */
export const isPictureTiny = (declared: Declarations): boolean =>
  SIZES.some((name) => isTiny(declared.get(name)?.value ?? ''));

/** True when the attributes of an element hide it. */
export function isHidden(attributes: Attributes): boolean {
  const { hidden, style } = attributes;
  return hidden !== undefined || (style !== undefined && HINT.test(style) && areHiding(styleOf(attributes)));
}

/** True when Outlook for Windows alone leaves an element out. */
export const areHidingInOutlook = (declared: Declarations): boolean =>
  declared.get('mso-hide')?.value.startsWith('all') ?? false;

/**
 * The size of letters in `font: italic 700 0/0 serif`: before the slash, or the last number with a unit or of
 * nothing.
 */
const SIZE_IN_FONT = /(\S+)\s*\//;
const SIZE_TOKEN = /^[-+]?(?:[\d.]+(?:[a-z]+|%)|0+(?:\.0*)?|\.0+)$/;

/** A size of letters that declarations set; undefined where they set none. */
function sizeOfLetters(declared: Declarations): string | undefined {
  let size: string | undefined;
  // The later of the two counts, and the important one before it.
  let isImportant = false;
  for (const [name, { value, isImportant: isNow }] of declared) {
    if (!LETTERS.some((each) => each === name) || (isImportant && !isNow)) continue;
    const found =
      name === 'font-size'
        ? value
        : (SIZE_IN_FONT.exec(value)?.[1] ?? value.split(/\s+/).findLast((token) => SIZE_TOKEN.test(token)));
    if (found === undefined) continue;
    size = found;
    isImportant = isNow;
  }
  return size;
}

/**
 * True when declarations make letters too small to see, false when they make them larger; null where they say
 * nothing of it.
 */
export function areLettersTiny(declared: Declarations): boolean | null {
  const size = sizeOfLetters(declared);
  if (size === undefined) return null;
  // A share of nothing is nothing: what is in percent or em goes by the letters around it.
  if (/(?:%|[^r]em|ex|ch)$/.test(size))
    return Number.parseFloat(size) * (size.endsWith('%') ? 0.01 : 1) <= 0.06 || null;
  return /^(?:inherit|unset|smaller|larger)$/.test(size) ? null : isTiny(size);
}
