import { setup } from 'xstate';
import { storedStates } from '../names.ts';
import type {
  AudienceFrozen,
  CampaignContext,
  CampaignEvent,
  CampaignInput,
  PausedReason,
  SendRequested,
  SettingsChanged,
  TurnEnded,
} from './context.ts';

/** Stored with every row; raise it with a migration of stored snapshots when a stored shape changes. */
export const CAMPAIGN_VERSION = 1;

const isOfThisTurn = ({ attempt }: CampaignContext, event: CampaignEvent): boolean =>
  'attempt' in event && event.attempt === attempt;

/**
 * True when nothing was changed since the event was decided on; one that names no moment holds in any case.
 */
const isUnchanged = ({ at }: CampaignContext, { seenAt = at }: SendRequested | SettingsChanged): boolean =>
  seenAt === at;

const campaignSetup = setup({
  types: {
    context: {} as CampaignContext,
    events: {} as CampaignEvent,
    input: {} as CampaignInput,
  },
  guards: {
    isLater: ({ context, event }) =>
      event.type === 'send.requested' && event.scheduledAt !== null && isUnchanged(context, event),
    isNow: ({ context, event }) =>
      event.type === 'send.requested' && event.scheduledAt === null && isUnchanged(context, event),
    nothingChangedSince: ({ context, event }) =>
      event.type === 'settings.changed' && isUnchanged(context, event),
    turnIsTheLatest: ({ context, event }) => isOfThisTurn(context, event),
    moreHasToWait: ({ context, event }) =>
      event.type === 'turn.ended' && isOfThisTurn(context, event) && event.waitMs > 0,
  },
  actions: {
    /** Order: prepare the campaign, or give its emails out, for a while. */
    work: (_, _params: { readonly attempt: number }) => {},
    /** Fact: what its author has set. */
    saveSettings: (_, _params: { readonly settings: unknown }) => {},
    /** Fact: what its emails are made of from now on. */
    saveContent: (_, _params: { readonly content: unknown }) => {},
  },
  delays: {
    /** The wait until the time that the client asked for. */
    due: ({ context }) => Math.max(0, (context.scheduledAt ?? context.at) - context.at),
    /** The time after which a silent turn counts as lost, or after which the next one is to begin. */
    turn: ({ context }) => context.waitMs ?? context.leaseMs,
  },
});

const order = {
  type: 'work' as const,
  params: ({ context }: { readonly context: CampaignContext }) => ({ attempt: context.attempt }),
};
const nextTurn = campaignSetup.assign(({ context, event }) => ({
  at: event.at ?? context.at,
  attempt: context.attempt + 1,
  waitMs: null,
}));
const noteTime = campaignSetup.assign(({ event }) => ({ at: event.at }));
const noteSettings = campaignSetup.assign(({ event }) => ({
  at: event.at,
  hasCanary: (event as SettingsChanged).hasCanary,
}));
const noteSchedule = campaignSetup.assign(({ event }) => ({
  at: event.at,
  scheduledAt: (event as SendRequested).scheduledAt,
  failure: null,
}));
const forgetSchedule = campaignSetup.assign(({ event }) => ({ at: event.at, scheduledAt: null }));
const noteStart = campaignSetup.assign(({ context, event }) => ({
  startedAt: event.at ?? context.at,
  failure: null,
  place: '',
  canary: context.hasCanary ? ('first' as const) : ('over' as const),
  holdsUntil: null,
}));
const noteFrozen = campaignSetup.assign(({ event }) => ({
  recipientCount: (event as AudienceFrozen).total,
  resumedAt: event.at,
}));
const noteFailure = campaignSetup.assign(({ event }) => ({
  at: event.at,
  startedAt: null,
  failure: event.type === 'start.refused' ? event.failure : null,
}));
const noteTurn = campaignSetup.assign(({ context, event }) => {
  const { at, place, waitMs, canary } = event as TurnEnded;
  const holdsUntil = canary === 'holding' ? (context.holdsUntil ?? at + waitMs) : null;
  return { at, place, waitMs, canary, holdsUntil };
});
const notePause = campaignSetup.assign(({ event }) => ({
  at: event.at,
  waitMs: null,
  pausedReason: (event.type === 'stop.demanded' ? event.reason : 'manual') satisfies PausedReason,
}));
// A person who resumes a campaign that its canary has stopped has seen the rates, so the rest is sent.
const noteResume = campaignSetup.assign(({ context, event }) => ({
  pausedReason: null,
  place: '',
  resumedAt: event.at,
  canary: context.pausedReason === 'canary' ? ('over' as const) : context.canary,
}));
const noteEnd = campaignSetup.assign(({ event }) => ({ at: event.at, completedAt: event.at }));

