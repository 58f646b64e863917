import { isoOrNull } from '../../platform/time/clock.ts';
import { earliest } from './decide.ts';
import type { Actor, Kind } from './kind.ts';

/** True when actors of the kind wait for the clock. */
export const hasTimers = ({ machine, hasDefinitions }: Kind): boolean =>
  hasDefinitions === true || Object.values(machine.states).some(({ after }) => after.length > 0);

/**
 * True when the actor lives by a test clock. The service's clock never wakes it, and no process carries out
 * its orders: the code that advances the test clock fires its timers (`Engine.fireTimers`) and carries out
 * its orders.
 */
export const isOnOwnTime = (kind: Kind, { snapshot }: Pick<Actor, 'snapshot'>): boolean =>
  kind.hasOwnTime?.(snapshot.context) === true;

/**
 * The due moment of an actor that lives by a test clock: lists of waiting actors include it, and the
 * service's clock never reaches it.
 */
export const NEVER = '9999-12-31T00:00:00.000Z';

/** When the clock wakes the actor, as it is stored; null where it waits for nothing. */
export function wakeAtOf(kind: Kind, actor: Actor): string | null {
  const due = earliest(actor.timers);
  return due !== null && isOnOwnTime(kind, actor) ? NEVER : isoOrNull(due);
}
