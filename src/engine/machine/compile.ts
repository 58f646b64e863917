import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { actOf, guardOf, type Place, unsupported } from './parts.ts';
import type { Act, Arrow, MachineTable, StateRow, TransitionArguments, Wildcard } from './table.ts';

/**
 * Turns a machine into a table once, so that a decision looks up what XState would work out each time:
 * interpreting took a fifth of this process's time for an accepted email, and three tenths of a whole life's
 * (profiled). Whatever the table cannot say is refused here, when the service starts; that it says the same
 * as XState is held by tests/machines/equality.test.ts.
 * @throws UnsupportedMachine
 */
export function compile(machine: AnyStateMachine): MachineTable {
  const root = machine.root as AnyStateNode;
  refuseRoot(root, { machine, where: 'it' });
  const nodes: AnyStateNode[] = Object.values(root.states);
  const borders = new Map(nodes.map((node) => [node, bordersOf(node, placeOf(node))]));
  const compiling: CompileContext = { root, borders, ...bordersOf(root, { machine, where: 'it' }) };
  const initial = root.initial.target[0] as AnyStateNode;
  const beginning = actsOf(root.initial.actions, { machine, where: 'its beginning' });
  return {
    id: machine.id,
    states: new Map(nodes.map((node) => [node.key, rowOf(node, compiling)])),
    contextOf: contextOf(machine),
    first: {
      guard: null,
      acts: [...compiling.entry, ...beginning, ...entering(initial, compiling)],
      to: initial.key,
      changes: true,
    },
  };
}

/** The effects of entering and of leaving a state, or the machine. */
interface Borders {
  readonly entry: readonly Act[];
  readonly exit: readonly Act[];
}

interface CompileContext extends Borders {
  readonly root: AnyStateNode;
  readonly borders: ReadonlyMap<AnyStateNode, Borders>;
}

const placeOf = (node: AnyStateNode): Place => ({
  machine: node.machine as AnyStateMachine,
  where: node.parent === undefined ? 'it' : `its state "${node.key}"`,
});

function refuseRoot(root: AnyStateNode, place: Place): void {
  if (root.type !== 'compound') unsupported(place, `is ${root.type}`);
  if (root.always !== undefined) unsupported(place, 'has "always" for all states at once');
  if (root.after.length > 0) unsupported(place, 'has "after" for all states at once');
  refuseRest(root, place);
}

/** Refuses the members that neither the machine nor a state of it may have. */
function refuseRest({ invoke, output, config }: AnyStateNode, place: Place): void {
  if (invoke.length > 0) unsupported(place, 'invokes an actor');
  if (output !== undefined) unsupported(place, 'has an output');
  if (config.onDone !== undefined) unsupported(place, 'has "onDone"');
  if (config.route !== undefined) unsupported(place, 'has a route');
}

function bordersOf(node: AnyStateNode, place: Place): Borders {
  if (node.parent !== undefined) {
    if (node.type === 'history') unsupported(place, 'is a history state');
    if (node.type === 'parallel') unsupported(place, 'is parallel');
    if (node.type === 'compound') unsupported(place, 'has nested states');
    refuseRest(node, place);
  }
  return { entry: actsOf(node.entry, place), exit: actsOf(node.exit, place) };
}

const actsOf = (actions: readonly unknown[], place: Place): readonly Act[] =>
  actions.map((action) => actOf(action as string, place));

function contextOf({ config: { context } }: AnyStateMachine): MachineTable['contextOf'] {
  if (typeof context !== 'function') return () => context ?? {};
  const make = context as (given: { readonly input: unknown }) => object;
  return (input) => ({ ...make({ input }) });
}

/** A machine that enters a final state is left at once. */
const entering = (node: AnyStateNode, { borders, exit }: CompileContext): readonly Act[] => {
  const own = borders.get(node) as Borders;
  return node.type === 'final' ? [...own.entry, ...own.exit, ...exit] : own.entry;
};

function arrowOf(from: AnyStateNode, transition: AnyTransitionDefinition, compiling: CompileContext): Arrow {
  const source = transition.source as AnyStateNode;
  const place = placeOf(source);
  const targets = transition.target as readonly AnyStateNode[] | undefined;
  const [target] = targets ?? [];
  if (targets !== undefined && (targets.length !== 1 || target?.parent !== compiling.root))
    unsupported(place, 'has a transition to something that is not one state of it');
  const isRoot = source === compiling.root;
  if (isRoot && target !== undefined && transition.reenter)
    unsupported(place, 'has a transition of all states at once that re-enters the machine');
  const acts = actsOf(transition.actions, place);
  // A transition of the machine's root leaves even the state that it leads to; one of a state to itself
  // stays, unless it says `reenter`.
  const leaves = target !== undefined && (isRoot || target !== from || transition.reenter);
  const exit = compiling.borders.get(from)?.exit ?? [];
  const all = leaves ? [...exit, ...acts, ...entering(target, compiling)] : acts;
  const to = (target ?? from).key;
  const guard = guardOf(transition.guard as string | undefined, place);
  return { guard, acts: all, to, changes: all.length > 0 || to !== from.key };
}

function rowOf(node: AnyStateNode, compiling: CompileContext): StateRow {
  const arrows = (transitions: readonly AnyTransitionDefinition[]): readonly Arrow[] =>
    transitions.map((transition) => arrowOf(node, transition, compiling));
  // An event that a state does not take goes to the machine's root.
  const takers = [node, compiling.root].map((taker) => {
    const listed = new Map([...taker.transitions].map(([type, transitions]) => [type, arrows(transitions)]));
    return { listed, wildcards: wildcardsOf(listed, placeOf(taker)) };
  });
  const types = takers.flatMap(({ listed }) => [...listed.keys()]);
  const taking = (type: string): readonly Arrow[] =>
    takers.flatMap(({ listed, wildcards }) => [
      ...(listed.get(type) ?? []),
      ...wildcards
        .filter(({ takes, descriptor }) => descriptor !== type && takes(type))
        .flatMap((one) => one.arrows),
    ]);
  return {
    name: node.key,
    isFinal: node.type === 'final',
    always: arrows(node.always ?? []),
    on: new Map(types.map((type) => [type, taking(type)])),
    wildcards: takers.flatMap(({ wildcards }) => wildcards),
  };
}

/** The longest wildcard is tried first. */
function wildcardsOf(
  listed: ReadonlyMap<string, readonly Arrow[]>,
  place: Place,
): readonly (Wildcard & { readonly descriptor: string })[] {
  return [...listed]
    .filter(([descriptor]) => descriptor === '*' || descriptor.endsWith('.*'))
    .sort(([a], [b]) => b.length - a.length)
    .map(([descriptor, arrows]) => {
      const prefix = descriptor.slice(0, -2);
      if (prefix.includes('*')) unsupported(place, `takes "${descriptor}", which has a star before its end`);
      const takes = (type: string): boolean =>
        descriptor === '*' || type === prefix || type.startsWith(`${prefix}.`);
      return { descriptor, takes, arrows };
    });
}

/** The event that a machine's first actions see. */
export const beginningWith = (input: unknown): TransitionArguments['event'] =>
  ({ type: 'xstate.init', input }) as TransitionArguments['event'];
