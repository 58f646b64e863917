import { and, eq } from 'drizzle-orm';
import type { CampaignContext, CampaignEvent } from '../../../machines/campaign/context.ts';
import type { CampaignState } from '../../../machines/campaign/machine.ts';
import type { ClaimOf, EventResultOf } from '../../engine/machine/result.ts';
import type { Principal } from '../../http/auth/principal.ts';
import { changedSince, isOutdated } from '../../http/if-updated-at.ts';
import { claimOnce, idempotently, keyedBy } from '../../http/request/idempotent.ts';
import type { Call, Replay } from '../../http/request/route.ts';
import { mintId } from '../../platform/db/ids.ts';
import { campaignRecipients, campaigns } from '../../platform/db/schema/campaigns.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { firstCharacters } from '../../platform/errors/text-length.ts';
import type { CampaignDeps } from './deps.ts';
import type { CampaignBody, CampaignView, NewCampaign } from './model.ts';
import { type CampaignRow, changedAtOf, findCampaign, NO_CAMPAIGN, viewOf } from './queries.ts';
import { type CampaignSettings, NOTHING_SET, readSettings, rowOf } from './settings.ts';

/** The silence after which a turn of work counts as dead; a turn reports every few seconds. */
export const LEASE_MS = 15_000;

/** The most campaigns of one environment. */
const MOST_CAMPAIGNS = 10_000;
const TOO_MANY = new Failure(
  'CONFLICT',
  `This environment has ${MOST_CAMPAIGNS.toLocaleString('en')} campaigns, the maximum.`,
  { suggestion: 'Delete some that you no longer need.' },
);

type CampaignCall<Body = unknown> = Call<{ readonly id: string }, unknown, Body>;
type CampaignReply = Promise<CampaignView | Failure | Replay>;

/** Creates a draft. */
export const createCampaign = (
  deps: CampaignDeps,
  call: Call<unknown, unknown, NewCampaign>,
): CampaignReply => {
  const { name, audienceId } = call.body;
  const blank: CampaignSettings = { ...NOTHING_SET, name, audienceId };
  return idempotently(deps.database, keyedBy(call), {
    run: async () => {
      const settings = await readSettings(deps, call.caller, blank, call.body, call.now);
      return settings instanceof Failure ? settings : spawnDraft(deps, call, settings);
    },
  });
};

/** Copies the content and the settings of a campaign in any state into a new draft. */
export const duplicateCampaign = (deps: CampaignDeps, call: CampaignCall): CampaignReply =>
  idempotently(deps.database, keyedBy(call), {
    run: async () => {
      const row = await findCampaign(deps, call.caller, call.params.id);
      if (!row) return NO_CAMPAIGN;
      return spawnDraft(deps, call, {
        ...row.settings,
        name: firstCharacters(`Copy of ${row.settings.name}`, 200),
      });
    },
  });

async function spawnDraft({ engine }: Pick<CampaignDeps, 'engine'>, call: Call, settings: CampaignSettings) {
  const { caller, now } = call;
  const { workspaceId, livemode } = caller;
  const id = mintId('cmp', now);
  const view = (state: CampaignState, context: CampaignContext) =>
    viewOf({ id, livemode, state, context, settings, updated_at: now });
  const spawned = await engine.spawn('campaign', {
    id,
    workspaceId,
    livemode,
    input: { at: now, leaseMs: LEASE_MS, hasCanary: settings.canary !== null },
    columns: { ...rowOf(settings, now), most_campaigns: MOST_CAMPAIGNS },
    claim: claimOnce(keyedBy(call), 201, (state: CampaignState, context: CampaignContext) =>
      JSON.stringify(view(state, context)),
    ),
    bytes: 2_048 + (settings.html ?? settings.markdown ?? settings.mjml ?? '').length,
  });
  if (spawned.outcome === 'replayed') return spawned;
  if (spawned.outcome === 'withheld') return TOO_MANY;
  if (spawned.outcome !== 'spawned') throw new Error('A campaign uses no units of the quota.');
  return view(spawned.state, spawned.context);
}

const CONFLICTS: Readonly<Record<CampaignState, string>> = {
  draft: 'This campaign is a draft.',
  scheduled: 'This campaign is scheduled.',
  preparing: 'This campaign is being prepared.',
  sending: 'This campaign is being sent.',
  paused: 'This campaign is paused.',
  sent: 'This campaign was sent.',
  cancelled: 'This campaign was cancelled.',
  failed: 'This campaign failed to start.',
  deleted: 'This campaign was deleted.',
};

/** The 409 of a campaign that is in another state than a request needs. */
export const conflict = (state: CampaignState, suggestion: string): Failure =>
  new Failure('CONFLICT', CONFLICTS[state], { suggestion });

/** Sends an event to a campaign of the caller's environment; campaigns of the other one are absent. */
export async function tellCampaign(
  { engine, forgetStanding }: Pick<CampaignDeps, 'engine' | 'forgetStanding'>,
  { workspaceId, livemode }: Principal,
  id: string,
  event: CampaignEvent,
  claim?: ClaimOf<'campaign'>,
): Promise<EventResultOf<'campaign'>> {
  const scope = { workspaceId, livemode };
  const told = await engine.tell('campaign', id, event, { scope, ...(claim && { claim }) });
  if (told.outcome === 'changed') forgetStanding(id);
  return told;
}

/** The 409 of a campaign that was changed since the client read it. */
export const CHANGED = changedSince('campaign');

