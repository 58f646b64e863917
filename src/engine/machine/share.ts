import { isWhole, type Role, type Roles } from '../../platform/config/roles.ts';
import type { Decision } from './decide.ts';
import { hasTimers, isOnOwnTime, type Order } from './draft.ts';
import type { Actor, Effect, Kind } from './kind.ts';

/** A process's share in the work of one kind. Another process has to do the rest. */
export interface Share {
  /** Claims actors whose time has come, but for those that offer themselves. */
  readonly wakes: boolean;
  /**
   * True when the process carries out the orders that it commits, but for those that actors offer
   * themselves for.
   */
  readonly orders: boolean;
  /** Claims actors that offer themselves (`Kind.offers`), and carries out their orders. */
  readonly offers: boolean;
}

/** All of it. */
export const WHOLE_SHARE: Share = { wakes: true, orders: true, offers: true };

/** True when this process claims the actor once it is due. */
export const claims = (kind: Kind, share: Share, actor: Actor): boolean =>
  !isOnOwnTime(kind, actor) && (kind.offers?.is(actor) === true ? share.offers : share.wakes);

/**
 * True when this process carries out the actor's orders. Where no timer would bring an order back, the
 * process that has it carries it out.
 */
const carriesOut = (kind: Kind, share: Share, actor: Actor): boolean =>
  kind.offers?.is(actor) === true ? share.offers : share.orders || !hasTimers(kind);

const PREFIX = 'order:';

/** The order that lies among the timers under this name; null for a timer of the machine. */
export function orderAmongTimers(name: string): Effect | null {
  if (!name.startsWith(PREFIX)) return null;
  const [type, params] = JSON.parse(name.slice(PREFIX.length)) as [string, unknown];
  return { type, params };
}

/**
 * The timers after a decision, without the orders among them: those were for the state that has just been
 * left. A decision that keeps the state, and orders nothing again, leaves them there.
 */
export function withoutOrders(kind: Kind, { timers, step, effects }: Decision): Actor['timers'] {
  if (step.from === step.to && !effects.some(({ type }) => isOrder(kind, type))) return timers;
  const names = Object.keys(timers);
  if (!names.some((name) => name.startsWith(PREFIX))) return timers;
  return Object.fromEntries(Object.entries(timers).filter(([name]) => !name.startsWith(PREFIX)));
}

/**
 * The actor as stored by a process that does not carry out all of its orders. An order for another process
 * lies among the timers, due at once: the clock of a process that finds it releases it by a separate write,
 * and the machine's timers run on as they would for an order that waits in memory. An actor that offers
 * itself is due at once instead, and needs no further write.
 */
export function handedOver(
  kind: Kind,
  share: Share,
  actor: Actor,
  effects: readonly Effect[],
  at: number,
): Actor {
  if (carriesOut(kind, share, actor) || isOnOwnTime(kind, actor)) return actor;
  const timers: Record<string, number> = {};
  // An actor that offers itself needs no order: its state is enough to claim it.
  if (kind.offers?.is(actor) === true)
    for (const [name, due] of Object.entries(actor.timers)) timers[name] = Math.min(due, at);
  else {
    Object.assign(timers, actor.timers);
    for (const { type, params } of effects.filter(({ type }) => isOrder(kind, type)))
      timers[`${PREFIX}${JSON.stringify([type, params ?? {}])}`] = at;
  }
  return { ...actor, timers };
}

const isOrder = ({ effects }: Kind, type: string): boolean => {
  const meaning = effects[type];
  return meaning !== undefined && 'order' in meaning;
};

/** The orders for this process among those that a commit has released. */
export const ownOrders = (kind: Kind, share: Share, orders: readonly Order[]): readonly Order[] =>
  orders.filter(({ actor }) => carriesOut(kind, share, actor) && !isOnOwnTime(kind, actor));

/**
 * The processes that carry out a kind's orders: those of a role, or the one that has committed the order,
 * where a request waits for its outcome. Of the latter the engine wakes the due actors.
 */
export type CarriedOutBy = Exclude<Role, 'http'> | 'anybody';

/**
 * A process's share in a kind, by its roles. Work that actors offer themselves for belongs to the role
 * `delivery`.
 */
export function shareOf(roles: Roles, by: CarriedOutBy, kind: Kind): Share {
  if (isWhole(roles)) return WHOLE_SHARE;
  const wakes = roles.includes(by === 'anybody' ? 'engine' : by);
  return {
    wakes,
    orders: wakes || by === 'anybody',
    offers: kind.offers ? roles.includes('delivery') : wakes,
  };
}
