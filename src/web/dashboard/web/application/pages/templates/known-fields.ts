import type { MergeFieldGroup } from '../merge-fields.tsx';
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

/** The declared lists, each with the names of what the items of its default have. */
export const listsOf = (rows: readonly VariableRow[]): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    rows.flatMap(({ key, type, fallback }) => {
      if (type !== 'list' || key.trim() === '') return [];
      const value = parsedValue('list', fallback);
      const first: unknown = Array.isArray(value) ? value[0] : null;
      return [[key.trim(), typeof first === 'object' && first !== null ? Object.keys(first) : []]];
    }),
  );
