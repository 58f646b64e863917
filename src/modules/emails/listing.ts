import type { Database } from '../../db/database.ts';
import { Failure } from '../../http/failure.ts';
import type { Caller } from '../../http/route.ts';
import { filtersOf } from './filters.ts';
import { DUE, isCrowded, listsOf } from './lists.ts';
import type { EmailQuery } from './request-model.ts';
import { type Found, search } from './search.ts';
import type { EmailItemRow } from './views.ts';

/** Emails that one request looks at for its filters: some 30 ms, whatever the number of all. */
export const MOST_SEARCHED = 10_000;

/** A list of some states begins with the few emails in them, rather than with the newest of all. */
const RARE: ReadonlySet<EmailQuery['status']> = new Set(['scheduled', 'deferred', 'failed', 'cancelled']);
const IN_FLIGHT: ReadonlySet<EmailQuery['status']> = new Set(['queued', 'sending']);

/** One row more than the page has, newest first, if there are so many among the emails that are looked at. */
export async function readPage(
  database: Database,
  caller: Caller,
  query: EmailQuery,
  { after, now }: { readonly after: string | null; readonly now: number },
  mostSearched: number = MOST_SEARCHED,
): Promise<Found<EmailItemRow> | Failure> {
  const filters = filtersOf(query, after, now);
  if (filters instanceof Failure) return filters;
  const lists = listsOf(database, caller, filters, query.limit);
  if (IN_FLIGHT.has(query.status) && !(await isCrowded(database, mostSearched)))
    return { rows: await lists.inState(null, DUE), stoppedAt: null };
  const { ofMessage, ofEmail } = filters;
  if (RARE.has(query.status)) {
    // The index has the state.
    const isExact = ofMessage.length === 0 && ofEmail.length === 1;
    if (isExact) return { rows: await lists.inState(null), stoppedAt: null };
    return search({ nth: lists.nthInState, rowsDownTo: lists.inState }, query.limit, mostSearched);
  }
  if (ofMessage.length === 0 && ofEmail.length === 0)
    return { rows: await lists.newestOfAll(), stoppedAt: null };
  return search({ nth: lists.nthNewest, rowsDownTo: lists.newest }, query.limit, mostSearched);
}
