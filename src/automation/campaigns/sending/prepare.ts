import { eq, max } from 'drizzle-orm';
import type { CampaignEvent, CampaignFailure } from '../../../../machines/campaign/context.ts';
import { findTerms } from '../../../accounts/workspace/queries.ts';
import type { Database } from '../../../platform/db/database.ts';
import { campaignRecipients, campaignSettings } from '../../../platform/db/schema/campaigns.ts';
import { Failure } from '../../../platform/errors/failure.ts';
import type { DispatchDeps, Turn } from '../deps.ts';
import { type KeptContent, readyContent } from '../preview/content.ts';
import type { CampaignSettings } from '../settings.ts';
import { type CampaignAudience, choose, freezeNext, thawAll } from './audience.ts';
import { readLedger } from './recipients.ts';

/**
 * PostgreSQL's statistics of the table may be from when it was empty. Then either index looks as good as the
 * other to find one recipient, and by the wrong one every recipient of the campaign was read for each email.
 */
const ANALYZE = 'analyze campaign_recipients (campaign_id, contact_id, address_hash)';
const ANALYZE_MS = 60_000;

/** Checks a campaign as it is now that it starts, and freezes its audience. */
export async function prepare(deps: DispatchDeps, turn: Turn): Promise<readonly CampaignEvent[]> {
  const { database, clock } = deps;
  const { campaignId, workspaceId, context } = turn;
  const { attempt } = context;
  const startedAt = context.startedAt ?? context.at;
  const ended = (): readonly CampaignEvent[] => [
    { type: 'turn.ended', at: clock.now(), attempt, place: '', waitMs: 0, canary: context.canary },
  ];
  // A reason against the start may come up when part of the audience is frozen already.
  const refused = async (failure: CampaignFailure): Promise<readonly CampaignEvent[]> =>
    (await thawAll(database, { campaignId, attempt }, turn.isOver))
      ? [{ type: 'start.refused', at: clock.now(), attempt, failure }]
      : ended();
  const [row] = await database.read((orm) =>
    orm
      .select({ settings: campaignSettings.settings })
      .from(campaignSettings)
      .where(eq(campaignSettings.campaignId, campaignId)),
  );
  const terms = await findTerms(database, workspaceId);
  if (!row || !terms) return refused('sender_refused');
  const settings = row.settings as CampaignSettings;
  const scope = { workspaceId, livemode: true };
  const ready = await readyContent(
    deps.contents,
    { ...scope, defaults: terms.senderDefaults },
    settings,
    startedAt,
    'start',
  );
  if (ready instanceof Failure) return refused('content_refused');
  const domain = await deps.acceptance().findSendingDomain(workspaceId, ready.sender.domain);
  if (!domain) return refused('sender_unverified');
  const chosen = await choose(database, scope, settings, startedAt);
  if (!chosen) return refused('audience_gone');
  if (!(await freezeAll(database, chosen, turn, startedAt))) return ended();
  await database.query(ANALYZE, [], { deadlineMs: ANALYZE_MS });
  const { total, remaining } = await readLedger(database, campaignId);
  // As at a start by hand, which is refused then: "sent" to no one would be taken for news that went out, and
  // not be repeatable.
  if (remaining === 0) return refused('audience_empty');
  const content: KeptContent = { ...ready.kept, isStatic: chosen.staticId !== null, startedAt };
  return [{ type: 'audience.frozen', at: clock.now(), attempt, total, content }];
}

/** Freezes window after window; false when the turn is over before the end. */
async function freezeAll(
  database: Database,
  chosen: CampaignAudience,
  { campaignId, context, isOver }: Turn,
  startedAt: number,
): Promise<boolean> {
  // A round continues after the last recipient of the previous one, which may have died.
  const [row] = await database.read((orm) =>
    orm
      .select({ last: max(campaignRecipients.contactId) })
      .from(campaignRecipients)
      .where(eq(campaignRecipients.campaignId, campaignId)),
  );
  let after = row?.last ?? '';
  const freezing = { campaignId, attempt: context.attempt, startedAt };
  for (;;) {
    const next = await freezeNext(database, chosen, freezing, after);
    if (next === null) return true;
    // Another turn has the campaign, so that the event of this one is refused.
    if (next === 'lost') return false;
    after = next;
    if (isOver()) return false;
  }
}
