import { describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FlowRunContext } from '../../machines/flow-run/context.ts';
import type { FlowDefinition } from '../../machines/flow-run/definition.ts';
import { compileFlow } from '../../machines/flow-run/machine.ts';
import { graphProblems } from '../../src/automation/flows/definition/graph.ts';
import { draw } from '../../src/engine/drawing/moves.ts';
import { Decider } from '../../src/engine/machine/decide.ts';
import { generatedFlows, STEP_OF } from '../support/generated-flows.ts';

// The compiler's output for a definition is stored beside this file: running flows depend on it. Write it
// again with `GOLDEN=write bun test tests/machines/flow-run.test.ts`, and look at the difference.

const GOLDEN = join(import.meta.dir, 'flow-run.golden.txt');

const alone = (step: FlowDefinition['steps'][number]): FlowDefinition => ({
  trigger: { type: 'manual' },
  entry: step.key,
  reentry: 'never',
  exitWhen: null,
  quietHours: { from: '22:00', to: '07:00', timeZone: 'UTC' },
  steps: [step, STEP_OF.delay('after')],
  edges:
    step.type === 'condition'
      ? [{ from: step.key, to: 'after', when: 'met' }]
      : [{ from: step.key, to: 'after', when: step.type === 'waitForEvent' ? 'event' : 'default' }],
});

const textOf = (title: string, definition: FlowDefinition): string => {
  const { moves } = draw(compileFlow(definition));
  const lines = moves.map(({ from, to, cause, guard }) =>
    `${from} -> ${to}: ${cause ?? ''} ${guard ?? ''}`.trim(),
  );
  return [`# ${title}`, ...lines, ''].join('\n');
};

test('every type of step, and twenty whole flows, compile to what they always did', () => {
  const texts = [
    ...Object.entries(STEP_OF).map(([type, make]) => textOf(type, alone(make('it')))),
    ...generatedFlows(20).map((flow, index) => textOf(`flow ${index + 1}`, flow)),
  ];
  const text = texts.join('\n');
  if (process.env.GOLDEN === 'write') writeFileSync(GOLDEN, text);
  expect(text).toBe(readFileSync(GOLDEN, 'utf8'));
});

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
const contextOf = ({ snapshot }: { readonly snapshot: { readonly context: unknown } }) =>
  snapshot.context as FlowRunContext;

