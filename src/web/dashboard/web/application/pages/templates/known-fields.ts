import type { MergeFieldGroup } from '../message-fields.ts';
import { parsedValue, type VariableRow } from './draft.ts';

/** The declared variables that a text can show by their names alone, as fields. */
export const fieldsOf = (rows: readonly VariableRow[]): readonly MergeFieldGroup[] => [
  {
    title: 'Variables',
    fields: rows
      .filter(({ key, type }) => type !== 'list' && type !== 'object' && key.trim() !== '')
      .map(({ key }) => ({ label: key, path: key.trim() })),
  },
];

/** The names of what the items of a list have, by its first one; none where the items are no objects. */
export const namesIn = (items: unknown): readonly string[] => {
  const first: unknown = Array.isArray(items) ? items[0] : null;
  return typeof first === 'object' && first !== null ? Object.keys(first) : [];
};

/** The declared lists, each with the names of what the items of its default have. */
export const listsOf = (rows: readonly VariableRow[]): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    rows.flatMap(({ key, type, fallback }) => {
      if (type !== 'list' || key.trim() === '') return [];
      return [[key.trim(), namesIn(parsedValue('list', fallback))]];
    }),
  );
