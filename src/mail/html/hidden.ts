/** The attributes of an element, in lower case, as the parser hands them over. */
export type Attributes = Readonly<Record<string, string>>;

/** An open element, and the position at which its tag begins. */
export interface OpenElement {
  readonly name: string;
  readonly attributes: Attributes;
  readonly start: number;
}

/** Elements whose content no mail program shows as a part of the message. */
export const UNREAD: ReadonlySet<string> = new Set(
  'title style script template noscript svg math object textarea select iframe noembed noframes xmp plaintext audio video canvas datalist dialog'.split(
    ' ',
  ),
);

type Declarations = ReadonlyMap<string, string>;

const NO_DECLARATIONS: Declarations = new Map();

/** What a text of CSS declares, by the names of the properties, all in lower case. */
export function declarationsOf(css: string | undefined): Declarations {
  if (css === undefined || css === '') return NO_DECLARATIONS;
  const declared = new Map<string, string>();
  for (const declaration of css.replace(/\/\*[\s\S]*?\*\//g, '').split(';')) {
    const colon = declaration.indexOf(':');
    if (colon === -1) continue;
    declared.set(
      declaration.slice(0, colon).trim().toLowerCase(),
      declaration
        .slice(colon + 1)
        .trim()
        .toLowerCase(),
    );
  }
  return declared;
}

/** Without one of these nothing is hidden: most styles are passed over by this one look. */
const HINT = /none|hidden|collapse|opacity|clip|-\d{3}|scale\(/i;
const ZERO = /^0+(?:\.0*)?(?:[a-z]+|%)?(?:\s*!important)?$/;
const FAR_AWAY = /^-\d{3,}/;
const SIZES = ['height', 'max-height', 'width', 'max-width'] as const;
const PLACES = ['left', 'top', 'text-indent', 'margin-left', 'margin-top'] as const;

/** True when declarations hide an element and all that is in it, in the ways that emails use. */
export function areHiding(declared: Declarations): boolean {
  const of = (name: string): string => declared.get(name) ?? '';
  if (of('display').startsWith('none') || /^(?:hidden|collapse)/.test(of('visibility'))) return true;
  if (ZERO.test(of('opacity')) || /^scale\(0\)/.test(of('transform'))) return true;
  if (/^rect\((?:0|1px)[^\d]/.test(of('clip')) || /^inset\((?:50|100)%/.test(of('clip-path'))) return true;
  if (of('overflow').startsWith('hidden') && SIZES.some((name) => ZERO.test(of(name)))) return true;
  return PLACES.some((name) => FAR_AWAY.test(of(name)));
}

/** True when the attributes of an element hide it. */
export const isHidden = ({ hidden, style }: Attributes): boolean =>
  hidden !== undefined || (style !== undefined && HINT.test(style) && areHiding(declarationsOf(style)));

/** True when Outlook for Windows alone leaves an element out. */
export const isHiddenInOutlook = ({ style }: Attributes): boolean =>
  style !== undefined && /mso-hide\s*:\s*all/i.test(style);

/** True when the innermost size of letters that the elements set is nothing. */
export function areLettersHidden(open: readonly OpenElement[]): boolean {
  for (let at = open.length - 1; at >= 0; at--) {
    const style = open[at]?.attributes.style;
    if (style === undefined || !/font/i.test(style)) continue;
    const size = declarationsOf(style).get('font-size');
    if (size !== undefined) return ZERO.test(size);
  }
  return false;
}
