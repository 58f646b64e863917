import type { EmailState } from '../../../../machines/email/machine.ts';
import { type IdRange, idRangeOf } from '../../../http/lists/list.ts';
import { timeOfId } from '../../../platform/db/ids.ts';
import type { BindParameter } from '../../../platform/db/wire/values.ts';
import { containing } from '../../../platform/db/wire/values.ts';
import { Failure, invalidAt } from '../../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../../platform/text/address.ts';
import type { EmailQuery } from './query-model.ts';

/** A condition on the row `e` of an email, as SQL. */
export type Condition = (put: BindParameter) => string;

/** The filters of a list, as conditions on the tables that it is read from. */
export interface Filters {
  readonly status: EmailState | undefined;
  /** The columns that do not change after the insert. */
  readonly ofEmail: readonly Condition[];
  readonly range: IdRange;
  /** When it is asked for, by the clock of the service (epoch milliseconds). */
  readonly now: number;
  /** The newest moment of the list (epoch milliseconds). */
  readonly begins: number;
}

const given = (filters: readonly (Condition | false)[]): readonly Condition[] =>
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
      to !== null && ((put) => `e.recipient_keys @> ${put([to])}::text[]`),
      from !== null && ((put) => `e.sender_key = ${put(from)}`),
      subject !== undefined && ((put) => `e.subject ilike ${put(containing(subject))}`),
      tag !== undefined && ((put) => `e.tags @> ${put([tag])}::text[]`),
      domainId !== undefined && ((put) => `e.domain_id = ${put(domainId)}`),
      campaignId !== undefined && ((put) => `e.campaign_id = ${put(campaignId)}`),
    ]),
    range,
    now,
    begins: range.below === null ? now : Math.min(now, timeOfId(range.below)),
  };
}

/** The key that addresses are compared by; null without a filter. */
function keyOf(text: string | undefined, path: string): string | null | Failure {
  if (text === undefined) return null;
  const read = parseAddress(text);
  return isProblem(read) ? invalidAt(path, read.problem) : read.key;
}
