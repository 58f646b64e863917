import type { Actor } from '../../machine/kind.ts';
import type { HistoryTables, MemberInColumn } from '../../machine/storage.ts';

/**
 * The context of a life without the parts that other rows or columns hold: a turn leaves out the members that
 * never change, which lie in the insert, and the first turn leaves out what the insert says as well; both
 * leave out what a derived column has. Written twice, these were a quarter of an email's life on disk.
 * `wholeContext` puts the context together again.
 */

type Context = Readonly<Record<string, unknown>>;

/** An actor as it is written, and as it was before. */
interface ActorWrite {
  readonly before: Actor | null;
  readonly after: Actor;
}

/** Made once for each life: which members are looked at. */
const known = new WeakMap<
  HistoryTables,
  { readonly inserted: OmittedMembers; readonly turned: OmittedMembers }
>();

interface OmittedMembers {
  /** The members that lie in the insert. */
  readonly always: readonly string[];
  /** Those that have a column, by which they are read. */
  readonly columns: readonly MemberInColumn[];
  /** Those of which there is no column, so that null is read. */
  readonly absent: readonly string[];
}

function omittedOf(tables: HistoryTables) {
  const made = known.get(tables);
  if (made) return made;
  const { constants, inColumns, insertedWith, nullAtFirst } = tables;
  const isInserted = ({ column }: MemberInColumn) => insertedWith.includes(column);
  const notInserted = inColumns.filter((one) => !isInserted(one)).map(({ member }) => member);
  const both = {
    inserted: { always: [], columns: inColumns.filter(isInserted), absent: [...notInserted, ...nullAtFirst] },
    turned: { always: constants, columns: inColumns, absent: [] },
  };
  known.set(tables, both);
  return both;
}

/**
 * The context of a draft as its row holds it. Members that are left out are undefined, which JSON does not
 * write: so the copy keeps the shape of the context, while an object that is put together name by name gets a
 * new one with each.
 */
export function leanContext(tables: HistoryTables, { before, after }: ActorWrite): Context {
  const context = after.snapshot.context as Context;
  const { always, columns, absent } = omittedOf(tables)[after.revision > 1 ? 'turned' : 'inserted'];
  const lean: Record<string, unknown> = { ...context };
  if (before?.revision === 1) {
    const insert = before.snapshot.context as Context;
    for (const name in context) if (context[name] === insert[name]) lean[name] = undefined;
  }
  for (const column of columns) {
    const value = context[column.member];
    lean[column.member] = standsIn(column, value) ? undefined : value;
  }
  for (const name of always) if (lean[name] !== undefined) lean[name] = undefined;
  for (const name of absent) if (lean[name] === null) lean[name] = undefined;
  return lean;
}

/** True when the column holds the whole value: it cuts off a moment that is no whole millisecond. */
const standsIn = ({ isMoment }: MemberInColumn, value: unknown): boolean =>
  value === null || (isMoment ? Number.isSafeInteger(value) : typeof value === 'string');

/** The result of `contextColumns` for an actor. */
export interface StoredContext {
  readonly inserted: Context;
  /** The latest turn's context; null before the first one. */
  readonly turned: Context | null;
  /** The members in columns: a text, or epoch milliseconds. */
  readonly [member: string]: unknown;
}

/**
 * SQL of the parts of an actor's context: that of its insert `b`, that of its latest turn `t`, and the values
 * in the columns of either. PostgreSQL took half as long again to read an actor where it put the parts
 * together as well.
 */
export function contextColumns({ inColumns, insertedWith }: HistoryTables): string {
  const columns = inColumns.map(({ member, column, isMoment }) => {
    const latest = insertedWith.includes(column)
      ? `case when t.revision is null then b.${column} else t.${column} end`
      : `t.${column}`;
    return `, ${isMoment ? `round(date_part('epoch', ${latest}) * 1000)` : latest} as "${member}"`;
  });
  return `b.context as inserted, t.context as turned${columns.join('')}`;
}

/** The context of an actor, put together from its parts. A member in neither a column nor a row is null. */
export function wholeContext({ inColumns, nullAtFirst }: HistoryTables, stored: StoredContext): Context {
  const whole: Record<string, unknown> = {};
  for (const member of nullAtFirst) whole[member] = null;
  // An insert may be more exact than its columns.
  if (stored.turned) Object.assign(whole, stored.inserted);
  for (const { member } of inColumns) whole[member] = stored[member];
  return Object.assign(whole, stored.turned ?? stored.inserted);
}
