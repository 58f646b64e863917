import { setup } from 'xstate';
import { storedStates } from '../names.ts';
import type {
  AttemptOutcome,
  NewsOfAttempt,
  RecordedAttempt,
  WebhookDeliveryContext,
  WebhookDeliveryEvent,
  WebhookDeliveryInput,
} from './context.ts';
import {
  isOfLatestAttempt,
  isOfOpenAttempt,
  momentOf,
  newsOfFailure,
  newsOfSuccess,
  recordOf,
} from './rules.ts';

/** Stored with every row; raise it with a migration of stored snapshots when a stored shape changes. */
export const WEBHOOK_DELIVERY_VERSION = 1;

/** Waits before retry 1 to 5, from the end of the attempt before, in milliseconds. */
export const BACKOFF_MS = [5_000, 30_000, 300_000, 1_800_000, 7_200_000] as const;

const deliverySetup = setup({
  types: {
    context: {} as WebhookDeliveryContext,
    events: {} as WebhookDeliveryEvent,
    input: {} as WebhookDeliveryInput,
  },
  guards: {
    attemptIsOpen: ({ context, event }) => isOfOpenAttempt(context, event),
    turnIsToCome: ({ context }) => context.turnAt !== null && context.turnAt > context.at,
    attemptIsTheLatest: ({ context, event }) => isOfLatestAttempt(context, event),
    successIsNews: ({ context, event }) =>
      event.type === 'attempt.succeeded' && isOfLatestAttempt(context, event) && event.endpointIsFailing,
    retriesRemain: ({ context, event }) =>
      isOfLatestAttempt(context, event) && context.retryCount < BACKOFF_MS.length,
  },
  actions: {
    /** Order: sign the event and post it to the endpoint as that is now. */
    post: (_, _params: { readonly attempt: number }) => {},
    /** Fact: one row for the attempt, with its answer. */
    record: (_, _params: RecordedAttempt) => {},
    /** Event to the endpoint. A success is sent only when the endpoint has counted failures. */
    tell: (_, _params: { readonly webhookId: string; readonly news: NewsOfAttempt }) => {},
  },
  delays: {
    /** The wait until its time in a replay. */
    turn: ({ context }) => (context.turnAt ?? context.at) - context.at,
    /** The time after which an attempt without an outcome counts as lost. */
    lease: ({ context }) => context.leaseMs,
    /** The wait before the next retry. */
    backoff: ({ context }) => BACKOFF_MS[context.retryCount] ?? 0,
  },
});

const beginAttempt = deliverySetup.assign(({ context, event }) => ({
  at: momentOf(context, event),
  attempt: context.attempt + 1,
}));
const countRetry = deliverySetup.assign(({ context }) => ({ retryCount: context.retryCount + 1 }));
const startOver = deliverySetup.assign({ retryCount: 0, stoppedBy: null, openAttempt: null });
const noteAttempt = deliverySetup.assign(({ event }) => ({
  at: event.at,
  attemptedAt: (event as AttemptOutcome).attemptedAt,
}));
/** Frees the number of an attempt that was not begun: no outcome can ever carry it. */
const takeBackAttempt = deliverySetup.assign(({ context, event }) => ({
  at: event.at,
  attempt: context.attempt - 1,
  turnAt: null,
}));
const noteStop = deliverySetup.assign(({ event }) => ({
  at: event.at,
  stoppedBy: event.type === 'endpoint.stopped' ? event.reason : null,
}));

const leaveOpen = deliverySetup.assign(({ context }) => ({ openAttempt: context.attempt }));
const closeAttempt = deliverySetup.assign({ openAttempt: null });
const forgetStop = deliverySetup.assign({ stoppedBy: null });

type ActionArgs = { readonly context: WebhookDeliveryContext; readonly event: WebhookDeliveryEvent };
const recordAttempt = { type: 'record' as const, params: ({ event }: ActionArgs) => recordOf(event) };
const tellOfFailure = {
  type: 'tell' as const,
  params: ({ context, event }: ActionArgs) => newsOfFailure(context, event),
};
const tellOfSuccess = { type: 'tell' as const, params: ({ event }: ActionArgs) => newsOfSuccess(event) };

const stops = { 'endpoint.stopped': { target: 'failed', actions: noteStop } } as const;
const redelivers = { 'redeliver.requested': { target: 'posting', actions: startOver } } as const;

/**
 * The lifecycle of one event on its way to one endpoint. The API's `status` is the state, and `queued` and
 * `posting` are reported as `scheduled`: for a client all three mean that an outcome will come. Here they
 * differ, since only `posting` takes outcomes and each waits for something else. `success` and `failed` are
 * not final: a client may ask for the event again.
 */
export const webhookDeliveryMachine = deliverySetup.createMachine({
  id: 'webhookDelivery',
  context: ({ input }) => ({ ...input, attempt: 0, retryCount: 0, attemptedAt: null, stoppedBy: null }),
  initial: 'made',
  states: {
    made: {
      description: 'Passed through at once; no delivery is ever stored in it.',
      always: [{ guard: 'turnIsToCome', target: 'queued' }, { target: 'posting' }],
    },
    queued: {
      description:
        'Waits for its time in a replay, which is spread over time, or for another process to post it.',
      on: { ...stops, ...redelivers },
      after: { turn: 'posting' },
    },
    posting: {
      description:
        'An attempt runs, or waits for a free slot. Without an outcome before the lease ends, it is repeated.',
      entry: [beginAttempt, { type: 'post', params: ({ context }) => ({ attempt: context.attempt }) }],
      on: {
        'attempt.succeeded': [
          {
            guard: 'successIsNews',
            target: 'success',
            actions: [recordAttempt, tellOfSuccess, noteAttempt],
          },
          { guard: 'attemptIsTheLatest', target: 'success', actions: [recordAttempt, noteAttempt] },
        ],
        'attempt.failed': [
          {
            guard: 'retriesRemain',
            target: 'scheduled',
            actions: [recordAttempt, tellOfFailure, noteAttempt],
          },
          {
            guard: 'attemptIsTheLatest',
            target: 'failed',
            actions: [recordAttempt, tellOfFailure, noteAttempt],
          },
        ],
        'attempt.declined': { guard: 'attemptIsTheLatest', target: 'queued', actions: takeBackAttempt },
        'endpoint.stopped': { target: 'failed', actions: [noteStop, leaveOpen] },
      },
      // A lost attempt does not count as a retry: its outcome is unknown, and a crash of ours must not use up
      // retries.
      after: { lease: { target: 'posting', reenter: true } },
    },
    scheduled: {
      description: 'The last attempt failed; the next one is scheduled.',
      on: { ...stops, ...redelivers },
      after: { backoff: { target: 'posting', actions: countRetry } },
    },
    success: {
      description: 'The receiver has accepted the event.',
      on: redelivers,
    },
    failed: {
      description:
        'Retries ran out, or the endpoint was disabled or deleted, or the event is no longer kept. The answer to an attempt that was under way then is still recorded.',
      on: {
        ...redelivers,
        'attempt.succeeded': {
          guard: 'attemptIsOpen',
          target: 'success',
          actions: [recordAttempt, noteAttempt, forgetStop, closeAttempt],
        },
        'attempt.failed': {
          guard: 'attemptIsOpen',
          actions: [recordAttempt, noteAttempt, closeAttempt],
        },
      },
    },
  },
});

/** The states that a delivery is stored in. */
export const WEBHOOK_DELIVERY_STATES = storedStates(webhookDeliveryMachine, ['made']);
export type WebhookDeliveryState = (typeof WEBHOOK_DELIVERY_STATES)[number];
