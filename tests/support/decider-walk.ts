import type { AnyStateMachine } from 'xstate';
import { Decider } from '../../src/engine/machine/decide.ts';
import type { ActorEvent } from '../../src/engine/machine/kind.ts';
import type { RandomSource } from '../../src/ops/torture/random.ts';
import type { Happenings } from './lifecycle-events.ts';
import { type Comparable, ComparedActor } from './official-decider.ts';

/** The states and events of a walk. */
export interface Walked {
  /** Events told, refused ones included. */
  readonly told: number;
  readonly taken: number;
  /** `state event`, of those that were taken. */
  readonly pairs: ReadonlySet<string>;
}

/** The longest life of one actor on the walk. */
const LONGEST_LIFE = 40;
/** Events for an actor after its end; it must refuse most of them. */
const AFTERLIFE = 4;

/** True of an actor that goes nowhere any more, though there may be something that it still takes. */
const isOver = ({ status, context }: Comparable): boolean =>
  status !== 'active' || ((context as { readonly endedAt?: number | null }).endedAt ?? null) !== null;

/**
 * Tells actors of a machine, one after the other, what may happen to them. @throws where the decider differs
 * from XState
 */
export function walk(
  machine: AnyStateMachine,
  { input, ...happening }: Happenings,
  random: RandomSource,
  events: number,
): Walked {
  const decider = new Decider(machine);
  const timers = timersOf(machine);
  const pairs = new Set<string>();
  let told = 0;
  let taken = 0;
  while (told < events) {
    const actor = new ComparedActor(decider, machine, input(random), START);
    told++;
    let left = LONGEST_LIFE;
    for (let now = actor.now; now && left > 0; now = actor.now) {
      const next = eventFor(now, timers, happening, random);
      const isTaken = actor.tell(next);
      told++;
      left = (isOver(now) ? Math.min(left, AFTERLIFE) : left) - 1;
      if (isTaken !== true) continue;
      taken++;
      pairs.add(`${now.state} ${next.type}`);
    }
  }
  return { told, taken, pairs };
}

const START = Date.parse('2026-11-20T12:00:00.000Z');

/** Every event of a timer that the machine knows. */
export const timersOf = (machine: AnyStateMachine): readonly string[] =>
  Object.values(machine.states).flatMap(({ after }) => after.map(({ eventType }) => eventType));

/**
 * Mostly what may happen from outside or a timer that is due, now and then any timer, and rarely an unknown
 * event.
 */
function eventFor(
  { context, timers }: Comparable,
  known: readonly string[],
  { event, timerSays = () => ({}) }: Omit<Happenings, 'input'>,
  random: RandomSource,
): ActorEvent {
  const chance = random.next();
  const pending = Object.entries(timers);
  if (chance < 0.25 && pending.length > 0) {
    const [type, due] = random.pick(pending);
    return { type, at: Number.isFinite(due) ? due : START, ...timerSays(random) };
  }
  const { at = START } = context as { readonly at?: number };
  if (chance < 0.3 && known.length > 0) return { type: random.pick(known), at: at + 1 };
  if (chance < 0.32) return { type: 'nobody.knows', at };
  return event(context, random);
}
