import type { SQL } from 'drizzle-orm';
import { searchBy } from '../../../http/lists/bounded-search.ts';
import { idRangeOf } from '../../../http/lists/list.ts';
import { byId, positionOf, searchPageOf } from '../../../http/lists/pagination.ts';
import { type Call, WrittenPage } from '../../../http/request/route.ts';
import type { Reads } from '../../../platform/db/reads.ts';
import { type Failure, invalid } from '../../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../../platform/text/address.ts';
import { searchKey } from '../field-columns.ts';
import type { ContactQuery, ContactView } from '../model.ts';
import type { Scope } from './contact-rows.ts';
import { ContactPages, type FoundPage, withoutLast } from './list-statements.ts';

/** The most contacts that one request looks at where no index finds what it asks for: some 20 ms, however many there are. */
const MOST_SEARCHED = 10_000;

/** Up to so many who begin with a text are named by the indexes. */
const FEW = 1_000;

/** The name of an audience in a list's filter, as the audiences say it. */
export interface AudienceMatch {
  /** True where the rows of `audience_members` say who is in it. */
  readonly isStatic: boolean;
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

/** Lists contacts, newest first. */
export async function listContacts(
  { reads, findAudience, mostSearched = MOST_SEARCHED, few = FEW }: ContactLister,
  { caller, query, now }: Call<unknown, ContactQuery>,
): Promise<WrittenPage<ContactView> | Failure> {
  const request = { list: 'contacts', caller, isPosition: byId('con'), query };
  const after = positionOf(request);
  if (typeof after === 'object' && after !== null) return after;
  const address = query.email === undefined ? null : parseAddress(query.email);
  if (address && isProblem(address)) return invalid([{ path: '/query/email', message: address.problem }]);
  const audience = query.audienceId === undefined ? null : await findAudience(caller, query.audienceId, now);
  if (query.audienceId !== undefined && !audience)
    return invalid([{ path: '/query/audienceId', message: 'No such audience.' }]);
  const range = idRangeOf('con', after, query);
  const { search, status } = query;
  const pages = new ContactPages(
    { reads, scope: caller, range, limit: query.limit + 1, few },
    {
      ...{ status, email: address?.key, audience: audience?.condition ?? null },
      // The filters of dynamic audiences are the clients' own.
      isKept: audience === null || audience.isStatic,
    },
  );
  const { ids, text, stoppedAt } = await find(
    pages,
    { audience, email: address?.key, search, status },
    mostSearched,
  );
  const id = (each: string): string => each;
  const { pagination } = searchPageOf(request, ids, id, id, stoppedAt);
  return new WrittenPage(ids.length > query.limit ? withoutLast(text) : text, pagination);
}

interface ContactSearch {
  readonly audience: AudienceMatch | null;
  readonly email: string | undefined;
  readonly search: string | undefined;
  readonly status: ContactQuery['status'];
}

async function find(
  pages: ContactPages,
  { audience, email, search, status }: ContactSearch,
  mostSearched: number,
): Promise<FoundPage> {
  if (email !== undefined) return pages.all();
  if (search !== undefined) {
    const key = searchKey(search);
    return searchBy((newest) => pages.whoBegin(key, newest), mostSearched);
  }
  // An index answers a status by itself, unless nearly all contacts have it.
  const isIndexed = audience === null && status !== 'subscribed';
  if (isIndexed || (audience?.isStatic && status === undefined)) return pages.all();
  return searchBy((newest) => pages.among(newest), mostSearched);
}
