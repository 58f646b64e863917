import { setup } from 'xstate';
import type { EmailEventType } from '../email/recipient.ts';
import { storedStates } from '../names.ts';

/** Stored with every row; raise it with a migration of stored snapshots when a stored shape changes. */
export const WEBHOOK_ENDPOINT_VERSION = 1;

/** The failed attempts that follow each other, over all deliveries, and disable an endpoint. */
export const FAILURES_TO_DISABLE = 10;

/** The context of an endpoint. Its sealed secret lies in a separate table. Times are epoch milliseconds. */
export interface WebhookEndpointContext {
  /** The time of the last change. */
  readonly at: number;
  readonly url: string;
  readonly events: readonly EmailEventType[];
  /** Failed attempts since the last success, each ordered after the one counted before it had ended. */
  readonly failureCount: number;
  /** The outcomes of those attempts, the latest last. Absent in rows of versions that did not keep them. */
  readonly lastFailures?: readonly CountedFailure[];
  /** Set while the endpoint is disabled. Absent in rows of versions that did not keep it. */
  readonly disabled?: Disablement | null;
  /** Attempts that began before this time do not count, since the endpoint has changed. */
  readonly countedSince: number;
  /** The end of the current replay; no other replay begins before. */
  readonly replayUntil: number;
  /**
   * When a client changed it last; of one that was stored by an earlier version and not changed since,
   * undefined.
   */
  readonly changedAt?: number;
}

/** One failed attempt that was counted. */
export interface CountedFailure {
  /** When it ended. */
  readonly at: number;
  /** 0 when there was no answer. */
  readonly httpStatus: number;
  /** Why there was no complete answer; null for a complete one. */
  readonly error: string | null;
}

/** When an endpoint was disabled, and by which of the two ways. */
export interface Disablement {
  readonly at: number;
  readonly reason: 'failures' | 'request';
}

export type WebhookEndpointInput = Pick<WebhookEndpointContext, 'at' | 'url' | 'events'>;

/**
 * The time between two deliveries of a replay, so that a receiver that was down is not overrun when it is
 * back.
 */
export const REPLAY_GAP_MS = 20;

/**
 * The reasons that deliveries stop. `event_expired`: the event's data is no longer kept.
 * `test_clock_deleted`: the clock by which its next attempt was timed is gone.
 */
export const STOP_REASONS = [
  'endpoint_disabled',
  'endpoint_deleted',
  'event_expired',
  'test_clock_deleted',
] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** The events that are to be delivered again. */
export interface ReplayScope {
  /** The earliest and latest time of the events, both included (epoch ms). */
  readonly from: number;
  readonly to: number;
  readonly types: readonly EmailEventType[];
  /** True when to skip events that this endpoint has taken. */
  readonly onlyFailed: boolean;
  /** The most events, oldest first. */
  readonly most: number;
}

export type WebhookEndpointEvent =
  /** An attempt of any delivery failed. */
  | {
      readonly type: 'delivery.failed';
      readonly at: number;
      readonly attemptedAt: number;
      /**
       * When the attempt was ordered, from when on it may have waited for a slot; `attemptedAt` where it is
       * absent.
       */
      readonly orderedAt?: number;
      readonly httpStatus?: number;
      readonly error?: string | null;
    }
  /**
   * An attempt succeeded. It is sent only when failures have been counted, since it would change nothing
   * otherwise.
   */
  | { readonly type: 'delivery.succeeded'; readonly at: number }
  /** A client changes the URL, the events or the status. */
  | {
      readonly type: 'settings.changed';
      readonly at: number;
      readonly url?: string;
      readonly events?: readonly EmailEventType[];
      readonly status?: 'active' | 'disabled';
      /**
       * The `changedAt` that the client has seen; null for one that was never changed. Without it the request
       * applies to any version.
       */
      readonly seenAt?: number | null;
    }
  /** A client has a new secret, which replaces the old one at once. */
  | { readonly type: 'secret.rotated'; readonly at: number; readonly sealed: string; readonly prefix: string }
  /** A client asks for past events again, one after the other. */
  | ({ readonly type: 'replay.requested'; readonly at: number } & ReplayScope)
  /** A client removes the endpoint for good. */
  | { readonly type: 'delete.requested'; readonly at: number };

/** True when no client has changed the endpoint since the one whose change this is has seen it. */
const isUnchanged = (context: WebhookEndpointContext, event: WebhookEndpointEvent): boolean =>
  event.type === 'settings.changed' &&
  (event.seenAt === undefined || event.seenAt === (context.changedAt ?? null));

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
    nothingChangedSince: ({ context, event }) => isUnchanged(context, event),
    disablingIsAsked: ({ context, event }) =>
      event.type === 'settings.changed' && event.status === 'disabled' && isUnchanged(context, event),
    noReplayIsUnderWay: ({ context, event }) => event.at >= context.replayUntil,
    enablingIsAsked: ({ context, event }) =>
      event.type === 'settings.changed' && event.status === 'active' && isUnchanged(context, event),
  },
  actions: {
    /** Fact: the new secret replaces the old one. */
    replaceSecret: (_, _params: { readonly sealed: string; readonly prefix: string }) => {},
    /**
     * Order: stop every delivery that waits for this endpoint. Its state keeps them from being posted until
     * then.
     */
    stopDeliveries: (_, _params: { readonly reason: StopReason; readonly at: number }) => {},
    /** Facts: the secret is deleted, and the unit of the workspace's endpoints goes back. */
    forgetSecret: () => {},
    refund: () => {},
    /** Fact: one new delivery for each event in the scope, the first at `startAt`. */
    replay: (_, _params: ReplayScope & { readonly startAt: number }) => {},
  },
});

