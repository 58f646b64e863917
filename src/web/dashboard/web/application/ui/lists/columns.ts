import { useMemo, useState } from 'react';
import type { Column } from './list-types.ts';

/** The columns of each list that are shown or hidden against the usual, in this browser. */
type Choices = Readonly<Record<string, Readonly<Record<string, boolean>>>>;

const STORED = 'posthorn columns';

function storedChoices(): Choices {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED) ?? '{}');
    return typeof stored === 'object' && stored !== null ? (stored as Choices) : {};
  } catch {
    // Another program may have written there.
    return {};
  }
}

const isChosen = (
  choices: Choices[string],
  { name, isExtra = false }: Pick<Column<never>, 'name' | 'isExtra'>,
): boolean => (typeof choices[name] === 'boolean' ? choices[name] : !isExtra);

/**
 * The columns that a person has chosen for a list; the first one, with the link of the row, is always shown.
 */
export function useColumns<Item>(label: string, columns: readonly [Column<Item>, ...Column<Item>[]]) {
  const [choices, setChoices] = useState(() => storedChoices()[label] ?? {});
  const isShown = (column: Column<Item>): boolean => isChosen(choices, column);
  // A row is drawn again where it gets other columns.
  const shown = useMemo(() => {
    const [head, ...rest] = columns;
    return [head, ...rest.filter((column) => isChosen(choices, column))] as const;
  }, [columns, choices]);
  return {
    shown,
    choosable: columns.slice(1).filter(({ isFixed = false }) => !isFixed),
    isShown,
    toggle: (column: Column<Item>): void => {
      const next = { ...choices, [column.name]: !isShown(column) };
      localStorage.setItem(STORED, JSON.stringify({ ...storedChoices(), [label]: next }));
      setChoices(next);
    },
  };
}
