import { expect, test } from 'bun:test';
import type { FlowRunContext } from '../../machines/flow-run/context.ts';
import type { FlowDefinition, FlowStep } from '../../machines/flow-run/definition.ts';
import { compileFlow } from '../../machines/flow-run/machine.ts';
import { Decider } from '../../src/engine/machine/decide.ts';
import { STEP_OF } from '../support/generated-flows.ts';
import { ComparedActor } from '../support/official-decider.ts';

// Waits that end, and events that come, while a flow holds its runs.

const HOUR = 3_600_000;
const AT = Date.parse('2026-11-22T12:00:00.000Z');
const INPUT = {
  at: AT,
  leaseMs: 60_000,
  contactId: 'con_1',
  timeZone: 'UTC',
  occurrence: null,
  seen: '0',
  depth: 0,
};

function runOf(steps: readonly FlowStep[], edges: readonly (readonly [string, string, string])[]) {
  const flow: FlowDefinition = {
    trigger: { type: 'manual' },
    entry: steps[0]?.key ?? null,
    reentry: 'never',
    exitWhen: null,
    quietHours: null,
    steps,
    edges: edges.map(([from, when, to]) => ({ from, when, to })),
  };
  const machine = compileFlow(flow);
  const actor = new ComparedActor(new Decider(machine), machine, INPUT, AT);
  const standing = () => {
    const { now } = actor;
    if (!now) throw new Error('The run is at no step.');
    const { step, status, awaits } = now.context as FlowRunContext;
    const log = now.effects.flatMap(({ type, params }) => (type === 'log' ? [params] : []));
    return { state: now.state, step, status, awaits, timers: Object.values(now.timers), log };
  };
  return {
    standing,
    fallDue(at: number, isHeld = true) {
      const [type = ''] = Object.keys(actor.now?.timers ?? {});
      expect(actor.tell({ type, at, ...(isHeld && { isHeld }) })).toBe(true);
    },
    come: (at: number, position: string, isHeld = true) =>
      actor.tell({ type: 'event.came', at, name: 'paid', position, isHeld } as never),
    goOn: (at: number) => expect(actor.tell({ type: 'hold.ended', at })).toBe(true),
  };
}

const HELD = { state: 'held', status: 'waiting', timers: [], log: [] };

test.each([
  ['delay', 'waited', 'default'],
  ['delayUntil', 'waited', 'default'],
  ['waitForEvent', 'timeout', 'timeout'],
] as const)('a %s that runs out while it is held leads on when the flow does', (type, outcome, way) => {
  const run = runOf([STEP_OF[type]('it'), STEP_OF.delay('next')], [['it', way, 'next']]);
  run.fallDue(AT + 30 * HOUR);
  expect(run.standing()).toMatchObject({ ...HELD, step: 'it' });
  run.goOn(AT + 40 * HOUR);
  expect(run.standing()).toMatchObject({
    state: 'next',
    status: 'waiting',
    timers: [AT + 64 * HOUR],
    log: [{ step: 'it', at: AT + 40 * HOUR, outcome }],
  });
  run.fallDue(AT + 64 * HOUR, false);
  expect(run.standing()).toMatchObject({ state: 'completed', status: 'completed' });
});

test('an event that comes behind the end of the waiting counts, as long as the flow is held', () => {
  const run = runOf(
    [STEP_OF.waitForEvent('it'), STEP_OF.delay('next')],
    [
      ['it', 'event', 'next'],
      ['it', 'timeout', 'it'],
    ],
  );
  run.fallDue(AT + 2 * HOUR);
  expect(run.standing()).toMatchObject({ ...HELD, awaits: 'paid' });
  expect(run.come(AT + 3 * HOUR, '0')).toBe(false);
  expect(run.come(AT + 3 * HOUR, '1')).toBe(true);
  expect(run.standing()).toMatchObject({ state: 'next', log: [{ at: AT + 3 * HOUR, outcome: 'event' }] });
});

test('events lead from one waiting to the next, and end no run before the flow goes on', () => {
  const run = runOf(
    [STEP_OF.waitForEvent('one'), STEP_OF.waitForEvent('two'), STEP_OF.exit('leave')],
    [
      ['one', 'event', 'two'],
      ['two', 'event', 'leave'],
    ],
  );
  expect(run.come(AT + 1, '1')).toBe(true);
  expect(run.standing()).toMatchObject({ state: 'two', awaits: 'paid' });
  expect(run.come(AT + 2, '2')).toBe(true);
  expect(run.standing()).toMatchObject({ ...HELD, step: 'two', awaits: null });
  // It waits for nothing more.
  expect(run.come(AT + 3, '3')).toBe(false);
  run.goOn(AT + HOUR);
  expect(run.standing()).toMatchObject({
    state: 'exited',
    status: 'exited',
    log: [
      { step: 'two', at: AT + HOUR, outcome: 'event' },
      { step: 'leave', outcome: 'exited' },
    ],
  });
});

test.each([true, false])('an event behind the waiting ends no held run either: %p', (isHeld) => {
  const run = runOf([STEP_OF.waitForEvent('it')], []);
  run.fallDue(AT + 2 * HOUR);
  expect(run.come(AT + 3 * HOUR, '1', isHeld)).toBe(true);
  expect(run.standing()).toMatchObject({ ...HELD, step: 'it', awaits: null });
  run.goOn(AT + 4 * HOUR);
  expect(run.standing()).toMatchObject({ state: 'completed', log: [{ outcome: 'event' }] });
});
