import { describe, expect, test } from 'bun:test';
import type { FlowRunContext } from '../../machines/flow-run/context.ts';
import type { FlowDefinition, FlowStep } from '../../machines/flow-run/definition.ts';
import { compileFlow } from '../../machines/flow-run/machine.ts';
import { graphProblems } from '../../src/automation/flows/definition/graph.ts';
import { Decider } from '../../src/engine/machine/decide.ts';
import { STEP_OF } from '../support/generated-flows.ts';
import { ComparedActor } from '../support/official-decider.ts';

// Steps that lead to themselves. Both deciders are asked: the compiled one, and XState's own.

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
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

const flowOf = (
  steps: readonly FlowStep[],
  edges: readonly (readonly [from: string, when: string, to: string])[],
  quietHours: FlowDefinition['quietHours'] = null,
): FlowDefinition => ({
  trigger: { type: 'manual' },
  entry: steps[0]?.key ?? null,
  reentry: 'never',
  exitWhen: null,
  quietHours,
  steps,
  edges: edges.map(([from, when, to]) => ({ from, when, to })),
});

/** A run that both deciders decide, and what is due of it. */
function runOf(flow: FlowDefinition) {
  const machine = compileFlow(flow);
  const actor = new ComparedActor(new Decider(machine), machine, INPUT, AT);
  const standing = () => {
    const { now } = actor;
    if (!now) throw new Error('The run is at no step.');
    const { visit, status } = now.context as FlowRunContext;
    return { state: now.state, visit, status, due: Object.values(now.timers) };
  };
  const wake = () => {
    const [[type, at] = ['', 0]] = Object.entries(actor.now?.timers ?? {});
    expect(actor.tell({ type, at })).toBe(true);
  };
  return { actor, standing, wake };
}

describe('a step that leads to itself', () => {
  test.each([
    ['delay', 'default', [DAY, 2 * DAY, 3 * DAY, 4 * DAY]],
    ['delayUntil', 'default', [21 * HOUR, 45 * HOUR, 69 * HOUR, 93 * HOUR]],
    ['waitForEvent', 'timeout', [2 * HOUR, 4 * HOUR, 6 * HOUR, 8 * HOUR]],
  ] as const)('of the type %s waits again each time', (type, way, dues) => {
    const flow = flowOf([STEP_OF[type]('it')], [['it', way, 'it']]);
    expect(graphProblems(flow)).toEqual([]);
    const { standing, wake } = runOf(flow);
    for (const [index, due] of dues.entries()) {
      expect(standing()).toEqual({ state: 'it', visit: index + 1, status: 'waiting', due: [AT + due] });
      wake();
    }
  });

  test('by an event waits for the whole time again', () => {
    const flow = flowOf(
      [STEP_OF.waitForEvent('it')],
      [
        ['it', 'event', 'it'],
        ['it', 'timeout', 'it'],
      ],
    );
    const { actor, standing, wake } = runOf(flow);
    const came = (at: number, position: string) => ({ type: 'event.came', at, name: 'paid', position });
    expect(actor.tell(came(AT + HOUR, '1'))).toBe(true);
    expect(standing()).toMatchObject({ visit: 2, due: [AT + 3 * HOUR] });
    expect(actor.tell(came(AT + 2 * HOUR, '2'))).toBe(true);
    expect(standing()).toMatchObject({ visit: 3, due: [AT + 4 * HOUR] });
    wake();
    expect(standing()).toMatchObject({ visit: 4, due: [AT + 6 * HOUR] });
  });

  test('and two that lead to one another, wait in turn', () => {
    const flow = flowOf(
      [STEP_OF.delay('a'), STEP_OF.waitForEvent('b')],
      [
        ['a', 'default', 'b'],
        ['b', 'timeout', 'a'],
      ],
    );
    const { standing, wake } = runOf(flow);
    for (const [state, due] of [
      ['a', DAY],
      ['b', DAY + 2 * HOUR],
      ['a', 2 * DAY + 2 * HOUR],
      ['b', 2 * DAY + 4 * HOUR],
    ] as const) {
      expect(standing()).toMatchObject({ state, due: [AT + due] });
      wake();
    }
  });
});

test('a step that was put off into the quiet hours is tried when they end', () => {
  const quietHours = { from: '22:00', to: '07:00', timeZone: 'UTC' };
  const { actor, standing, wake } = runOf(flowOf([STEP_OF.sendEmail('send')], [], quietHours));
  const until = AT + 10.5 * HOUR;
  expect(actor.tell({ type: 'step.postponed', at: AT, visit: 1, until } as never)).toBe(true);
  wake();
  expect(standing()).toMatchObject({ state: 'postponed', status: 'waiting', due: [AT + 19 * HOUR] });
  wake();
  expect(standing()).toMatchObject({ state: 'send', status: 'running', visit: 1 });
});
