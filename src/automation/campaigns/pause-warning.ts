import type { PausedReason } from '../../../machines/campaign/context.ts';
import type { Warning } from '../../accounts/service-emails.ts';
import { campaignKind } from './kind.ts';
import { readLedger } from './sending/recipients.ts';

const READ = `select s.name, c.context ->> 'pausedReason' as reason
from campaigns c join campaign_settings s on s.campaign_id = c.id where c.id = $1`;

/** A campaign that a guard, the quota or the canary has stopped. */
export const pauseWarning: Warning = {
  kind: campaignKind,
  from: ['sending'],
  to: 'paused',
  where: `a.context ->> 'pausedReason' <> 'manual'`,
  async email(database, { id, workspaceId }) {
    const [row] = await database.query<{ name: string; reason: Exclude<PausedReason, 'manual'> | null }>(
      READ,
      [id],
    );
    if (!row?.reason) return null;
    const { remaining } = await readLedger(database, id);
    return { kind: 'campaignPaused', workspaceId, campaign: row.name, reason: row.reason, remaining };
  },
};
