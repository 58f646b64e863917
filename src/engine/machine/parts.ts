import { type AnyStateMachine, and, not, or } from 'xstate';
import { type Act, type Guard, type TransitionArguments, UnsupportedMachine, type Work } from './table.ts';

/** The place of a part in a definition, for the sentence that refuses it. */
export interface Place {
  readonly machine: AnyStateMachine;
  /** `the state "sending"` */
  readonly where: string;
}

/** Refuses a definition. */
export function unsupported({ machine, where }: Place, what: string): never {
  throw new UnsupportedMachine(
    `The machine "${machine.id}" cannot be run: ${where} ${what}. The engine runs flat machines: states with entry and exit actions, "on", "after" and "always", guards and named actions, assign, raise and cancel.`,
  );
}

type Params = unknown;
type ComputedValue<Value> = (given: TransitionArguments, params?: Params) => Value;
/** A part as a definition names it: `'isLive'`, `{ type: 'isLive', params }`, or a function. */
type Reference =
  | string
  | ComputedValue<unknown>
  | { readonly type: string; readonly params?: Params | ComputedValue<Params> };

const nameOf = (part: Exclude<Reference, ComputedValue<unknown>>): string =>
  typeof part === 'string' ? part : part.type;

/** The parameters that a definition gives a part: fixed ones, or computed from what the part is given. */
function paramsOf(part: Reference): ComputedValue<Params> {
  const params = typeof part === 'object' ? part.params : undefined;
  return typeof params === 'function' ? (params as ComputedValue<Params>) : () => params;
}

/** XState's `and`, `or` and `not`: functions that carry the guards they combine. */
interface Combination {
  readonly check: unknown;
  readonly guards?: readonly Reference[];
}
const checkOf = (guard: unknown): unknown => (guard as Combination).check;
const [AND, OR, NOT] = [checkOf(and([])), checkOf(or([])), checkOf(not(() => true))];

/** Guards that name one another; none of ours does. */
const DEEPEST = 20;

export function guardOf(guard: Reference | undefined, place: Place, depth = 0): Guard | null {
  if (guard === undefined) return null;
  if (depth > DEEPEST) unsupported(place, 'has guards that refer to one another in a circle');
  const known = place.machine.implementations.guards as Readonly<Record<string, Reference | undefined>>;
  const meant = typeof guard === 'function' ? guard : known[nameOf(guard)];
  if (meant === undefined)
    unsupported(place, `uses the guard "${nameOf(guard as string)}", which is not implemented`);
  if (typeof meant !== 'function') return guardOf(meant, place, depth + 1);
  if ('check' in meant) return combined(meant as Combination, place, depth);
  const params = paramsOf(guard);
  return (given) => Boolean(meant(given, params(given)));
}

function combined({ check, guards = [] }: Combination, place: Place, depth: number): Guard {
  const all = guards.map((guard) => guardOf(guard, place, depth + 1) as Guard);
  if (check === AND) return (given) => all.every((guard) => guard(given));
  if (check === OR) return (given) => all.some((guard) => guard(given));
  if (check === NOT) return (given) => all[0]?.(given) !== true;
  return unsupported(place, 'has a guard of XState that is neither and, or nor not');
}

/** An action of XState's own: a function that carries what it was made of. */
interface OwnAction {
  readonly type: string;
  readonly resolve: unknown;
  readonly assignment?: ComputedValue<object> | Readonly<Record<string, unknown>>;
  readonly event?: TransitionArguments['event'] | ComputedValue<TransitionArguments['event']>;
  readonly id?: string;
  readonly delay?: string | number | ComputedValue<unknown>;
  readonly sendId?: string | ComputedValue<string>;
}

export function actOf(action: Reference, place: Place): Act {
  const known = place.machine.implementations.actions as Readonly<Record<string, unknown>>;
  const meant = typeof action === 'function' ? action : known[nameOf(action)];
  const params = paramsOf(action);
  if (typeof meant === 'function' && 'resolve' in meant)
    return ownAct(meant as unknown as OwnAction, params, place);
  if (typeof action === 'function')
    unsupported(place, 'has a function as an action, where an effect has a name');
  const type = nameOf(action);
  // An effect whose parameters are null has nothing to do, so there is none.
  return ({ given, effects }) => {
    const computed = params(given);
    if (computed !== null) effects.push({ type, params: computed });
  };
}

function ownAct(action: OwnAction, params: ComputedValue<Params>, place: Place): Act {
  if (action.type === 'xstate.assign') return assigning(action, params);
  if (action.type === 'xstate.raise') return raising(action, params, place);
  if (action.type === 'xstate.cancel') return cancelling(action, params);
  return unsupported(place, `uses the action ${action.type}`);
}

function assigning({ assignment = {} }: OwnAction, params: ComputedValue<Params>): Act {
  const update =
    typeof assignment === 'function'
      ? assignment
      : (given: TransitionArguments, of: Params) => memberwise(assignment, given, of);
  return (work) => {
    const { given } = work;
    const context = { ...(given.context as object), ...update(given, params(given)) };
    work.given = { context, event: given.event };
    work.assigned = true;
  };
}

const memberwise = (
  assignment: Readonly<Record<string, unknown>>,
  given: TransitionArguments,
  params: Params,
): object =>
  Object.fromEntries(
    Object.entries(assignment).map(([name, value]) => [
      name,
      typeof value === 'function' ? (value as ComputedValue<unknown>)(given, params) : value,
    ]),
  );

/**
 * A timer of `after` is an event that is raised later; without a delay the machine takes it in the same
 * decision.
 */
function raising({ event, id, delay }: OwnAction, params: ComputedValue<Params>, place: Place): Act {
  const raise = (work: Work): void => {
    const { given } = work;
    work.raised.push(
      (typeof event === 'function' ? event(given, params(given)) : event) as TransitionArguments['event'],
    );
  };
  if (delay === undefined) return raise;
  // Only ids are stored, and the event of a timer that is due is made of them.
  if (id === undefined || typeof event !== 'object' || event.type !== id)
    unsupported(place, 'raises an event later, which only "after" does');
  const wait = delayOf(delay, place);
  return (work) => {
    const ms = wait(work.given, params(work.given));
    if (typeof ms !== 'number') raise(work);
    // A wait without end is none: nothing is stored of it.
    else if (ms !== Number.POSITIVE_INFINITY) work.timers[id] = work.at + ms;
  };
}

function delayOf(delay: Exclude<OwnAction['delay'], undefined>, place: Place): ComputedValue<unknown> {
  if (typeof delay === 'function') return delay;
  if (typeof delay === 'number') return () => delay;
  const known = place.machine.implementations.delays as Readonly<Record<string, unknown>>;
  const meant = known[delay];
  if (typeof meant === 'function') return meant as ComputedValue<unknown>;
  if (typeof meant === 'number') return () => meant;
  return unsupported(place, `waits for the delay "${delay}", which is not implemented`);
}

function cancelling({ sendId = '' }: OwnAction, params: ComputedValue<Params>): Act {
  if (typeof sendId === 'string')
    return (work) => {
      work.timers = without(work.timers, sendId);
    };
  return (work) => {
    const { given, timers } = work;
    work.timers = without(timers, sendId(given, params(given)));
  };
}

/**
 * Copies instead of deleting: `delete` gives the object a hidden class that is slow to read and to copy ever
 * after.
 */
function without(timers: Work['timers'], id: string): Work['timers'] {
  if (timers[id] === undefined) return timers;
  const rest: Record<string, number> = {};
  for (const name in timers) if (name !== id) rest[name] = timers[name] as number;
  return rest;
}