const start = [noteStart, nextTurn, order] as const;
const send = [
  { guard: 'isLater' as const, target: 'scheduled', actions: noteSchedule },
  { guard: 'isNow' as const, target: 'preparing', actions: [forgetSchedule, ...start] },
] as const;
const remove = { target: 'deleted', actions: noteTime } as const;
/** A turn without a report has committed all that it did: the next one continues behind it. */
const again = (target: 'preparing' | 'sending') =>
  ({ target, reenter: true, actions: [nextTurn, order] }) as const;

/** The lifecycle of a campaign. The API's `status` is the state. */
export const campaignMachine = campaignSetup.createMachine({
  id: 'campaign',
  context: ({ input }) => ({
    ...input,
    attempt: 0,
    waitMs: null,
    place: '',
    canary: 'over',
    holdsUntil: null,
    pausedReason: null,
    failure: null,
    scheduledAt: null,
    startedAt: null,
    completedAt: null,
    resumedAt: null,
    recipientCount: null,
  }),
  initial: 'draft',
  states: {
    draft: {
      description: 'A draft. Its settings can be changed only in this state.',
      on: {
        // The event carries all settings: one that was decided before another change would take that back.
        'settings.changed': {
          guard: 'nothingChangedSince',
          target: 'draft',
          reenter: true,
          actions: [
            noteSettings,
            {
              type: 'saveSettings',
              params: ({ event }) => ({ settings: (event as SettingsChanged).settings }),
            },
          ],
        },
        'send.requested': send,
        'cancel.requested': { target: 'cancelled', actions: noteTime },
        'delete.requested': remove,
      },
    },
    scheduled: {
      description: 'Waits for its scheduled time.',
      on: {
        'unschedule.requested': { target: 'draft', actions: forgetSchedule },
        'cancel.requested': { target: 'cancelled', actions: noteTime },
      },
      after: { due: { target: 'preparing', actions: start } },
    },
    preparing: {
      description: 'Its sender and content are checked, and the audience is frozen: a row for each contact.',
      on: {
        'audience.frozen': {
          guard: 'turnIsTheLatest',
          target: 'sending',
          actions: [
            noteFrozen,
            {
              type: 'saveContent',
              params: ({ event }) => ({ content: (event as AudienceFrozen).content }),
            },
            nextTurn,
            order,
          ],
        },
        'start.refused': { guard: 'turnIsTheLatest', target: 'failed', actions: noteFailure },
        'turn.ended': { guard: 'turnIsTheLatest', ...again('preparing') },
      },
      after: { turn: again('preparing') },
    },
    sending: {
      description: 'Its emails are created chunk by chunk, each in the statement that marks its recipient.',
      on: {
        'pause.requested': { target: 'paused', actions: notePause },
        'stop.demanded': { guard: 'turnIsTheLatest', target: 'paused', actions: notePause },
        'recipients.exhausted': { guard: 'turnIsTheLatest', target: 'sent', actions: noteEnd },
        'turn.ended': [
          { guard: 'moreHasToWait', target: 'sending', reenter: true, actions: noteTurn },
          {
            guard: 'turnIsTheLatest',
            target: 'sending',
            reenter: true,
            actions: [noteTurn, nextTurn, order],
          },
        ],
      },
      after: { turn: again('sending') },
    },
    paused: {
      description:
        'No email is created until a client resumes it. It then goes only to the remaining recipients.',
      on: {
        'send.requested': { guard: 'isNow', target: 'sending', actions: [noteResume, nextTurn, order] },
        'cancel.requested': { target: 'cancelled', actions: noteTime },
      },
    },
    sent: {
      description: 'Every recipient in the frozen audience was given out or skipped.',
      on: { 'delete.requested': remove },
    },
    cancelled: {
      description: 'A client has cancelled it. Emails that were sent before remain.',
      on: { 'delete.requested': remove },
    },
    failed: {
      description: 'It could not start; `failureReason` says why. It can be sent again, or removed.',
      on: { 'send.requested': send, 'delete.requested': remove },
    },
    deleted: { type: 'final', description: 'No API shows it any more. Its emails remain.' },
  },
});

/** The states that a campaign is stored in. */
export const CAMPAIGN_STATES = storedStates(campaignMachine);
export type CampaignState = (typeof CAMPAIGN_STATES)[number];
