import { and, eq, type SQL, sql } from 'drizzle-orm';
import { inOrder, listById, withinRange } from '../../http/lists/list.ts';
import type { Call, Page, WrittenPage } from '../../http/request/route.ts';
import { type Database, PREPARED } from '../../platform/db/database.ts';
import type { Reads } from '../../platform/db/reads.ts';
import { audienceMembers, audiences } from '../../platform/db/schema/audiences.ts';
import { contacts } from '../../platform/db/schema/contacts.ts';
import { type Failure, invalid, notFound } from '../../platform/errors/failure.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { Problems } from '../../platform/filters/condition.ts';
import type { ContactView } from '../contacts/queries.ts';
import { type AudienceMatch, listContacts, type Scope } from '../contacts/queries.ts';
import type { ContactCounter } from './count.ts';
import { type ContactFilter, ownAudiences, readContactFilter } from './filter.ts';
import type { AudienceQuery, AudienceView, PreviewView } from './model.ts';

export type { FilteredContact } from './fields.ts';
// biome-ignore lint/performance/noBarrelFile: what other modules may ask of contacts, beside the queries themselves.
export { type ContactFilter, readContactFilter } from './filter.ts';

/** The services that reading audiences calls. */
export interface AudienceReader {
  readonly database: Database;
}

/** The services that listing audiences and whom they hold calls. */
export interface AudienceLister extends AudienceReader {
  readonly reads: Reads;
}

/** The services that counting the contacts of audiences calls as well. */
export interface AudienceCounter extends AudienceReader {
  readonly counter: ContactCounter;
}

export type AudienceRow = typeof audiences.$inferSelect;

/** Reads an audience; null when there is none. @throws UnavailableError */
export async function findAudienceRow(
  { database }: AudienceReader,
  scope: Scope,
  id: string,
): Promise<AudienceRow | null> {
  const [row] = await database.read(
    (orm) =>
      orm
        .select()
        .from(audiences)
        .where(and(ownAudiences(scope), eq(audiences.id, id))),
    PREPARED,
  );
  return row ?? null;
}

/** The filter of a dynamic audience; null where it names a deleted audience, and so matches no contact. */
async function filterOf({ database }: AudienceReader, row: AudienceRow): Promise<ContactFilter | null> {
  const filter = await readContactFilter(database, row, row.filter, { at: '', above: [row.id] });
  return filter instanceof Problems ? null : filter;
}

/**
 * The contacts of an audience, as a condition on `contacts`; null when there is no such audience. @throws
 * UnavailableError
 */
export async function matchAudience(
  reader: AudienceReader,
  scope: Scope,
  id: string,
  now: number,
): Promise<AudienceMatch | null> {
  const row = await findAudienceRow(reader, scope, id);
  if (!row) return null;
  if (row.type === 'static') return { isStatic: true, isReadable: true, condition: isMember(id) };
  const filter = await filterOf(reader, row);
  return {
    isStatic: false,
    isReadable: filter !== null,
    condition: filter ? sql`(${filter.sql(now)}) is true` : sql`false`,
  };
}

const isMember = (id: string): SQL =>
  sql`exists (select from ${audienceMembers} where ${audienceMembers.audienceId} = ${id}
    and ${audienceMembers.contactId} = ${contacts.id} and ${audienceMembers.state} = 'joined')`;

const memberCount = sql<number>`(select count(*) from audience_members m
  where m.audience_id = ${audiences.id} and m.state = 'joined')::float8`;

/** An audience as it is answered. */
export const audienceOf = (row: AudienceRow, contactCount: number | null): AudienceView => ({
  id: row.id,
  livemode: row.livemode,
  name: row.name,
  description: row.description,
  type: row.type as AudienceView['type'],
  filter: row.filter,
  public: row.public,
  confirm: row.confirm,
  contactCount,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});

/** Reads an audience with the number of its contacts; null when there is none. */
export async function findAudience(
  reader: AudienceCounter,
  scope: Scope,
  id: string,
  now: number,
): Promise<AudienceView | null> {
  const row = await findAudienceRow(reader, scope, id);
  return row && audienceOf(row, await contactCountOf(reader, row, now));
}

/**
 * Reads an audience that was just written. Where its contacts cannot be counted now, the number is null:
 * after an error the client would write the audience again. @throws UnavailableError
 */
export async function findWrittenAudience(
  reader: AudienceCounter,
  scope: Scope,
  id: string,
  now: number,
): Promise<AudienceView | null> {
  const row = await findAudienceRow(reader, scope, id);
  if (!row) return null;
  const count = await contactCountOf(reader, row, now).catch((error: unknown) => {
    if (error instanceof UnavailableError) return null;
    throw error;
  });
  return audienceOf(row, count);
}

async function contactCountOf(reader: AudienceCounter, row: AudienceRow, now: number): Promise<number> {
  if (row.type === 'dynamic') {
    const filter = await filterOf(reader, row);
    return filter === null ? 0 : (await reader.counter.count(row, filter.sql(now))).count;
  }
  const [counted] = await reader.database.read((orm) =>
    orm
      .select({ count: memberCount })
      .from(audiences)
      .where(and(ownAudiences(row), eq(audiences.id, row.id))),
  );
  return counted?.count ?? 0;
}

/** Reads an audience, or answers 404. */
export const audienceDetail = async (
  reader: AudienceCounter,
  { caller, params, now }: Call<{ readonly id: string }>,
): Promise<AudienceView | Failure> =>
  (await findAudience(reader, caller, params.id, now)) ?? notFound('audience');

/** Lists audiences, newest first. */
export const listAudiences = (
  { reads }: AudienceLister,
  call: Call<unknown, AudienceQuery>,
): Promise<Page<AudienceView> | Failure> =>
  listById(call, {
    list: 'audiences',
    prefix: 'aud',
    rows: (range, limit) =>
      reads.read((orm) =>
        orm
          .select({
            id: audiences.id,
            row: audiences,
            count: sql<number | null>`case when ${audiences.type} = 'static' then ${memberCount} end`,
          })
          .from(audiences)
          .where(and(ownAudiences(call.caller), ...withinRange(audiences.id, range)))
          .orderBy(inOrder(audiences.id, range))
          .limit(limit),
      ),
    item: ({ row, count }) => audienceOf(row, count),
  });

/** Lists the contacts of an audience, newest contacts first. */
export async function listMembers(
  reader: AudienceLister,
  call: Call<{ readonly id: string }, AudienceQuery>,
): Promise<WrittenPage<ContactView> | Failure> {
  const { params, query } = call;
  if (!(await findAudienceRow(reader, call.caller, params.id))) return notFound('audience');
  const lister = {
    reads: reader.reads,
    findAudience: (scope: Scope, id: string, now: number) => matchAudience(reader, scope, id, now),
  };
  return listContacts(lister, { ...call, query: { ...query, audienceId: params.id } });
}

/** Counts the contacts that a filter matches, and reads some of them. */
export async function previewFilter(
  { database, counter }: AudienceCounter,
  { caller, body, now }: Call<unknown, unknown, { readonly filter: unknown }>,
): Promise<PreviewView | Failure> {
  const filter = await readContactFilter(database, caller, body.filter, { at: '/body/filter', above: [] });
  if (filter instanceof Problems) return invalid(filter.details);
  const { count, isExact, sample } = await counter.preview(caller, filter.sql(now));
  return { count, isExact, sample: [...sample] };
}
