import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';

/** One arrow of a machine: a move from a state to another, or back to the same one. */
export interface Move {
  readonly from: string;
  readonly to: string;
  /** The state is left and entered again: its timers restart and its entry effects happen once more. */
  readonly reenters: boolean;
  /** `cancel.requested`, `after lease`; null for a move that needs nothing to happen. */
  readonly cause: string | null;
  /** All guards must hold. Of several arrows with one cause, the first whose guards hold is taken. */
  readonly guard: string | null;
  /** The effects of taking it, by name. */
  readonly effects: readonly string[];
}

export interface DrawnState {
  readonly name: string;
  readonly description: string;
  readonly final: boolean;
  readonly effects: readonly string[];
}

/** A machine as data: everything a diagram or a table of it shows. */
export interface Drawing {
  readonly id: string;
  readonly initial: string;
  readonly states: readonly DrawnState[];
  readonly moves: readonly Move[];
  /** The delays by name: fixed ones in milliseconds, computed ones null. */
  readonly delays: readonly { readonly name: string; readonly ms: number | null }[];
}

/** Nothing leads away from that state, though what comes late may be taken in it. */
export const isEnd = ({ moves }: Pick<Drawing, 'moves'>, state: string): boolean =>
  moves.every(({ from, to }) => from !== state || to === state);

/**
 * Reads a machine; `always` and `after` arrows are drawn too, which xstate/graph's own `toDirectedGraph`
 * leaves out.
 */
export function draw(machine: AnyStateMachine): Drawing {
  const nodes: AnyStateNode[] = Object.values(machine.root.states);
  return {
    id: machine.id,
    initial: initialOf(machine.root),
    states: nodes.map((node) => ({
      name: node.key,
      description: node.description ?? '',
      final: node.type === 'final',
      effects: namesOf(node.entry),
    })),
    moves: [machine.root, ...nodes].flatMap(movesOf),
    delays: Object.entries<unknown>(machine.implementations.delays).map(([name, delay]) => ({
      name,
      ms: typeof delay === 'number' ? delay : null,
    })),
  };
}

function initialOf(root: AnyStateNode): string {
  const target = root.initial.target[0];
  if (target === undefined) throw new Error(`The machine ${root.id} has no initial state.`);
  return target.key;
}

function movesOf(node: AnyStateNode): Move[] {
  const timed = new Map<string, string>(
    node.after.map(({ eventType, delay }) => [eventType, `after ${delay}`]),
  );
  const caused = [...node.transitions].flatMap(([type, transitions]) =>
    transitions.map((transition) => moveOf(node, transition, timed.get(type) ?? type)),
  );
  return [...(node.always ?? []).map((transition) => moveOf(node, transition, null)), ...caused];
}

function moveOf(node: AnyStateNode, transition: AnyTransitionDefinition, cause: string | null): Move {
  // Without a target the state stays, and a transition of the root is drawn from every state at once.
  const from = node.parent === undefined ? '*' : node.key;
  const [target] = (transition.target as readonly AnyStateNode[] | undefined) ?? [];
  return {
    from,
    to: target?.key ?? from,
    reenters: target?.key === from && transition.reenter,
    cause,
    guard: nameOf(transition.guard),
    effects: namesOf(transition.actions),
  };
}

/** Named actions only: assignments change nothing but the context. */
function namesOf(actions: readonly unknown[]): string[] {
  return actions.map(nameOf).filter((name) => name !== null);
}

function nameOf(part: unknown): string | null {
  if (typeof part === 'string') return part;
  if (typeof part === 'object' && part !== null && 'type' in part && typeof part.type === 'string')
    return part.type.startsWith('xstate.') ? null : part.type;
  return null;
}
