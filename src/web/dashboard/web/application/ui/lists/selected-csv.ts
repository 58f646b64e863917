import { type CellValue, CSV_MARK, csvRow } from '../../../../../../platform/csv/write.ts';

function cellOf(value: unknown): CellValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  const isList = Array.isArray(value) && value.every((each) => typeof each === 'string');
  return isList ? value.join(', ') : JSON.stringify(value);
}

/**
 * Rows as the text of a CSV file, a column for each member of an item, as the export of the whole list has
 * them.
 */
function csvOf(items: readonly object[]): string {
  const names = [...new Set(items.flatMap((item) => Object.keys(item)))];
  const rows = items.map((item) => names.map((name) => cellOf(Reflect.get(item, name))));
  return CSV_MARK + [names, ...rows].map(csvRow).join('');
}

/** Has the browser save rows as a file. */
export function saveCsv(items: readonly object[], filename: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([csvOf(items)], { type: 'text/csv' }));
  link.download = filename;
  link.click();
  // The browser has begun to save it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
