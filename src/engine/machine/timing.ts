import { isoOrNull } from '../../platform/time/clock.ts';
import { earliest } from './decide.ts';
import type { Actor, Kind } from './kind.ts';

/** True when actors of the kind wait for the clock. */
export const hasTimers = ({ machine, hasDefinitions }: Kind): boolean =>
  hasDefinitions === true || Object.values(machine.states).some(({ after }) => after.length > 0);

/**
 * True when the actor lives by another time than the clock's. The clock never wakes it, and its orders are nobody's here: whoever
 * moves its time fires its timers (`Engine.fireTimers`), and does what it orders.
 */
export const isOnOwnTime = (kind: Kind, { snapshot }: Pick<Actor, 'snapshot'>): boolean =>
  kind.hasOwnTime?.(snapshot.context) === true;

/** An actor on a time of its own stands among those that wait, so that lists find it, where no clock ever comes. */
export const NEVER = '9999-12-31T00:00:00.000Z';

/** When the clock wakes the actor, as it is stored; null where it waits for nothing. */
export function wakeAtOf(kind: Kind, actor: Actor): string | null {
  const due = earliest(actor.timers);
  return due !== null && isOnOwnTime(kind, actor) ? NEVER : isoOrNull(due);
}
