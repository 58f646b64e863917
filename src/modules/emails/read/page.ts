import type { EmailState } from '../../../../machines/email.ts';
import type { Principal } from '../../../auth/principal.ts';
import type { Database } from '../../../db/database.ts';
import { Failure } from '../../../http/failure.ts';
import { filtersOf } from './filters.ts';
import { DUE, isCrowded, listsOf } from './lists.ts';
import type { EmailQuery } from './query-model.ts';
import { type Found, search } from './search.ts';
import type { EmailItemRow } from './views.ts';

/** Emails that one request looks at for its filters: some 30 ms, whatever the number of all. */
export const MOST_SEARCHED = 10_000;

/**
 * By what the emails of a state are found. `state`: there are few of them, and an index has them by their state. `clock`: they
 * are in flight, and the clock's index has them. `newest`: there are so many that the newest of all are looked through.
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

/** One row more than the page has, newest first, if there are so many among the emails that are looked at. */
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
    // The index has the state.
    const isExact = ofMessage.length === 0 && ofEmail.length === 1;
    if (isExact) return { rows: await lists.inState(null), stoppedAt: null };
    return search({ nth: lists.nthInState, rowsDownTo: lists.inState }, query.limit, mostSearched);
  }
  if (ofMessage.length === 0 && ofEmail.length === 0)
    return { rows: await lists.newestOfAll(), stoppedAt: null };
  return search({ nth: lists.nthNewest, rowsDownTo: lists.newest }, query.limit, mostSearched);
}
