/** The attributes of an element, in lower case, as the parser hands them over. */
export type Attributes = Readonly<Record<string, string>>;

/** Elements whose content no mail program shows as a part of the message. */
export const UNREAD: ReadonlySet<string> = new Set(
  'title style script template noscript svg math object textarea select iframe noembed noframes xmp plaintext audio video canvas datalist dialog'.split(
    ' ',
  ),
);

type Declarations = ReadonlyMap<string, string>;

/** The most characters of an attribute that are read: no email has longer ones, and a look has to cost little. */
const LONGEST_ATTRIBUTE = 4_096;

/** The beginning of an attribute, as far as it is read. */
export const attributeOf = (value: string | undefined): string => value?.slice(0, LONGEST_ATTRIBUTE) ?? '';

/** CSS without its comments; one that does not end takes the rest. A pattern would search to the end from each beginning. */
export function withoutComments(css: string): string {
  let kept = '';
  let done = 0;
  for (let at = css.indexOf('/*'); at !== -1; at = css.indexOf('/*', done)) {
    kept += css.slice(done, at);
    const end = css.indexOf('*/', at + 2);
    if (end === -1) return kept;
    done = end + 2;
  }
  return kept + css.slice(done);
}

/** What a text of CSS declares, by the names of the properties, all in lower case. */
export function declarationsOf(css: string): Declarations {
  const declared = new Map<string, string>();
  for (const declaration of withoutComments(css).split(';')) {
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
export function isHidden({ hidden, style }: Attributes): boolean {
  if (hidden !== undefined) return true;
  const css = attributeOf(style);
  return HINT.test(css) && areHiding(declarationsOf(css));
}

/** True when Outlook for Windows alone leaves an element out. */
export const isHiddenInOutlook = ({ style }: Attributes): boolean =>
  declarationsOf(attributeOf(style)).get('mso-hide')?.startsWith('all') ?? false;

/** True when the innermost size of letters that the elements set is nothing. */
export function areLettersHidden(open: readonly { readonly attributes: Attributes }[]): boolean {
  for (let at = open.length - 1; at >= 0; at--) {
    const style = attributeOf(open[at]?.attributes.style);
    if (!/font/i.test(style)) continue;
    const size = declarationsOf(style).get('font-size');
    if (size !== undefined) return ZERO.test(size);
  }
  return false;
}
