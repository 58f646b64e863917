import type { FactTable } from '../machine/kind.ts';

/** Rows of a fact as the SQL of children reads them: where they come from, and each column by its name. */
export type FactAlias<Column extends string> = { readonly from: string } & Readonly<Record<Column, string>>;

/**
 * A fact whose rows other kinds build upon. Its answer is declared, so that a renamed column does not compile
 * where it is read.
 */
export interface SharedFact<Column extends string> extends FactTable {
  /** The fact under an alias. */
  as(alias: string): FactAlias<Column>;
}

/** A fact whose statement answers these columns. */
export function sharedFact<const Column extends string>(
  name: string,
  answers: readonly Column[],
  {
    columns,
    topic,
    sql,
  }: { readonly columns: string; readonly topic?: string; sql(source: string, returning: string): string },
): SharedFact<Column> {
  return {
    name,
    columns,
    ...(topic === undefined ? {} : { topic }),
    sql: (source) => sql(source, answers.join(', ')),
    as: (alias) =>
      ({
        from: `${name} ${alias}`,
        ...Object.fromEntries(answers.map((column) => [column, `${alias}.${column}`])),
      }) as FactAlias<Column>,
  };
}
