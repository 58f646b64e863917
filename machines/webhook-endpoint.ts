import { setup } from 'xstate';
import type { EmailEventType } from './email-progress.ts';

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
}

/** What is known of an endpoint when it is registered. */
export type WebhookEndpointInput = Pick<WebhookEndpointContext, 'at' | 'url' | 'events'>;

/** Why an endpoint's deliveries stop; what their `error` then says. */
export type StopReason = 'endpoint_disabled' | 'endpoint_deleted';

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
    enablingIsAsked: ({ event }) => event.type === 'settings.changed' && event.status === 'active',
  },
  actions: {
    /** Fact: the new secret takes the place of the old one. */
    replaceSecret: (_, _params: { readonly sealed: string; readonly prefix: string }) => {},
    /** Fact: every delivery that waits for this endpoint, or is on its way, is told to stop. */
    stopDeliveries: (_, _params: { readonly reason: StopReason; readonly at: number }) => {},
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
  'delete.requested': { target: 'deleted', actions: [noteTime, stopsBecause('endpoint_deleted')] },
} as const;

/** The life of a webhook endpoint. The API's `status` is the state. */
export const webhookEndpointMachine = endpointSetup.createMachine({
  id: 'webhookEndpoint',
  context: ({ input }) => ({ ...input, failureCount: 0, countedSince: input.at }),
  initial: 'active',
  states: {
    active: {
      description: 'Gets a delivery for every event that it subscribes to.',
      on: {
        'delivery.failed': [
          {
            guard: 'failureIsTheLast',
            target: 'disabled',
            actions: [countFailure, stopsBecause('endpoint_disabled')],
          },
          { guard: 'failureCounts', actions: countFailure },
        ],
        'delivery.succeeded': { guard: 'failuresWereCounted', actions: forgetFailures },
        'settings.changed': [
          {
            guard: 'disablingIsAsked',
            target: 'disabled',
            actions: [changeSettings, stopsBecause('endpoint_disabled')],
          },
          { actions: changeSettings },
        ],
        'secret.rotated': { actions: [replaceSecret, startAfresh] },
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
