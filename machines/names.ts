import type { AnyStateMachine, ContextFrom, EventFromLogic, StateMachine, StateValueFrom } from 'xstate';

// The names inside a machine, as types. Code that decides something for each of them keeps a Record over
// these, so that a new state, event or effect fails to compile at every place that has to decide about it.

/** The events that a machine takes from outside. */
export type EventOf<M extends AnyStateMachine> = EventFromLogic<M>;

export type ContextOf<M extends AnyStateMachine> = ContextFrom<M>;

/** Every state of a machine, including those that are left at once. Machines here are flat. */
export type StateNameOf<M extends AnyStateMachine> = StateValueFrom<M> & string;

type PartsOf<M> =
  M extends StateMachine<
    infer _Context,
    infer _Event,
    infer _Children,
    infer _Actor,
    infer Action,
    infer _Guard,
    infer Delay,
    infer _Value,
    infer _Tag,
    infer Input,
    infer _Output,
    infer _Emitted,
    infer _Meta,
    infer _Schema,
    infer _TransitionMeta
  >
    ? { readonly action: Action; readonly delay: Delay; readonly input: Input }
    : never;

/** The effects of a machine: each with its name and its parameters. */
export type EffectOf<M extends AnyStateMachine> = PartsOf<M>['action'];

export type InputOf<M extends AnyStateMachine> = PartsOf<M>['input'];

/** The names of a machine's steps in the journal. */
export type StepNameOf<M extends AnyStateMachine> =
  | 'spawned'
  | EventOf<M>['type']
  | `after.${PartsOf<M>['delay']}`;

/**
 * The states that actors are stored in, in the machine's order. `passing` names those that are left at once.
 */
export const storedStates = <M extends AnyStateMachine, const Passing extends StateNameOf<M> = never>(
  machine: M,
  passing: readonly Passing[] = [],
): readonly Exclude<StateNameOf<M>, Passing>[] =>
  (Object.keys(machine.states) as StateNameOf<M>[]).filter(
    (state): state is Exclude<StateNameOf<M>, Passing> => !(passing as readonly string[]).includes(state),
  );
