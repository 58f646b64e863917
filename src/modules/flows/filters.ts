import { inArray, sql } from 'drizzle-orm';
import type { Database } from '../../db/database.ts';
import { contacts } from '../../db/schema/audience.ts';
import { Problems } from '../../filters/condition.ts';
import type { FieldFamily } from '../../filters/fields.ts';
import { propertyFamily } from '../../filters/properties.ts';
import type { Detail } from '../../http/failure.ts';
import { type ContactFilter, type FilteredContact, readContactFilter } from '../audiences/queries.ts';
import { ownContacts, type Scope } from '../contacts/queries.ts';

/** The properties of the event: in SQL of the entry `ev` of the contact's activity. */
const EVENT: FieldFamily<FilteredContact> = propertyFamily<FilteredContact>('event.', {
  sql: sql`ev.data::jsonb`,
  read: ({ event = {} }) => event,
});

/** Reads a filter of a flow: over contacts, and over the event that it sees. @throws Unavailable */
export const readFlowFilter = (
  database: Database,
  scope: Scope,
  value: unknown,
  at = '',
): Promise<ContactFilter | Problems> =>
  readContactFilter(database, scope, value, { at, above: [], further: [EVENT] });

/** What is wrong with a filter; nothing where there is none. @throws Unavailable */
export async function filterProblems(
  database: Database,
  scope: Scope,
  value: unknown,
  at: string,
): Promise<readonly Detail[]> {
  if (value === undefined || value === null) return [];
  const read = await readFlowFilter(database, scope, value, at);
  return read instanceof Problems ? read.details : [];
}

/** A contact together with the event that is asked about. */
export interface Asked {
  readonly contactId: string;
  /** An entry in its activity; null where there is none. */
  readonly eventId: string | null;
}

/**
 * Answers for each of them whether a filter holds, with one statement. A filter that names what has gone since holds for nobody.
 * @throws Unavailable
 */
export async function whoMatches(
  database: Database,
  scope: Scope,
  value: unknown,
  asked: readonly Asked[],
  now: number,
): Promise<readonly boolean[]> {
  if (value === undefined || value === null) return asked.map(() => true);
  if (asked.length === 0) return [];
  const filter = await readFlowFilter(database, scope, value);
  if (filter instanceof Problems) return asked.map(() => false);
  const pairs = JSON.stringify(
    asked.map(({ contactId, eventId }, ord) => ({ ord, contact_id: contactId, event_id: eventId })),
  );
  const rows = await database.read((orm) =>
    orm
      .select({ ord: sql<number>`p.ord` })
      .from(contacts)
      .innerJoin(
        sql`json_to_recordset(${pairs}::text::json) as p(ord integer, contact_id text, event_id text)`,
        sql`p.contact_id = ${contacts.id}`,
      )
      .leftJoin(sql`contact_activity ev`, sql`ev.contact_id = ${contacts.id} and ev.id = p.event_id`)
      .where(
        sql`${ownContacts(scope)} and ${inArray(
          contacts.id,
          asked.map(({ contactId }) => contactId),
        )} and (${filter.sql(now)}) is true`,
      ),
  );
  const matching = new Set(rows.map(({ ord }) => Number(ord)));
  return asked.map((_, ord) => matching.has(ord));
}
