const SIDES = ['padding', 'padding-left', 'padding-right'];

/**
 * The attributes with which MJML calculates widths and heights while it makes the html, by their elements. A
 * value that Liquid fills in later is no number by then. A test holds this table against all attributes that
 * MJML knows.
 */
const CALCULATED: Readonly<Record<string, readonly string[]>> = {
  'mj-body': ['width'],
  'mj-breakpoint': ['width'],
  'mj-carousel': ['icon-width', 'tb-width'],
  'mj-column': ['width', ...SIDES],
  'mj-divider': SIDES,
  'mj-group': ['width'],
  'mj-hero': ['height', 'background-height', 'background-width', ...SIDES, 'padding-top', 'padding-bottom'],
  'mj-image': ['width', 'height', ...SIDES],
  'mj-section': ['gutter', ...SIDES],
  'mj-social': ['icon-size'],
  'mj-social-element': ['icon-size'],
  'mj-table': ['width'],
  'mj-wrapper': SIDES,
};

/** True of an element with whose attributes MJML calculates. */
export const calculates = (element: string): boolean => Object.hasOwn(CALCULATED, element);

/**
 * True where MJML calculates with a value of an element that Liquid fills in. `isHeld`: of a text that it
 * fills in.
 */
export function calculatesWith(
  element: string,
  { attribute, value }: { readonly attribute: string; readonly value: string },
  isHeld: (text: string) => boolean,
): boolean {
  if (!calculates(element) || !CALCULATED[element]?.includes(attribute) || !isHeld(value)) return false;
  if (attribute !== 'padding' || element === 'mj-hero') return true;
  const sides = value.trim().split(/\s+/);
  // Of top, right, bottom and left, the height is left to mail programs.
  const [top = '', right = top, , left = right] = sides;
  return isHeld(right) || isHeld(left);
}