describe('a run', () => {
  const loop: FlowDefinition = {
    trigger: { type: 'manual' },
    entry: 'ask',
    reentry: 'never',
    exitWhen: null,
    quietHours: null,
    steps: [STEP_OF.branch('ask'), STEP_OF.waitForEvent('wait')],
    edges: [
      { from: 'ask', to: 'wait', when: 'default' },
      { from: 'wait', to: 'ask', when: 'event' },
    ],
  };

  test('that makes a thousand steps in an hour is failed, and one that takes longer is not', () => {
    for (const [everyMs, end] of [
      [3_000, 'failed'],
      [4_000, 'active'],
    ] as const) {
      const decider = new Decider(compileFlow(loop));
      let run = decider.begin(INPUT, AT);
      for (let step = 1; step <= 1_200 && run.snapshot.status === 'active'; step++) {
        const { visit, awaits, at } = contextOf(run);
        const told =
          awaits === null
            ? { type: 'step.done', at, visit, way: 'default', outcome: 'x', emailId: null, timeZone: 'UTC' }
            : { type: 'event.came', at: AT + step * everyMs, name: 'paid', position: String(step) };
        run = decider.next(run, told) ?? run;
      }
      expect(run.snapshot.status === 'active' ? 'active' : run.snapshot.value).toBe(end);
      expect(contextOf(run).reason).toBe(end === 'failed' ? 'runaway' : null);
    }
  });

  test('takes no outcome of a visit that is over, and no event that it has taken', () => {
    const decider = new Decider(compileFlow(loop));
    const done = (visit: number) => ({
      type: 'step.done',
      at: AT,
      visit,
      way: 'default',
      outcome: 'x',
      emailId: null,
      timeZone: 'UTC',
    });
    const begun = decider.begin({ ...INPUT, seen: '7' }, AT);
    expect(decider.next(begun, done(0))).toBeNull();
    const waiting = decider.next(begun, done(1));
    if (!waiting) throw new Error('It refused its own outcome.');
    const came = (position: string) => ({ type: 'event.came', at: AT, name: 'paid', position });
    expect(decider.next(waiting, came('7'))).toBeNull();
    const again = decider.next(waiting, came('8'));
    expect(again?.snapshot.value).toBe('ask');
    expect(again && decider.next(again, done(1))).toBeNull();
  });

  test('tries a silent step again with the same visit, and holds and goes on where it was', () => {
    const flow = { ...loop, entry: 'send', steps: [STEP_OF.sendEmail('send')], edges: [] };
    const decider = new Decider(compileFlow(flow));
    const begun = decider.begin(INPUT, AT);
    const [timer = '', due = 0] = Object.entries(begun.timers)[0] ?? [];
    const again = decider.next(begun, { type: timer, at: due });
    expect(again?.effects).toEqual([{ type: 'perform', params: { step: 'send', visit: 1, attempt: 2 } }]);
    const held = again && decider.next(again, { type: 'step.held', at: due, visit: 1 } as never);
    expect(held?.snapshot.value).toBe('held');
    expect(held?.timers).toEqual({});
    const on = held && decider.next(held, { type: 'hold.ended', at: due });
    // The step that asked was not tried.
    expect(on?.effects).toEqual([{ type: 'perform', params: { step: 'send', visit: 1, attempt: 2 } }]);
    for (const [isUntried, attempt] of [
      [true, 2],
      [false, 3],
    ] as const) {
      const later = { type: 'step.postponed', at: due, visit: 1, until: due + 5_000, isUntried };
      const postponed = on && decider.next(on, later as never);
      const [wait = '', at = 0] = Object.entries(postponed?.timers ?? {})[0] ?? [];
      expect([postponed?.snapshot.value, at]).toEqual(['postponed', due + 5_000]);
      const tried = postponed && decider.next(postponed, { type: wait, at });
      expect(tried?.effects).toEqual([{ type: 'perform', params: { step: 'send', visit: 1, attempt } }]);
    }
  });

  test.each([
    ['cancelled', { type: 'cancel.requested', at: AT }],
    ['exited', { type: 'exit.requested', at: AT, reason: 'contact_deleted' }],
  ])('that is %s amidst a step logs what the step came to, once, and goes nowhere', (state, end) => {
    const steps = [STEP_OF.sendEmail('send'), STEP_OF.delay('wait')];
    const flow = { ...loop, entry: 'send', steps, edges: [{ from: 'send', to: 'wait', when: 'default' }] };
    const decider = new Decider(compileFlow(flow));
    const outcome = { type: 'step.done', at: AT + 5, way: 'default', outcome: 'sent', emailId: 'em_1' };
    const done = (visit: number) => ({ ...outcome, visit, timeZone: 'UTC' });
    const sending = decider.begin(INPUT, AT);
    const over = decider.next(sending, end);
    expect([over?.snapshot.value, over?.timers]).toEqual([state, {}]);
    if (!over) throw new Error('It refused its end.');
    expect(decider.next(over, done(2))).toBeNull();
    const settled = decider.next(over, done(1));
    const line = { visit: 1, step: 'send', at: AT + 5, outcome: 'sent', emailId: 'em_1' };
    expect(settled?.effects).toEqual([{ type: 'log', params: line }]);
    expect([settled?.snapshot.value, settled?.timers, settled && contextOf(settled).endedAt]).toEqual([
      state,
      {},
      AT,
    ]);
    expect(settled && decider.next(settled, done(1))).toBeNull();
    const failure = decider.next(over, {
      type: 'step.failed',
      at: AT + 5,
      visit: 1,
      reason: 'gone',
    } as never);
    expect(failure?.effects).toMatchObject([{ type: 'log', params: { outcome: 'failed' } }]);
    // A waiting run has no step under way.
    const waiting = decider.next(sending, done(1));
    const left = waiting && decider.next(waiting, end);
    expect(left?.snapshot.value).toBe(state);
    expect(left && decider.next(left, done(2))).toBeNull();
  });

  // As a release stored it: a changed context has to continue from here.
  test('that an earlier release has stored goes on', () => {
    const decider = new Decider(compileFlow(loop));
    const stored = {
      ...INPUT,
      status: 'waiting',
      step: 'wait',
      visit: 2,
      since: AT,
      attempt: 0,
      awaits: 'paid',
      until: AT + 7_200_000,
      counted: { since: AT, steps: 2 },
      reason: null,
      endedAt: null,
    };
    const snapshot = decider.restore('wait', stored);
    const timers = { 'xstate.after.wait.flowRun.wait': AT + 7_200_000 };
    const [event, timeout] = [
      decider.next({ snapshot, timers }, {
        type: 'event.came',
        at: AT + 5,
        name: 'paid',
        position: '9',
      } as never),
      decider.next({ snapshot, timers }, { type: 'xstate.after.wait.flowRun.wait', at: AT + 7_200_000 }),
    ];
    expect([event?.snapshot.value, timeout?.snapshot.value]).toEqual(['ask', 'completed']);
  });
});

