import { describe, expect, test } from 'bun:test';
import { type AnyStateMachine, createMachine, emit, setup, stateIn } from 'xstate';
import { catalogue, type LifecycleName } from '../../machines/catalogue.ts';
import type { EmailInput } from '../../machines/email/context.ts';
import { emailMachine } from '../../machines/email/machine.ts';
import { waysOf } from '../../machines/flow-run/definition.ts';
import { compileFlow } from '../../machines/flow-run/machine.ts';
import { Decider, DecisionError } from '../../src/engine/machine/decide.ts';
import { UnsupportedMachine } from '../../src/engine/machine/table.ts';
import { randomFrom } from '../../src/ops/torture/random.ts';
import { walk } from '../support/decider-walk.ts';
import { BEGINNINGS, shortestLives, simpleLives } from '../support/engine-email-model.ts';
import { generatedFlows } from '../support/generated-flows.ts';
import { HAPPENINGS, runHappenings } from '../support/lifecycle-events.ts';
import { ComparedActor } from '../support/official-decider.ts';
import { randomMachine } from '../support/random-machine.ts';

/** Every event that a state of the machine has an arrow for. */
const drawn = (machine: AnyStateMachine): string[] =>
  Object.values(machine.states)
    .flatMap(({ key, transitions }) => [...transitions.keys()].map((type) => `${key} ${type}`))
    .sort();

// `bun tests/machines/equality.ts` compares over a million events. Here as many are that each arrow is taken.
describe('compiled machines decide as XState does', () => {
  test.each(Object.keys(catalogue) as LifecycleName[])('over thousands of events of %s', (name) => {
    const { machine } = catalogue[name];
    // A flow of many steps takes longer until every one of them has met everything.
    const perState = name === 'flowRun' ? 4_000 : 2_000;
    const events = Math.max(5_000, perState * Object.keys(machine.states).length);
    const { told, taken, pairs } = walk(machine, HAPPENINGS[name], randomFrom(1), events);
    expect([...pairs].sort()).toEqual(drawn(machine));
    expect(told).toBeGreaterThanOrEqual(5_000);
    expect(taken).toBeGreaterThan(750);
  });

  test('along every path of the email machine', () => {
    const decider = new Decider(emailMachine);
    const lives = Object.values(BEGINNINGS).flatMap((input: EmailInput) => [
      ...shortestLives(input),
      ...simpleLives(input),
    ]);
    expect(lives.length).toBeGreaterThan(250);
    for (const { input, events } of lives) {
      const actor = new ComparedActor(decider, emailMachine, input, input.at);
      // Paths consist of events that are taken: none of them may be without effect here.
      for (const event of events) expect(actor.tell(event)).toBe(true);
    }
  });

  test('over the machines of a hundred flows put together by chance', () => {
    let taken = 0;
    for (const [index, flow] of generatedFlows(100, 3).entries()) {
      const ways = Object.fromEntries(
        flow.steps.flatMap((step) => (waysOf(step).length > 1 ? [[step.key, waysOf(step)]] : [])),
      );
      taken += walk(compileFlow(flow), runHappenings(ways, 'paid'), randomFrom(index), 60).taken;
    }
    expect(taken).toBeGreaterThan(1_500);
  });

  test('over machines put together by chance', () => {
    let taken = 0;
    for (let seed = 0; seed < 200; seed++) {
      const random = randomFrom(seed);
      const { machine, happenings } = randomMachine(random);
      taken += walk(machine, happenings, random, 30).taken;
    }
    expect(taken).toBeGreaterThan(1_500);
  });
});

describe('a machine that goes round in a circle', () => {
  test('is stopped, and fails the event that sent it there', () => {
    const decider = new Decider(
      createMachine({
        id: 'round',
        initial: 'a',
        states: { a: { on: { go: 'b' } }, b: { always: 'c' }, c: { always: 'b' } },
      }),
    );
    const begun = decider.begin({}, 0);
    expect(() => decider.next(begun, { type: 'go', at: 1 })).toThrow(
      new DecisionError('round: Error: its transitions go round in a circle on go'),
    );
  });
});

const idle = { a: {} };
const inState = (a: object): object => ({ id: 'm', initial: 'a', states: { a, b: {} } });

describe('a definition that the engine cannot run is refused with a sentence', () => {
  test.each<[object, string]>([
    [{ type: 'parallel', states: idle }, 'it is parallel'],
    [{}, 'it is atomic'],
    [
      { initial: 'a', states: idle, always: { guard: () => false, target: '.a' } },
      'it has "always" for all states at once',
    ],
    [{ initial: 'a', states: idle, after: { 5: '.a' } }, 'it has "after" for all states at once'],
    [{ initial: 'a', states: idle, invoke: { src: 'x' } }, 'it invokes an actor'],
    [{ initial: 'a', states: idle, output: 1 }, 'it has an output'],
    [{ initial: 'a', states: idle, onDone: {} }, 'it has "onDone"'],
    [
      { initial: 'a', states: idle, on: { go: { target: '.a', reenter: true } } },
      'it has a transition of all states at once that re-enters the machine',
    ],
    [inState({ initial: 'x', states: { x: {} } }), 'its state "a" has nested states'],
    [inState({ type: 'parallel', states: { x: {} } }), 'its state "a" is parallel'],
    [inState({ type: 'history' }), 'its state "a" is a history state'],
    [inState({ invoke: { src: 'x' } }), 'its state "a" invokes an actor'],
    [inState({ type: 'final', output: 1 }), 'its state "a" has an output'],
    [inState({ onDone: 'b' }), 'its state "a" has "onDone"'],
    [inState({ id: 'x', route: {} }), 'its state "a" has a route'],
    [
      inState({ on: { go: ['b'] as never, x: { target: ['a', 'b'] } } }),
      'its state "a" has a transition to something that is not one state of it',
    ],
    [
      inState({ on: { go: '#m' } }),
      'its state "a" has a transition to something that is not one state of it',
    ],
    [inState({ on: { 'a.*.*': 'b' } }), 'its state "a" takes "a.*.*", which has a star before its end'],
    [
      inState({ on: { go: { guard: 'unknown', target: 'b' } } }),
      'its state "a" uses the guard "unknown", which is not implemented',
    ],
    [
      inState({ on: { go: { guard: stateIn('a'), target: 'b' } } }),
      'its state "a" has a guard of XState that is neither and, or nor not',
    ],
    [
      inState({ after: { unknown: 'b' } }),
      'its state "a" waits for the delay "unknown", which is not implemented',
    ],
    [inState({ entry: () => {} }), 'its state "a" has a function as an action, where an effect has a name'],
    [inState({ entry: emit({ type: 'x' }) }), 'its state "a" uses the action xstate.emit'],
  ])('%j: %s', (definition, what) => {
    const machine = createMachine({ id: 'm', ...definition } as never);
    expect(() => new Decider(machine)).toThrow(UnsupportedMachine);
    expect(() => new Decider(machine)).toThrow(
      `The machine "m" cannot be run: ${what}. The engine runs flat machines`,
    );
  });

  test('guards that refer to one another in a circle', () => {
    const machine = setup({ guards: { a: 'b', b: 'a' } as never }).createMachine({
      id: 'm',
      initial: 'x',
      states: { x: { on: { go: { guard: 'a' as never } } } },
    });
    expect(() => new Decider(machine)).toThrow(
      'its state "x" has guards that refer to one another in a circle',
    );
  });
});
