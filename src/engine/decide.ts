import { type AnyMachineSnapshot, type AnyStateMachine, createActor } from 'xstate';
import { type Actor, type ActorEvent, type Effect, stateOf } from './kind.ts';

/** One transition taken: what the journal and the inspector tell of it. */
export interface Step {
  /** The event's type; of a timer `after.` and the name of its delay. */
  readonly event: string;
  /** null: the actor was spawned. */
  readonly from: string | null;
  readonly to: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Number of the attempt under way, where the kind has attempts. */
  readonly attempt: number | null;
  /** Names of the effects. */
  readonly effects: readonly string[];
}

/** `xstate.after.lease.email.sending` → `after.lease` */
const eventName = (type: string): string => {
  const [, after, delay] = type.split('.');
  return type.startsWith('xstate.after.') ? `${after}.${delay}` : type;
};

/** What a machine decided; nothing has happened yet. */
export interface Decision {
  readonly snapshot: AnyMachineSnapshot;
  readonly timers: Readonly<Record<string, number>>;
  readonly effects: readonly Effect[];
  readonly step: Step;
}

/** The machine ended in XState's error status: a bug in a guard, an action or the context factory. */
export class DecisionError extends Error {
  override readonly name = 'DecisionError';
}

interface RawAction {
  readonly type: string;
  /** Null: the machine found that this effect has nothing to do, so there is none. */
  readonly params?: { readonly id?: string; readonly sendId?: string; readonly delay?: number } | null;
}

/** The scope XState passes around while it computes a transition; only the recording executor is ours. */
interface Scope {
  actionExecutor: (action: RawAction) => void;
}

/**
 * Decides for one machine: pure, synchronous, the only caller of XState's transition.
 *
 * `transition()` builds a throw-away actor at every call (13.9 µs); one scope used again takes 3.7 µs. The
 * equivalence of both is held by tests/machines/decider.test.ts.
 */
export class Decider {
  readonly #scope: Scope & Record<string, unknown>;

  constructor(
    private readonly machine: AnyStateMachine,
    sampleInput: unknown,
  ) {
    const self = createActor(machine, { input: sampleInput as never });
    const ignore = (): void => {};
    this.#scope = {
      self,
      system: self.system,
      id: '',
      sessionId: '',
      logger: ignore,
      defer: ignore,
      stopChild: ignore,
      emit: ignore,
      actionExecutor: ignore,
    };
  }

  /** A new actor's first decision. @throws DecisionError */
  begin(input: unknown, at: number): Decision {
    const actions: RawAction[] = [];
    this.#scope.actionExecutor = (action) => actions.push(action);
    const snapshot = this.machine.getInitialSnapshot(
      this.#scope as never,
      input as never,
    ) as AnyMachineSnapshot;
    return this.#decision(snapshot, actions, {}, { event: 'spawned', from: null, at });
  }

  /** Rebuilds a snapshot from the two columns that are stored of it. */
  restore(state: string, context: unknown): AnyMachineSnapshot {
    return this.machine.resolveState({ value: state, context } as never) as AnyMachineSnapshot;
  }

  /**
   * One event. null when the actor refuses it: it has finished, or no transition of its state takes the event.
   * @throws DecisionError
   */
  next(actor: Pick<Actor, 'snapshot' | 'timers'>, event: ActorEvent): Decision | null {
    const before = actor.snapshot;
    // XState lets a finished machine take root-level transitions all the same.
    if (before.status !== 'active') return null;
    const actions: RawAction[] = [];
    this.#scope.actionExecutor = (action) => actions.push(action);
    const snapshot = this.machine.transition(
      before,
      event as never,
      this.#scope as never,
    ) as AnyMachineSnapshot;
    // XState drops what no state accepts and hands the same snapshot back.
    if (snapshot === before) return null;
    return this.#decision(snapshot, actions, actor.timers, {
      event: eventName(event.type),
      from: stateOf(before),
      at: event.at,
    });
  }

  #decision(
    snapshot: AnyMachineSnapshot,
    actions: readonly RawAction[],
    timersBefore: Readonly<Record<string, number>>,
    cause: Pick<Step, 'event' | 'from' | 'at'>,
  ): Decision {
    if (snapshot.status === 'error')
      throw new DecisionError(`${this.machine.id}: ${String(snapshot.error)} on ${cause.event}`);
    const timers: Record<string, number> = { ...timersBefore };
    const effects: Effect[] = [];
    for (const { type, params } of actions) {
      if (type === 'xstate.cancel') {
        if (params?.sendId !== undefined) delete timers[params.sendId];
      } else if (type === 'xstate.raise') {
        // Without a numeric delay the event was consumed inside the step already.
        if (typeof params?.delay === 'number' && params.id !== undefined)
          timers[params.id] = cause.at + params.delay;
      } else if (params !== null) effects.push({ type, params });
    }
    const { attempt = null } = snapshot.context as { readonly attempt?: number };
    const step = { ...cause, to: stateOf(snapshot), attempt, effects: effects.map(({ type }) => type) };
    return { snapshot, timers: snapshot.status === 'active' ? timers : {}, effects, step };
  }
}

/** The earliest pending timer (epoch ms); null when none is. */
export function earliest(timers: Readonly<Record<string, number>>): number | null {
  let least: number | null = null;
  for (const id in timers) {
    const at = timers[id] as number;
    if (least === null || at < least) least = at;
  }
  return least;
}
