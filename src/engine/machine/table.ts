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
  /**
   * The pending timers by id, each with the moment at which it is due. They belong to this decision, so acts
   * change them.
   */
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
  /**
   * All that happens when it is taken, in order: leaving, its own actions, entering, and the end of a machine
   * that finishes.
   */
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

/**
 * The most transitions of one decision: a machine that goes round in a circle must not hold up the process.
 */
const MOST_TRANSITIONS = 1_000;

/** A state by its name. @throws Error for a state that the machine does not have */
export function rowOf({ id, states }: MachineTable, state: string): StateRow {
  const row = states.get(state);
  if (!row) throw new Error(`The machine "${id}" has no state "${state}".`);
  return row;
}

/** The arrow that an event takes; null when the state refuses it. */
export function arrowFor({ on, wildcards }: StateRow, given: TransitionArguments): Arrow | null {
  const { type } = given.event;
  const listed = on.get(type);
  if (listed) return firstOpen(listed, given);
  for (const { takes, arrows } of wildcards) {
    const arrow = takes(type) ? firstOpen(arrows, given) : null;
    if (arrow) return arrow;
  }
  return null;
}

function firstOpen(arrows: readonly Arrow[], given: TransitionArguments): Arrow | null {
  for (const arrow of arrows) if (arrow.guard === null || arrow.guard(given)) return arrow;
  return null;
}

/**
 * Takes an arrow, and then every step that needs no event from outside: "always" and raised events, until the
 * machine rests. Returns the state in which it rests.
 */
export function follow(table: MachineTable, from: StateRow, arrow: Arrow | null, work: Work): StateRow {
  let row = arrow ? take(table, arrow, work) : from;
  // As XState has it, "always" is not tried again after one that changed neither the state nor the context.
  let mayPass = true;
  for (let taken = 0; !row.isFinal; taken++) {
    if (taken > MOST_TRANSITIONS) throw new Error('its transitions go round in a circle');
    const before = row;
    const passing: Arrow | null = mayPass ? firstOpen(row.always, work.given) : null;
    const raised = passing ? undefined : work.raised.shift();
    if (!passing && !raised) break;
    if (raised) work.given = { context: work.given.context, event: raised };
    work.assigned = false;
    const next = passing ?? arrowFor(row, work.given);
    if (next) row = take(table, next, work);
    mayPass = !passing || work.assigned || row !== before;
  }
  return row;
}

function take(table: MachineTable, { acts, to, changes }: Arrow, work: Work): StateRow {
  if (changes) work.changed = true;
  for (const act of acts) act(work);
  return rowOf(table, to);
}
