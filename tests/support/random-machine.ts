import { type AnyStateMachine, and, assign, cancel, createMachine, not, or, raise, setup } from 'xstate';
import type { RandomSource } from '../../src/ops/torture/random.ts';
import type { Happenings } from './lifecycle-events.ts';

interface Context {
  readonly at: number;
  readonly n: number;
  readonly seen?: string;
}
interface Given {
  readonly context: Context;
  readonly event: { readonly type: string; readonly by?: number };
}

const EVENTS = ['go', 'stop', 'news.good', 'news.bad', 'news', 'raised'];
const DESCRIPTORS = [...EVENTS, 'news.*', '*'];
const START = Date.parse('2026-11-20T12:00:00.000Z');

// The names in its definitions.
const named = setup({
  types: { context: {} as Context },
  guards: {
    isEven: ({ context }) => context.n % 2 === 0,
    dividesBy: ({ context }, { by }: { readonly by: number }) => context.n % by === 0,
    isSmall: ({ context }) => context.n < 5,
    isNeither: not(or(['isEven', 'isSmall'])) as never,
    throwsAtSeven: ({ context }) => {
      if (context.n === 7) throw new Error('a bug in a guard');
      return true;
    },
  },
  actions: {
    count: assign({ n: ({ context }) => context.n + 1 }),
    add: assign(({ context }, { by }: { readonly by: number }) => ({ n: context.n + by })),
    note: assign({ seen: 'noted' }),
    effect: () => {},
    raises: raise({ type: 'raised' } as never),
  },
  delays: {
    soon: 1_000,
    later: ({ context }) => 1_000 * context.n,
    sometimes: ({ context }) => (context.n % 3 === 0 ? 500 : (undefined as never)),
  },
});

const guard = (random: RandomSource): unknown =>
  random.pick<unknown>([
    'isEven',
    'isSmall',
    'isNeither',
    'throwsAtSeven',
    { type: 'dividesBy', params: { by: random.between(1, 4) } },
    { type: 'dividesBy', params: ({ event }: Given) => ({ by: event.by ?? 2 }) },
    not('isEven'),
    and(['isSmall', not('isEven')]),
    or(['isEven', ({ context }: Given) => context.n > 9]),
    ({ event }: Given) => event.type !== 'news.bad',
  ]);

const action = (random: RandomSource, timers: readonly string[]): unknown =>
  random.pick<unknown>([
    'count',
    'count',
    'note',
    'effect',
    'nobodyWroteThis',
    'raises',
    { type: 'add', params: { by: 2 } },
    { type: 'add', params: ({ event }: Given) => ({ by: event.by ?? 1 }) },
    { type: 'effect', params: ({ context, event }: Given) => ({ n: context.n, of: event.type }) },
    { type: 'effect', params: ({ context }: Given) => (context.n % 2 === 0 ? null : { n: context.n }) },
    { type: 'effect', params: { fixed: true } },
    assign(({ context, event }: Given) => ({ n: context.n + 1, seen: event.type })),
    assign({ seen: ({ event }: Given) => event.type, n: 0 }),
    raise(({ context }: Given) => ({ type: context.n % 2 === 0 ? 'raised' : 'news.good', by: 3 })),
    cancel(random.pick(['none', ...timers])),
  ]);

const some = <T>(random: RandomSource, most: number, make: () => T): T[] =>
  Array.from({ length: random.between(0, most) }, make);

/** A machine of a few states with all that the engine can run, put together by chance. */
export function randomMachine(random: RandomSource): {
  readonly machine: AnyStateMachine;
  readonly happenings: Happenings;
} {
  const names = Array.from({ length: random.between(2, 5) }, (_, index) => `s${index}`);
  const timers = names.flatMap((name) =>
    ['soon', 'later', '250'].map((delay) => `xstate.after.${delay}.m.${name}`),
  );
  const actions = (most: number): unknown[] => some(random, most, () => action(random, timers));
  const transition = (targets: readonly string[]): unknown => {
    const target = random.next() < 0.7 ? { target: random.pick(targets) } : {};
    return {
      ...target,
      ...(random.next() < 0.5 ? { guard: guard(random) } : {}),
      ...(random.next() < 0.2 && !targets[0]?.startsWith('.') ? { reenter: true } : {}),
      actions: actions(2),
    };
  };
  const transitions = (targets: readonly string[]): unknown => {
    const chance = random.next();
    if (chance < 0.1) return undefined;
    if (chance < 0.2) return random.pick(targets);
    return [transition(targets), ...some(random, 2, () => transition(targets))];
  };
  const listed = (from: readonly string[], targets: readonly string[]): object =>
    Object.fromEntries(from.filter(() => random.next() < 0.4).map((name) => [name, transitions(targets)]));
  const reach = [...names, ...names.map((name) => `#m.${name}`)];
  const stateOf = (isLast: boolean): object =>
    isLast && random.next() < 0.5
      ? { type: 'final', entry: actions(2), exit: actions(2) }
      : {
          entry: actions(2),
          exit: actions(1),
          on: listed(DESCRIPTORS, reach),
          after: listed(['soon', 'later', 'sometimes', '250'], reach),
          // Guarded, since otherwise most machines would never rest.
          ...(random.next() < 0.3
            ? { always: [{ ...(transition(reach) as object), guard: guard(random) }] }
            : {}),
        };
  const initial = random.pick(names);
  const machine = createMachine(
    {
      id: 'm',
      context: random.next() < 0.8 ? ({ input }: never) => ({ ...(input as object) }) : { at: START, n: 0 },
      initial: random.next() < 0.5 ? initial : { target: initial, actions: actions(2) },
      entry: actions(1),
      exit: actions(1),
      on: listed(
        DESCRIPTORS,
        names.map((name) => `.${name}`),
      ),
      states: Object.fromEntries(names.map((name, index) => [name, stateOf(index === names.length - 1)])),
      // XState itself would go round in a circle for ever.
      options: { maxIterations: 40 },
    } as never,
    named.createMachine({} as never).implementations as never,
  );
  return {
    machine,
    happenings: {
      input: () => ({ at: START, n: random.between(0, 8) }),
      event: (_, chance) => ({ type: chance.pick(EVENTS), at: START + 1, by: chance.between(1, 3) }) as never,
    },
  };
}
