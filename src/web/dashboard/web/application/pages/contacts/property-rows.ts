import type { Contact } from '../../api/operations.ts';

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

/** Not the numbers that an earlier page has given to its rows. */
let latest = Date.now();

/** A row that nothing is entered in yet. */
export const newRow = (): PropertyRow => ({ id: ++latest, key: '', kind: 'string', text: '' });

/** The rows for what a contact has. */
export const rowsOf = (properties: Contact['properties']): readonly PropertyRow[] =>
  Object.entries(properties).map(([key, value]) => ({
    id: ++latest,
    key,
    kind: typeof value as Kind,
    text: String(value),
  }));

/** The properties that rows say. */
export const propertiesOf = (rows: readonly PropertyRow[]): Record<string, Value> =>
  Object.fromEntries(
    rows.filter(({ key }) => key.trim() !== '').map((row) => [row.key.trim(), propertyValue(row)]),
  );

/** What is to be set, and with null removed, so that properties become what rows say: nothing else. */
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
  // What is no number goes as it is: the service says at this field what is wrong.
  return kind === 'number' && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
};