describe('the steps of a flow', () => {
  const flow = (
    keys: readonly (readonly [string, keyof typeof STEP_OF])[],
    edges: readonly string[],
  ): FlowDefinition => ({
    trigger: { type: 'manual' },
    reentry: 'never',
    exitWhen: null,
    quietHours: null,
    entry: keys[0]?.[0] ?? null,
    steps: keys.map(([key, type]) => STEP_OF[type](key)),
    edges: edges.map((text) => {
      const [from = '', when = '', to = ''] = text.split(' ');
      return { from, when, to };
    }),
  });

  test.each([
    ['without steps', [], [], ['/steps']],
    ['with an edge from and to nowhere', [['a', 'delay']], ['b default c'], ['/edges/0/from', '/edges/0/to']],
    [
      'with a way that a step has not',
      [
        ['a', 'delay'],
        ['b', 'delay'],
      ],
      ['a met b', 'a default b'],
      ['/edges/0/when'],
    ],
    [
      'with two edges for one case',
      [
        ['a', 'delay'],
        ['b', 'delay'],
      ],
      ['a default b', 'a default a'],
      ['/edges/1'],
    ],
    [
      'with something behind an exit',
      [
        ['a', 'exit'],
        ['b', 'delay'],
      ],
      ['a default b'],
      ['/edges/0/when'],
    ],
    [
      'with half a condition',
      [
        ['a', 'condition'],
        ['b', 'delay'],
      ],
      ['a met b'],
      ['/steps/0'],
    ],
    [
      'with a step that nothing leads to',
      [
        ['a', 'delay'],
        ['b', 'delay'],
      ],
      [],
      ['/steps/1'],
    ],
    [
      'with a loop without a wait',
      [
        ['a', 'sendEmail'],
        ['b', 'webhook'],
      ],
      ['a default b', 'b default a'],
      ['/steps/0'],
    ],
    ['with a step that follows itself', [['a', 'updateContact']], ['a default a'], ['/steps/0']],
    [
      'with a loop in which something waits',
      [
        ['a', 'sendEmail'],
        ['b', 'delay'],
      ],
      ['a default b', 'b default a'],
      [],
    ],
  ] as const)('%s', (_, keys, edges, paths) => {
    expect(graphProblems(flow(keys, edges)).map(({ path }) => path)).toEqual([...paths]);
  });

  test('with a loop whose only wait is a moment that passes once', () => {
    const { steps, ...rest } = flow(
      [
        ['a', 'sendEmail'],
        ['b', 'delay'],
      ],
      ['a default b', 'b default a'],
    );
    const moment = { key: 'b', type: 'delayUntil' as const, config: { at: '2026-11-22T00:00:00Z' } };
    const [first] = steps;
    if (!first) throw new Error('There is a step.');
    expect(graphProblems({ ...rest, steps: [first, moment] }).map(({ path }) => path)).toEqual(['/steps/0']);
  });
});
