import type { AnyStateMachine } from 'xstate';
import { beginningWith, compile } from './compile.ts';
import type { Actor, ActorEvent, Effect, Snapshot } from './kind.ts';
import {
  arrowFor,
  follow,
  type MachineTable,
  rowOf,
  type StateRow,
  type TransitionArguments,
  type Work,
} from './table.ts';

/** One transition taken, as the journal and the inspector show it. */
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
  readonly effects: readonly string[];
}

/** `xstate.after.lease.email.sending` → `after.lease` */
const eventName = (type: string): string =>
  type.startsWith('xstate.after.') ? type.split('.', 3).slice(1).join('.') : type;

/** The decision of a machine; nothing has happened yet. */
export interface Decision {
  readonly snapshot: Snapshot;
  readonly timers: Readonly<Record<string, number>>;
  readonly effects: readonly Effect[];
  readonly step: Step;
}

/** A guard, an action or the context factory threw: a bug of the machine. */
export class DecisionError extends Error {
  override readonly name = 'DecisionError';
}

/**
 * Decides for one machine: pure, synchronous, the only place where an event moves an actor. The machine is
 * compiled to a table of functions; the definition remains for drawings, views and the walks of tests.
 * tests/machines/equality.test.ts compares the table's decisions with XState's.
 */
export class Decider {
  readonly #table: MachineTable;

  /** @throws UnsupportedMachine */
  constructor(machine: AnyStateMachine) {
    this.#table = compile(machine);
  }

  /** Every state of the machine. */
  get states(): readonly string[] {
    return [...this.#table.states.keys()];
  }

  /** A new actor's first decision. @throws DecisionError */
  begin(input: unknown, at: number): Decision {
    const { contextOf, first } = this.#table;
    try {
      const work = workOn({ context: contextOf(input), event: beginningWith(input) }, {}, at);
      const state = follow(this.#table, rowOf(this.#table, first.to), first, work);
      return decisionOf(state, work, { event: 'spawned', from: null, at });
    } catch (error) {
      throw this.#failed(error, 'spawned');
    }
  }

  /** Rebuilds a snapshot from the two columns that are stored of it. */
  restore(state: string, context: unknown): Snapshot {
    return { value: state, context, status: statusOf(rowOf(this.#table, state)) };
  }

  /**
   * One event. null when the actor refuses it: it has finished, or no transition of its state takes the
   * event.
   * @throws DecisionError
   */
  next({ snapshot, timers }: Pick<Actor, 'snapshot' | 'timers'>, event: ActorEvent): Decision | null {
    if (snapshot.status !== 'active') return null;
    try {
      const from = rowOf(this.#table, snapshot.value);
      const given = { context: snapshot.context, event };
      const arrow = arrowFor(from, given);
      // An event that is refused may still be what an "always" waits for.
      if (!arrow && from.always.length === 0) return null;
      const work = workOn(given, { ...timers }, event.at);
      const state = follow(this.#table, from, arrow, work);
      if (!work.changed) return null;
      return decisionOf(state, work, { event: eventName(event.type), from: from.name, at: event.at });
    } catch (error) {
      throw this.#failed(error, event.type);
    }
  }

  #failed(error: unknown, event: string): DecisionError {
    return new DecisionError(`${this.#table.id}: ${String(error)} on ${event}`, { cause: error });
  }
}

const workOn = (given: TransitionArguments, timers: Record<string, number>, at: number): Work => ({
  given,
  assigned: false,
  changed: false,
  timers,
  at,
  effects: [],
  raised: [],
});

const statusOf = ({ isFinal }: StateRow): Snapshot['status'] => (isFinal ? 'done' : 'active');

function decisionOf(
  row: StateRow,
  { given: { context }, timers, effects }: Work,
  cause: Pick<Step, 'event' | 'from' | 'at'>,
): Decision {
  const { attempt = null } = context as { readonly attempt?: number };
  const step = { ...cause, to: row.name, attempt, effects: effects.map(({ type }) => type) };
  const snapshot = { value: row.name, context, status: statusOf(row) };
  return { snapshot, timers: row.isFinal ? {} : timers, effects, step };
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
