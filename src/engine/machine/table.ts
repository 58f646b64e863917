import type { Effect } from './kind.ts';

/** The arguments of a machine's functions: the actor's context, and the event that moves it. */
export interface TransitionArguments {
  readonly context: unknown;
  readonly event: { readonly type: string };
}

/** One decision while it is being made. */
export interface Work {
  given: TransitionArguments;
  /** True when an assignment has run since this was last set to false. */
  assigned: boolean;
  /** True when an arrow was taken that changes something. */
  changed: boolean;
  /** The pending timers by id, each with the moment at which it is due. They belong to this decision, so acts change them. */
  timers: Record<string, number>;
  /** The moment that new timers count from. */
  readonly at: number;
  readonly effects: Effect[];
  /** Events that the machine has raised; it takes them before the decision ends. */
  readonly raised: TransitionArguments['event'][];
}

/** One action of the definition. */
export type Act = (work: Work) => void;
/** One guard of the definition. */
export type Guard = (given: TransitionArguments) => boolean;

/** A transition out of one state. */
export interface Arrow {
  readonly guard: Guard | null;
  /** All that happens when it is taken, in order: leaving, its own actions, entering, and the end of a machine that finishes. */
  readonly acts: readonly Act[];
  /** The state that it leads to, which may be the one it began in. */
  readonly to: string;
  /** False of one that does nothing but keep those behind it from being taken. */
  readonly changes: boolean;
}

/** Arrows that a wildcard takes. */
export interface Wildcard {
  takes(type: string): boolean;
  readonly arrows: readonly Arrow[];
}

/** A state: its arrows in the order in which they are tried. */
export interface StateRow {
  readonly name: string;
  readonly isFinal: boolean;
  /** Taken without an event. */
  readonly always: readonly Arrow[];
  /** The arrows by the event's type; those of wildcards are behind them. */
  readonly on: ReadonlyMap<string, readonly Arrow[]>;
  /** For the types that `on` does not list. */
  readonly wildcards: readonly Wildcard[];
}

/** A machine as a table of its functions. */
export interface MachineTable {
  readonly id: string;
  readonly states: ReadonlyMap<string, StateRow>;
  /** The context of a new actor. */
  contextOf(input: unknown): unknown;
  /** The arrow by which a new actor enters its first state. */
  readonly first: Arrow;
}

/** A definition that asks for more than the engine's machines have. */
export class UnsupportedMachine extends Error {
  override readonly name = 'UnsupportedMachine';
}
