import { type Audit, auditActors } from '../../engine/audit/actors.ts';
import { lowestIdAt } from '../../platform/db/ids.ts';
import { campaignKind } from './kind.ts';
import { IN_DOUBT } from './sending/follow-emails.ts';

/**
 * The stored counts beside those of the rows, campaign by campaign: two ways to the same numbers. A waiting
 * recipient has no email, a dispatched one has one.
 */
const LEDGERS = `select c.id, t.total, t.remaining, t.sent, t.skipped, t.failed, t.in_doubt, t.unique_opens, t.unique_clicks,
  r.total as rows, r.waiting, r.sent as rows_sent, r.skipped as rows_skipped, r.failed as rows_failed, r.in_doubt as rows_in_doubt, r.opened, r.clicked,
  r.without_email, r.with_email
from campaigns c cross join lateral (
  select coalesce(sum(total), 0)::integer as total, coalesce(sum(remaining), 0)::integer as remaining,
    coalesce(sum(sent), 0)::integer as sent, coalesce(sum(skipped), 0)::integer as skipped,
    coalesce(sum(failed), 0)::integer as failed, coalesce(sum(in_doubt), 0)::integer as in_doubt, coalesce(sum(unique_opens), 0)::integer as unique_opens,
    coalesce(sum(unique_clicks), 0)::integer as unique_clicks
  from campaign_tallies where campaign_id = c.id
) t cross join lateral (
  select count(*)::integer as total, count(*) filter (where state = 'waiting')::integer as waiting,
    count(*) filter (where state = 'sent')::integer as sent, count(*) filter (where state = 'skipped')::integer as skipped,
    count(*) filter (where state = 'failed')::integer as failed,
    count(*) filter (where state = 'failed' and reason = '${IN_DOUBT}')::integer as in_doubt, count(opened_at)::integer as opened,
    count(clicked_at)::integer as clicked,
    count(*) filter (where state in ('sent', 'failed') and email_id is null)::integer as without_email,
    count(*) filter (where state = 'waiting' and email_id is not null)::integer as with_email
  from campaign_recipients where campaign_id = c.id
) r
where c.id > $1 order by c.id limit 100`;

interface LedgerRow {
  readonly id: string;
  readonly total: number;
  readonly remaining: number;
  readonly sent: number;
  readonly skipped: number;
  readonly failed: number;
  readonly in_doubt: number;
  readonly unique_opens: number;
  readonly unique_clicks: number;
  readonly rows: number;
  readonly waiting: number;
  readonly rows_sent: number;
  readonly rows_skipped: number;
  readonly rows_failed: number;
  readonly rows_in_doubt: number;
  readonly opened: number;
  readonly clicked: number;
  readonly without_email: number;
  readonly with_email: number;
}

/**
 * Emails of campaigns that no recipient names, or a second one for the same person. $1 the lowest id that is
 * looked at.
 */
const STRAY = `select e.id from emails e
left join campaign_recipients r on r.campaign_id = e.campaign_id and r.address_hash = md5(e.recipient_keys[1])::uuid
where e.campaign_id is not null and e.id >= $1 and r.campaign_id is not null and r.email_id is distinct from e.id
order by e.id limit 100`;

/**
 * Checks campaigns as actors, that the counts equal the rows, and that no recipient has two emails of one.
 */
export async function auditCampaigns(audit: Audit): Promise<void> {
  const { session, findings, since } = audit;
  await auditActors(audit, campaignKind, lowestIdAt('cmp', since));
  for (let after = lowestIdAt('cmp', since); ; ) {
    const rows = await session.query<LedgerRow>(LEDGERS, [after]);
    findings.look('ledgers', rows.length);
    for (const row of rows) for (const what of faultsOf(row)) findings.wrong('ledgers', row.id, what);
    const last = rows.at(-1);
    if (!last || rows.length < 100) break;
    after = last.id;
  }
  for (const { id } of await session.query<{ id: string }>(STRAY, [lowestIdAt('em', since)]))
    findings.wrong('ledgers', id, 'an email of a campaign that its recipient does not name');
}

function faultsOf(row: LedgerRow): string[] {
  const { total, remaining, sent, skipped, failed } = row;
  const faults: string[] = [];
  if (total !== remaining + sent + skipped + failed)
    faults.push(`${total} in all, but ${remaining} + ${sent} + ${skipped} + ${failed}`);
  const pairs = [
    ['in all', total, row.rows],
    ['remaining', remaining, row.waiting],
    ['sent', sent, row.rows_sent],
    ['skipped', skipped, row.rows_skipped],
    ['failed', failed, row.rows_failed],
    ['in doubt', row.in_doubt, row.rows_in_doubt],
    ['unique opens', row.unique_opens, row.opened],
    ['unique clicks', row.unique_clicks, row.clicked],
  ] as const;
  for (const [name, counted, stored] of pairs)
    if (counted !== stored) faults.push(`${name}: the counts say ${counted}, the rows say ${stored}`);
  if (row.without_email > 0) faults.push(`${row.without_email} were dispatched without an email`);
  if (row.with_email > 0) faults.push(`${row.with_email} are waiting although they have an email`);
  return faults;
}
