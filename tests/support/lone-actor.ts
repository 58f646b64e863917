import type { AnyStateMachine } from 'xstate';
import { Decider, type Decision } from '../../src/engine/machine/decide.ts';
import { dueTimers } from '../../src/engine/machine/draft.ts';
import { type ActorEvent, type Effect, stateOf } from '../../src/engine/machine/kind.ts';

/** As the engine has them: one for all actors of a machine. */
const deciders = new WeakMap<AnyStateMachine, Decider>();

/** One actor of a machine, moved by the engine's own decider, with no engine around it. */
export class LoneActor<Context> {
  readonly #decider: Decider;
  #now: Decision;

  constructor(machine: AnyStateMachine, input: unknown, at: number) {
    this.#decider = deciders.get(machine) ?? new Decider(machine);
    deciders.set(machine, this.#decider);
    this.#now = this.#decider.begin(input, at);
  }

  get state(): string {
    return stateOf(this.#now.snapshot);
  }

  get context(): Context {
    return this.#now.snapshot.context as Context;
  }

  /** The effects of the last accepted event. */
  get effects(): readonly Effect[] {
    return this.#now.effects;
  }

  /** Names of the pending delays, and when each is due (epoch ms). */
  get delays(): Readonly<Record<string, number>> {
    return Object.fromEntries(
      Object.entries(this.#now.timers).map(([id, due]) => [id.split('.')[2] ?? id, due]),
    );
  }

  /** True when the event was taken; one that was refused changes nothing. */
  tell(event: ActorEvent): boolean {
    const next = this.#decider.next(this.#now, event);
    if (next) this.#now = next;
    return next !== null;
  }

  /** Lets the timers that are due at that moment fire; how many were. */
  wake(at: number): number {
    return dueTimers({ timers: this.#now.timers } as Parameters<typeof dueTimers>[0], at).filter((timer) =>
      this.tell(timer),
    ).length;
  }

  /**
   * Stores the actor and loads it again, as the engine does between two events; `stored` is what another
   * version had stored.
   */
  restore(stored: unknown = this.context): void {
    const context: unknown = JSON.parse(JSON.stringify(stored));
    this.#now = { ...this.#now, snapshot: this.#decider.restore(this.state, context) };
  }
}
