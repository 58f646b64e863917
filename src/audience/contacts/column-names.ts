import { foldedHeader } from '../../mail/list-files/address-columns.ts';
import type { CellRule, StatusReading } from '../../mail/list-files/consent-columns.ts';
import {
  CONTACT_FIELD_NAMES,
  CONTACT_FIELDS,
  type ContactFieldName,
  eachField,
} from '../../platform/text/contact-fields.ts';

/** The allowed names of properties. */
export const PROPERTY_KEY = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

/** True when a text may name a property. */
export const isPropertyKey = (key: string): boolean => PROPERTY_KEY.test(key);

/** The types that the cells of a property may have. */
export const PROPERTY_TYPES = ['string', 'number', 'boolean', 'date'] as const;
export type PropertyType = (typeof PROPERTY_TYPES)[number];

/** The format of numbers and dates, where the column does not show it. */
export const CELL_FORMATS = {
  string: [],
  number: ['point', 'comma'],
  boolean: [],
  date: ['dmy', 'mdy'],
} as const satisfies Record<PropertyType, readonly string[]>;
export type CellFormat = (typeof CELL_FORMATS)[PropertyType][number];

/** The property that a column becomes. */
export interface PropertyTarget {
  readonly to: 'property';
  readonly key: string;
  readonly type: PropertyType;
  /** The format of its cells. Without a format, only values with one meaning are taken. */
  readonly format?: CellFormat | undefined;
}

/** The target of the cells of a column; null leaves them out. */
export type Target =
  | {
      readonly to:
        | 'email'
        | ContactFieldName
        | 'unsubscribedAt'
        | 'consentSource'
        | 'consentAt'
        | 'audiences'
        | 'properties';
    }
  /** `reads` is missing in plans that an earlier version has stored: they state a status in our own words. */
  | { readonly to: 'status'; readonly reads?: StatusReading; readonly cells?: CellRule | undefined }
  | PropertyTarget
  | null;

/** A name without what is not seen: no-break spaces, zero-width characters, spaces around it. */
export const cleaned = (header: string): string =>
  header
    .normalize('NFC')
    .replaceAll('\u00a0', ' ')
    .replace(/[\u200b-\u200d\u2060\ufeff]/g, '')
    .trim();

const HEADERS: Readonly<Record<ContactFieldName, ReadonlySet<string>>> = eachField(
  (name) => new Set([foldedHeader(name), ...CONTACT_FIELDS[name].headers.split(/\s+/)]),
);

/** The field that a column holds by its name; null where it holds none. */
export function fieldByHeader(header: string): ContactFieldName | null {
  const folded = foldedHeader(header);
  return CONTACT_FIELD_NAMES.find((name) => HEADERS[name].has(folded)) ?? null;
}

/** Headers of a whole name, folded as the fields are. */
const WHOLE_NAMES = new Set(
  `fullname displayname contactname personname yourname completename vollstandigername vollername nomcomplet nometprenom
  nombrecompleto nombreyapellidos nomecompleto volledigenaam`.split(/\s+/),
);

/**
 * The field of a column that is called `Name` or `Full name`. Beside a column of first names, `Name` is the
 * family name. A whole name stays one piece, as a first name: where it divides, no rule can say.
 */
export function fieldOfName(
  header: string,
  fields: ReadonlySet<ContactFieldName | null>,
): ContactFieldName | null {
  const folded = foldedHeader(header);
  if (folded === 'name')
    return fields.has('firstName') ? (fields.has('lastName') ? null : 'lastName') : 'firstName';
  return WHOLE_NAMES.has(folded) && !fields.has('firstName') && !fields.has('lastName') ? 'firstName' : null;
}

/** The properties that this service reads by their names, and the headers of other services for them. */
const READ_PROPERTIES = new Map(
  Object.entries({
    timeZone:
      'timezone contacttimezone tz zeitzone fuseauhoraire zonahoraria fusoorario fusohorario tijdzone',
    language: `language preferredlanguage contactlanguage lang locale sprache langue idioma lingua taal jezyk`,
  }).flatMap(([key, headers]) => headers.split(' ').map((header): [string, string] => [header, key])),
);

/** `Größe (cm)` → `Grosse_cm`: a name that a property may have; null when nothing is left of it. */
function keyFrom(header: string): string | null {
  const plain = header.replaceAll('ß', 'ss').normalize('NFD').replace(/\p{M}/gu, '');
  const key = plain.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_+|_+$/g, '');
  return isPropertyKey(key) ? key : null;
}

const isType = (text: string): text is PropertyType => (PROPERTY_TYPES as readonly string[]).includes(text);

const STATED = /^properties\.([^:]+)(?::(\w+))?(?::(\w+))?$/;

/** Reads `properties.seats:number` or `properties.since:date:dmy`; null when it is none. */
export function propertyOf(text: string): PropertyTarget | null {
  const [, key = '', type = 'string', format] = STATED.exec(text) ?? [];
  if (!isPropertyKey(key) || !isType(type)) return null;
  if (format === undefined) return { to: 'property', key, type };
  const formats: readonly string[] = CELL_FORMATS[type];
  return formats.includes(format) ? { to: 'property', key, type, format: format as CellFormat } : null;
}

/**
 * The property that a column becomes by its name alone; null when no property may be called so. `taken`:
 * properties of earlier columns, which keep theirs.
 */
export function propertyByName(header: string, taken: ReadonlySet<string>): PropertyTarget | null {
  const stated = propertyOf(header);
  if (stated) return stated;
  const read = READ_PROPERTIES.get(foldedHeader(header));
  if (read && !taken.has(read)) return { to: 'property', key: read, type: 'string' };
  const key = keyFrom(header.startsWith('properties.') ? header.slice('properties.'.length) : header);
  return key === null ? null : { to: 'property', key, type: 'string' };
}
