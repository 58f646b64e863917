import { describe, expect, test } from 'bun:test';
import type { StateValueFrom } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import type {
  AttemptOutcome,
  WebhookDeliveryContext,
  WebhookDeliveryEvent,
  WebhookDeliveryInput,
} from '../../machines/webhook-delivery/context.ts';
import { BACKOFF_MS, webhookDeliveryMachine } from '../../machines/webhook-delivery/machine.ts';
import type { ActorEvent } from '../../src/engine/machine/kind.ts';
import { LoneActor } from '../support/lone-actor.ts';

const input = { at: 1_000_000, leaseMs: 30_000, turnAt: null };
const replayed = { ...input, turnAt: input.at + 700 };
const newDelivery = (of: WebhookDeliveryInput = input) =>
  new LoneActor<WebhookDeliveryContext>(webhookDeliveryMachine, of, of.at);

const outcome = (attempt: number, at: number, answer: Partial<AttemptOutcome> = {}): AttemptOutcome => ({
  at,
  attempt,
  attemptedAt: at - 40,
  httpStatus: 500,
  responseBody: 'no',
  durationMs: 40,
  error: null,
  webhookId: 'wh_1',
  endpointIsFailing: false,
  ...answer,
});
const failed = (attempt: number, at: number) =>
  ({ type: 'attempt.failed', ...outcome(attempt, at) }) as const;
const succeeded = (attempt: number, at: number) =>
  ({ type: 'attempt.succeeded', ...outcome(attempt, at, { httpStatus: 200, responseBody: 'ok' }) }) as const;
const succeededAtLast = (attempt: number, at: number) => ({
  ...succeeded(attempt, at),
  endpointIsFailing: true,
});
/** The stored record of an attempt. */
const kept = ({ attempt, attemptedAt, httpStatus, responseBody, durationMs, error }: AttemptOutcome) => ({
  attempt,
  attemptedAt,
  httpStatus,
  responseBody,
  durationMs,
  error,
});
const stopped = (at: number) => ({ type: 'endpoint.stopped', at, reason: 'endpoint_disabled' }) as const;
const deleted = (at: number) => ({ type: 'endpoint.stopped', at, reason: 'endpoint_deleted' }) as const;
const declined = (attempt: number, at: number) => ({ type: 'attempt.declined', at, attempt }) as const;
const redeliver = (at: number) => ({ type: 'redeliver.requested', at }) as const;
const lease = (at: number): ActorEvent => ({ type: 'xstate.after.lease.webhookDelivery.posting', at });
const turn = (at: number): ActorEvent => ({ type: 'xstate.after.turn.webhookDelivery.queued', at });
const backoff = (at: number): ActorEvent => ({ type: 'xstate.after.backoff.webhookDelivery.scheduled', at });

type State = StateValueFrom<typeof webhookDeliveryMachine>;

/** All that a delivery in any state could be told, by name. */
const everyEvent = (attempt: number, at: number): Record<string, ActorEvent> => ({
  succeeded: succeeded(attempt, at),
  'succeeded at last': succeededAtLast(attempt, at),
  failed: failed(attempt, at),
  declined: declined(attempt, at),
  'succeeded late': succeeded(attempt - 1, at),
  'failed late': failed(attempt - 1, at),
  'succeeded early': succeeded(attempt + 1, at),
  stopped: stopped(at),
  deleted: deleted(at),
  redeliver: redeliver(at),
  lease: lease(at),
  backoff: backoff(at),
  turn: turn(at),
  unknown: { type: 'email.sent', at },
});

/** The events that each state takes; all others are refused. */
const taken = {
  made: [],
  queued: ['stopped', 'deleted', 'redeliver', 'turn'],
  posting: ['succeeded', 'succeeded at last', 'failed', 'declined', 'stopped', 'deleted', 'lease'],
  scheduled: ['stopped', 'deleted', 'redeliver', 'backoff'],
  success: ['redeliver'],
  // If an attempt was under way when it stopped, its outcome as well.
  failed: ['redeliver'],
} as const satisfies Record<State, readonly string[]>;

