import type { EmailState } from '../../../../machines/email.ts';
import type { Principal } from '../../../auth/principal.ts';
import type { Database } from '../../../db/database.ts';
import { type Found, search } from '../../../http/bounded-search.ts';
import { Failure } from '../../../http/failure.ts';
import { filtersOf } from './filters.ts';
import { DUE, isCrowded, listsOf } from './lists.ts';
import type { EmailQuery } from './query-model.ts';
import type { EmailItemRow } from './views.ts';

/** The most emails that one request looks at for its filters: some 30 ms, however many there are. */
export const MOST_SEARCHED = 10_000;

/**
 * The way to find the emails of a state. `state`: they are few, and an index has them by state. `clock`: they are in flight, and
 * the index of wake times has them. `newest`: they are so many that looking through the newest emails finds them.
 */
export const FOUND_BY: Readonly<Record<EmailState, 'state' | 'clock' | 'newest'>> = {
  scheduled: 'state',
  queued: 'clock',
  sending: 'clock',
  deferred: 'state',
  sent: 'newest',
  delivered: 'newest',
  failed: 'state',
  cancelled: 'state',
};

/** Reads one row more than the page has, newest first, as far as the emails that are looked at hold so many. */
export async function readPage(
  database: Database,
  caller: Principal,
  query: EmailQuery,
  { after, now }: { readonly after: string | null; readonly now: number },
  mostSearched: number = MOST_SEARCHED,
): Promise<Found<EmailItemRow> | Failure> {
  const filters = filtersOf(query, after, now);
  if (filters instanceof Failure) return filters;
  const lists = listsOf(database, caller, filters, query.limit);
  const foundBy = query.status === undefined ? 'newest' : FOUND_BY[query.status];
  if (foundBy === 'clock' && !(await isCrowded(database, mostSearched)))
    return { rows: await lists.inState(null, DUE), stoppedAt: null };
  const { ofMessage, ofEmail } = filters;
  if (foundBy === 'state') {
    // The index by state answers a filter by state alone.
    const isExact = ofMessage.length === 0 && ofEmail.length === 1;
    if (isExact) return { rows: await lists.inState(null), stoppedAt: null };
    return search({ nth: lists.nthInState, rowsDownTo: lists.inState }, query.limit, mostSearched);
  }
  if (ofMessage.length === 0 && ofEmail.length === 0)
    return { rows: await lists.newestOfAll(), stoppedAt: null };
  return search({ nth: lists.nthNewest, rowsDownTo: lists.newest }, query.limit, mostSearched);
}
