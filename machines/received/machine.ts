import { setup } from 'xstate';
import { storedStates } from '../names.ts';
import { BACKOFF_MS } from '../webhook-delivery/machine.ts';
import type { ReceivedAttempt, ReceivedContext, ReceivedEvent, ReceivedInput } from './context.ts';

/** Stored with every row; raise it with a migration of stored snapshots when a stored shape changes. */
export const RECEIVED_VERSION = 1;

/** True when the event is about the attempt under way: one that counts as lost can still end. */
const isOfLatestAttempt = (context: ReceivedContext, event: ReceivedEvent): boolean =>
  'attempt' in event && event.attempt === context.attempt;

const receivedSetup = setup({
  types: {
    context: {} as ReceivedContext,
    events: {} as ReceivedEvent,
    input: {} as ReceivedInput,
  },
  guards: {
    isKept: ({ context }) => context.isKept,
    attemptIsTheLatest: ({ context, event }) => isOfLatestAttempt(context, event),
    retriesRemain: ({ context, event }) =>
      isOfLatestAttempt(context, event) && context.retryCount < BACKOFF_MS.length,
  },
  actions: {
    /** Order: post the message to the URL of its route, or forward it to its targets, as they are now. */
    post: (_, _params: { readonly attempt: number }) => {},
    /** Fact: one row for the attempt, with its answer. */
    record: (_, _params: Omit<ReceivedAttempt, 'at'>) => {},
  },
  delays: {
    /** The wait of a message that no process has begun to post. */
    turn: () => 0,
    /** The time after which an attempt without an outcome counts as lost. */
    lease: ({ context }) => context.leaseMs,
    /** The wait before the next retry, as of webhooks. */
    backoff: ({ context }) => BACKOFF_MS[context.retryCount] ?? 0,
  },
});

const beginAttempt = receivedSetup.assign(({ context, event }) => ({
  at: (event as { readonly at?: number }).at ?? context.at,
  attempt: context.attempt + 1,
}));
const countRetry = receivedSetup.assign(({ context }) => ({ retryCount: context.retryCount + 1 }));
const startOver = receivedSetup.assign(({ context }) => ({
  retryCount: 0,
  stoppedBy: null,
  round: (context.round ?? 0) + 1,
}));
const noteAttempt = receivedSetup.assign(({ event }) => ({
  at: event.at,
  attemptedAt: (event as ReceivedAttempt).attemptedAt,
}));
/** Frees the number of an attempt that was not begun: no outcome can ever carry it. */
const takeBackAttempt = receivedSetup.assign(({ context, event }) => ({
  at: event.at,
  attempt: context.attempt - 1,
}));
const noteStop = receivedSetup.assign(({ event }) => ({
  at: event.at,
  stoppedBy: event.type === 'posting.stopped' ? event.reason : null,
}));

const noteForward = receivedSetup.assign(({ context, event }) =>
  event.type === 'message.forwarded' ? { at: event.at, forwardedAs: event.emailId } : context,
);

const recordAttempt = {
  type: 'record' as const,
  params: ({ event }: { readonly event: ReceivedEvent }) => {
    const { attempt, attemptedAt, httpStatus, responseBody, durationMs, error } = event as ReceivedAttempt;
    return { attempt, attemptedAt, httpStatus, responseBody, durationMs, error };
  },
};

const redelivers = { 'redeliver.requested': { target: 'posting', actions: startOver } } as const;

/**
 * The lifecycle of a received message for one recipient. The API's `status` is the state; `retrying` is
 * reported as `posting`, since for a client both mean that an outcome will come. `posted`, `forwarded`,
 * `kept` and `failed` are not final: a client may ask for the message again.
 */
export const receivedMachine = receivedSetup.createMachine({
  id: 'received',
  context: ({ input }) => ({ ...input, attempt: 0, retryCount: 0, attemptedAt: null, stoppedBy: null }),
  initial: 'arrived',
  states: {
    arrived: {
      description: 'Passed through at once; no message is ever stored in it.',
      always: [{ guard: 'isKept', target: 'kept' }, { target: 'posting' }],
    },
    stored: {
      description: 'Waits for a process that posts it.',
      on: redelivers,
      after: { turn: 'posting' },
    },
    posting: {
      description:
        'An attempt runs, or waits for a free slot. Without an outcome before the lease ends, it is repeated.',
      entry: [beginAttempt, { type: 'post', params: ({ context }) => ({ attempt: context.attempt }) }],
      on: {
        'attempt.succeeded': {
          guard: 'attemptIsTheLatest',
          target: 'posted',
          actions: [recordAttempt, noteAttempt],
        },
        'attempt.failed': [
          { guard: 'retriesRemain', target: 'retrying', actions: [recordAttempt, noteAttempt] },
          { guard: 'attemptIsTheLatest', target: 'failed', actions: [recordAttempt, noteAttempt] },
        ],
        'message.forwarded': { guard: 'attemptIsTheLatest', target: 'forwarded', actions: noteForward },
        'attempt.declined': { guard: 'attemptIsTheLatest', target: 'stored', actions: takeBackAttempt },
        'posting.stopped': { guard: 'attemptIsTheLatest', target: 'failed', actions: noteStop },
      },
      // A lost attempt does not count as a retry: its outcome is unknown, and a crash of ours must not use up
      // retries.
      after: { lease: { target: 'posting', reenter: true } },
    },
    retrying: {
      description: 'The last attempt failed; the next one is scheduled.',
      on: redelivers,
      after: { backoff: { target: 'posting', actions: countRetry } },
    },
    posted: { description: 'The receiver has accepted it.', on: redelivers },
    forwarded: {
      description: 'An email carries it to the targets of its route, and has the fate of each.',
      on: redelivers,
    },
    kept: { description: 'Its route keeps messages for the API.', on: redelivers },
    failed: {
      description: 'Retries ran out, its route was deleted or posts no more, or it cannot be forwarded.',
      on: redelivers,
    },
  },
});

/** The states that a received message is stored in. */
export const RECEIVED_STATES = storedStates(receivedMachine, ['arrived']);
export type ReceivedState = (typeof RECEIVED_STATES)[number];