type Failure = Extract<WebhookEndpointEvent, { type: 'delivery.failed' }>;

/**
 * True for a failure that follows the one counted before it. Posts ordered while that one ran met the same
 * stall of the receiver: fifty posts at once that wait ten seconds for one restart are one failure, as are
 * those behind them that wait for a slot.
 */
const counts = (
  { countedSince, lastFailures = [] }: WebhookEndpointContext,
  { attemptedAt, orderedAt = attemptedAt }: Failure,
): boolean => attemptedAt >= countedSince && orderedAt > (lastFailures.at(-1)?.at ?? 0);

const countFailure = endpointSetup.assign(({ context, event }) => {
  const { at, httpStatus = 0, error = null } = event as Failure;
  return {
    at,
    failureCount: context.failureCount + 1,
    lastFailures: [...(context.lastFailures ?? []), { at, httpStatus, error }].slice(-FAILURES_TO_DISABLE),
  };
});
const forgetFailures = endpointSetup.assign(({ event }) => ({
  at: event.at,
  failureCount: 0,
  lastFailures: [],
}));
const startAfresh = endpointSetup.assign(({ event }) => ({
  at: event.at,
  failureCount: 0,
  lastFailures: [],
  disabled: null,
  countedSince: event.at,
}));
const noteDisabling = endpointSetup.assign(({ event }) => ({
  disabled: { at: event.at, reason: event.type === 'delivery.failed' ? 'failures' : 'request' } as const,
}));
/** Ends a replay: its waiting deliveries stop with their endpoint. */
const endReplay = endpointSetup.assign(({ context, event }) => ({
  replayUntil: Math.min(context.replayUntil, event.at),
}));
const noteTime = endpointSetup.assign(({ event }) => ({ at: event.at }));
const changeSettings = endpointSetup.assign(({ context, event }) => {
  if (event.type !== 'settings.changed') return {};
  return {
    at: event.at,
    url: event.url ?? context.url,
    events: event.events ?? context.events,
    changedAt: Math.max(event.at, (context.changedAt ?? 0) + 1),
  };
});

type ActionArgs = { readonly event: WebhookEndpointEvent };
const stopsBecause = (reason: StopReason) => ({
  type: 'stopDeliveries' as const,
  params: ({ event }: ActionArgs) => ({ reason, at: event.at }),
});
const replaceSecret = {
  type: 'replaceSecret' as const,
  params: ({ event }: ActionArgs) => {
    const { sealed, prefix } = event as Extract<WebhookEndpointEvent, { type: 'secret.rotated' }>;
    return { sealed, prefix };
  },
};

const deletes = {
  'delete.requested': {
    target: 'deleted',
    actions: [noteTime, stopsBecause('endpoint_deleted'), 'forgetSecret', 'refund'],
  },
} as const;

const replay = {
  type: 'replay' as const,
  params: ({ event }: ActionArgs) => {
    const { at, from, to, types, onlyFailed, most } = event as Extract<
      WebhookEndpointEvent,
      { type: 'replay.requested' }
    >;
    return { startAt: at, from, to, types, onlyFailed, most };
  },
};
const reserveReplayTime = endpointSetup.assign(({ event }) =>
  event.type === 'replay.requested'
    ? { at: event.at, replayUntil: event.at + event.most * REPLAY_GAP_MS }
    : {},
);

/** The lifecycle of a webhook endpoint. The API's `status` is the state. */
export const webhookEndpointMachine = endpointSetup.createMachine({
  id: 'webhookEndpoint',
  context: ({ input }) => ({
    ...input,
    failureCount: 0,
    lastFailures: [],
    disabled: null,
    countedSince: input.at,
    replayUntil: input.at,
  }),
  initial: 'active',
  states: {
    active: {
      description: 'Gets a delivery for every event that it subscribes to.',
      on: {
        'delivery.failed': [
          {
            guard: 'failureIsTheLast',
            target: 'disabled',
            actions: [countFailure, noteDisabling, endReplay, stopsBecause('endpoint_disabled')],
          },
          { guard: 'failureCounts', actions: countFailure },
        ],
        'delivery.succeeded': { guard: 'failuresWereCounted', actions: forgetFailures },
        'settings.changed': [
          {
            guard: 'disablingIsAsked',
            target: 'disabled',
            actions: [changeSettings, noteDisabling, endReplay, stopsBecause('endpoint_disabled')],
          },
          { guard: 'nothingChangedSince', actions: changeSettings },
        ],
        'secret.rotated': { actions: [replaceSecret, startAfresh] },
        'replay.requested': { guard: 'noReplayIsUnderWay', actions: [replay, reserveReplayTime] },
        ...deletes,
      },
    },
    disabled: {
      description: 'Gets no deliveries, after too many failures in a row or because its owner disabled it.',
      on: {
        'settings.changed': [
          { guard: 'enablingIsAsked', target: 'active', actions: [changeSettings, startAfresh] },
          { guard: 'nothingChangedSince', actions: changeSettings },
        ],
        'secret.rotated': { target: 'active', actions: [replaceSecret, startAfresh] },
        ...deletes,
      },
    },
    deleted: { type: 'final', description: 'The owner has deleted it; nothing is sent any more.' },
  },
});

/** The states that an endpoint is stored in. */
export const WEBHOOK_ENDPOINT_STATES = storedStates(webhookEndpointMachine);
export type WebhookEndpointState = (typeof WEBHOOK_ENDPOINT_STATES)[number];
