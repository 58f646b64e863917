import type { SQL } from 'drizzle-orm';
import { searchBy } from '../../../http/lists/bounded-search.ts';
import type { CountView } from '../../../http/lists/count.ts';
import { type FilterOf, idRangeOf } from '../../../http/lists/list.ts';
import { byId, positionOf, searchPageOf } from '../../../http/lists/pagination.ts';
import { type Call, WrittenPage } from '../../../http/request/route.ts';
import type { Reads } from '../../../platform/db/reads.ts';
import { Failure, invalidAt } from '../../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../../platform/text/address.ts';
import { beginningKey } from '../field-columns.ts';
import type { ContactQuery, ContactView } from '../model.ts';
import type { Scope } from './contact-rows.ts';
import { type ContactListFilter, ContactPages, type FoundPage, withoutLast } from './list-statements.ts';

/**
 * The most contacts that one request looks at where no index finds what it asks for: some 20 ms, however many
 * there are.
 */
const MOST_SEARCHED = 10_000;

/** Up to so many who begin with a text are named by the indexes. */
const FEW = 1_000;

/** The name of an audience in a list's filter, as the audiences say it. */
export interface AudienceMatch {
  /** True where the rows of `audience_members` say who is in it. */
  readonly isStatic: boolean;
  /**
   * False where its filter names a deleted audience. The condition matches no contact then, which is no
   * answer to the question of who is left out.
   */
  readonly isReadable: boolean;
  readonly condition: SQL;
}

/** Finds an audience; null when there is none. */
export type FindAudience = (scope: Scope, id: string, now: number) => Promise<AudienceMatch | null>;

/** The services that listing contacts calls. */
export interface ContactLister {
  readonly reads: Reads;
  readonly findAudience: FindAudience;
  /** For tests; `MOST_SEARCHED` and `FEW` otherwise. */
  readonly mostSearched?: number;
  readonly few?: number;
}

/** True for a text that may be the key of an address, which is where a list by addresses goes on. */
const isKey = (text: string): boolean => text.length <= 320;

/** Lists contacts in the order that is asked for. */
export async function listContacts(
  { reads, findAudience, mostSearched = MOST_SEARCHED, few = FEW }: ContactLister,
  { caller, query, now }: Call<unknown, ContactQuery>,
): Promise<WrittenPage<ContactView> | Failure> {
  const { sort } = query;
  const isByEmail = sort === 'email' || sort === '-email';
  const request = { list: 'contacts', caller, isPosition: isByEmail ? isKey : byId('con'), query };
  const after = positionOf(request);
  if (typeof after === 'object' && after !== null) return after;
  const filters = await filtersOf(findAudience, caller, query, now);
  if (filters instanceof Failure) return filters;
  const range = idRangeOf('con', isByEmail ? null : after, query);
  const byEmail = isByEmail ? ({ order: sort === 'email' ? 'asc' : 'desc', after } as const) : null;
  const pages = new ContactPages(
    { reads, scope: caller, range, byEmail, limit: query.limit + 1, few },
    listFilterOf(filters),
  );
  const { positions, text, stoppedAt } = await find(pages, { ...filters, isByEmail }, mostSearched);
  const position = (each: string): string => each;
  const { pagination } = searchPageOf(request, positions, position, position, stoppedAt);
  return new WrittenPage(positions.length > query.limit ? withoutLast(text) : text, pagination);
}

interface ContactFilters {
  readonly audience: AudienceMatch | null;
  readonly email: string | undefined;
  readonly search: string | undefined;
  readonly status: ContactQuery['status'];
}

interface ContactSearch extends ContactFilters {
  readonly isByEmail: boolean;
}

/** The filters of a query, or the refusal of one of them. */
async function filtersOf(
  findAudience: FindAudience,
  caller: Scope,
  query: ContactFilter,
  now: number,
): Promise<ContactFilters | Failure> {
  const address = query.email === undefined ? null : parseAddress(query.email);
  if (address && isProblem(address)) return invalidAt('/query/email', address.problem);
  const audience = query.audienceId === undefined ? null : await findAudience(caller, query.audienceId, now);
  if (query.audienceId !== undefined && !audience) return invalidAt('/query/audienceId', 'No such audience.');
  return { audience, email: address?.key, search: query.search, status: query.status };
}

const listFilterOf = ({ audience, email, status }: ContactFilters): ContactListFilter => ({
  status,
  email,
  audience: audience?.condition ?? null,
  // The filters of dynamic audiences are the clients' own.
  isKept: audience === null || audience.isStatic,
});

export type ContactFilter = FilterOf<ContactQuery>;

/** Counts contacts, as far as a count looks. */
export async function countContacts(
  { reads, findAudience, few = FEW }: ContactLister,
  { caller, query, now }: Call<unknown, ContactFilter>,
): Promise<CountView | Failure> {
  const filters = await filtersOf(findAudience, caller, query, now);
  if (filters instanceof Failure) return filters;
  const range = idRangeOf('con', null, query);
  const pages = new ContactPages(
    { reads, scope: caller, range, byEmail: null, limit: 0, few },
    listFilterOf(filters),
  );
  if (filters.search !== undefined && filters.email === undefined)
    return pages.countBeginning(beginningKey(filters.search));
  return isFoundByIndex(filters) ? pages.countAll() : pages.countAmong();
}

/**
 * True where an index answers the filters by itself: an address, the members of a list, or a status that few
 * contacts have.
 */
const isFoundByIndex = ({ audience, email, status }: ContactFilters): boolean =>
  email !== undefined ||
  (audience === null && status !== 'subscribed') ||
  (audience?.isStatic === true && status === undefined);

async function find(
  pages: ContactPages,
  { audience, email, search, status, isByEmail }: ContactSearch,
  mostSearched: number,
): Promise<FoundPage> {
  if (email !== undefined) return pages.all();
  if (search !== undefined) {
    const key = beginningKey(search);
    return searchBy(
      (first) => (isByEmail ? pages.amongBeginning(key, first) : pages.whoBegin(key, first)),
      mostSearched,
    );
  }
  // No index has a status or an audience in the order of addresses.
  if (isByEmail) return searchBy((first) => pages.among(first), mostSearched);
  if (isFoundByIndex({ audience, email, search, status })) return pages.all();
  return searchBy((first) => pages.among(first), mostSearched);
}
