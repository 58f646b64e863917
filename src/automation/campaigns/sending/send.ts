import type { CampaignState } from '../../../../machines/campaign/machine.ts';
import { findUsed, quotaExceeded } from '../../../accounts/usage/queries.ts';
import { isOutdated } from '../../../http/if-updated-at.ts';
import { idempotently, keyedBy } from '../../../http/request/idempotent.ts';
import type { Call, Replay } from '../../../http/request/route.ts';
import { PLANS } from '../../../platform/config/plans.ts';
import { Failure, invalidAt } from '../../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../../platform/text/address.ts';
import { replyDomainOf, storedReplyTo } from '../../../sending/emails/commands.ts';
import { readScheduledAt } from '../../../sending/emails/queries.ts';
import { CHANGED, conflict, replyOf, tellCampaign } from '../commands.ts';
import type { CampaignDeps } from '../deps.ts';
import type { CampaignView, SendCampaign } from '../model.ts';
import { findKeptContent, readyContent } from '../preview/content.ts';
import { type CampaignRow, changedAtOf, findCampaign, NO_CAMPAIGN, viewOf } from '../queries.ts';
import { choose, countSendable } from './audience.ts';

type SendCall = Call<{ readonly id: string }, unknown, SendCampaign>;

const UNVERIFIED = new Failure('FORBIDDEN', 'The domain of the sender is not verified in this workspace.', {
  suggestion: 'Add the domain of the from address with POST /v1/domains, set its DNS records and verify it.',
});
const NOBODY =
  'The audience has no contact who may get it: choose another audience, or add subscribed contacts.';
const NO_AUDIENCE =
  'An audience that it includes or excludes was deleted, or one that its filter names: duplicate the campaign, and choose other audiences.';
const RESUMES_AT_ONCE = 'Must not be given: a paused campaign resumes at once.';
const NOT_NOW = 'Only a draft, a campaign that failed to start, or a paused campaign can be sent.';

/** Starts, schedules or resumes a campaign. The answer lists all problems that keep it from being started. */
export const sendCampaign = (deps: CampaignDeps, call: SendCall): Promise<CampaignView | Failure | Replay> =>
  idempotently(deps.database, keyedBy(call), { run: () => send(deps, call), lookFirst: true });

async function send(deps: CampaignDeps, call: SendCall) {
  const { caller, params, body, now } = call;
  const row = await findCampaign(deps, caller, params.id);
  if (!row) return NO_CAMPAIGN;
  if (isOutdated(body, changedAtOf(row))) return CHANGED;
  const scheduledAt = scheduleOf(call);
  if (scheduledAt instanceof Failure) return scheduledAt;
  if (row.state === 'paused' && scheduledAt !== null) return invalidAt('/body/scheduledAt', RESUMES_AT_ONCE);
  const refused = await REFUSALS[row.state as CampaignState](deps, call, row, scheduledAt);
  if (refused) return refused;
  // Another request may change the campaign between this reading and the decision.
  const seen = body.ifUpdatedAt === undefined ? {} : { seenAt: row.context.at };
  const event = { type: 'send.requested' as const, at: now, scheduledAt, ...seen };
  const told = await tellCampaign(deps, caller, row.id, event, replyOf(call, row));
  if (told.outcome === 'replayed') return told;
  if (told.outcome === 'absent') return NO_CAMPAIGN;
  if (told.outcome === 'refused') return told.state === row.state ? CHANGED : conflict(told.state, NOT_NOW);
  return viewOf({ ...row, state: told.state, context: told.context });
}

type Refusal = (
  deps: CampaignDeps,
  call: SendCall,
  row: CampaignRow,
  scheduledAt: number | null,
) => Promise<Failure | null>;

/** A refusal by the machine needs no other check. */
const unchecked: Refusal = async () => null;

/** The checks that run before the machine decides, by the state of the campaign. */
const REFUSALS: Readonly<Record<CampaignState, Refusal>> = {
  draft: refusalToStart,
  failed: refusalToStart,
  paused: refusalToResume,
  scheduled: unchecked,
  preparing: unchecked,
  sending: unchecked,
  sent: unchecked,
  cancelled: unchecked,
  deleted: unchecked,
};

function scheduleOf({ body, now }: SendCall): number | null | Failure {
  if (body.scheduledAt === undefined) return null;
  const read = readScheduledAt(body.scheduledAt, now);
  if (typeof read === 'number') return read > now ? read : null;
  return invalidAt('/body/scheduledAt', read.problem);
}

/**
 * Returns the reason why a paused campaign cannot continue; null when it can. It was checked when it started;
 * its domain may be gone since.
 */
async function refusalToResume(
  { database, acceptance }: CampaignDeps,
  { caller }: SendCall,
  { id }: CampaignRow,
): Promise<Failure | null> {
  const from = parseAddress((await findKeptContent(database, id))?.from ?? '');
  if (isProblem(from)) return null;
  return (await acceptance.findSendingDomain(caller.workspaceId, from.domain)) ? null : UNVERIFIED;
}

/**
 * Returns the reason why a campaign cannot start; null when it can. The quota at a later start is not known
 * today.
 */
async function refusalToStart(
  { database, contents, acceptance }: CampaignDeps,
  { caller, now }: SendCall,
  { settings }: CampaignRow,
  scheduledAt: number | null,
): Promise<Failure | null> {
  const { workspaceId, livemode, senderDefaults: defaults, plan } = caller;
  const ready = await readyContent(contents, { workspaceId, livemode, defaults }, settings, now, 'trial');
  if (ready instanceof Failure) return ready;
  if (!(await acceptance.findSendingDomain(workspaceId, ready.sender.domain))) return UNVERIFIED;
  const replies = await replyDomainOf(
    acceptance.findReplyDomain,
    storedReplyTo(ready.kept.replyTo),
    { workspaceId, livemode, domain: ready.sender.domain },
    '/body',
  );
  if (replies instanceof Failure) return replies;
  const chosen = await choose(database, caller, settings, now);
  const { emailsPerMonth } = PLANS[plan];
  const isBounded = scheduledAt === null && emailsPerMonth !== null;
  const left = isBounded ? emailsPerMonth - (await findUsed(database, workspaceId, livemode, now)) : null;
  const count = chosen ? await countSendable(database, chosen, Math.max(0, left ?? 0) + 1) : 0;
  if (count === 0) return invalidAt('/body', chosen ? NOBODY : NO_AUDIENCE);
  return left !== null && count > left ? quotaExceeded(livemode) : null;
}
