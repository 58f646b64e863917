import { fillPlaceholders, type Query, type SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import type { Parameter } from '../database.ts';

const DIALECT = new PgDialect();

/** The values of `sql.placeholder`s, by their names. */
export type PlaceholderValues = Readonly<Record<string, Parameter>>;

export interface SentStatement {
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

/**
 * The texts of statements that are put together with Drizzle's `sql` and have few forms. Each form is made
 * into text once: for a page of contacts that was half of the service's work.
 */
export class StatementTexts {
  readonly #queries = new Map<string, Query>();

  /** @param form names everything that the text depends on; null for a statement that is made each time */
  of(form: string | null, values: PlaceholderValues, make: () => SQL): SentStatement {
    let query = form === null ? undefined : this.#queries.get(form);
    if (!query) {
      query = DIALECT.sqlToQuery(make());
      if (form !== null) this.#queries.set(form, query);
    }
    return { text: query.sql, parameters: fillPlaceholders(query.params, { ...values }) as Parameter[] };
  }
}
