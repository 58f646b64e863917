import { mintId } from '../../platform/db/ids.ts';
import { isoOrNull } from '../../platform/time/clock.ts';
import { type Decider, earliest, type Step } from './decide.ts';
import type { Actor, ActorEvent, Effect, EffectMeaning, Kind } from './kind.ts';
import type { Claim } from './result.ts';

/** An order that a commit released: I/O to perform now. */
export interface Order {
  readonly kind: string;
  readonly actor: Actor;
  readonly effect: Effect;
  /**
   * The data that the spawner had at hand (a message just accepted); undefined when the actor came from the
   * database. A performer that lets the order wait may drop it, and reads it when the order's turn has come.
   */
  payload?: unknown;
  /**
   * No caller waits for the order, as its claim or its performer says: its outcome is written apart from
   * outcomes that callers wait for.
   */
  isBulk?: boolean;
}

/** The result of one actor's events of a batch, before anything is written. */
export interface Draft {
  readonly before: Actor | null;
  readonly after: Actor;
  readonly steps: readonly Step[];
  readonly effects: readonly Effect[];
  readonly outbox: readonly OutboxEvent[];
  readonly claim: Claim | null;
  readonly payload?: unknown;
  /** The process that claims the actor carries out its orders. */
  readonly isLeft?: boolean;
}

/** An event of a draft for another actor. */
export interface OutboxEvent {
  readonly id: string;
  readonly kind: string;
  readonly to: string;
  readonly event: ActorEvent;
}

/** The events of a draft for other actors; called once, since it mints the ids. */
export function outboxEventsOf(
  kind: Kind,
  { after, effects }: Pick<Draft, 'after' | 'effects'>,
): readonly OutboxEvent[] {
  const outbox: OutboxEvent[] = [];
  for (const { type, params } of effects) {
    const meaning = meaningOf(kind, type);
    if (!('notify' in meaning)) continue;
    const { id, event } = meaning.to(params as never, after);
    outbox.push({ id: mintId('mail', event.at), kind: meaning.notify, to: id, event });
  }
  return outbox;
}

export function meaningOf(kind: Kind, effect: string): EffectMeaning {
  const meaning = kind.effects[effect];
  if (!meaning) throw new Error(`${kind.name} gives no meaning to the effect ${effect}.`);
  return meaning;
}

/** The orders among a draft's effects. */
export function ordersOf(kind: Kind, { after, effects, payload }: Draft): Order[] {
  const orders: Order[] = [];
  for (const effect of effects) {
    const meaning = kind.effects[effect.type];
    if (meaning && 'order' in meaning) orders.push({ kind: kind.name, actor: after, effect, payload });
  }
  return orders;
}

/** A new actor's draft. */
export function draftSpawn(
  kind: Kind,
  decider: Decider,
  spawn: {
    readonly id?: string;
    readonly workspaceId: string;
    readonly livemode: boolean;
    readonly definitionId?: string | undefined;
    readonly input: unknown;
  },
  at: number,
): Omit<Draft, 'claim'> {
  const { snapshot, timers, effects, step } = decider.begin(spawn.input, at);
  const after: Actor = {
    id: spawn.id ?? mintId(kind.idPrefix, at),
    workspaceId: spawn.workspaceId,
    livemode: spawn.livemode,
    snapshot,
    timers,
    revision: 1,
    ...(spawn.definitionId === undefined ? {} : { definitionId: spawn.definitionId }),
  };
  return { before: null, after, steps: [step], effects, outbox: outboxEventsOf(kind, { after, effects }) };
}

/** The timers of an actor that are due at that moment, earliest first, as the events XState expects. */
export function dueTimers(actor: Actor, at: number): ActorEvent[] {
  return Object.entries(actor.timers)
    .filter(([, due]) => due <= at)
    .sort(([, a], [, b]) => a - b)
    .map(([type]) => ({ type, at }));
}

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
