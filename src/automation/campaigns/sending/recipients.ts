import { fieldsSql } from '../../../audience/contacts/queries.ts';
import type { Database } from '../../../platform/db/database.ts';
import { isProblem, parseAddress } from '../../../platform/text/address.ts';
import { type ContactTexts, wholeName } from '../../../platform/text/contact-fields.ts';
import type { CampaignRecipient } from '../../../sending/emails/accept.ts';
import { actSql, isBeingForgottenSql } from '../../../sending/suppressions/queries.ts';
import { contentFor, type KeptContent, usedOf } from '../preview/content.ts';

/** A contact that waits for an email, with its present data. */
export interface WaitingRecipient extends ContactTexts {
  readonly contact_id: string;
  readonly email: string | null;
  readonly properties: Readonly<Record<string, unknown>> | null;
  /** The reason why nothing is sent any more; null for a recipient who may get it. */
  readonly gone: string | null;
}

/** A recipient whose email is dispatched, before it has a subject. */
export type BareRecipient = Omit<CampaignRecipient, 'subject'>;

/** Reads the address and the personal data of a waiting recipient; null where there is no address. */
export function recipientOf(row: WaitingRecipient, kept: KeptContent): BareRecipient | null {
  if (row.gone !== null || row.email === null) return null;
  const address = parseAddress(row.email);
  if (isProblem(address)) return null;
  const contact = usedOf(kept, { ...row, email: row.email, properties: row.properties ?? {} });
  return {
    contactId: row.contact_id,
    address: { ...address, name: wholeName(row) || null },
    contact,
    language: contentFor(kept, contact).language,
  };
}

/**
 * The next waiting recipients behind a contact, in the order of their ids, with the acts since the audience
 * was frozen. Lateral, so that each is looked up by its whole key, whatever PostgreSQL's statistics say of
 * the tables. $1 campaign, $2 contact, $3 how many, $4 the static audience that one can leave, $5 workspace.
 */
const NEXT = `select r.contact_id, c.email, ${fieldsSql('c')}, c.properties,
  coalesce(${actSql({
    contact: 'c',
    contactId: 'r.contact_id',
    // Once the erasure has ended, the row of the recipient has no address any more.
    isForgotten: `r.address_hash is null or ${isBeingForgottenSql('r.contact_id')}`,
    audience: { audienceId: '$4::text', since: '$1::text' },
  })}, case when c.id is null or r.address_hash is distinct from md5(c.email_key)::uuid then 'invalid' end) as gone
from (
  select contact_id, address_hash from campaign_recipients
  where campaign_id = $1 and contact_id > $2 and state = 'waiting' order by contact_id limit $3::integer
) r
left join lateral (
  select * from contacts c where c.workspace_id = $5 and c.livemode and c.id = r.contact_id limit 1
) c on true
order by r.contact_id`;

/** @throws UnavailableError */
export const nextWaiting = (
  database: Database,
  {
    campaignId,
    workspaceId,
    audienceId,
  }: { readonly campaignId: string; readonly workspaceId: string; readonly audienceId: string | null },
  after: string,
  limit: number,
): Promise<WaitingRecipient[]> =>
  database.query<WaitingRecipient>(NEXT, [campaignId, after, limit, audienceId, workspaceId]);

/** $1 campaign, $2 turn, $3 contacts, $4 their reasons. */
const SKIP = `with gone as (
  select r.campaign_id, r.contact_id, g.reason
  from unnest($3::text[], $4::text[]) as g(contact_id, reason)
  join campaigns c on c.id = $1 and c.state = 'sending' and c.attempt = $2::integer
  join campaign_recipients r on r.campaign_id = c.id and r.contact_id = g.contact_id and r.state = 'waiting'
  order by r.contact_id for update of r
), skipped as (
  update campaign_recipients r set state = 'skipped', reason = g.reason from gone g
  where r.campaign_id = g.campaign_id and r.contact_id = g.contact_id returning r.campaign_id
), tallied as (
  insert into campaign_tallies (campaign_id, remaining, skipped)
  select campaign_id, -count(*), count(*) from skipped group by campaign_id
)
select count(*)::integer as count from skipped`;

/**
 * Skips those who have left since the audience was frozen, and those whose address cannot be written to.
 * Answers how many still waited, in a campaign that this turn still has. @throws UnavailableError
 */
export async function skipGone(
  database: Database,
  { campaignId, turn }: { readonly campaignId: string; readonly turn: number },
  gone: readonly WaitingRecipient[],
): Promise<number> {
  if (gone.length === 0) return 0;
  const [row] = await database.query<{ count: number }>(SKIP, [
    campaignId,
    turn,
    gone.map(({ contact_id }) => contact_id),
    gone.map(({ gone: reason }) => reason ?? 'invalid'),
  ]);
  return row?.count ?? 0;
}

/** The progress of a campaign, by its counts. */
export interface Ledger {
  readonly total: number;
  readonly remaining: number;
  readonly sent: number;
  readonly skipped: number;
  readonly failed: number;
  readonly inDoubt: number;
  readonly delivered: number;
  readonly opens: number;
  readonly uniqueOpens: number;
  readonly machineOpens: number;
  readonly clicks: number;
  readonly uniqueClicks: number;
  readonly machineClicks: number;
  readonly permanent: number;
  readonly transient: number;
  readonly complained: number;
  readonly unsubscribed: number;
  /** Recipients who have replied. */
  readonly replied: number;
  /** The time at which the next email may be dispatched, in epoch milliseconds; null without a rate. */
  readonly nextAt: number | null;
}

const sum = (column: string, name = column): string => `coalesce(sum(${column}), 0)::float8 as "${name}"`;

/** One statement, and so one moment: a concurrent change is in all of its numbers or in none. */
const LEDGER = `select ${[
  ...['total', 'remaining', 'sent', 'skipped', 'failed', 'delivered', 'opens', 'clicks'].map((name) =>
    sum(name),
  ),
  sum('in_doubt', 'inDoubt'),
  sum('unique_opens', 'uniqueOpens'),
  sum('machine_opens', 'machineOpens'),
  sum('unique_clicks', 'uniqueClicks'),
  sum('machine_clicks', 'machineClicks'),
  sum('bounced_permanent', 'permanent'),
  sum('bounced_transient', 'transient'),
  sum('complained'),
  sum('unsubscribed'),
].join(', ')}, (extract(epoch from max(next_at)) * 1000)::float8 as "nextAt",
  (select count(*) from campaign_recipients r where r.campaign_id = $1 and r.replied_at is not null)::float8 as replied
from campaign_tallies where campaign_id = $1`;

/** @throws UnavailableError */
export async function readLedger(database: Database, campaignId: string): Promise<Ledger> {
  const [row] = await database.query<Ledger>(LEDGER, [campaignId]);
  if (!row) throw new Error('A sum always has a row.');
  return row;
}
