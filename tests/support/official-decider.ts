import { type AnyMachineSnapshot, type AnyStateMachine, createActor } from 'xstate';
import type { Decider, Decision } from '../../src/engine/machine/decide.ts';
import { type ActorEvent, type Effect, stateOf } from '../../src/engine/machine/kind.ts';

interface Action {
  readonly type: string;
  readonly params?: { readonly id?: string; readonly sendId?: string; readonly delay?: number } | null;
}

/** The decision on an event, in a form that can be compared. */
export interface Comparable {
  readonly state: string;
  readonly context: unknown;
  readonly status: string;
  readonly timers: Readonly<Record<string, number>>;
  readonly effects: readonly Effect[];
}

type Act = (action: Action) => void;

/**
 * The values that XState passes around while it works out a transition; only the recording of actions is
 * ours.
 */
interface Scope {
  actionExecutor: Act;
}

/**
 * The same as the engine's decider, by XState itself and nothing of ours: what its `initialTransition` and
 * `transition` do, but with a scope made for the input. Theirs begins an actor without any, and a machine
 * whose delays come from its input then goes round for ever.
 */
export class OfficialDecider {
  readonly #scope: Scope & Record<string, unknown>;
  #snapshot: AnyMachineSnapshot;
  #timers: Record<string, number> = {};
  effects: Effect[] = [];

  /** @throws what the machine throws */
  constructor(
    private readonly machine: AnyStateMachine,
    input: unknown,
    at: number,
  ) {
    this.#scope = scopeOf(machine, input);
    const actions = this.#recorded();
    this.#snapshot = machine.getInitialSnapshot(this.#scope as never, input as never) as AnyMachineSnapshot;
    if (this.#snapshot.status === 'error') throw this.#snapshot.error;
    this.#carryOut(actions, at);
  }

  get now(): Comparable {
    const { status, context, value } = this.#snapshot;
    return { state: value, context, status, timers: this.#timers, effects: this.effects };
  }

  /** True when the event was taken. @throws what the machine throws */
  tell(event: ActorEvent): boolean {
    const before = this.#snapshot;
    // XState lets a finished machine take transitions of all states at once.
    if (before.status !== 'active') return false;
    const actions = this.#recorded();
    const snapshot = this.machine.transition(before, event as never, this.#scope as never);
    // XState hands the same snapshot back for what changes nothing in it.
    if (snapshot === before && actions.length === 0) return false;
    this.#snapshot = snapshot as AnyMachineSnapshot;
    this.#carryOut(actions, event.at);
    return true;
  }

  #recorded(): readonly Action[] {
    const actions: Action[] = [];
    this.#scope.actionExecutor = (action) => actions.push(action);
    return actions;
  }

  #carryOut(actions: readonly Action[], at: number): void {
    this.effects = [];
    const timers = { ...this.#timers };
    for (const { type, params } of actions) {
      if (type === 'xstate.cancel') delete timers[params?.sendId as string];
      else if (type === 'xstate.raise') {
        if (params?.delay === Number.POSITIVE_INFINITY) continue;
        if (typeof params?.delay === 'number') timers[params.id as string] = at + params.delay;
      } else if (params !== null) this.effects.push({ type, params });
    }
    this.#timers = this.#snapshot.status === 'active' ? timers : {};
  }
}

const scopes = new WeakMap<AnyStateMachine, Scope & Record<string, unknown>>();

function scopeOf(machine: AnyStateMachine, input: unknown): Scope & Record<string, unknown> {
  const known = scopes.get(machine);
  if (known) return known;
  const self = createActor(machine, { input: input as never });
  const ignore = (): void => {};
  const functions = {
    logger: ignore,
    defer: ignore,
    stopChild: ignore,
    emit: ignore,
    actionExecutor: ignore,
  };
  const scope = { self, system: self.system, id: '', sessionId: '', ...functions };
  scopes.set(machine, scope);
  return scope;
}

/** The decision of the engine, in the same form. */
export const comparable = ({ snapshot, timers, effects }: Decision): Comparable => ({
  state: stateOf(snapshot),
  context: snapshot.context,
  status: snapshot.status,
  timers,
  effects,
});

/** An actor of both deciders at once, which throws as soon as they differ. */
export class ComparedActor {
  readonly #official: OfficialDecider | null;
  #ours: Decision | null;
  #goesRound = false;

  constructor(
    private readonly decider: Decider,
    machine: AnyStateMachine,
    input: unknown,
    at: number,
  ) {
    this.#official = this.#outcomeOf(() => new OfficialDecider(machine, input, at));
    this.#ours = this.#outcomeOf(() => decider.begin(input, at));
    this.#compare('the beginning', this.#ours !== null, this.#official !== null);
  }

  /**
   * Null where there is nothing to go on from: both threw at the beginning, or the machine goes round in a
   * circle.
   */
  get now(): Comparable | null {
    return this.#ours && !this.#goesRound ? comparable(this.#ours) : null;
  }

  /** True when the event was taken by both; null when both threw, which leaves the actor as it was. */
  tell(event: ActorEvent): boolean | null {
    const [official, ours] = [this.#official, this.#ours];
    if (!official || !ours) return null;
    const theirs = this.#outcomeOf(() => official.tell(event));
    const next = this.#outcomeOf(() => ({ decision: this.decider.next(ours, event) }));
    if (next?.decision) this.#ours = next.decision;
    this.#compare(event, next && next.decision !== null, theirs);
    return theirs;
  }

  #compare(what: unknown, ours: boolean | null, theirs: boolean | null): void {
    if (this.#goesRound) return;
    const here = { taken: ours, ...(this.#ours && comparable(this.#ours)) };
    const there = { taken: theirs, ...this.#official?.now };
    if (!Bun.deepEquals(here, there, true))
      throw new Error(
        `On ${JSON.stringify(what)} the table decided ${JSON.stringify(here)}, XState ${JSON.stringify(there)}.`,
      );
  }

  /** The length at which a circle is stopped is no decision; a separate test fixes ours. */
  #outcomeOf<T>(run: () => T): T | null {
    try {
      return run();
    } catch (error) {
      this.#goesRound ||= /Infinite loop/.test(String(error));
      return null;
    }
  }
}
