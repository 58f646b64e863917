import { inArray, sql } from 'drizzle-orm';
import {
  type ContactFilter,
  type FilteredContact,
  readContactFilter,
} from '../../../audience/audiences/queries.ts';
import { ownContacts, type Scope } from '../../../audience/contacts/queries.ts';
import type { Database, Orm, ReadOptions } from '../../../platform/db/database.ts';
import { contacts } from '../../../platform/db/schema/contacts.ts';
import { codeOf, TOOK_TOO_LONG } from '../../../platform/db/sqlstate.ts';
import type { Detail } from '../../../platform/errors/failure.ts';
import { Problems } from '../../../platform/filters/condition.ts';
import type { FieldFamily } from '../../../platform/filters/fields.ts';
import { propertyFamily } from '../../../platform/filters/properties.ts';

/** The properties of the event: in SQL of the entry `ev` of the contact's activity. */
const EVENT: FieldFamily<FilteredContact> = propertyFamily<FilteredContact>('event.', {
  sql: sql`ev.data::jsonb`,
  read: ({ event = {} }) => event,
});

/** Reads a filter of a flow: over contacts, and over the event that it sees. @throws UnavailableError */
export const readFlowFilter = (
  database: Database,
  scope: Scope,
  value: unknown,
  at = '',
): Promise<ContactFilter | Problems> =>
  readContactFilter(database, scope, value, { at, above: [], further: [EVENT] });

/**
 * Lists the problems of a filter; empty where there are none.
 * @throws UnavailableError
 */
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

/** A filter of a workspace has taken all the time that it has there. */
export class SlowFilter extends Error {
  override readonly name = 'SlowFilter';
}

/** The time that the filters of each workspace may take of work that others wait behind. */
export class FilterTime {
  /** The workspaces that have used up their time, each with the error that showed it. */
  readonly slow = new Map<string, SlowFilter>();
  readonly #taken = new Map<string, number>();

  constructor(
    private readonly limits: {
      readonly monotonic: () => number;
      readonly mostMs: number;
      /** True where a single statement may take at most a second. */
      readonly isBrief: boolean;
      /** True where a filter that cannot be answered in time matches no contact. */
      readonly leavesOut: boolean;
    },
  ) {}

  /**
   * Asks within the time of the workspace; null for a filter that is left out.
   * @throws SlowFilter, UnavailableError
   */
  async ask<T>(workspaceId: string, asked: (options: ReadOptions) => Promise<T>): Promise<T | null> {
    const { monotonic, mostMs, isBrief, leavesOut } = this.limits;
    const taken = this.#taken.get(workspaceId) ?? 0;
    const begin = monotonic();
    try {
      if (taken > mostMs) throw new SlowFilter(`The filters of a workspace take more than ${mostMs} ms.`);
      return await asked({ isBrief });
    } catch (error) {
      const slow = asSlow(error);
      this.slow.set(workspaceId, slow);
      if (leavesOut) return null;
      throw slow;
    } finally {
      this.#taken.set(workspaceId, taken + monotonic() - begin);
    }
  }
}

/** The error of a statement that its server has ended. @throws every other */
function asSlow(error: unknown): SlowFilter {
  if (error instanceof SlowFilter) return error;
  if (codeOf(error) !== TOOK_TOO_LONG) throw error;
  return new SlowFilter('A filter took longer than a statement may.', { cause: error });
}

/** A contact together with the event in question. */
export interface FilterSubject {
  readonly contactId: string;
  /** An entry in its activity; null where there is none. */
  readonly eventId: string | null;
}

/**
 * Answers for each of them whether a filter holds, with one statement. A filter that names a deleted thing
 * matches no contact.
 * @throws UnavailableError, and SlowFilter where the workspace has a limited time
 */
export async function whoMatches(
  database: Database,
  scope: Scope,
  value: unknown,
  asked: readonly FilterSubject[],
  now: number,
  time?: FilterTime,
): Promise<readonly boolean[]> {
  if (value === undefined || value === null) return asked.map(() => true);
  if (asked.length === 0) return [];
  const filter = await readFlowFilter(database, scope, value);
  if (filter instanceof Problems) return asked.map(() => false);
  const pairs = JSON.stringify(
    asked.map(({ contactId, eventId }, ord) => ({ ord, contact_id: contactId, event_id: eventId })),
  );
  const matching = (orm: Orm) =>
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
      );
  const ask = (options?: ReadOptions) => database.read(matching, options);
  const rows = time ? await time.ask(scope.workspaceId, ask) : await ask();
  const found = new Set(rows?.map(({ ord }) => Number(ord)));
  return asked.map((_, ord) => found.has(ord));
}
