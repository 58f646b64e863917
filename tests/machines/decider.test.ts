import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type AnyMachineSnapshot, type AnyStateMachine, initialTransition, transition } from 'xstate';
import { type ApiKeyInput, apiKeyMachine } from '../../machines/api-key.ts';
import { emailMachine } from '../../machines/email.ts';
import type { EmailContext, EmailInput } from '../../machines/email-context.ts';
import { Decider, type Decision, DecisionError, earliest } from '../../src/engine/decide.ts';
import { type ActorEvent, type Effect, stateOf } from '../../src/engine/kind.ts';
import {
  type ActorHistory,
  BEGINNINGS,
  BORN,
  everyEvent,
  shortestLives,
  simpleLives,
} from '../support/engine-email-model.ts';

interface Action {
  readonly type: string;
  readonly params?: { readonly id?: string; readonly sendId?: string; readonly delay?: number } | null;
}

/** What came of an event, in a form that can be compared. */
interface Comparable {
  readonly state: string;
  readonly context: unknown;
  readonly status: string;
  readonly timers: Readonly<Record<string, number>>;
  readonly effects: readonly Effect[];
}

/** The same as the decider, by XState's documented functions and nothing of ours. */
class Official {
  #snapshot: AnyMachineSnapshot;
  #timers: Record<string, number> = {};
  effects: Effect[] = [];

  constructor(
    private readonly machine: AnyStateMachine,
    input: unknown,
    at: number,
  ) {
    const [snapshot, actions] = initialTransition(machine, input as never);
    this.#snapshot = snapshot as AnyMachineSnapshot;
    this.#carryOut(actions as unknown as Action[], at);
  }

  get now(): Comparable {
    const { status, context } = this.#snapshot;
    return { state: stateOf(this.#snapshot), context, status, timers: this.#timers, effects: this.effects };
  }

  /** Whether the event was taken. */
  tell(event: ActorEvent): boolean {
    const takes = this.#snapshot.status === 'active' && this.#snapshot.can(event as never);
    if (!takes) return false;
    const [snapshot, actions] = transition(this.machine, this.#snapshot as never, event as never);
    this.#snapshot = snapshot as AnyMachineSnapshot;
    this.#carryOut(actions as unknown as Action[], event.at);
    return true;
  }

  #carryOut(actions: readonly Action[], at: number): void {
    this.effects = [];
    for (const { type, params } of actions) {
      if (type === 'xstate.cancel') delete this.#timers[params?.sendId as string];
      else if (type === 'xstate.raise') {
        if (params?.delay !== undefined) this.#timers[params.id as string] = at + params.delay;
      } else if (params !== null) this.effects.push({ type, params });
    }
    if (this.#snapshot.status !== 'active') this.#timers = {};
  }
}

const comparable = ({ snapshot, timers, effects }: Decision): Comparable => ({
  state: stateOf(snapshot),
  context: snapshot.context,
  status: snapshot.status,
  timers,
  effects: effects.map(({ type, params }) => ({ type, params })),
});

const decider = new Decider(emailMachine, BEGINNINGS['a test email']);

/** Tells both the same and compares everything after each event; answers how many were taken. */
function compare({ input, events }: ActorHistory): number {
  const official = new Official(emailMachine, input, input.at);
  let ours = decider.begin(input, input.at);
  expect(comparable(ours)).toEqual(official.now);
  let taken = 0;
  for (const event of events) {
    const next = decider.next(ours, event);
    expect(next !== null).toBe(official.tell(event));
    if (!next) continue;
    taken++;
    ours = next;
    expect(comparable(ours)).toEqual(official.now);
  }
  return taken;
}

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
const stored = ({ snapshot }: Decision): AnyMachineSnapshot =>
  decider.restore(stateOf(snapshot), JSON.parse(JSON.stringify(snapshot.context)));

describe('the reused scope decides as XState does', () => {
  test('along every path of the email machine', () => {
    const taken = lives.map(compare);
    // Paths consist of events that are taken: none of them may be without effect here.
    expect(taken).toEqual(lives.map(({ events }) => events.length));
    expect(lives.length).toBeGreaterThan(250);
  });

  test('for events in any order, refused ones among them', () => {
    fc.assert(
      fc.property(anyLife, (life) => void compare(life)),
      { numRuns: 300 },
    );
  });

  test('for an API key', () => {
    const input: ApiKeyInput = { at: BORN, permissions: ['emails:read'] };
    const keys = new Decider(apiKeyMachine, input);
    const official = new Official(apiKeyMachine, input, BORN);
    let ours = keys.begin(input, BORN);
    const told: ActorEvent[] = [
      { type: 'permissions.replaced', at: BORN + 1, permissions: ['*'] } as ActorEvent,
      { type: 'cancel.requested', at: BORN + 2 },
      { type: 'revoke.requested', at: BORN + 3 },
      { type: 'revoke.requested', at: BORN + 4 },
    ];
    for (const event of told) {
      const next = keys.next(ours, event);
      expect(next !== null).toBe(official.tell(event));
      ours = next ?? ours;
      expect(comparable(ours)).toEqual(official.now);
    }
    expect(ours.snapshot.status).toBe('done');
  });

  test('one actor leaves nothing behind in the scope for the next', () => {
    const input = BEGINNINGS['a live email to two'];
    const alone = lives.slice(0, 40).map((life) => lastOf(life));
    // The same lives, event by event in turn.
    const together = lives.slice(0, 40).map(({ input }) => decider.begin(input, input.at));
    for (let step = 0; step < 10; step++)
      lives.slice(0, 40).forEach(({ events }, index) => {
        const event = events[step];
        if (event)
          together[index] = decider.next(together[index] as Decision, event) ?? (together[index] as Decision);
      });
    expect(together.map(comparable)).toEqual(alone.map(comparable));
    expect(comparable(decider.begin(input, BORN))).toEqual(
      comparable(new Decider(emailMachine, input).begin(input, BORN)),
    );
  });
});

function lastOf({ input, events }: ActorHistory): Decision {
  return events.reduce<Decision>(
    (now, event) => decider.next(now, event) ?? now,
    decider.begin(input, input.at),
  );
}

describe('a snapshot restored from the database', () => {
  const decide = (from: Decision, snapshot: AnyMachineSnapshot, event: ActorEvent): Comparable | null => {
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

  test('a guard that throws leaves the scope usable', () => {
    const sending = decider.begin(BEGINNINGS['a test email'], BORN);
    expect(() => decider.next(sending, { type: 'report.received', at: BORN })).toThrow();
    const outcomes = [{ recipient: 0, outcome: 'accepted', data: {} }];
    const completed = { type: 'attempt.completed', at: BORN + 1, attempt: 1, outcomes } as ActorEvent;
    expect(stateOf((decider.next(sending, completed) as Decision).snapshot)).toBe('sent');
  });

  test('the earliest of several timers', () => {
    expect(earliest({ a: 3, b: 1, c: 2 })).toBe(1);
    expect(earliest({})).toBeNull();
  });
});
