import { setup } from 'xstate';
import type { EmailEventType } from './email-recipient.ts';
import { storedStates } from './names.ts';

/** Stored with every row; raise it with a migration of stored snapshots when a stored shape changes. */
export const WEBHOOK_ENDPOINT_VERSION = 1;

/** So many failed attempts in a row, over all deliveries, disable an endpoint. */
export const FAILURES_TO_DISABLE = 10;

/** What an endpoint's machine remembers. Its secret is not here: sealed, in a table of its own. Times are epoch milliseconds. */
export interface WebhookEndpointContext {
  /** Moment of the last change. */
  readonly at: number;
  readonly url: string;
  readonly events: readonly EmailEventType[];
  /** Failed attempts since the last success. */
  readonly failureCount: number;
  /** Attempts that began before say nothing of the endpoint as it is now. */
  readonly countedSince: number;
  /** Until then the deliveries of a replay have their turns, and no other replay begins. */
  readonly replayUntil: number;
}

/** What is known of an endpoint when it is registered. */
export type WebhookEndpointInput = Pick<WebhookEndpointContext, 'at' | 'url' | 'events'>;

/** Between the turns of two deliveries of a replay: a receiver that was down must not be overrun when it is back. */
export const REPLAY_GAP_MS = 20;

/** Why deliveries stop; what their `error` then says. `event_expired`: its data is no longer kept. */
export type StopReason = 'endpoint_disabled' | 'endpoint_deleted' | 'event_expired';

/** Which events are to be delivered again. */
export interface ReplayScope {
  /** The moments that the events lie between, both included (epoch ms). */
  readonly from: number;
  readonly to: number;
  readonly types: readonly EmailEventType[];
  /** Only what this endpoint has not taken: failed, or never delivered. */
  readonly onlyFailed: boolean;
  /** How many at most, oldest first. */
  readonly most: number;
}

export type WebhookEndpointEvent =
  /** An attempt failed: one event each, whichever delivery it belonged to. */
  | { readonly type: 'delivery.failed'; readonly at: number; readonly attemptedAt: number }
  /** An attempt succeeded; sent only when failures have been counted, since it would change nothing otherwise. */
  | { readonly type: 'delivery.succeeded'; readonly at: number }
  /** A client changes what it names: where to, which events, whether at all. */
  | {
      readonly type: 'settings.changed';
      readonly at: number;
      readonly url?: string;
      readonly events?: readonly EmailEventType[];
      readonly status?: 'active' | 'disabled';
    }
  /** A client has a new secret, from now on the only one. */
  | { readonly type: 'secret.rotated'; readonly at: number; readonly sealed: string; readonly prefix: string }
  /** A client wants past events delivered again, one after the other. */
  | ({ readonly type: 'replay.requested'; readonly at: number } & ReplayScope)
  /** A client removes the endpoint for good. */
  | { readonly type: 'delete.requested'; readonly at: number };

const endpointSetup = setup({
  types: {
    context: {} as WebhookEndpointContext,
    events: {} as WebhookEndpointEvent,
    input: {} as WebhookEndpointInput,
  },
  guards: {
    failureCounts: ({ context, event }) => event.type === 'delivery.failed' && counts(context, event),
    failureIsTheLast: ({ context, event }) =>
      event.type === 'delivery.failed' &&
      counts(context, event) &&
      context.failureCount + 1 >= FAILURES_TO_DISABLE,
    failuresWereCounted: ({ context }) => context.failureCount > 0,
    disablingIsAsked: ({ event }) => event.type === 'settings.changed' && event.status === 'disabled',
    noReplayIsUnderWay: ({ context, event }) => event.at >= context.replayUntil,
    enablingIsAsked: ({ event }) => event.type === 'settings.changed' && event.status === 'active',
  },
  actions: {
    /** Fact: the new secret takes the place of the old one. */
    replaceSecret: (_, _params: { readonly sealed: string; readonly prefix: string }) => {},
    /** Order: every delivery that waits for this endpoint is stopped. Until then none of them is posted, for its state. */
    stopDeliveries: (_, _params: { readonly reason: StopReason; readonly at: number }) => {},
    /** Fact: the secret is gone, and the place among the workspace's endpoints is free again. */
    forgetSecret: () => {},
    freePlace: () => {},
    /** Fact: one new delivery for each event in the scope, the first at `startAt`. */
    replay: (_, _params: ReplayScope & { readonly startAt: number }) => {},
  },
});

