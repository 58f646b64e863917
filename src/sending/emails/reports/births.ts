import type { BirthRule } from '../../../http/module.ts';

const IS_ASKED = 'reports_for is not null';

/** What an email's reports are asked for about is written with it: the places of those recipients. */
export const reportBirths: BirthRule = {
  of: 'email',
  columns: 'reports_for text, reports_at timestamptz',
  conditions: [],
  writes: [
    (admitted) => `insert into report_requests (workspace_id, email_id, recipient, asked_at, next_at)
  select a.workspace_id, a.id, r.recipient, a.reports_at, a.reports_at from ${admitted} a
    cross join lateral unnest(string_to_array(a.reports_for, ',')::integer[]) r(recipient) where a.${IS_ASKED}`,
  ],
};
