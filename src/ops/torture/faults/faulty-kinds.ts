import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { AnyStateMachine } from 'xstate';
import type { CampaignContext } from '../../../../machines/campaign/context.ts';
import type { EmailContext, EmailEvent } from '../../../../machines/email/context.ts';
import type { RestingState } from '../../../../machines/email/progress.ts';
import { restsAfterAttempt } from '../../../../machines/email/rules.ts';
import type { MachineOf } from '../../../engine/machine/definitions.ts';
import type { Order } from '../../../engine/machine/draft.ts';
import type { ActorEvent } from '../../../engine/machine/kind.ts';
import type { Performer, TellActor } from '../../../engine/runtime/performers.ts';
import type { Registration } from '../../../engine/runtime/running-kind.ts';
import type { ChaosSetting } from '../../../platform/config/settings/chaos-setting.ts';
import { type RandomSource, randomFrom } from '../random.ts';
import type { CrashAt } from './crash.ts';
import { outsideNow } from './wrong-clock.ts';

/** The longest delay of XState (32 bits): a lost attempt is never noticed. */
const NEVER_MS = 2_147_483_647;
/**
 * Replaces every wait before another attempt, so that the run sees each email's end. The longest is ten
 * minutes.
 */
const BACKOFF_MS = 500;
/** A webhook attempt only begins with at least 12 s of its lease left. */
const POSTING_LEASE_MS = 15_000;
/** A turn of a campaign takes up to four seconds: some are taken for lost that are not. */
const CAMPAIGN_LEASE_MS = 3_000;
/** Percentage of attempts that outlive their lease, so that late outcomes are common. */
const LATE_PERCENT = 3;

/** The kinds whose orders sometimes outlive their leases. */
const LEASED: ReadonlySet<string> = new Set(['email', 'flowRun']);

/**
 * Kinds with shorter leases, with performers that are delayed and recorded, and with the broken safeguard.
 */
export function faultyKinds(
  kinds: readonly Registration[],
  setting: ChaosSetting,
  crash: CrashAt,
): readonly Registration[] {
  const chance = randomFrom(setting.seed);
  return kinds.map(({ kind, performer, machineOf, ...rest }) => ({
    ...rest,
    kind: { ...kind, machine: faultyMachine(kind.machine, setting) },
    ...(machineOf ? { machineOf: faultyDefinitions(machineOf, setting) } : {}),
    ...(performer ? { performer: faultyPerformer(kind.name, performer, setting, crash, chance) } : {}),
  }));
}

interface GuardArguments {
  readonly context: EmailContext;
  readonly event: EmailEvent;
}

/** A guard that takes the outcome of any attempt for that of the latest. */
const whicheverAttempt =
  (state: RestingState) =>
  ({ context, event }: GuardArguments): boolean =>
    restsAfterAttempt(
      context,
      { ...event, attempt: context.attempt, by: context.begunBy ?? undefined } as EmailEvent,
      state,
    );

/** Guards that repeat an attempt with an unknown result, even where UNKNOWN_OUTCOME is hold. */
const REPEATING = { doubtIsHeld: () => false, nobodyMayBeTried: () => false };

const leaseOf = ({ id }: AnyStateMachine, { leaseMs }: ChaosSetting): number =>
  id === 'webhookDelivery' || id === 'received' ? POSTING_LEASE_MS : leaseMs;

const turnOfCampaign = ({ context: { waitMs } }: { readonly context: CampaignContext }): number =>
  waitMs ?? CAMPAIGN_LEASE_MS;

/** Actors that run definitions break like all others of their kind. */
const faultyDefinitions =
  (machineOf: MachineOf, setting: ChaosSetting): MachineOf =>
  async (id) => {
    const machine = await machineOf(id);
    return machine && faultyMachine(machine, setting);
  };

function faultyMachine(machine: AnyStateMachine, setting: ChaosSetting): AnyStateMachine {
  const { break: broken = [] } = setting;
  const lease = broken.includes('lease') ? NEVER_MS : leaseOf(machine, setting);
  const delays = {
    lease,
    backoff: BACKOFF_MS,
    ...(machine.id === 'campaign' ? { turn: turnOfCampaign } : {}),
  };
  const guards =
    broken.includes('attempt') && machine.id === 'email'
      ? {
          someRecipientsWait: whicheverAttempt('deferred'),
          everyRecipientFailed: whicheverAttempt('failed'),
          outcomesAreKnown: whicheverAttempt('sent'),
        }
      : {};
  const holdsNothing = broken.includes('hold') && machine.id === 'email';
  return machine.provide({ delays, guards: { ...guards, ...(holdsNothing ? REPEATING : {}) } } as never);
}

