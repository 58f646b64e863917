/** What a property may be called. */
export const PROPERTY_KEY = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

/** True when a text may name a property. */
export const isPropertyKey = (key: string): boolean => PROPERTY_KEY.test(key);

/** The types that the cells of a property may have. */
export const PROPERTY_TYPES = ['string', 'number', 'boolean', 'date'] as const;
export type PropertyType = (typeof PROPERTY_TYPES)[number];

/** What the cells of a column become; null leaves them out. */
export type Target =
  | { readonly to: 'email' | 'firstName' | 'lastName' | 'status' }
  | { readonly to: 'property'; readonly key: string; readonly type: PropertyType }
  | null;

/** Names by which columns are recognised, without case, spaces and punctuation. A map, since a column may be called `constructor`. */
const KNOWN = new Map<string, 'email' | 'firstName' | 'lastName'>(
  Object.entries({
    email: 'email',
    mail: 'email',
    emailaddress: 'email',
    mailadresse: 'email',
    emailadresse: 'email',
    firstname: 'firstName',
    givenname: 'firstName',
    forename: 'firstName',
    vorname: 'firstName',
    lastname: 'lastName',
    surname: 'lastName',
    familyname: 'lastName',
    nachname: 'lastName',
  } as const),
);

/** A name without what nobody sees: no-break spaces, zero-width characters, spaces around it. */
export const cleaned = (header: string): string =>
  header
    .normalize('NFC')
    .replaceAll('\u00a0', ' ')
    .replace(/[\u200b-\u200d\u2060\ufeff]/g, '')
    .trim();

const folded = (header: string): string => header.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** `Größe (cm)` → `Grosse_cm`: a name that a property may have; null when nothing is left of it. */
function keyFrom(header: string): string | null {
  const plain = header.replaceAll('ß', 'ss').normalize('NFD').replace(/\p{M}/gu, '');
  const key = plain.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_+|_+$/g, '');
  return isPropertyKey(key) ? key : null;
}

/** What a column becomes by its name alone; null when the name tells nothing. */
export function targetByName(header: string): Target {
  const name = cleaned(header);
  const known = KNOWN.get(folded(name));
  if (known) return { to: known };
  const key = keyFrom(name.startsWith('properties.') ? name.slice('properties.'.length) : name);
  return key === null ? null : { to: 'property', key, type: 'string' };
}
