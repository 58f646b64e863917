/** A text that a contact has besides its address. */
interface ContactField {
  /** The name of its column: in the database, in exports and in imports. */
  readonly column: string;
  /** The label in forms. */
  readonly label: string;
  /**
   * True where it is a part of the name in the order of the list: in `To`, in lists, on pages. The others are
   * shown beside it.
   */
  readonly isPartOfName: boolean;
  /** The value in the examples of the documentation. */
  readonly example: string;
  /**
   * Further headers of columns in imported files, as letters and digits without case and marks: of
   * spreadsheets, address books and services, in several languages.
   */
  readonly headers: string;
}

/**
 * The fields of a contact by their names in JSON. Columns, answers, requests, exports, imports, filters, the
 * search, Liquid, steps of flows and forms are made from this list, in its order.
 */
export const CONTACT_FIELDS = {
  firstName: {
    column: 'first_name',
    label: 'First name',
    isPartOfName: true,
    example: 'Ada',
    headers: `givenname forename fname vorname prenom nombre nombredepila primernombre nome voornaam imie
      fornamn fornavn etunimi keresztnev jmeno prenume имя 名 名字`,
  },
  lastName: {
    column: 'last_name',
    label: 'Last name',
    isPartOfName: true,
    example: 'Lovelace',
    headers: `surname familyname lname nachname familienname zuname nom nomdefamille apellido apellidos cognome
      sobrenome apelido achternaam nazwisko efternamn etternavn sukunimi vezeteknev prijmeni soyad фамилия 姓 姓氏`,
  },
} as const satisfies Readonly<Record<string, ContactField>>;

export type ContactFieldName = keyof typeof CONTACT_FIELDS;

/** The names of the fields, in the order of answers, columns and forms. */
export const CONTACT_FIELD_NAMES = Object.keys(CONTACT_FIELDS) as readonly ContactFieldName[];

/** The value of each field; null where it is unknown. */
export type ContactTexts = Readonly<Record<ContactFieldName, string | null>>;

export const isContactField = (name: string): name is ContactFieldName => Object.hasOwn(CONTACT_FIELDS, name);

/** An object with a member for each field. */
export const eachField = <Value>(
  make: (name: ContactFieldName) => Value,
): Readonly<Record<ContactFieldName, Value>> =>
  Object.fromEntries(CONTACT_FIELD_NAMES.map((name) => [name, make(name)])) as Record<
    ContactFieldName,
    Value
  >;

/** The fields of a contact without its other members. */
export const fieldsOf = (contact: ContactTexts): ContactTexts => eachField((name) => contact[name]);

/** The name of a person as far as it is known. */
export const wholeName = (contact: ContactTexts): string =>
  CONTACT_FIELD_NAMES.filter((name) => CONTACT_FIELDS[name].isPartOfName)
    .map((name) => contact[name])
    .filter(Boolean)
    .join(' ');
