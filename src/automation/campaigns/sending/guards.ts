import type { PausedReason } from '../../../../machines/campaign/context.ts';
import type { Database } from '../../../platform/db/database.ts';
import { lowestIdAt } from '../../../platform/db/ids.ts';
import type { GuardLimits, Turn } from '../deps.ts';

/** Outcomes that the rates are taken of: the latest ones. */
const LATEST = 1_000;
/** With fewer recipients than these, a single bounce would be a high rate. */
const FEWEST = 200;

/**
 * Recipients that the guards read: of some thousands, dispatched by several instances, no outcome is known
 * yet.
 */
const EXAMINED = 10_000;

/**
 * The recipients with known outcomes that were dispatched last, since the campaign last began to send:
 * bounces and complaints among them. $2 the lowest id of their emails, $3 the last contact that was
 * dispatched. They are walked back along the key, as far as it takes, and chosen afterwards: chosen first,
 * every recipient of the campaign was read and sorted each time.
 */
const RATES = `select count(*)::integer as given, count(*) filter (where f.bounced)::integer as bounced,
  count(*) filter (where f.complained)::integer as complained
from (
  select r.state = 'failed' and r.bounced_at is not null as bounced, r.complained_at is not null as complained
  from (
    select state, bounced_at, complained_at, contact_id, email_id from campaign_recipients
    where campaign_id = $1 and contact_id <= $3 order by contact_id desc limit ${EXAMINED}
  ) r
  where r.email_id >= $2 and r.state in ('sent', 'failed')
    and (select true from email_due d where d.id = r.email_id and d.workspace_id = $4) is null
  order by r.contact_id desc limit ${LATEST}
) f`;

/** Returns the reason why a campaign must not continue; null when it may. @throws UnavailableError */
export async function trippedBy(
  database: Database,
  { campaignId, workspaceId, context }: Turn,
  { bounceRate, complaintRate }: GuardLimits,
  place: string,
): Promise<Exclude<PausedReason, 'manual'> | null> {
  if (bounceRate === 0 && complaintRate === 0) return null;
  const [row] = await database.query<{ given: number; bounced: number; complained: number }>(RATES, [
    campaignId,
    lowestIdAt('em', context.resumedAt ?? 0),
    place === '' ? '~' : place,
    workspaceId,
  ]);
  if (!row || row.given < FEWEST) return null;
  if (bounceRate > 0 && (100 * row.bounced) / row.given > bounceRate) return 'bounce_rate';
  return complaintRate > 0 && (100 * row.complained) / row.given > complaintRate ? 'complaint_rate' : null;
}
