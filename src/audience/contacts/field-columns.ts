import { storedPart } from '../../platform/text/address-part.ts';
import { seenName } from '../../platform/text/characters.ts';
import {
  CONTACT_FIELD_NAMES,
  CONTACT_FIELDS,
  type ContactFieldName,
  type ContactTexts,
} from '../../platform/text/contact-fields.ts';

type FieldColumn = (typeof CONTACT_FIELDS)[ContactFieldName]['column'];

/** The columns of the fields: `last_name`. */
export const FIELD_COLUMNS: readonly FieldColumn[] = CONTACT_FIELD_NAMES.map(
  (name) => CONTACT_FIELDS[name].column,
);

/** The fields as a statement takes them. A field that the contact does not set stays as it is. */
export type FieldInput = { readonly [Column in FieldColumn as `sets_${Column}`]: boolean } & {
  readonly [Column in FieldColumn | `${FieldColumn}_key`]: string | null;
};

/** The columns of `FieldInput`, for `json_to_recordset`. */
export const FIELD_INPUT_COLUMNS = FIELD_COLUMNS.map(
  (column) => `sets_${column} boolean, ${column} text, ${column}_key text`,
).join(', ');

/** The columns that a new contact fills. */
export const STORED_COLUMNS = FIELD_COLUMNS.flatMap((column) => [column, `${column}_key`] as const);

/**
 * The assignments that take the fields which a row sets, where the condition holds as well. `c` is the
 * contact.
 */
export const setFieldsSql = (row: string, condition = 'true'): string =>
  FIELD_COLUMNS.flatMap((column) =>
    [column, `${column}_key`].map(
      (each) =>
        `${each} = case when ${condition} and ${row}.sets_${column} then ${row}.${each} else c.${each} end`,
    ),
  ).join(', ');

/** The fields of a row of contacts under their names in JSON. */
export const fieldsSql = (alias: string): string =>
  CONTACT_FIELD_NAMES.map((name) => `${alias}.${CONTACT_FIELDS[name].column} as "${name}"`).join(', ');

/**
 * The form that names are searched by. It has to be the same for what is stored and for what is looked for.
 */
export const searchKey = (text: string): string => text.normalize('NFC').toLowerCase();

/**
 * The form of a beginning that names and addresses are searched by: behind an @, the labels of an
 * internationalised host in ASCII.
 */
export function beginningKey(text: string): string {
  const key = searchKey(text);
  return (key.includes('@') ? storedPart(key) : null) ?? key;
}

/** A name as it is kept, however it comes here: it may stand in a header. An empty one is none. */
export const nameOf = (text: string | null | undefined): string | null => seenName(text ?? '') || null;

/** The columns of the fields that a client has sent. */
export const fieldInput = (sent: Partial<ContactTexts>): FieldInput =>
  Object.fromEntries(
    CONTACT_FIELD_NAMES.flatMap((name) => {
      const { column } = CONTACT_FIELDS[name];
      const text = nameOf(sent[name]);
      return [
        [`sets_${column}`, sent[name] !== undefined],
        [column, text],
        [`${column}_key`, text === null ? null : searchKey(text)],
      ];
    }),
  ) as FieldInput;

/** The columns of the fields that a contact sets, and no others. */
export const setFields = (contact: FieldInput): Partial<FieldInput> =>
  Object.fromEntries(
    FIELD_COLUMNS.filter((column) => contact[`sets_${column}`]).flatMap((column) =>
      ([`sets_${column}`, column, `${column}_key`] as const).map((key) => [key, contact[key]]),
    ),
  );
