import { and, type Column, desc, eq, gte, type SQL, sql } from 'drizzle-orm';
import { type Database, PREPARED, type ReadOptions } from '../../db/database.ts';
import { contacts } from '../../db/schema/audience.ts';
import { type Found, search } from '../../http/bounded-search.ts';
import { type Failure, invalid } from '../../http/failure.ts';
import { idRangeOf, withinRange } from '../../http/list.ts';
import { byId, positionOf, searchPageOf } from '../../http/pagination.ts';
import type { Call, Page } from '../../http/route.ts';
import { isProblem, parseAddress } from '../../mail/address.ts';
import {
  type ContactReader,
  type ContactRow,
  contactColumns,
  contactOf,
  ownContacts,
  type Scope,
} from './contact-rows.ts';
import type { ContactQuery, ContactView } from './model.ts';
import { searchKey } from './read-contact.ts';

/** The most contacts that one request looks at where no index finds what it asks for: some 20 ms, however many there are. */
const MOST_SEARCHED = 10_000;

/** Up to so many matches of a search are read and sorted; looking through the newest contacts finds more of them faster. */
const FEW = 1_000;

/** Above every character that a prefix can be followed by, in the order of bytes. */
const ABOVE_ALL = '\u{10ffff}';

/** The name of an audience in a list's filter, as the audiences say it. */
export interface AudienceMatch {
  /** True where the rows of `audience_members` say who is in it. */
  readonly isStatic: boolean;
  readonly condition: SQL;
}

/** Finds an audience; null when there is none. */
export type FindAudience = (scope: Scope, id: string, now: number) => Promise<AudienceMatch | null>;

/** The services that listing contacts calls. */
export interface ContactLister extends ContactReader {
  readonly findAudience: FindAudience;
  /** For tests; `MOST_SEARCHED` otherwise. */
  readonly mostSearched?: number;
}

/** Lists contacts, newest first. */
export async function listContacts(
  { database, findAudience, mostSearched = MOST_SEARCHED }: ContactLister,
  { caller, query, now }: Call<unknown, ContactQuery>,
): Promise<Page<ContactView> | Failure> {
  const request = { list: 'contacts', caller, isPosition: byId('con'), query };
  const after = positionOf(request);
  if (typeof after === 'object' && after !== null) return after;
  const address = query.email === undefined ? null : parseAddress(query.email);
  if (address && isProblem(address)) return invalid([{ path: '/query/email', message: address.problem }]);
  const audience = query.audienceId === undefined ? null : await findAudience(caller, query.audienceId, now);
  if (query.audienceId !== undefined && !audience)
    return invalid([{ path: '/query/audienceId', message: 'No such audience.' }]);
  const range = withinRange(contacts.id, idRangeOf('con', after, query));
  const sought = { audience, email: address?.key, search: query.search, status: query.status };
  const found = await find(new ContactLists(database, caller, query.limit + 1), sought, range, mostSearched);
  return searchPageOf(request, found.rows, ({ id }) => id, contactOf, found.stoppedAt);
}

interface Sought {
  readonly audience: AudienceMatch | null;
  readonly email: string | undefined;
  readonly search: string | undefined;
  readonly status: string | undefined;
}

