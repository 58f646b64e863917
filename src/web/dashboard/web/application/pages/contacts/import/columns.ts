import type { ContactImportPlan } from '../../../../../../client/operations.ts';

/**
 * The target of a column: a target in the form that `columns` uses, `property` with a key and a type, or
 * `none`.
 */
export interface ColumnTarget {
  readonly to: string;
  readonly key: string;
  /** A type of properties, with the form in which its cells are written: `date:dmy`. */
  readonly type: string;
  /** True once a person has set it: the service refuses a doubt about consent only where no one has. */
  readonly isSet?: true;
}

const PROPERTY = /^properties\.([^:]+):(.+)$/;

/** The first target of a column, as the service guesses it. */
export function mappedBy({ target }: ContactImportPlan['columns'][number]): ColumnTarget {
  const [, key, type] = PROPERTY.exec(target ?? '') ?? [];
  if (key !== undefined && type !== undefined) return { to: 'property', key, type };
  return { to: target ?? 'none', key: '', type: 'string' };
}

/** The parameter `columns` of an import. */
export const columnsText = (plan: ContactImportPlan, mapped: readonly ColumnTarget[]): string =>
  JSON.stringify(
    Object.fromEntries(
      plan.columns.flatMap((column, at): (readonly [string, string | null])[] => {
        const { to, key, type } = mapped[at] ?? mappedBy(column);
        const { isSet } = mapped[at] ?? {};
        // The service decides by the cells of the whole file, of which the plan has seen the beginning.
        if (column.header === '' || (to === 'property' && !isSet)) return [];
        if (to === 'property') return [[column.header, `properties.${key}:${type}`]];
        return [[column.header, to === 'none' ? null : to]];
      }),
    ),
  );