/** A change is decided again when another one was faster, so often. */
const MOST_TRIES = 20;
const FASTER = new Failure('CONFLICT', 'Other requests changed the campaign several times meanwhile.', {
  suggestion: 'Read it again, then repeat the change.',
});

/**
 * Changes the members of a draft that the body names; those that others change at the same moment stay as
 * they set them.
 */
export async function patchCampaign(
  deps: CampaignDeps,
  { caller, params, body, now }: CampaignCall<CampaignBody>,
): Promise<CampaignView | Failure> {
  const { ifUpdatedAt, ...change } = body;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const row = await findCampaign(deps, caller, params.id);
    if (!row) return NO_CAMPAIGN;
    if (row.state !== 'draft') return NOT_A_DRAFT(row.state as CampaignState);
    if (isOutdated({ ifUpdatedAt }, changedAtOf(row))) return CHANGED;
    const settings = await readSettings(deps, caller, row.settings, change, now);
    if (settings instanceof Failure) return settings;
    const seenAt = row.context.at;
    const at = Math.max(now, seenAt + 1);
    const told = await tellCampaign(deps, caller, row.id, {
      type: 'settings.changed',
      at,
      seenAt,
      hasCanary: settings.canary !== null,
      settings: rowOf(settings, at),
    });
    if (told.outcome === 'absent' || told.outcome === 'replayed') return NO_CAMPAIGN;
    if (told.outcome !== 'refused')
      return viewOf({ ...row, settings, state: told.state, context: told.context, updated_at: at });
    if (told.state !== 'draft') return NOT_A_DRAFT(told.state);
  }
  return FASTER;
}

const NOT_A_DRAFT = (state: CampaignState): Failure =>
  conflict(
    state,
    'Only a draft can be changed: make a scheduled campaign a draft with POST /v1/campaigns/{id}/unschedule, or duplicate it.',
  );

/** An act on a campaign: its event, and the refusal when the state of the campaign does not take that. */
interface Act {
  readonly event: 'pause.requested' | 'unschedule.requested' | 'cancel.requested';
  readonly suggestion: string;
  /** The state in which nothing is left to do. */
  readonly done: CampaignState;
}

const PAUSE: Act = {
  event: 'pause.requested',
  done: 'paused',
  suggestion: 'Only a campaign that is being sent can be paused.',
};
const UNSCHEDULE: Act = {
  event: 'unschedule.requested',
  done: 'draft',
  suggestion: 'Only a scheduled campaign can be made a draft again.',
};
const CANCEL: Act = {
  event: 'cancel.requested',
  done: 'cancelled',
  suggestion: 'Pause it first, if it is being sent.',
};

/** Stops a campaign for a while; a paused one stays as it is. */
export const pauseCampaign = (deps: CampaignDeps, call: CampaignCall): CampaignReply =>
  carryOut(deps, call, PAUSE);
/** Takes the time back at which a campaign was to start. */
export const unscheduleCampaign = (deps: CampaignDeps, call: CampaignCall): CampaignReply =>
  carryOut(deps, call, UNSCHEDULE);
/** Ends a campaign. */
export const cancelCampaign = (deps: CampaignDeps, call: CampaignCall): CampaignReply =>
  carryOut(deps, call, CANCEL);

const carryOut = (deps: CampaignDeps, call: CampaignCall, { event, suggestion, done }: Act): CampaignReply =>
  idempotently(deps.database, keyedBy(call), {
    lookFirst: true,
    run: async () => {
      const { caller, params, now } = call;
      const row = await findCampaign(deps, caller, params.id);
      if (!row) return NO_CAMPAIGN;
      const told = await tellCampaign(deps, caller, row.id, { type: event, at: now }, replyOf(call, row));
      if (told.outcome === 'replayed') return told;
      if (told.outcome === 'absent') return NO_CAMPAIGN;
      // A repetition is no mistake, but a draft was never scheduled.
      if (told.outcome === 'refused' && (told.state !== done || done === 'draft'))
        return conflict(told.state, suggestion);
      return viewOf({ ...row, state: told.state, context: told.context });
    },
  });

/** The stored reply to a request that changes the state of a campaign. */
export const replyOf = (call: Call, row: CampaignRow): ClaimOf<'campaign'> | undefined =>
  claimOnce(keyedBy(call), 200, (state: CampaignState, context: CampaignContext) =>
    JSON.stringify(viewOf({ ...row, state, context })),
  );

/** Removes a campaign from sight; its emails stay. */
export async function deleteCampaign(
  deps: CampaignDeps,
  { caller, params, now }: CampaignCall,
): Promise<null | Failure> {
  const told = await tellCampaign(deps, caller, params.id, { type: 'delete.requested', at: now });
  if (told.outcome === 'changed') return null;
  if (told.outcome !== 'refused' || told.state === 'deleted') return NO_CAMPAIGN;
  return conflict(told.state, 'Cancel it first, or wait until it is sent.');
}

/**
 * Deletes the rest of a forgotten person's address from the audiences of campaigns; the numbers stay.
 * @throws UnavailableError
 */
export async function forgetRecipient(
  database: CampaignDeps['database'],
  workspaceId: string,
  contactId: string,
): Promise<void> {
  await database.read((orm) =>
    orm
      .update(campaignRecipients)
      .set({ addressHash: null })
      .from(campaigns)
      .where(
        and(
          eq(campaigns.workspaceId, workspaceId),
          eq(campaignRecipients.campaignId, campaigns.id),
          eq(campaignRecipients.contactId, contactId),
        ),
      ),
  );
}
