import { type Column, eq, ilike, type SQL, sql } from 'drizzle-orm';
import type { EmailState } from '../../../../machines/email.ts';
import { timeOfId } from '../../../db/ids.ts';
import { emails } from '../../../db/schema/emails.ts';
import { Failure, invalid } from '../../../http/failure.ts';
import { type IdRange, idRangeOf, withinRange } from '../../../http/list.ts';
import { isProblem, parseAddress } from '../../../mail/address.ts';
import type { EmailQuery } from './query-model.ts';

/** The filters of a list, as conditions on the tables that it is read from. */
export interface Filters {
  readonly status: EmailState | undefined;
  /** What does not change with an email's life. */
  readonly ofEmail: readonly SQL[];
  /** Conditions on the id of whichever table a list begins with. */
  within(id: Column): readonly SQL[];
  readonly range: IdRange;
  /** The newest moment of the list (epoch milliseconds). */
  readonly begins: number;
}

const given = (filters: readonly (SQL | false)[]): readonly SQL[] =>
  filters.filter((filter) => filter !== false);

/** The conditions of a list below the id `after`, asked for at `now` (epoch milliseconds). */
export function filtersOf(query: EmailQuery, after: string | null, now: number): Filters | Failure {
  const to = keyOf(query.to, '/query/to');
  const from = keyOf(query.from, '/query/from');
  if (to instanceof Failure) return to;
  if (from instanceof Failure) return from;
  const { status, subject, tag, domainId, campaignId } = query;
  const range = idRangeOf('em', after, query);
  return {
    status,
    ofEmail: given([
      to !== null && sql`${emails.recipientKeys} @> array[${to}]::text[]`,
      from !== null && eq(emails.senderKey, from),
      subject !== undefined && ilike(emails.subject, `%${subject.replace(/[\\%_]/g, '\\$&')}%`),
      tag !== undefined && sql`${emails.tags} @> array[${tag}]::text[]`,
      domainId !== undefined && eq(emails.domainId, domainId),
      campaignId !== undefined && eq(emails.campaignId, campaignId),
    ]),
    within: (id) => withinRange(id, range),
    range,
    begins: range.below === null ? now : Math.min(now, timeOfId(range.below)),
  };
}

/** The key that addresses are compared by; null without a filter. */
function keyOf(text: string | undefined, path: string): string | null | Failure {
  if (text === undefined) return null;
  const read = parseAddress(text);
  return isProblem(read) ? invalid([{ path, message: read.problem }]) : read.key;
}
