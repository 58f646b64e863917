import { replyKey, type StoredReply } from '../../platform/db/stored-replies.ts';
import type { Decider } from './decide.ts';
import { type Draft, dueTimers, outboxEventsOf } from './draft.ts';
import { type Actor, type ActorEvent, type Effect, type Kind, stateOf } from './kind.ts';
import type { Claim, EventResult, Scope } from './result.ts';
import { handedOver, orderAmongTimers, type Share, withoutOrders } from './share.ts';
import type { ActorRow } from './storage.ts';

/** The event of all due timers: the clock does not know which are due, the actor does. */
export const TIMERS_DUE = 'timers.due';

/** Additions to the events of timers, where their kind has any (`Registration.timersSay`). */
interface TimersDue extends ActorEvent {
  /** Another process has moved the due moment: the write corrects it, whatever the timers decide. */
  readonly isClaimed?: boolean;
  readonly says?: object | undefined;
}

/**
 * Leaves a new actor to the clock: a write that adds its due row, or begins its lease's step where the lease
 * has ended. An actor with a second write refuses it.
 */
export const LEFT_TO_CLOCK = 'insert.leftToClock';

/** One event on its way to one actor. */
export interface PendingEvent {
  readonly id: string;
  readonly event: ActorEvent;
  readonly scope?: Scope | undefined;
  /** The actor's workspace, where the caller knows it. */
  readonly workspaceId?: string | undefined;
  readonly claim?: Claim | undefined;
  /** Id in the outbox; deleted by the commit that handles it. */
  readonly outboxId?: string | undefined;
  /** Monotonic moment until which a database that is away is waited for; at once when absent. */
  readonly patientUntil?: number | undefined;
  /** No caller waits for it. */
  readonly isBulk?: boolean | undefined;
  /** Events of the same one are written by one commit. */
  readonly report?: object | undefined;
  /** The actor as the caller has read it: the event is for that revision, and refused at any other. */
  readonly read?: ActorRow | undefined;
  /** Monotonic moment at which it was asked for. */
  readonly since: number;
  readonly settle: (result: EventResult) => void;
  readonly fail: (error: unknown) => void;
  decisions: number;
  /** True for an event that gets a separate write, since the database refused it together with others. */
  alone: boolean;
  /** Tags of commits that carried the event and whose outcome is unknown. */
  readonly doubts: number[];
}

/** An event, with its answer once the write that it was part of is durable. */
export interface EventAnswer {
  readonly pending: PendingEvent;
  readonly result: EventResult;
}

export interface FoldResult {
  readonly draft: Draft;
  readonly answers: readonly EventAnswer[];
}

export interface FoldContext {
  readonly kind: Kind;
  readonly decider: Decider;
  /** This process's share in the kind. */
  readonly share: Share;
  /** Replies of idempotency keys that were used before, by `replyKey`. */
  readonly replies: ReadonlyMap<string, StoredReply>;
  /** Events of earlier batches that turned out to be handled already. */
  readonly handled: ReadonlySet<PendingEvent>;
  /**
   * For events of one actor whose turn comes in a later batch, on the actor as it is in the database then.
   */
  postpone(events: readonly PendingEvent[]): void;
}

type Progress = Pick<Draft, 'steps' | 'effects'> & { readonly actor: Actor };

/**
 * Decides the events of one actor, in order, into one write. Events that need no write are settled at once; a
 * refusal that rests on a change which is not durable yet is answered together with that change. `isFresh`:
 * the actor was read for this batch. A cached actor may be older than its row: a change decided on it loses
 * and is decided again, but a refusal would be final, so the actor is read before.
 */
