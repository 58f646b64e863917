import { and, eq, inArray, type SQL } from 'drizzle-orm';
import type { Database } from '../../db/database.ts';
import { audiences } from '../../db/schema/audience.ts';
import { type Filter, Problems } from '../../filters/condition.ts';
import type { FieldFamily } from '../../filters/fields.ts';
import { readFilter } from '../../filters/tree.ts';
import type { Detail } from '../../http/failure.ts';
import type { Scope } from '../contacts/queries.ts';
import { contactFields, type FilteredContact } from './fields.ts';

/** A condition on contacts. */
export type ContactFilter = Filter<FilteredContact>;

/** How far dynamic audiences may name one another. */
const DEEPEST = 3;

/** Restricts to the audiences of one environment. */
export const ownAudiences = ({ workspaceId, livemode }: Scope): SQL | undefined =>
  and(eq(audiences.workspaceId, workspaceId), eq(audiences.livemode, livemode));

/** Where a filter stands. */
interface Place {
  /** Its pointer in the request. */
  readonly at: string;
  /** The audiences that it is part of: none of them may be named by it. */
  readonly above: readonly string[];
  /** What can be asked besides, in the filter itself and not in those of the audiences that it names. */
  readonly further?: readonly FieldFamily<FilteredContact>[];
}

/**
 * Reads a filter over contacts. The dynamic audiences that it names take part with their own filters, down to three of them within
 * one another. @throws Unavailable
 */
export async function readContactFilter(
  database: Database,
  scope: Scope,
  value: unknown,
  { at, above, further }: Place,
): Promise<ContactFilter | Problems> {
  // The whole filter is read first, which bounds the ids that are looked up.
  const alone = readFilter(value, at, contactFields(undefined, further));
  const ids = alone instanceof Problems ? [] : audienceIdsIn(value);
  if (ids.length === 0) return alone;
  const rows = await database.read((orm) =>
    orm
      .select({ id: audiences.id, filter: audiences.filter })
      .from(audiences)
      .where(and(ownAudiences(scope), inArray(audiences.id, [...ids]))),
  );
  const details: Detail[] = [];
  const refuse = (message: string) => details.push({ path: at, message });
  if (rows.length < ids.length) refuse('It names an audience that is not there.');
  const dynamic = new Map<string, ContactFilter>();
  for (const { id, filter } of rows) {
    if (filter === null) continue;
    if (above.includes(id)) refuse('It names an audience that is made of this one.');
    else if (above.length > DEEPEST) refuse(`Let at most ${DEEPEST} dynamic audiences name one another.`);
    else {
      const inner = await readContactFilter(database, scope, filter, { at, above: [...above, id] });
      if (inner instanceof Problems) details.push(...inner.details);
      else dynamic.set(id, inner);
    }
  }
  return details.length > 0 ? new Problems(details) : readFilter(value, at, contactFields(dynamic, further));
}

/** The ids of audiences that the conditions of a filter name. */
function audienceIdsIn(node: unknown): readonly string[] {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { field, value: operand } = value as { readonly field?: unknown; readonly value?: unknown };
    if (field === 'audiences') for (const id of [operand].flat()) found.add(String(id));
    else for (const inner of Object.values(value)) visit(inner);
  };
  visit(node);
  return [...found];
}