async function find(
  lists: ContactLists,
  { audience, email, search: term, status }: Sought,
  range: readonly SQL[],
  mostSearched: number,
): Promise<Found<ContactRow>> {
  const ofStatus = status === undefined ? [] : [eq(contacts.status, status)];
  const ofAudience = audience ? [audience.condition] : [];
  const others = [...ofStatus, ...ofAudience];
  if (email !== undefined) return all(await lists.rows([eq(contacts.emailKey, email), ...others, ...range]));
  if (term !== undefined) {
    const key = searchKey(term);
    const few = await lists.fewWhoBegin(key, range, others.length === 0);
    if (few) return all(few.length === 0 ? [] : await lists.rows([isOneOf(few), ...others]));
    others.push(beginsSql(key));
  }
  // An index answers a status by itself, unless it is that of nearly everybody.
  const isIndexed =
    others.length === 0 || (others.length === 1 && status !== undefined && status !== 'subscribed');
  if (isIndexed || (audience?.isStatic && others.length === 1))
    return all(await lists.rows([...others, ...range], others.length === 0 ? PREPARED : {}));
  const walk = {
    nth: (count: number) => lists.nth(range, count),
    rowsDownTo: (id: string | null) =>
      lists.rows([...others, ...range, ...(id === null ? [] : [gte(contacts.id, id)])]),
  };
  return search(walk, lists.limit - 1, mostSearched);
}

const isOneOf = (ids: readonly string[]): SQL => sql`${contacts.id} = any(${sql.param(ids)}::text[])`;

const all = (rows: readonly ContactRow[]): Found<ContactRow> => ({ rows, stoppedAt: null });

const begins = (column: Column, key: string): SQL =>
  sql`${column} >= ${key} and ${column} < ${key + ABOVE_ALL}`;

const beginsSql = (key: string): SQL =>
  sql`(${begins(contacts.emailKey, key)} or ${begins(contacts.nameKey, key)} or ${begins(contacts.lastNameKey, key)})`;

/** The statements over the contacts of one environment. */
class ContactLists {
  constructor(
    private readonly database: Database,
    private readonly scope: Scope,
    readonly limit: number,
  ) {}

  rows(conditions: readonly SQL[], options?: ReadOptions): Promise<readonly ContactRow[]> {
    return this.database.read(
      (orm) =>
        orm
          .select(contactColumns)
          .from(contacts)
          .where(and(ownContacts(this.scope), ...conditions))
          .orderBy(desc(contacts.id))
          .limit(this.limit),
      options,
    );
  }

  async nth(range: readonly SQL[], count: number): Promise<string | null> {
    const [row] = await this.database.read(
      (orm) =>
        orm
          .select({ id: contacts.id })
          .from(contacts)
          .where(and(ownContacts(this.scope), ...range))
          .orderBy(desc(contacts.id))
          .offset(count - 1)
          .limit(1),
      PREPARED,
    );
    return row?.id ?? null;
  }

  /**
   * The ids of those within the range whose address or name begins so, newest first, by the three indexes; null when there are many.
   * That is seen in the indexes alone. Only as many as the page takes are answered when nothing else is asked of them.
   */
  async fewWhoBegin(key: string, range: readonly SQL[], isPage: boolean): Promise<readonly string[] | null> {
    // In the order of the key, which leaves the planner nothing but the index: it would rather walk through the table.
    const matching = [
      { key: contacts.emailKey, indexed: sql`true` },
      { key: contacts.nameKey, indexed: sql`true` },
      {
        key: contacts.lastNameKey,
        indexed: sql`${contacts.firstNameKey} is not null and ${contacts.lastNameKey} is not null`,
      },
    ].map(
      (each) => sql`from ${contacts} where ${ownContacts(this.scope)} and ${each.indexed}
        and ${begins(each.key, key)} order by ${each.key}`,
    );
    const areMany = matching.map((from) => sql`(select true ${from} limit 1 offset ${FEW}) is not null`);
    const ids = matching.map((from) => sql`(select ${contacts.id} ${from} limit ${FEW})`);
    const found = sql`select id from (${sql.join(ids, sql` union `)}) contacts
      where ${and(sql`true`, ...range)} order by id desc limit ${isPage ? this.limit : 3 * FEW}`;
    const [row] = await this.database.read((orm) =>
      orm
        .select({
          ids: sql<
            readonly string[] | null
          >`case when not (${sql.join(areMany, sql` or `)}) then array(${found}) end`,
        })
        .from(sql`(select) one`),
    );
    return row?.ids ?? null;
  }
}
