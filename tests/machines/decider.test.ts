import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { EmailContext, EmailInput } from '../../machines/email/context.ts';
import { emailMachine } from '../../machines/email/machine.ts';
import { Decider, type Decision, DecisionError, earliest } from '../../src/engine/machine/decide.ts';
import { type ActorEvent, type Snapshot, stateOf } from '../../src/engine/machine/kind.ts';
import {
  type ActorHistory,
  BEGINNINGS,
  BORN,
  everyEvent,
  shortestLives,
  simpleLives,
} from '../support/engine-email-model.ts';
import { type Comparable, comparable } from '../support/official-decider.ts';

const decider = new Decider(emailMachine);

const lives = Object.values(BEGINNINGS).flatMap((input: EmailInput) => [
  ...shortestLives(input),
  ...simpleLives(input),
]);

/** A life of events picked by chance among all that could be told at each moment. */
const anyLife = fc
  .tuple(fc.constantFrom(...Object.values<EmailInput>(BEGINNINGS)), fc.array(fc.nat(), { maxLength: 12 }))
  .map(([input, picks]): ActorHistory => {
    const events: ActorEvent[] = [];
    let now = decider.begin(input, input.at);
    for (const pick of picks) {
      const possible = everyEvent(now.snapshot.context as EmailContext);
      const { event } = possible[pick % possible.length] as (typeof possible)[number];
      events.push(event);
      now = decider.next(now, event) ?? now;
    }
    return { input, events };
  });

/** As a row keeps it. */
const stored = ({ snapshot }: Decision): Snapshot =>
  decider.restore(stateOf(snapshot), JSON.parse(JSON.stringify(snapshot.context)));

function lastOf({ input, events }: ActorHistory): Decision {
  return events.reduce<Decision>(
    (now, event) => decider.next(now, event) ?? now,
    decider.begin(input, input.at),
  );
}

describe('a snapshot restored from the database', () => {
  const decide = (from: Decision, snapshot: Snapshot, event: ActorEvent): Comparable | null => {
    const next = decider.next({ snapshot, timers: from.timers }, event);
    return next && comparable(next);
  };

  test('decides every event as the one it was made of, in every condition', () => {
    let asked = 0;
    for (const life of lives) {
      const before = lastOf(life);
      const restored = stored(before);
      expect(restored.status).toBe(before.snapshot.status);
      for (const { event } of everyEvent(before.snapshot.context as EmailContext)) {
        expect(decide(before, restored, event)).toEqual(decide(before, before.snapshot, event));
        asked++;
      }
    }
    expect(asked).toBeGreaterThan(5_000);
  });

  test('stored again after every event, leads any life to the same end', () => {
    fc.assert(
      fc.property(anyLife, ({ input, events }) => {
        let kept = decider.begin(input, input.at);
        let reloaded = kept;
        for (const event of events) {
          kept = decider.next(kept, event) ?? kept;
          const timers = JSON.parse(JSON.stringify(reloaded.timers)) as Record<string, number>;
          reloaded = decider.next({ snapshot: stored(reloaded), timers }, event) ?? reloaded;
        }
        expect(comparable(reloaded)).toEqual(comparable(kept));
      }),
      { numRuns: 300 },
    );
  });
});

describe('the decider on refusals and errors', () => {
  test('a finished actor takes nothing at all', () => {
    const finished = lives.map(lastOf).filter(({ snapshot }) => snapshot.status === 'done');
    expect(new Set(finished.map(({ snapshot }) => stateOf(snapshot)))).toEqual(
      new Set(['failed', 'cancelled']),
    );
    for (const end of finished)
      for (const { event } of everyEvent(end.snapshot.context as EmailContext)) {
        expect(decider.next(end, event)).toBeNull();
        expect(decider.next({ snapshot: stored(end), timers: {} }, event)).toBeNull();
      }
  });

  test('a machine that throws is an error, not a state', () => {
    expect(() => decider.begin(undefined, BORN)).toThrow(DecisionError);
  });

  test('a guard that throws fails its event and no other', () => {
    const sending = decider.begin(BEGINNINGS['a test email'], BORN);
    expect(() => decider.next(sending, { type: 'report.received', at: BORN })).toThrow(DecisionError);
    const outcomes = [{ recipient: 0, outcome: 'accepted', data: {} }];
    const completed = { type: 'attempt.completed', at: BORN + 1, attempt: 1, outcomes } as ActorEvent;
    expect(stateOf((decider.next(sending, completed) as Decision).snapshot)).toBe('sent');
  });

  test('the earliest of several timers', () => {
    expect(earliest({ a: 3, b: 1, c: 2 })).toBe(1);
    expect(earliest({})).toBeNull();
  });
});
