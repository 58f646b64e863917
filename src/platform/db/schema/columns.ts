import { getTableColumns, getTableName, sql } from 'drizzle-orm';
import {
  type AnyPgColumn,
  boolean,
  check,
  customType,
  foreignKey,
  integer,
  json,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
} from 'drizzle-orm/pg-core';

/**
 * Text that compares byte by byte (collation "C"), on each server alike. Ids are such texts, so that they
 * sort by the time of their creation.
 */
export const textC = customType<{ data: string }>({ dataType: () => 'text collate "C"' });

/** The type of a time in every table. */
export const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });

export const octets = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' });

/**
 * The nine columns that every actor's table begins with, which the engine reads and writes: the snapshot
 * (state and context), its revision, its pending timers and the earliest of them (wake_at).
 */
export const actorColumns = <const State extends readonly [string, ...string[]] = [string]>(
  states?: State,
) => ({
  id: textC('id').primaryKey(),
  workspaceId: textC('workspace_id').notNull(),
  livemode: boolean('livemode').notNull(),
  state: text('state', { enum: (states ?? []) as State }).notNull(),
  context: json('context').notNull(),
  revision: integer('revision').notNull(),
  machineVersion: smallint('machine_version').notNull(),
  timers: json('timers'),
  wakeAt: moment('wake_at'),
});

/**
 * The journal of a kind of actor: a row for each write, with the transitions that it took, without personal
 * data. `commit_tag` names the commit, which is found by it when the commit's reply was lost.
 */
export const journal = <Name extends string>(name: Name) =>
  pgTable(
    name,
    {
      actorId: textC('actor_id').notNull(),
      revision: integer('revision').notNull(),
      commitTag: integer('commit_tag').notNull(),
      steps: json('steps').notNull(),
    },
    (t) => [keyOf(t.actorId, t.revision)],
  );

// Constraints are named as PostgreSQL names them, since some names are compared in the code.

/** The primary key of several columns. */
export const keyOf = (first: AnyPgColumn, ...others: AnyPgColumn[]) =>
  primaryKey({ name: `${getTableName(first.table)}_pkey`, columns: [first, ...others] });

/** A column that holds the key of a row of another table. */
export const refersTo = (column: AnyPgColumn, other: AnyPgColumn) =>
  foreignKey({
    name: `${getTableName(column.table)}_${column.name}_fkey`,
    columns: [column],
    foreignColumns: [other],
  });

/** A column that takes no other values than those of its type. */
export function oneOf(column: AnyPgColumn) {
  const { name, table } = column;
  // The columns that a table gives to its constraints do not know their values.
  const values = Object.values(getTableColumns(table)).find((each) => each.name === name)?.enumValues;
  const list = (values ?? []).map((value) => `'${value}'`).join(', ');
  return check(`${getTableName(table)}_${name}_check`, sql`${column} in (${sql.raw(list)})`);
}