const pathsFrom = (of: WebhookDeliveryInput) =>
  getShortestPaths(webhookDeliveryMachine, {
    input: of,
    events: ({ context }) =>
      Object.values(everyEvent(context.attempt, context.at + 1)) as WebhookDeliveryEvent[],
    // Attempts and moments only ever grow; without them the graph is finite.
    serializeState: ({ value, context: { retryCount, stoppedBy, attemptedAt, openAttempt = null } }) =>
      JSON.stringify([value, retryCount, stoppedBy, attemptedAt !== null, openAttempt !== null]),
  }).map((path) => ({ ...path, input: of }));
const paths = [...pathsFrom(input), ...pathsFrom(replayed)];

/** A delivery that has come along one of the paths, stored and loaded again at each step. */
function along({ steps, input: of }: (typeof paths)[number]) {
  const delivery = newDelivery(of);
  for (const { event } of steps) {
    if ((event.type as string) === 'xstate.init') continue;
    delivery.restore();
    expect(delivery.tell(event)).toBe(true);
  }
  return delivery;
}

describe('every path of the webhook delivery machine', () => {
  test('reaches every state, over every number of retries', () => {
    const reached = new Set(paths.map(({ state }) => state.value as string));
    const stored = Object.keys(webhookDeliveryMachine.states).filter((state) => state !== 'made');
    expect([...reached].sort()).toEqual(stored.sort());
    const retries = new Set(
      paths.filter(({ state }) => state.value === 'posting').map(({ state }) => state.context.retryCount),
    );
    expect([...retries].sort()).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test('keeps the invariants of a delivery', () => {
    expect(paths.length).toBeGreaterThan(20);
    for (const path of paths) {
      const { state, context, delays } = along(path);
      const { attempt, retryCount, stoppedBy, attemptedAt } = context;
      // A retry is counted before its attempt, which may be declined.
      const isBegun = state !== 'queued' && state !== 'failed';
      if (attempt > 0) expect(attempt).toBeGreaterThanOrEqual(isBegun ? retryCount + 1 : retryCount);
      else expect(stoppedBy !== null || state === 'queued').toBe(true);
      expect(retryCount).toBeLessThanOrEqual(state === 'scheduled' ? 4 : 5);
      if (stoppedBy !== null) expect(state).toBe('failed');
      if (state === 'success' || state === 'scheduled') expect(attemptedAt).not.toBeNull();
      expect(Object.keys(delays)).toEqual(
        { queued: ['turn'], posting: ['lease'], scheduled: ['backoff'], success: [], failed: [] }[state] ?? [
          '?',
        ],
      );
      expect(JSON.parse(JSON.stringify(context))).toEqual(context);
    }
  });

  test('accepts the drawn events and refuses the others unchanged', () => {
    for (const path of paths) {
      const { context, state } = along(path);
      for (const [name, event] of Object.entries(everyEvent(context.attempt, context.at + 1))) {
        const delivery = along(path);
        const before = { context: delivery.context, effects: delivery.effects, delays: delivery.delays };
        const isOpen = state === 'failed' && (context.openAttempt ?? null) !== null;
        const accepted =
          (taken[state as State] as readonly string[]).includes(name) ||
          (isOpen && ['succeeded', 'succeeded at last', 'failed'].includes(name));
        expect({ state, name, accepted: delivery.tell(event) }).toEqual({ state, name, accepted });
        if (!accepted)
          expect({ context: delivery.context, effects: delivery.effects, delays: delivery.delays }).toEqual(
            before,
          );
      }
    }
  });
});

describe('a webhook delivery', () => {
  test('is posted at once, under a lease', () => {
    const delivery = newDelivery();
    expect(delivery.state).toBe('posting');
    expect(delivery.effects).toEqual([{ type: 'post', params: { attempt: 1 } }]);
    expect(delivery.delays).toEqual({ lease: input.at + 30_000 });
  });

  test('that succeeds records the attempt and rests; it is no news to a healthy endpoint', () => {
    const delivery = newDelivery();
    delivery.tell(succeeded(1, 1_000_400));
    expect(delivery.state).toBe('success');
    expect(delivery.effects).toEqual([{ type: 'record', params: kept(succeeded(1, 1_000_400)) }]);
    expect(delivery.delays).toEqual({});
  });

  test('that succeeds tells its endpoint where that has counted failures', () => {
    const delivery = newDelivery();
    delivery.tell(succeededAtLast(1, 1_000_400));
    const news = { type: 'delivery.succeeded', at: 1_000_400 };
    expect(delivery.effects).toEqual([
      { type: 'record', params: kept(succeeded(1, 1_000_400)) },
      { type: 'tell', params: { webhookId: 'wh_1', news } },
    ]);
  });

  test('of a replay waits for its turn, to the millisecond', () => {
    const delivery = newDelivery(replayed);
    expect(delivery.state).toBe('queued');
    expect(delivery.effects).toEqual([]);
    expect(delivery.wake(replayed.turnAt - 1)).toBe(0);
    expect(delivery.wake(replayed.turnAt)).toBe(1);
    expect(delivery.effects).toEqual([{ type: 'post', params: { attempt: 1 } }]);
    expect(delivery.delays).toEqual({ lease: replayed.turnAt + 30_000 });
  });

  test('is retried 5 s, 30 s, 5 min, 30 min and 2 h after each attempt, to the millisecond, then fails', () => {
    const delivery = newDelivery();
    let at = input.at;
    for (const [retry, wait] of [5_000, 30_000, 300_000, 1_800_000, 7_200_000].entries()) {
      at += 40;
      const attempt = retry + 1;
      expect(delivery.tell(failed(attempt, at))).toBe(true);
      expect(delivery.state).toBe('scheduled');
      expect(delivery.effects).toEqual([
        { type: 'record', params: kept(failed(attempt, at)) },
        {
          type: 'tell',
          params: {
            webhookId: 'wh_1',
            news: {
              type: 'delivery.failed',
              at,
              attemptedAt: at - 40,
              orderedAt: at - 40,
              httpStatus: 500,
              error: null,
            },
          },
        },
      ]);
      expect(delivery.delays).toEqual({ backoff: at + wait });

      expect(delivery.wake(at + wait - 1)).toBe(0);
      expect(delivery.wake(at + wait)).toBe(1);
      at += wait;
      expect(delivery.state).toBe('posting');
      expect(delivery.effects).toEqual([{ type: 'post', params: { attempt: attempt + 1 } }]);
      expect(delivery.context.retryCount).toBe(retry + 1);
      expect(delivery.delays).toEqual({ lease: at + 30_000 });
    }
    delivery.tell(failed(6, at + 40));
    expect(delivery.state).toBe('failed');
    expect(delivery.effects.map(({ type }) => type)).toEqual(['record', 'tell']);
    expect(delivery.delays).toEqual({});
    expect(delivery.context).toMatchObject({ attempt: 6, retryCount: 5, stoppedBy: null });
  });

  test('whose attempt was lost in a crash is posted again when the lease ends, and keeps all its retries', () => {
    const delivery = newDelivery();
    for (let crash = 1; crash <= 20; crash += 1) {
      expect(delivery.wake(input.at + crash * 30_000 - 1)).toBe(0);
      expect(delivery.wake(input.at + crash * 30_000)).toBe(1);
      expect(delivery.effects).toEqual([{ type: 'post', params: { attempt: crash + 1 } }]);
    }
    expect(delivery.context.retryCount).toBe(0);
    const at = input.at + 20 * 30_000;
    expect(delivery.tell(failed(20, at))).toBe(false);
    delivery.tell(failed(21, at));
    expect(delivery.delays).toEqual({ backoff: at + BACKOFF_MS[0] });
  });

  test('that was not begun before its process stopped is due at once, with the same number', () => {
    const delivery = newDelivery();
    expect(delivery.tell(declined(2, 1_000_005))).toBe(false);
    expect(delivery.tell(declined(1, 1_000_005))).toBe(true);
    expect([delivery.state, delivery.delays]).toEqual(['queued', { turn: 1_000_005 }]);
    expect(delivery.wake(1_000_005)).toBe(1);
    expect(delivery.effects).toEqual([{ type: 'post', params: { attempt: 1 } }]);
    expect([delivery.state, delivery.context.attempt, delivery.context.retryCount]).toEqual([
      'posting',
      1,
      0,
    ]);
  });

  test('stops when its endpoint does, whether an attempt runs or a retry is timed', () => {
    for (const event of [stopped(1_000_500), deleted(1_000_500)])
      for (const before of [[], [failed(1, 1_000_100)]]) {
        const delivery = newDelivery();
        for (const earlier of before) delivery.tell(earlier);
        delivery.tell(event);
        expect(delivery.state).toBe('failed');
        expect(delivery.context.stoppedBy).toBe(event.reason);
        expect(delivery.effects).toEqual([]);
        expect(delivery.delays).toEqual({});
        expect(delivery.tell(succeeded(1, 1_000_600))).toBe(before.length === 0);
      }
  });

  test('that stops while an attempt runs still records its outcome, once', () => {
    const timeout = { ...failed(1, 1_010_000), httpStatus: 0, error: 'timeout' } as const;
    for (const late of [timeout, failed(1, 1_000_600), succeeded(1, 1_000_600)]) {
      const delivery = newDelivery();
      delivery.tell(stopped(1_000_500));
      for (const other of [failed(2, 1_000_550), declined(1, 1_000_550), lease(1_030_000)])
        expect(delivery.tell(other)).toBe(false);
      expect(delivery.tell(late)).toBe(true);
      const isTaken = late.type === 'attempt.succeeded';
      expect(delivery.state).toBe(isTaken ? 'success' : 'failed');
      expect(delivery.effects).toEqual([{ type: 'record', params: kept(late) }]);
      expect(delivery.context).toMatchObject({
        attemptedAt: late.attemptedAt,
        stoppedBy: isTaken ? null : 'endpoint_disabled',
      });
      for (const again of [late, failed(1, 1_020_000), succeeded(1, 1_020_000)])
        expect(delivery.tell(again)).toBe(false);
      expect(delivery.tell(redeliver(2_000_000))).toBe(true);
      expect(delivery.context.attempt).toBe(2);
    }
  });

  test('that is asked for again after a stop has nothing to do with the attempt of before', () => {
    const delivery = newDelivery();
    for (const event of [stopped(1_000_500), redeliver(1_000_600), stopped(1_000_700)]) delivery.tell(event);
    expect(delivery.tell(failed(1, 1_000_800))).toBe(false);
    expect(delivery.tell(failed(2, 1_000_900))).toBe(true);
  });

  test('that is asked for again starts over, whatever became of it, with the next attempt number', () => {
    for (const last of [succeeded(2, 1_010_000), stopped(1_010_000), failed(2, 1_010_000)]) {
      const delivery = newDelivery();
      for (const earlier of [failed(1, 1_000_100), backoff(1_005_100), last]) delivery.tell(earlier);
      expect(delivery.context.retryCount).toBe(1);
      expect(delivery.tell(redeliver(2_000_000))).toBe(true);
      expect(delivery.state).toBe('posting');
      expect(delivery.effects).toEqual([{ type: 'post', params: { attempt: 3 } }]);
      expect(delivery.delays).toEqual({ lease: 2_030_000 });
      expect(delivery.context).toMatchObject({ retryCount: 0, stoppedBy: null });
    }
  });
});
