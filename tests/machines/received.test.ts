import { describe, expect, test } from 'bun:test';
import type { StateValueFrom } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import type {
  ReceivedAttempt,
  ReceivedContext,
  ReceivedEvent,
  ReceivedInput,
} from '../../machines/received/context.ts';
import { receivedMachine } from '../../machines/received/machine.ts';
import { BACKOFF_MS } from '../../machines/webhook-delivery/machine.ts';
import type { ActorEvent } from '../../src/engine/machine/kind.ts';
import { LoneActor } from '../support/lone-actor.ts';

const input: ReceivedInput = { at: 1_000_000, leaseMs: 30_000, isKept: false };
const kept: ReceivedInput = { ...input, isKept: true };
const newMessage = (of = input) => new LoneActor<ReceivedContext>(receivedMachine, of, of.at);

const outcome = (attempt: number, at: number, httpStatus: number): ReceivedAttempt => ({
  at,
  attempt,
  httpStatus,
  attemptedAt: at - 40,
  responseBody: 'body',
  durationMs: 40,
  error: null,
});
const failed = (attempt: number, at: number) =>
  ({ type: 'attempt.failed', ...outcome(attempt, at, 500) }) as const;
const succeeded = (attempt: number, at: number) =>
  ({ type: 'attempt.succeeded', ...outcome(attempt, at, 200) }) as const;
const declined = (attempt: number, at: number) => ({ type: 'attempt.declined', at, attempt }) as const;
const stopped = (attempt: number, at: number) =>
  ({ type: 'posting.stopped', at, attempt, reason: 'route_deleted' }) as const;
const forwarded = (attempt: number, at: number) =>
  ({ type: 'message.forwarded', at, attempt, emailId: 'em_1' }) as const;
const redeliver = (at: number) => ({ type: 'redeliver.requested', at }) as const;

/** Every event that a message in any state could get, by name. */
const everyEvent = (attempt: number, at: number): Record<string, ActorEvent> => ({
  succeeded: succeeded(attempt, at),
  failed: failed(attempt, at),
  declined: declined(attempt, at),
  stopped: stopped(attempt, at),
  forwarded: forwarded(attempt, at),
  'forwarded late': forwarded(attempt - 1, at),
  'succeeded late': succeeded(attempt - 1, at),
  'failed early': failed(attempt + 1, at),
  'stopped late': stopped(attempt - 1, at),
  redeliver: redeliver(at),
  lease: { type: 'xstate.after.lease.received.posting', at },
  turn: { type: 'xstate.after.turn.received.stored', at },
  backoff: { type: 'xstate.after.backoff.received.retrying', at },
  unknown: { type: 'email.sent', at },
});

/** The events that each state takes; all others are refused. */
const taken = {
  arrived: [],
  stored: ['redeliver', 'turn'],
  posting: ['succeeded', 'failed', 'declined', 'stopped', 'forwarded', 'lease'],
  retrying: ['redeliver', 'backoff'],
  posted: ['redeliver'],
  forwarded: ['redeliver'],
  kept: ['redeliver'],
  failed: ['redeliver'],
} as const satisfies Record<StateValueFrom<typeof receivedMachine>, readonly string[]>;

const paths = [input, kept].flatMap((of) =>
  getShortestPaths(receivedMachine, {
    input: of,
    events: ({ context }) => Object.values(everyEvent(context.attempt, context.at + 1)) as ReceivedEvent[],
    // Attempts and moments only ever grow; without them the graph is finite.
    serializeState: ({ value, context: { retryCount, stoppedBy, attemptedAt } }) =>
      JSON.stringify([value, retryCount, stoppedBy, attemptedAt !== null]),
  }).map(({ steps }) => ({ steps, of })),
);

/** A message that has come along one of the paths, stored and loaded again at each step. */
function along({ steps, of }: (typeof paths)[number]) {
  const message = newMessage(of);
  for (const { event } of steps) {
    if ((event.type as string) === 'xstate.init') continue;
    message.restore();
    expect(message.tell(event)).toBe(true);
  }
  return message;
}

describe('every path of the machine of received messages', () => {
  test('reaches every stored state, and takes there what it takes and nothing else', () => {
    const reached = new Set<string>();
    for (const path of paths) {
      const { state, context } = along(path);
      reached.add(state);
      for (const [name, event] of Object.entries(everyEvent(context.attempt, context.at + 1)))
        expect([state, name, along(path).tell(event)]).toEqual([
          state,
          name,
          (taken[state as keyof typeof taken] as readonly string[]).includes(name),
        ]);
    }
    expect([...reached].sort()).toEqual(
      Object.keys(taken)
        .filter((state) => state !== 'arrived')
        .sort(),
    );
  });

  test('waits for an outcome, a retry or nothing', () => {
    for (const path of paths) {
      const { state, context, delays } = along(path);
      expect(Object.keys(delays)).toEqual(
        { stored: ['turn'], posting: ['lease'], retrying: ['backoff'] }[state] ?? [],
      );
      if (context.stoppedBy !== null) expect(state).toBe('failed');
    }
  });
});

test('a message of a route that keeps is not posted', () => {
  const message = newMessage(kept);
  expect([message.state, message.effects, message.delays]).toEqual(['kept', [], {}]);
});

test('a post that fails is repeated with the waits of webhooks, then given up', () => {
  const message = newMessage();
  let at = input.at;
  for (const wait of BACKOFF_MS) {
    expect(message.state).toBe('posting');
    at += 100;
    message.tell(failed(message.context.attempt, at));
    expect([message.state, message.delays]).toEqual(['retrying', { backoff: at + wait }]);
    at += wait;
    expect(message.wake(at)).toBe(1);
  }
  message.tell(failed(message.context.attempt, at + 1));
  expect([message.state, message.context.attempt]).toEqual(['failed', 6]);
});

test('a redelivery begins all retries again under a new attempt', () => {
  const message = newMessage();
  message.tell(stopped(1, input.at + 1));
  expect([message.state, message.context.stoppedBy]).toEqual(['failed', 'route_deleted']);
  message.tell(redeliver(input.at + 2));
  expect(message.context).toMatchObject({ attempt: 2, retryCount: 0, stoppedBy: null });
  expect(message.effects).toEqual([{ type: 'post', params: { attempt: 2 } }]);
});

test('an attempt that was not begun keeps its number for the next one', () => {
  const message = newMessage();
  message.tell(declined(1, input.at + 1));
  expect([message.state, message.context.attempt]).toEqual(['stored', 0]);
  expect(message.wake(input.at + 1)).toBe(1);
  expect([message.state, message.context.attempt]).toEqual(['posting', 1]);
});
