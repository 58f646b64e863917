import type { EmailState } from '../../../../machines/email/machine.ts';
import { type SearchPage, search } from '../../../http/lists/bounded-search.ts';
import type { CountView } from '../../../http/lists/count.ts';
import type { FilterOf } from '../../../http/lists/list.ts';
import type { Reads } from '../../../platform/db/reads.ts';
import { Failure } from '../../../platform/errors/failure.ts';
import { filtersOf } from './filters.ts';
import type { EmailItemRow, ListOwner } from './item-statements.ts';
import { EmailLists, isCrowded } from './lists.ts';
import type { EmailQuery } from './query-model.ts';

/** The most emails that one request looks at for its filters: some 30 ms, however many there are. */
export const MOST_SEARCHED = 10_000;

/**
 * The way to find the emails of a state. `waiting` and `ended`: they are few, and the index of those that
 * wait, or of turns that lead to a rare end, has them by state. `clock`: they are in flight, and the index of
 * wake times has them, or an instance keeps them. `newest`: they are so many that looking through the newest
 * emails finds them.
 */
export const FOUND_BY: Readonly<Record<EmailState, 'waiting' | 'ended' | 'clock' | 'newest'>> = {
  scheduled: 'waiting',
  queued: 'clock',
  sending: 'clock',
  deferred: 'waiting',
  sent: 'newest',
  delivered: 'newest',
  failed: 'ended',
  cancelled: 'ended',
};

/** Reads one row more than the page has, as far as the emails that are looked at hold so many. */
export async function readPage(
  reads: Reads,
  caller: ListOwner,
  query: EmailQuery,
  { after, now }: { readonly after: string | null; readonly now: number },
  mostSearched: number = MOST_SEARCHED,
): Promise<SearchPage<EmailItemRow> | Failure> {
  const filters = filtersOf(query, after, now);
  if (filters instanceof Failure) return filters;
  const lists = new EmailLists(reads, caller, filters, query.limit);
  const foundBy = query.status === undefined ? 'newest' : FOUND_BY[query.status];
  if (foundBy === 'clock' && !(await isCrowded(reads, caller, now, mostSearched)))
    return { rows: await lists.inFlight(mostSearched), stoppedAt: null };
  const { ofEmail } = filters;
  if (foundBy === 'waiting' || foundBy === 'ended') {
    // The index by state answers a filter by state alone.
    if (ofEmail.length === 0) return { rows: await lists.inState(foundBy), stoppedAt: null };
    const found = { nth: lists.nthInState(foundBy), rowsUntil: lists.inStateUntil(foundBy) };
    return search(found, query.limit, mostSearched);
  }
  if (ofEmail.length === 0 && query.status === undefined)
    return { rows: await lists.first(), stoppedAt: null };
  const { nthOfAll: nth, amongFirst: among } = lists;
  const rowsUntil = lists.firstUntil(mostSearched);
  return search({ nth, rowsUntil, among }, query.limit, mostSearched);
}

export type EmailFilter = FilterOf<EmailQuery>;

/** Counts the emails of such a list, as far as a count looks. @throws UnavailableError */
export async function countEmails(
  reads: Reads,
  caller: ListOwner,
  query: EmailFilter,
  now: number,
): Promise<CountView | Failure> {
  const filters = filtersOf({ ...query, limit: 0 }, null, now);
  if (filters instanceof Failure) return filters;
  const lists = new EmailLists(reads, caller, filters, 0);
  const foundBy = query.status === undefined ? 'newest' : FOUND_BY[query.status];
  return foundBy === 'waiting' || foundBy === 'ended' ? lists.countInState(foundBy) : lists.count();
}
