import type { AnyStateMachine } from 'xstate';
import {
  type Arrow,
  endedAmidst,
  finalState,
  type Guard,
  guarded,
  remembered,
  STAYING,
  standsAt,
} from './arrows.ts';
import { type FlowDefinition, type FlowStep, stepBehind, WAITS, waysOf } from './definition.ts';
import { EXAMPLE_FLOW } from './example.ts';
import {
  arriving,
  beginning,
  ending,
  holding,
  logged,
  ordered,
  postponing,
  runSetup,
  waitingOut,
} from './setup.ts';

/** Stored with every row; raise it with a migration of stored snapshots when a stored shape changes. */
export const FLOW_RUN_VERSION = 1;

/** States that every run has besides the steps of its flow; no step may be called so. */
export const COMMON_STATES = [
  'begun',
  'postponed',
  'held',
  'completed',
  'exited',
  'failed',
  'cancelled',
] as const;

/**
 * A machine with the events, effects and states of every flow, for code that decides something for each of
 * them.
 */
const shape = () =>
  runSetup.createMachine({
    context: ({ input }) => ({ ...input, ...AT_FIRST }),
    initial: 'begun',
    states: { begun: {}, postponed: {}, held: {}, completed: {}, exited: {}, failed: {}, cancelled: {} },
  });
type RunMachine = ReturnType<typeof shape>;

const AT_FIRST = {
  status: 'running' as const,
  step: null,
  visit: 0,
  since: 0,
  attempt: 0,
  awaits: null,
  until: 0,
  counted: { since: 0, steps: 0 },
  reason: null,
  endedAt: null,
};

/**
 * Builds the machine of a version: a state for each step, and those that all runs have. Nothing but the
 * definition decides what it is, so that every instance and every release runs the same machine for it.
 */
class Compiler {
  constructor(private readonly definition: FlowDefinition) {}

