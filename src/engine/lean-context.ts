import type { AppendedLife, MemberInColumn } from './appended-life.ts';
import type { Actor } from './kind.ts';

/**
 * The context of a life without what stands elsewhere: of a turn what never changes, which lies in the birth, and of the one right after it
 * whatever the birth says as well; of either what a derived column has. A quarter of what an email's life takes of the disk was so
 * written twice. `contextOf` is the SQL that puts it together again.
 */

type Context = Readonly<Record<string, unknown>>;

/** An actor as it is written, and as it was before. */
interface Written {
  readonly before: Actor | null;
  readonly after: Actor;
}

/** Made once for each life: which members are looked at. */
const known = new WeakMap<AppendedLife, { readonly born: Omitted; readonly turned: Omitted }>();

interface Omitted {
  /** Members that lie in the birth, whatever they are. */
  readonly always: readonly string[];
  /** Those that have a column, by which they are read. */
  readonly columns: readonly MemberInColumn[];
  /** Those of which there is no column, so that null is read. */
  readonly absent: readonly string[];
}

function omittedOf(life: AppendedLife) {
  const made = known.get(life);
  if (made) return made;
  const { constants, inColumns, bornWith, nullAtFirst } = life;
  const isBorn = ({ column }: MemberInColumn) => bornWith.includes(column);
  const unborn = inColumns.filter((one) => !isBorn(one)).map(({ member }) => member);
  const both = {
    born: { always: [], columns: inColumns.filter(isBorn), absent: [...unborn, ...nullAtFirst] },
    turned: { always: constants, columns: inColumns, absent: [] },
  };
  known.set(life, both);
  return both;
}

/**
 * The context of a draft as its row holds it. What is left out is undefined, which JSON does not write: the copy keeps the shape of the
 * context so, while an object that is put together name by name gets a new one with each.
 */
export function leanContext(life: AppendedLife, { before, after }: Written): Context {
  const context = after.snapshot.context as Context;
  const { always, columns, absent } = omittedOf(life)[after.revision > 1 ? 'turned' : 'born'];
  const lean: Record<string, unknown> = { ...context };
  if (before?.revision === 1) {
    const birth = before.snapshot.context as Context;
    for (const name in context) if (context[name] === birth[name]) lean[name] = undefined;
  }
  for (const column of columns) {
    const value = context[column.member];
    lean[column.member] = standsIn(column, value) ? undefined : value;
  }
  for (const name of always) if (lean[name] !== undefined) lean[name] = undefined;
  for (const name of absent) if (lean[name] === null) lean[name] = undefined;
  return lean;
}

/** Whether the column says all of it: a moment that is no whole millisecond is cut off there. */
const standsIn = ({ isMoment }: MemberInColumn, value: unknown): boolean =>
  value === null || (isMoment ? Number.isSafeInteger(value) : typeof value === 'string');

/**
 * SQL of the context of an actor: that of its birth `b`, with that of its latest turn `t`, what stands in the columns of either, and what
 * is null unless one of them says otherwise.
 */
export function contextOf({ inColumns, bornWith, nullAtFirst }: AppendedLife): string {
  const nulls = nullAtFirst.map((member) => `'${member}', null`);
  const members = (alias: string, has: (one: MemberInColumn) => boolean): readonly string[] =>
    inColumns.map((one) => {
      const column = `${alias}.${one.column}`;
      const value = one.isMoment ? `(extract(epoch from ${column}) * 1000)::bigint` : column;
      return `'${one.member}', ${has(one) ? value : 'null'}`;
    });
  const object = (pairs: readonly string[]): string => `jsonb_build_object(${pairs.join(', ')})`;
  const born = object([...members('b', ({ column }) => bornWith.includes(column)), ...nulls]);
  return `case when t.context is null then (${born} || b.context::jsonb)::json
    else (${object(nulls)} || b.context::jsonb || ${object(members('t', () => true))} || t.context::jsonb)::json end`;
}
