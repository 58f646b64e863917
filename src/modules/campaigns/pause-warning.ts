import type { CampaignContext } from '../../../machines/campaign-context.ts';
import type { Database } from '../../db/database.ts';
import type { Draft } from '../../engine/draft.ts';
import { stateOf } from '../../engine/kind.ts';
import type { ServiceEmail } from '../service-emails/commands.ts';
import { readLedger } from './recipients.ts';

const NAME = 'select name from campaign_settings where campaign_id = $1';

/** The email to the admins of a workspace whose campaign has stopped by itself; null for every other commit. @throws Unavailable */
export async function warningOf(database: Database, { before, after }: Draft): Promise<ServiceEmail | null> {
  const { id, workspaceId, snapshot } = after;
  const { pausedReason: reason } = snapshot.context as CampaignContext;
  const isStopped = before && stateOf(before.snapshot) === 'sending' && stateOf(snapshot) === 'paused';
  if (!isStopped || reason === null || reason === 'manual') return null;
  const [row] = await database.query<{ name: string }>(NAME, [id]);
  if (!row) return null;
  const { remaining } = await readLedger(database, id);
  return { kind: 'campaignPaused', workspaceId, campaign: row.name, reason, remaining };
}
