import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { AnyStateMachine } from 'xstate';
import type { EmailContext, EmailEvent } from '../../machines/email-context.ts';
import type { RestingState } from '../../machines/email-progress.ts';
import { restsAfterAttempt } from '../../machines/email-rules.ts';
import type { ChaosSetting } from '../config/chaos-setting.ts';
import type { Order } from '../engine/draft.ts';
import type { Registration } from '../engine/engine.ts';
import type { ActorEvent } from '../engine/kind.ts';
import type { Performer } from '../engine/performers.ts';
import type { CrashAt } from './crash.ts';
import { type Random, randomFrom } from './random.ts';
import { outsideNow } from './wrong-clock.ts';

/** What XState's 32-bit delays can hold: an attempt that is lost is never missed. */
const NEVER_MS = 2_147_483_647;
/** Every wait before another attempt, the ten minutes of a doubt among them: the torture has to see the end. */
const BACKOFF_MS = 500;
/** A delivery's attempt is not begun unless twelve seconds of its lease are left. */
const POSTING_LEASE_MS = 15_000;
/** So many attempts of a hundred outlive their lease, so that late outcomes are no rarity. */
const LATE_PERCENT = 3;

/** Kinds as an engine takes them, with shorter leases, performers that dawdle and are recorded, and what is broken. */
export function faultyKinds(
  kinds: readonly Registration[],
  setting: ChaosSetting,
  crash: CrashAt,
): readonly Registration[] {
  const chance = randomFrom(setting.seed);
  return kinds.map(({ kind, performer, ...rest }) => ({
    ...rest,
    kind: { ...kind, machine: torturedMachine(kind.machine, setting) },
    ...(performer ? { performer: torturedPerformer(kind.name, performer, setting, crash, chance) } : {}),
  }));
}

interface Judged {
  readonly context: EmailContext;
  readonly event: EmailEvent;
}

/** Takes the outcome of any attempt for that of the latest. */
const whicheverAttempt =
  (state: RestingState) =>
  ({ context, event }: Judged): boolean =>
    restsAfterAttempt(
      context,
      { ...event, attempt: context.attempt, by: context.begunBy ?? undefined } as EmailEvent,
      state,
    );

/** Whoever may have got an email is tried again, whatever was chosen for that case. */
const REPEATING = { doubtIsHeld: () => false, nobodyMayBeTried: () => false };

const leaseOf = ({ id }: AnyStateMachine, { leaseMs }: ChaosSetting): number =>
  id === 'webhookDelivery' ? POSTING_LEASE_MS : leaseMs;

function torturedMachine(machine: AnyStateMachine, setting: ChaosSetting): AnyStateMachine {
  const lease = setting.break === 'lease' ? NEVER_MS : leaseOf(machine, setting);
  const delays = { lease, backoff: BACKOFF_MS };
  const guards =
    setting.break === 'attempt' && machine.id === 'email'
      ? {
          someRecipientsWait: whicheverAttempt('deferred'),
          everyRecipientFailed: whicheverAttempt('failed'),
          outcomesAreKnown: whicheverAttempt('sent'),
        }
      : {};
  const holdsNothing = setting.break === 'hold' && machine.id === 'email';
  return machine.provide({ delays, guards: { ...guards, ...(holdsNothing ? REPEATING : {}) } } as never);
}

function torturedPerformer(
  kind: string,
  performer: Performer,
  { leaseMs, record, slots, break: broken }: ChaosSetting,
  crash: CrashAt,
  chance: Random,
): Performer {
  const note = (line: string): void => {
    // One write of one line: a kill leaves it whole or not at all.
    if (record !== undefined) appendFileSync(record, `${line}\n`);
  };
  // A performer knows its orders again when they are settled.
  const changed = new WeakMap<Order, Order>();
  const handed = (order: Order): Order => {
    if (broken !== 'hold') return order;
    const known = changed.get(order) ?? withoutHold(order);
    changed.set(order, known);
    return known;
  };
  return {
    slots: kind === 'email' ? (slots ?? performer.slots) : performer.slots,
    backlog: performer.backlog,
    ...(performer.declined ? { declined: (order) => performer.declined?.(order) ?? [] } : {}),
    settled: (order) => performer.settled?.(handed(order)),
    ...(performer.room ? { room: () => performer.room?.() ?? 0 } : {}),
    stop: () => performer.stop?.(),
    stopped: () => performer.stopped?.(),
    async perform(order, tell) {
      const attempt = attemptOf(order);
      crash('perform.before');
      note(`begun ${order.actor.id} ${attempt} ${outsideNow()}`);
      await pause(kind === 'email' ? dawdling(chance, attempt, leaseMs) : chance.between(0, 20));
      crash('perform.during');
      const events = await performer.perform(handed(order), tell);
      note(`done ${order.actor.id} ${attempt} ${acceptedIn(events).join(',')}`);
      crash('perform.after');
      return events.map((event) => signed(event));
    },
  };
}

/** An attempt of live mail is ordered before it is begun, and counted then. */
function attemptOf({ actor, kind }: Order): number {
  const { attempt } = actor.snapshot.context as EmailContext;
  return kind === 'email' && actor.livemode ? attempt + 1 : attempt;
}

/** The performer looks for itself who may be tried. */
function withoutHold(order: Order): Order {
  const { actor } = order;
  const context = { ...(actor.snapshot.context as EmailContext), holdsDoubt: false };
  return { ...order, actor: { ...actor, snapshot: { ...actor.snapshot, context } as typeof actor.snapshot } };
}

/** A repeated attempt takes nearly its whole lease: then the outcome of one that was given up finds it under way. */
function dawdling(chance: Random, attempt: number, leaseMs: number): number {
  if (chance.next() * 100 < LATE_PERCENT) return leaseMs * (1 + chance.next());
  return attempt === 1 ? chance.between(0, 20) : leaseMs * 0.9 * chance.next();
}

interface Completed extends ActorEvent {
  readonly attempt?: number;
  readonly outcomes?: readonly {
    readonly outcome: string;
    readonly recipient: number;
    readonly data: object;
  }[];
}

/** The recipients whose servers have taken the message, by their places. */
const acceptedIn = (events: readonly Completed[]): readonly number[] =>
  events
    .flatMap(({ outcomes = [] }) => outcomes)
    .flatMap(({ outcome, recipient }) => (outcome === 'accepted' ? [recipient] : []));

/** The outcome says which attempt it is of: whether it was recorded for that one is what the judge wants to know. */
function signed(event: Completed): ActorEvent {
  if (!event.outcomes) return event;
  const { attempt } = event;
  return {
    ...event,
    outcomes: event.outcomes.map((one) => ({ ...one, data: { ...one.data, attempt } })),
  } as ActorEvent;
}
