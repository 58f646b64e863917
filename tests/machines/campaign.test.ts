import { describe, expect, test } from 'bun:test';
import type { CampaignContext, CampaignEvent } from '../../machines/campaign/context.ts';
import { CAMPAIGN_STATES, campaignMachine } from '../../machines/campaign/machine.ts';
import { LoneActor } from '../support/lone-actor.ts';

const BORN = Date.parse('2026-11-20T12:00:00.000Z');
const LATER = BORN + 3_600_000;
const LEASE = 15_000;

type Campaign = LoneActor<CampaignContext>;
const draft = (hasCanary = false): Campaign =>
  new LoneActor<CampaignContext>(campaignMachine, { at: BORN, leaseMs: LEASE, hasCanary }, BORN);

const at = BORN + 1_000;
const now: CampaignEvent = { type: 'send.requested', at, scheduledAt: null };
const later: CampaignEvent = { type: 'send.requested', at, scheduledAt: LATER };
const changed = (seenAt: number, when = at): CampaignEvent => ({
  type: 'settings.changed',
  at: when,
  seenAt,
  hasCanary: false,
  settings: {},
});
const pause: CampaignEvent = { type: 'pause.requested', at };
const cancel: CampaignEvent = { type: 'cancel.requested', at };
const frozen = ({ context: { attempt } }: Campaign): CampaignEvent => ({
  type: 'audience.frozen',
  at,
  attempt,
  total: 2,
  content: {},
});
const refused = ({ context: { attempt } }: Campaign): CampaignEvent => ({
  type: 'start.refused',
  at,
  attempt,
  failure: 'audience_gone',
});
const exhausted = ({ context: { attempt } }: Campaign): CampaignEvent => ({
  type: 'recipients.exhausted',
  at,
  attempt,
});

/** A campaign in each state, by the events that lead there. */
const IN: Readonly<Record<(typeof CAMPAIGN_STATES)[number], () => Campaign>> = {
  draft: () => draft(),
  scheduled: () => told(draft(), later),
  preparing: () => told(draft(), now),
  sending: () => {
    const made = IN.preparing();
    return told(made, frozen(made));
  },
  paused: () => told(IN.sending(), pause),
  sent: () => {
    const made = IN.sending();
    return told(made, exhausted(made));
  },
  cancelled: () => told(draft(), cancel),
  failed: () => {
    const made = IN.preparing();
    return told(made, refused(made));
  },
  deleted: () => told(draft(), { type: 'delete.requested', at }),
};

function told(campaign: Campaign, event: CampaignEvent): Campaign {
  expect(campaign.tell(event)).toBeTrue();
  return campaign;
}

/**
 * The requests of clients, and the state that each leads to from each state; from all others it is refused.
 */
const ASKED: readonly (readonly [string, CampaignEvent, Readonly<Record<string, string>>])[] = [
  ['sends it now', now, { draft: 'preparing', failed: 'preparing', paused: 'sending' }],
  ['sends it later', later, { draft: 'scheduled', failed: 'scheduled' }],
  ['takes the time back', { type: 'unschedule.requested', at }, { scheduled: 'draft' }],
  ['pauses it', pause, { sending: 'paused' }],
  ['cancels it', cancel, { draft: 'cancelled', scheduled: 'cancelled', paused: 'cancelled' }],
  ['changes it', changed(BORN), { draft: 'draft' }],
  [
    'removes it',
    { type: 'delete.requested', at },
    { draft: 'deleted', sent: 'deleted', cancelled: 'deleted', failed: 'deleted' },
  ],
];

test('a change that was decided before another one is refused', () => {
  const campaign = told(draft(), changed(BORN));
  expect(campaign.tell(changed(BORN, at + 1))).toBeFalse();
  expect(campaign.tell(changed(at, at + 1))).toBeTrue();
});

test.each([
  ['now', now],
  ['later', later],
] as const)('a campaign that was changed since the client saw it is not sent %s', (_, event) => {
  const campaign = told(draft(), changed(BORN));
  expect(campaign.tell({ ...event, seenAt: BORN } as CampaignEvent)).toBeFalse();
  expect(campaign.state).toBe('draft');
  expect(campaign.tell({ ...event, seenAt: at } as CampaignEvent)).toBeTrue();
});

describe('a client who', () => {
  test.each(ASKED)('%s is taken at their word only where the drawing says so', (_, event, ways) => {
    const led = CAMPAIGN_STATES.flatMap((state) => {
      const campaign = IN[state]();
      expect(campaign.state).toBe(state);
      return campaign.tell(event) ? [[state, campaign.state]] : [];
    });
    expect(Object.fromEntries(led)).toEqual({ ...ways });
  });
});

test('a scheduled campaign starts when it is due, and one that was taken back does not', () => {
  const campaign = IN.scheduled();
  expect([campaign.wake(LATER - 1), campaign.state]).toEqual([0, 'scheduled']);
  expect([campaign.wake(LATER), campaign.state, campaign.context.startedAt]).toEqual([1, 'preparing', LATER]);
  const back = told(IN.scheduled(), { type: 'unschedule.requested', at });
  expect([back.wake(LATER), back.state, back.context.scheduledAt]).toEqual([0, 'draft', null]);
});

test('only the latest turn of work is heard, and one that is silent is followed by another', () => {
  for (const state of ['preparing', 'sending'] as const) {
    const campaign = IN[state]();
    const { attempt } = campaign.context;
    expect(campaign.wake(at + LEASE)).toBe(1);
    expect([campaign.state, campaign.context.attempt]).toEqual([state, attempt + 1]);
    expect(campaign.effects.map(({ type }) => type)).toEqual(['work']);
    const late = { at, attempt, place: '', waitMs: 0, canary: 'over' as const };
    expect(campaign.tell({ type: 'turn.ended', ...late } as CampaignEvent)).toBeFalse();
    expect(campaign.tell({ type: 'recipients.exhausted', ...late } as CampaignEvent)).toBeFalse();
    expect(
      campaign.tell({ type: 'stop.demanded', ...late, reason: 'bounce_rate' } as CampaignEvent),
    ).toBeFalse();
    expect(
      campaign.tell({ type: 'start.refused', ...late, failure: 'audience_gone' } as CampaignEvent),
    ).toBeFalse();
  }
});

test('what stopped a campaign is known until it goes on, which no clock makes it do', () => {
  for (const reason of [
    'quota_exceeded',
    'bounce_rate',
    'complaint_rate',
    'canary',
    'sender_unverified',
  ] as const) {
    const campaign = IN.sending();
    told(campaign, { type: 'stop.demanded', at, attempt: campaign.context.attempt, reason });
    expect([campaign.state, campaign.context.pausedReason, campaign.delays]).toEqual(['paused', reason, {}]);
    told(campaign, now);
    expect([campaign.state, campaign.context.pausedReason]).toEqual(['sending', null]);
  }
});

test('a campaign that could not start says why until it is started again', () => {
  const campaign = IN.failed();
  expect([campaign.context.failure, campaign.context.startedAt]).toEqual(['audience_gone', null]);
  told(campaign, now);
  expect([campaign.state, campaign.context.failure, campaign.context.startedAt]).toEqual([
    'preparing',
    null,
    at,
  ]);
});
