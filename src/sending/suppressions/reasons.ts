import { type SuppressionReason, WEAKEST_REASON } from '../../../machines/email/rules.ts';

// A person may have unsubscribed or complained before or after another reason kept mail from the address. The
// row names one reason, the first that is not the weakest; a manual entry takes the place of a complaint, so
// that its removal is no more than that. These two acts stay beneath it: mail that a mended mailbox can take
// again is still not wanted.

/**
 * SQL of when the person unsubscribed, whichever reason counts; null where they did not. `row` names a row of
 * `suppressions`.
 */
export const unsubscribedAtSql = (row: string): string =>
  `case ${row}.reason when 'unsubscribed' then ${row}.created_at else ${row}.unsubscribed_at end`;

/** SQL of when the person complained, whichever reason counts; null where they did not. */
const complainedAtSql = (row: string): string =>
  `case ${row}.reason when 'complained' then ${row}.created_at else ${row}.complained_at end`;

/**
 * SQL of the status that a row gives a new contact: its strongest reason, also beneath another. Null where it
 * was entered by hand alone.
 */
export const learnedStatusSql = (row: string): string =>
  `case when ${complainedAtSql(row)} is not null then 'complained' when ${row}.reason = 'bounced' then 'bounced'
    when ${unsubscribedAtSql(row)} is not null then 'unsubscribed' end`;

/** SQL of when the first of these reasons came. */
export const learnedAtSql = (row: string): string =>
  `least(case when ${row}.reason <> 'manual' then ${row}.created_at end, ${row}.unsubscribed_at, ${row}.complained_at)`;

/** True when the entered reason takes the place of the known one, which stays beneath it. */
export const replacesReason = (known: SuppressionReason, entered: SuppressionReason): boolean =>
  (known === WEAKEST_REASON && entered !== WEAKEST_REASON) ||
  (known === 'complained' && entered === 'manual');

/** SQL of the same. */
const replacesReasonSql = (known: string): string =>
  `(${known}.reason = '${WEAKEST_REASON}' and excluded.reason <> '${WEAKEST_REASON}' or ${known}.reason = 'complained' and excluded.reason = 'manual')`;

/**
 * SQL of what happens to an address that is known: its reason stays or is replaced, and no act of the person
 * is lost. `known` is the name of the table in the statement. `returnsAlways` writes the row in any case, so
 * that `returning` has it.
 */
export function enterReasonSql(known: string, { returnsAlways = false } = {}): string {
  const [isReplaced, entered] = [replacesReasonSql(known), 'excluded'];
  const either = (column: string): string =>
    `case when ${isReplaced} then excluded.${column} else ${known}.${column} end`;
  const stays = (reason: string, momentSql: (row: string) => string): string =>
    `case when ${either('reason')} <> '${reason}' then coalesce(${momentSql(known)}, ${momentSql(entered)}) end`;
  const isNew = (momentSql: (row: string) => string): string =>
    `${momentSql(known)} is null and ${momentSql(entered)} is not null`;
  return `on conflict (workspace_id, address_key) do update set
    reason = ${either('reason')}, email_id = ${either('email_id')}, created_at = ${either('created_at')},
    unsubscribed_at = ${stays('unsubscribed', unsubscribedAtSql)},
    complained_at = ${stays('complained', complainedAtSql)}
    ${returnsAlways ? '' : `where ${isReplaced} or ${isNew(unsubscribedAtSql)} or ${isNew(complainedAtSql)}`}`;
}

/** SQL texts of a removal. */
export interface Removal {
  /** The condition for the rows `s`. */
  readonly rows: string;
  /** Relations that the condition names, beside `suppressions s`. */
  readonly beside?: string;
  /** True for a row `s` whose reason is removed. */
  readonly isRemoved: string;
  /** True where an unsubscription beneath another reason is removed as well. */
  readonly forgivesUnsubscription?: true;
  /** True for a row `s` whose complaint stays as an unsubscription. */
  readonly keepsLeaving?: string;
}

/**
 * SQL of CTEs that remove reasons: `lifted` has the rows, with what stays of them. A person's own act that
 * was beneath takes the place of the reason, a complaint first.
 */
export const removeReasonSql = ({
  rows,
  beside,
  isRemoved,
  forgivesUnsubscription,
  keepsLeaving = 'false',
}: Removal): string => {
  const unsubscribedAt = forgivesUnsubscription
    ? 'null::timestamptz'
    : `coalesce(s.unsubscribed_at, case when s.reason = 'complained' and ${keepsLeaving} then s.created_at end)`;
  return `lifted as materialized (
  select s.workspace_id, s.address_key, ${isRemoved} as is_removed, s.complained_at, ${unsubscribedAt} as unsubscribed_at
  from suppressions s${beside ? `, ${beside}` : ''}
  where ${rows} and (${isRemoved}${forgivesUnsubscription ? ' or s.unsubscribed_at is not null' : ''})
  for update of s
), removed as (
  delete from suppressions s using lifted l
  where s.workspace_id = l.workspace_id and s.address_key = l.address_key
    and l.is_removed and l.complained_at is null and l.unsubscribed_at is null
), lowered as (
  update suppressions s set
    reason = case when not l.is_removed then s.reason when l.complained_at is null then 'unsubscribed' else 'complained' end,
    email_id = case when not l.is_removed then s.email_id end,
    created_at = case when l.is_removed then coalesce(l.complained_at, l.unsubscribed_at) else s.created_at end,
    complained_at = case when not l.is_removed then l.complained_at end,
    unsubscribed_at = case when not l.is_removed or l.complained_at is not null then l.unsubscribed_at end
  from lifted l
  where s.workspace_id = l.workspace_id and s.address_key = l.address_key
    and not (l.is_removed and l.complained_at is null and l.unsubscribed_at is null)
)`;
};

/**
 * Of the rows that a removal has lifted, those of which Amazon SES has to know: a complaint stays on its
 * list.
 */
export const TOLD_TO_SES = 'lifted where is_removed and complained_at is null';
