import type { Contact } from '../../../../../client/operations.ts';

type Value = Contact['properties'][string];

/** The kinds of values that a property may have. */
export const KINDS = { string: 'Text', number: 'Number', boolean: 'Yes or no' } as const;
export type Kind = keyof typeof KINDS;

/** A property while it is edited. */
export interface PropertyRow {
  readonly id: number;
  readonly key: string;
  readonly kind: Kind;
  readonly text: string;
}

/** The last number; it starts at the time, so that rows of an earlier page have other numbers. */
let latest = Date.now();

/** A new, empty row. */
export const newRow = (): PropertyRow => ({ id: ++latest, key: '', kind: 'string', text: '' });

/** The rows of a contact's properties. */
export const rowsOf = (properties: Contact['properties']): readonly PropertyRow[] =>
  Object.entries(properties).map(([key, value]) => ({
    id: ++latest,
    key,
    kind: typeof value as Kind,
    text: String(value),
  }));

export const propertiesOf = (rows: readonly PropertyRow[]): Record<string, Value> =>
  Object.fromEntries(
    rows.filter(({ key }) => key.trim() !== '').map((row) => [row.key.trim(), propertyValue(row)]),
  );

/** The changes that make the properties equal to the rows, with null for a removed property. */
export function changesOfProperties(
  rows: readonly PropertyRow[],
  before: readonly PropertyRow[],
): Record<string, Value | null> {
  const [wanted, known] = [propertiesOf(rows), propertiesOf(before)];
  const gone = Object.keys(known).filter((key) => !Object.hasOwn(wanted, key));
  return {
    ...Object.fromEntries(gone.map((key) => [key, null])),
    ...Object.fromEntries(Object.entries(wanted).filter(([key, value]) => known[key] !== value)),
  };
}

const propertyValue = ({ kind, text }: PropertyRow): Value => {
  if (kind === 'boolean') return text === 'true';
  // A text that is not a number is sent as it is, so that the service reports the mistake at this field.
  return kind === 'number' && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
};