const counts = (
  { countedSince }: WebhookEndpointContext,
  { attemptedAt }: { readonly attemptedAt: number },
): boolean => attemptedAt >= countedSince;

const countFailure = endpointSetup.assign(({ context, event }) => ({
  at: event.at,
  failureCount: context.failureCount + 1,
}));
const forgetFailures = endpointSetup.assign(({ event }) => ({ at: event.at, failureCount: 0 }));
const startAfresh = endpointSetup.assign(({ event }) => ({
  at: event.at,
  failureCount: 0,
  countedSince: event.at,
}));
/** Deliveries that wait for their turn stop with their endpoint. */
const endReplay = endpointSetup.assign(({ context, event }) => ({
  replayUntil: Math.min(context.replayUntil, event.at),
}));
const noteTime = endpointSetup.assign(({ event }) => ({ at: event.at }));
const changeSettings = endpointSetup.assign(({ context, event }) => {
  if (event.type !== 'settings.changed') return {};
  return { at: event.at, url: event.url ?? context.url, events: event.events ?? context.events };
});

type Told = { readonly event: WebhookEndpointEvent };
const stopsBecause = (reason: StopReason) => ({
  type: 'stopDeliveries' as const,
  params: ({ event }: Told) => ({ reason, at: event.at }),
});
const replaceSecret = {
  type: 'replaceSecret' as const,
  params: ({ event }: Told) => {
    const { sealed, prefix } = event as Extract<WebhookEndpointEvent, { type: 'secret.rotated' }>;
    return { sealed, prefix };
  },
};

const deletes = {
  'delete.requested': {
    target: 'deleted',
    actions: [noteTime, stopsBecause('endpoint_deleted'), 'forgetSecret', 'freePlace'],
  },
} as const;

const replay = {
  type: 'replay' as const,
  params: ({ event }: Told) => {
    const { at, from, to, types, onlyFailed, most } = event as Extract<
      WebhookEndpointEvent,
      { type: 'replay.requested' }
    >;
    return { startAt: at, from, to, types, onlyFailed, most };
  },
};
const reserveTurns = endpointSetup.assign(({ event }) =>
  event.type === 'replay.requested'
    ? { at: event.at, replayUntil: event.at + event.most * REPLAY_GAP_MS }
    : {},
);

/** The life of a webhook endpoint. The API's `status` is the state. */
export const webhookEndpointMachine = endpointSetup.createMachine({
  id: 'webhookEndpoint',
  context: ({ input }) => ({ ...input, failureCount: 0, countedSince: input.at, replayUntil: input.at }),
  initial: 'active',
  states: {
    active: {
      description: 'Gets a delivery for every event that it subscribes to.',
      on: {
        'delivery.failed': [
          {
            guard: 'failureIsTheLast',
            target: 'disabled',
            actions: [countFailure, endReplay, stopsBecause('endpoint_disabled')],
          },
          { guard: 'failureCounts', actions: countFailure },
        ],
        'delivery.succeeded': { guard: 'failuresWereCounted', actions: forgetFailures },
        'settings.changed': [
          {
            guard: 'disablingIsAsked',
            target: 'disabled',
            actions: [changeSettings, endReplay, stopsBecause('endpoint_disabled')],
          },
          { actions: changeSettings },
        ],
        'secret.rotated': { actions: [replaceSecret, startAfresh] },
        'replay.requested': { guard: 'noReplayIsUnderWay', actions: [replay, reserveTurns] },
        ...deletes,
      },
    },
    disabled: {
      description: 'Gets no deliveries, after too many failures in a row or at its owner’s wish.',
      on: {
        'settings.changed': [
          { guard: 'enablingIsAsked', target: 'active', actions: [changeSettings, startAfresh] },
          { actions: changeSettings },
        ],
        'secret.rotated': { target: 'active', actions: [replaceSecret, startAfresh] },
        ...deletes,
      },
    },
    deleted: { type: 'final', description: 'Gone for its owner; nothing is sent any more.' },
  },
});

/** The states that an endpoint is stored in. */
export const WEBHOOK_ENDPOINT_STATES = storedStates(webhookEndpointMachine);
/** One of them. */
export type WebhookEndpointState = (typeof WEBHOOK_ENDPOINT_STATES)[number];
