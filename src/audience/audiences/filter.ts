import { and, eq, inArray, type SQL } from 'drizzle-orm';
import type { Database } from '../../platform/db/database.ts';
import { audiences } from '../../platform/db/schema/audiences.ts';
import type { Detail } from '../../platform/errors/failure.ts';
import { type Filter, Problems } from '../../platform/filters/condition.ts';
import type { FieldFamily } from '../../platform/filters/fields.ts';
import { readFilter } from '../../platform/filters/tree.ts';
import type { Scope } from '../contacts/queries.ts';
import { contactFields, type FilteredContact } from './fields.ts';

/** A condition on contacts. */
export type ContactFilter = Filter<FilteredContact>;

/** The depth to which dynamic audiences may name one another. */
const DEEPEST = 3;
/**
 * The most conditions of one filter, including those of the dynamic audiences that it names, each time that
 * it names them. Without this limit, three levels of fifty conditions would be millions.
 */
const MOST_IN_ALL = 100;

/** Restricts to the audiences of one environment. */
export const ownAudiences = ({ workspaceId, livemode }: Scope): SQL | undefined =>
  and(eq(audiences.workspaceId, workspaceId), eq(audiences.livemode, livemode));

/** The place of a filter. */
interface Place {
  /** Its pointer in the request. */
  readonly at: string;
  /** The audiences that it is part of: none of them may be named by it. */
  readonly above: readonly string[];
  /** Further fields of this filter, which filters of the named audiences do not have. */
  readonly further?: readonly FieldFamily<FilteredContact>[];
  /** A filter that an audience does not have yet. */
  readonly instead?: { readonly id: string; readonly filter: unknown };
}

interface Part {
  readonly filter: ContactFilter;
  /** The number of its conditions, including those of the audiences that it names. */
  readonly conditions: number;
}

/**
 * Reads a filter over contacts. The dynamic audiences that it names take part with their own filters, down to
 * three of them within one another, and with 100 conditions in all. @throws UnavailableError
 */
export async function readContactFilter(
  database: Database,
  scope: Scope,
  value: unknown,
  place: Place,
): Promise<ContactFilter | Problems> {
  const part = await readPart(database, scope, value, place);
  return part instanceof Problems ? part : part.filter;
}

async function readPart(
  database: Database,
  scope: Scope,
  value: unknown,
  place: Place,
): Promise<Part | Problems> {
  const { at, above, further, instead } = place;
  // The whole filter is read first, which bounds the ids that are looked up.
  const alone = readFilter(value, at, contactFields(undefined, further));
  if (alone instanceof Problems) return alone;
  const named = conditionsIn(value);
  const ids = [...new Set(named.flat())];
  if (ids.length === 0) return { filter: alone, conditions: named.length };
  const rows = await database.read((orm) =>
    orm
      .select({ id: audiences.id, filter: audiences.filter })
      .from(audiences)
      .where(and(ownAudiences(scope), inArray(audiences.id, ids))),
  );
  const details: Detail[] = [];
  const refuse = (message: string) => details.push({ path: at, message });
  if (rows.length < ids.length) refuse('It names an audience that is not there.');
  const dynamic = new Map<string, ContactFilter>();
  let conditions = named.length;
  for (const { id, filter } of rows) {
    if (filter === null) continue;
    if (above.includes(id)) refuse('It names an audience that is made of this one.');
    else if (above.length > DEEPEST) refuse(`Let at most ${DEEPEST} dynamic audiences name one another.`);
    else {
      const its = id === instead?.id ? instead.filter : filter;
      const inner = await readPart(database, scope, its, {
        at,
        above: [...above, id],
        ...(instead && { instead }),
      });
      if (inner instanceof Problems) details.push(...inner.details);
      else dynamic.set(id, inner.filter);
      const times = named.flat().filter((each) => each === id).length;
      conditions += inner instanceof Problems ? 0 : inner.conditions * times;
      if (conditions > MOST_IN_ALL) refuse(TOO_MANY);
    }
    // Each of them may name as many again.
    if (details.length > 0) break;
  }
  if (details.length > 0) return new Problems(details);
  const filter = readFilter(value, at, contactFields(dynamic, further));
  return filter instanceof Problems ? filter : { filter, conditions };
}

const MADE_OF = `with recursive made_of_it as (
  select $3::text collate "C" as id
  union
  select a.id from made_of_it m join audiences a
    on a.workspace_id = $1 and a.livemode = $2::boolean and a.type = 'dynamic' and strpos(a.filter::text, m.id) > 0
)
select a.id, a.filter from audiences a
where a.workspace_id = $1 and a.livemode = $2::boolean and a.id <> $3 and a.id in (select id from made_of_it) order by a.id`;

/**
 * The problem that a new filter of an audience would cause for audiences that name it: they would match no
 * contact. @throws UnavailableError
 */
export async function problemsAbove(
  database: Database,
  scope: Scope,
  instead: { readonly id: string; readonly filter: unknown },
  at: string,
): Promise<readonly Detail[]> {
  const { workspaceId, livemode } = scope;
  const rows = await database.query<{ id: string; filter: unknown }>(MADE_OF, [
    workspaceId,
    livemode,
    instead.id,
  ]);
  for (const { id, filter } of rows) {
    const place = { at, above: [id] };
    const read = await readContactFilter(database, scope, filter, { ...place, instead });
    if (!(read instanceof Problems)) continue;
    // An audience that already matches no contact prevents no change.
    if ((await readContactFilter(database, scope, filter, place)) instanceof Problems) continue;
    return read.details.map(({ path, message }) => ({
      path,
      message: `The audience ${id} is made of this one. ${message}`,
    }));
  }
  return [];
}

const TOO_MANY = `Make it of at most ${MOST_IN_ALL} conditions, those of the audiences that it names included.`;

/** For each condition of a filter the ids of the audiences that it names: none in most. */
function conditionsIn(node: unknown): readonly (readonly string[])[] {
  if (typeof node !== 'object' || node === null) return [];
  const { field, value } = node as { readonly field?: unknown; readonly value?: unknown };
  if (field !== undefined) return [field === 'audiences' ? [value].flat().map(String) : []];
  return Object.values(node).flatMap(conditionsIn);
}