export function fold(
  folding: FoldContext,
  actor: Actor | undefined,
  isFresh: boolean,
  events: readonly PendingEvent[],
): FoldResult | null {
  let progress: Progress | null = actor ? { actor, steps: [], effects: [] } : null;
  const answers: EventAnswer[] = [];
  let claim: Claim | null = null;
  for (const [index, pending] of events.entries()) {
    const replay = pending.claim && folding.replies.get(replyKey(pending.claim));
    if (replay) pending.settle(replay);
    else if (!progress || !isWithin(progress.actor, pending.scope)) pending.settle({ outcome: 'absent' });
    else if (folding.handled.has(pending))
      pending.settle({ outcome: 'changed', ...conditionOf(progress.actor) });
    else {
      // One stored reply a write; and the events behind one that waits must not overtake it.
      const mustWait =
        answers.length > 0 && (pending.alone || answers[0]?.pending.alone || (pending.claim && claim));
      const next = mustWait
        ? 'waits'
        : isAsRead(pending, progress.actor, actor)
          ? tryEvent(folding, progress.actor, pending)
          : null;
      if (next === 'failed') continue;
      if (next === 'waits' || (next === null && progress.actor === actor && !isFresh)) {
        folding.postpone(events.slice(index));
        break;
      }
      if (next) {
        progress = appended(progress, next);
        answers.push({ pending, result: { outcome: 'changed', ...conditionOf(progress.actor) } });
        if (pending.claim) claim = repliedFrom(pending.claim, progress.actor);
      } else {
        const refused: EventResult = { outcome: 'refused', ...conditionOf(progress.actor) };
        if (progress.actor === actor) pending.settle(refused);
        else answers.push({ pending, result: refused });
      }
    }
  }
  if (!actor || !progress || progress.actor === actor) return null;
  const { steps, effects } = progress;
  const at = steps.at(-1)?.at ?? answers.at(-1)?.pending.event.at ?? 0;
  const next = { ...progress.actor, revision: actor.revision + 1 };
  const after = handedOver(folding.kind, folding.share, next, effects, at);
  const outbox = outboxEventsOf(folding.kind, { after, effects });
  return { draft: { before: actor, after, steps, effects, outbox, claim }, answers };
}

/** An event for the actor as it was read is for no other revision, nor behind another event of the batch. */
const isAsRead = ({ read }: PendingEvent, now: Actor, before: Actor | undefined): boolean =>
  !read || (now === before && now.revision === read.revision);

const isWithin = (actor: Actor, scope: Scope | undefined): boolean =>
  !scope || (actor.workspaceId === scope.workspaceId && actor.livemode === scope.livemode);

const conditionOf = ({ snapshot }: Actor): { readonly state: string; readonly context: unknown } => ({
  state: stateOf(snapshot),
  context: snapshot.context,
});

/**
 * The stored reply describes the result of its event alone, without the events that follow in the same write.
 */
const repliedFrom = (claim: Claim, { snapshot }: Actor): Claim => ({
  ...claim,
  reply: () => claim.reply(stateOf(snapshot), snapshot.context),
});

const appended = (before: Progress, next: Progress): Progress => ({
  actor: next.actor,
  steps: [...before.steps, ...next.steps],
  effects: [...before.effects, ...next.effects],
});

/** A machine that throws is a bug of ours; it fails this event and no other. */
function tryEvent(folding: FoldContext, actor: Actor, pending: PendingEvent): Progress | null | 'failed' {
  try {
    if (pending.event.type === LEFT_TO_CLOCK && actor.revision > 1) return null;
    return pending.event.type === TIMERS_DUE || pending.event.type === LEFT_TO_CLOCK
      ? fire(folding, actor, pending.event)
      : take(folding, actor, pending.event);
  } catch (error) {
    pending.fail(error);
    return 'failed';
  }
}

function take({ kind, decider }: FoldContext, actor: Actor, event: ActorEvent): Progress | null {
  // XState's own events come from timers alone: from outside they would forge one.
  const decision = event.type.startsWith('xstate.') ? null : decider.next(actor, event);
  if (!decision) return null;
  const { snapshot, effects, step } = decision;
  return { actor: { ...actor, snapshot, timers: withoutOrders(kind, decision) }, steps: [step], effects };
}

/**
 * Fires every timer that is due. When none is (it was moved since the claim), the write still puts the right
 * wake_at back; an actor that was not claimed has been woken by another process.
 */
function fire(
  { kind, decider }: FoldContext,
  actor: Actor,
  { at, says, isClaimed }: TimersDue,
): Progress | null {
  const due = dueTimers(actor, at);
  if (due.length === 0 && isClaimed === false) return null;
  let progress: Progress = { actor: { ...actor }, steps: [], effects: [] };
  const orders: Effect[] = [];
  for (const timer of due) {
    const { [timer.type]: moment, ...timers } = progress.actor.timers;
    // An earlier timer's transition has cancelled it.
    if (moment === undefined) continue;
    const order = orderAmongTimers(timer.type);
    if (order) {
      orders.push(order);
      progress = appended(progress, { actor: { ...progress.actor, timers }, steps: [], effects: [] });
      continue;
    }
    const decision = decider.next({ ...progress.actor, timers }, { ...says, ...timer });
    const after = decision
      ? { snapshot: decision.snapshot, timers: withoutOrders(kind, decision) }
      : { timers };
    progress = appended(progress, {
      actor: { ...progress.actor, ...after },
      steps: decision ? [decision.step] : [],
      effects: decision?.effects ?? [],
    });
  }
  // When the lease has ended as well, the order is lost, and the lease's decision takes its place: together
  // they would be done twice.
  return progress.steps.length > 0 ? progress : { ...progress, effects: orders };
}