  machine(): RunMachine {
    const { steps, entry } = this.definition;
    const first = steps.find(({ key }) => key === entry) ?? null;
    const states = {
      begun: {
        description: 'Passed through at once; no run is ever stored in it.',
        always: this.#to(first, [], []),
      },
      ...Object.fromEntries(steps.map((step) => [step.key, this.#state(step)])),
      postponed: {
        description: 'The step has to wait: for the end of the quiet hours, or for its next attempt.',
        on: this.#leaving(),
        after: { wait: this.#resuming() },
      },
      held: {
        description: 'The flow is paused and holds its runs: no step runs, no wait ends, and events count.',
        on: {
          ...this.#leaving(),
          'event.came': this.#duringHold(),
          'hold.ended': [...this.#waitedOut(), ...this.#resuming()],
        },
      },
      completed: finalState('completed', 'It has come to an end of the flow.'),
      exited: endedAmidst('exited', 'It has left the flow before its end; a step under way is still logged.'),
      failed: finalState('failed', 'It failed; `reason` says why.'),
      cancelled: endedAmidst('cancelled', 'A client has cancelled it; a step under way is still logged.'),
    };
    return runSetup.createMachine({
      id: 'flowRun',
      context: ({ input }: { readonly input: object }) => ({ ...input, ...AT_FIRST }),
      initial: 'begun',
      states,
    } as never) as unknown as RunMachine;
  }

  #state(step: FlowStep): object {
    if (step.type === 'exit') return this.#exit(step);
    if (step.type === 'waitForEvent') return this.#waitForEvent(step);
    return WAITS.has(step.type) ? this.#delay(step) : this.#acting(step);
  }

  /** A step that lets time pass. */
  #delay({ key, type }: FlowStep): object {
    return {
      description: type === 'delay' ? 'Waits for a while.' : 'Waits for a moment.',
      on: this.#leaving(),
      after: { wait: [STAYING, ...this.#behind(key, 'default', [], [logged('waited')])] },
    };
  }

  /** The first of the event and the end of the wait counts; if both are due, the event. */
  #waitForEvent({ key }: FlowStep): object {
    return {
      description: 'Waits for an event of the contact.',
      on: {
        ...this.#leaving(),
        'event.came': [
          ...(this.#endsBehind(key) ? [remembered(['isAwaited', 'isHeld'])] : []),
          ...this.#behind(key, 'event', ['isAwaited'], [logged('event')]),
        ],
      },
      after: { wait: [STAYING, ...this.#behind(key, 'timeout', [], [logged('timeout')])] },
    };
  }

  /** True when the event that a step waits for ends the run. */
  #endsBehind(key: string): boolean {
    const next = stepBehind(this.definition, key, 'event');
    return next === null || next.type === 'exit';
  }

  /** Events count while the flow holds its runs: they lead on to where runs wait, but to no end. */
  #duringHold(): readonly Arrow[] {
    return this.definition.steps
      .filter(({ type }) => type === 'waitForEvent')
      .flatMap(({ key }) => {
        const guards = [standsAt(key), 'isAwaited'];
        return this.#endsBehind(key)
          ? [remembered(guards)]
          : this.#behind(key, 'event', guards, [logged('event')]);
      });
  }

  /** The arrows out of a wait that ended while the flow held its runs. */
  #waitedOut(): readonly Arrow[] {
    return this.definition.steps
      .filter(({ type }) => WAITS.has(type))
      .flatMap(({ key, type }) => {
        if (type !== 'waitForEvent') return this.#behind(key, 'default', [standsAt(key)], [logged('waited')]);
        const event = this.#endsBehind(key)
          ? this.#behind(key, 'event', [standsAt(key), 'hasCome'], [logged('event')])
          : [];
        return [...event, ...this.#behind(key, 'timeout', [standsAt(key)], [logged('timeout')])];
      });
  }

  /** A step that acts: its order goes out when the run enters it, and again when no report arrives. */
  #acting(step: FlowStep): object {
    const { key } = step;
    const ways = waysOf(step).flatMap((way) =>
      this.#behind(key, way, [{ type: 'ledThere', params: { way } }], [logged()]),
    );
    return {
      description: DESCRIPTIONS[step.type],
      entry: [beginning, ordered],
      on: {
        ...this.#leaving(),
        'step.done': ways,
        'step.postponed': { guard: 'visitIsTheLatest', target: 'postponed', actions: [postponing] },
        'step.held': { guard: 'visitIsTheLatest', target: 'held', actions: [holding] },
        'step.failed': {
          guard: 'visitIsTheLatest',
          target: 'failed',
          actions: [logged('failed'), ending('failed')],
        },
      },
      after: { lease: { target: key, reenter: true } },
    };
  }

  /** Passed through at once. */
  #exit({ key, config }: FlowStep & { readonly type: 'exit' }): object {
    const reason = config.reason ?? key;
    return {
      description: 'Leaves the flow. Passed through at once.',
      always: { target: 'exited', actions: [logged('exited'), ending('exited', reason)] },
    };
  }

  /** The events that a run takes in every state. */
  #leaving(): object {
    return {
      'exit.requested': { target: 'exited', actions: [ending('exited')] },
      'cancel.requested': { target: 'cancelled', actions: [ending('cancelled')] },
    };
  }

  #behind(
    from: string,
    when: string,
    guards: readonly Guard[],
    actions: readonly unknown[],
  ): readonly Arrow[] {
    return this.#to(stepBehind(this.definition, from, when), guards, actions);
  }

  /**
   * The arrows to a step: a run that goes round in a circle fails, and what would be sent in the quiet hours
   * waits.
   */
  #to(step: FlowStep | null, guards: readonly Guard[], actions: readonly unknown[]): readonly Arrow[] {
    if (!step)
      return [{ ...guarded(guards), target: 'completed', actions: [...actions, ending('completed')] }];
    const { quietHours } = this.definition;
    const arrived = [...actions, arriving(step)];
    return [
      {
        ...guarded([...guards, 'runsAway']),
        target: 'failed',
        actions: [...actions, ending('failed', 'runaway')],
      },
      ...(step.type === 'sendEmail' && quietHours
        ? [
            {
              ...guarded([...guards, { type: 'isQuiet', params: quietHours }]),
              target: 'postponed',
              actions: [...arrived, waitingOut(quietHours)],
            },
          ]
        : []),
      // A step that leads to itself is entered again: its timer is that of the new visit.
      { ...guarded(guards), target: step.key, reenter: true, actions: arrived },
    ];
  }

  /** Leads back to the present step of the run, unless the quiet hours have begun meanwhile. */
  #resuming(): readonly Arrow[] {
    const { steps, quietHours } = this.definition;
    return steps
      .filter(({ type }) => !WAITS.has(type) && type !== 'exit')
      .flatMap(({ key, type }) => {
        const back: Arrow = { guard: standsAt(key), target: key };
        if (type !== 'sendEmail' || !quietHours) return [back];
        return [
          {
            ...guarded([standsAt(key), { type: 'isQuiet', params: quietHours }]),
            target: 'postponed',
            reenter: true,
            actions: [waitingOut(quietHours)],
          },
          back,
        ];
      });
  }
}

const DESCRIPTIONS: Readonly<Partial<Record<FlowStep['type'], string>>> = {
  sendEmail: 'An email is being sent to the contact.',
  condition: 'A filter is being evaluated for the contact.',
  branch: 'Filters are being evaluated for the contact, in order.',
  updateContact: 'The contact is being changed.',
  addToAudience: 'The contact is being added to an audience.',
  removeFromAudience: 'The contact is being removed from an audience.',
  webhook: 'A request is being posted.',
};

/** The machine of a version of a flow. Its `begun`, and its steps of the type exit, are left at once. */
export const compileFlow = (definition: FlowDefinition): AnyStateMachine =>
  new Compiler(definition).machine();

/**
 * The machine of a flow that has every type of step: it is drawn, and says which events and effects runs
 * have.
 */
export const flowRunMachine = new Compiler(EXAMPLE_FLOW).machine();

/** The states that a run of that flow is stored in. */
export const FLOW_RUN_STATES: readonly string[] = Object.keys(flowRunMachine.states).filter(
  (state) => state !== 'begun' && state !== 'leave',
);