function faultyPerformer(
  kind: string,
  performer: Performer,
  { leaseMs, record, slots, break: broken = [] }: ChaosSetting,
  crash: CrashAt,
  chance: RandomSource,
): Performer {
  const note = (line: string): void => {
    // One write per line: a kill leaves a line whole or absent.
    if (record !== undefined) appendFileSync(record, `${line}\n`);
  };
  // A performer identifies a settled order by reference.
  const changed = new WeakMap<Order, Order>();
  const handed = (order: Order): Order => {
    if (!broken.includes('hold')) return order;
    const known = changed.get(order) ?? withoutHold(order);
    changed.set(order, known);
    return known;
  };
  return {
    slots: kind === 'email' ? (slots ?? performer.slots) : performer.slots,
    backlog: performer.backlog,
    ...(performer.declined
      ? { declined: (order, isStopping) => performer.declined?.(order, isStopping) ?? [] }
      : {}),
    settled: (order) => performer.settled?.(handed(order)),
    ...(performer.room ? { room: () => performer.room?.() ?? 0 } : {}),
    stop: () => performer.stop?.(),
    stopped: () => performer.stopped?.(),
    async perform(order, tell) {
      const attempt = attemptOf(order);
      crash('perform.before');
      note(`begun ${order.actor.id} ${attempt} ${outsideNow()}`);
      await pause(LEASED.has(kind) ? delayOf(chance, attempt, leaseMs) : chance.between(0, 20));
      crash('perform.during');
      const events = await performer.perform(
        handed(order),
        broken.includes('hold') ? tellingNoHold(tell) : tell,
      );
      note(`done ${order.actor.id} ${attempt} ${acceptedIn(events).join(',')}`);
      crash('perform.after');
      return events.map((event) => withAttempt(event));
    },
  };
}

/**
 * The number of an order's attempt. Live mail counts an attempt when it begins, which is after it was
 * ordered.
 */
function attemptOf({ actor, kind }: Order): number {
  const { attempt } = actor.snapshot.context as EmailContext;
  return kind === 'email' && actor.livemode ? attempt + 1 : attempt;
}

/** Clears `holdsDoubt` in the order as well, because the performer chooses the recipients by it. */
function withoutHold(order: Order): Order {
  const { actor } = order;
  const context = { ...(actor.snapshot.context as EmailContext), holdsDoubt: false };
  return { ...order, actor: { ...actor, snapshot: { ...actor.snapshot, context } as typeof actor.snapshot } };
}

/** The beginning of an attempt reads the context again, and recipients are chosen by it once more. */
const tellingNoHold =
  (tell: TellActor): TellActor =>
  async (event) => {
    const result = await tell(event);
    if (result.outcome !== 'changed') return result;
    return { ...result, context: { ...(result.context as EmailContext), holdsDoubt: false } };
  };

/**
 * A repeated attempt takes most of its lease, so that a late outcome of the attempt before arrives while it
 * is in progress.
 */
function delayOf(chance: RandomSource, attempt: number, leaseMs: number): number {
  if (chance.next() * 100 < LATE_PERCENT) return leaseMs * (1 + chance.next());
  return attempt === 1 ? chance.between(0, 20) : leaseMs * 0.9 * chance.next();
}

interface CompletionEvent extends ActorEvent {
  readonly attempt?: number;
  readonly outcomes?: readonly {
    readonly outcome: string;
    readonly recipient: number;
    readonly data: object;
  }[];
}

/** The indexes of the recipients whose servers have accepted the message. */
const acceptedIn = (events: readonly CompletionEvent[]): readonly number[] =>
  events
    .flatMap(({ outcomes = [] }) => outcomes)
    .flatMap(({ outcome, recipient }) => (outcome === 'accepted' ? [recipient] : []));

/** Adds the attempt's number to its outcomes: the judge checks that each was recorded for its own attempt. */
function withAttempt(event: CompletionEvent): ActorEvent {
  if (!event.outcomes) return event;
  const { attempt } = event;
  return {
    ...event,
    outcomes: event.outcomes.map((one) => ({ ...one, data: { ...one.data, attempt } })),
  } as ActorEvent;
}
