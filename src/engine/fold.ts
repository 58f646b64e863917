import type { Decider } from './decide.ts';
import { type Actor, type ActorEvent, type Kind, stateOf } from './kind.ts';
import { replyKey } from './stored-replies.ts';
import { type Draft, dueTimers, mailOf } from './tell-batch.ts';
import type { Claim, Scope, StoredReply, Told } from './told.ts';

/** Stands for "whatever timers are due": the clock does not know which, the actor does. */
export const TIMERS_DUE = 'timers.due';

/** One event on its way to one actor. */
export interface Letter {
  readonly id: string;
  readonly event: ActorEvent;
  readonly scope?: Scope | undefined;
  readonly claim?: Claim | undefined;
  /** Id of the mail that brings it; deleted by the commit that handles it. */
  readonly mail?: string | undefined;
  /** Monotonic moment until which a database that is away is waited for; at once when absent. */
  readonly patientUntil?: number | undefined;
  readonly settle: (told: Told) => void;
  readonly fail: (error: unknown) => void;
  decisions: number;
}

/** A letter, and what it is told instead of the change it was part of. */
export interface Answered {
  readonly letter: Letter;
  readonly told: Told | null;
}

export interface Decided {
  readonly draft: Draft;
  readonly answers: readonly Answered[];
}

/** What folding works with. */
export interface Folding {
  readonly kind: Kind;
  readonly decider: Decider;
  /** Replies of idempotency keys that were used before, by `replyKey`. */
  readonly replies: ReadonlyMap<string, StoredReply>;
  /** For a letter whose turn comes in a later batch. */
  postpone(letter: Letter): void;
}

type Progress = Pick<Draft, 'steps' | 'effects'> & { readonly actor: Actor };

/**
 * Decides all letters of one actor, in order, into one write. What needs no write is settled at once; a refusal that
 * rests on a change which is not durable yet is told together with that change.
 */
export function fold(folding: Folding, actor: Actor | undefined, letters: readonly Letter[]): Decided | null {
  let progress: Progress | null = actor ? { actor, steps: [], effects: [] } : null;
  const answers: Answered[] = [];
  let claim: Claim | null = null;
  for (const letter of letters) {
    const replay = letter.claim && folding.replies.get(replyKey(letter.claim));
    if (replay) letter.settle(replay);
    else if (!progress || !isWithin(progress.actor, letter.scope)) letter.settle({ outcome: 'absent' });
    // One stored reply a write: a second claim for the same actor has to wait.
    else if (letter.claim && claim) folding.postpone(letter);
    else {
      const next = tryEvent(folding.decider, progress.actor, letter);
      if (next === 'failed') continue;
      const told = next ? null : refusal(progress.actor);
      if (told && progress.actor === actor) letter.settle(told);
      else answers.push({ letter, told });
      if (!next) continue;
      progress = appended(progress, next);
      claim = letter.claim ?? claim;
    }
  }
  if (!actor || !progress || progress.actor === actor) return null;
  const after = { ...progress.actor, revision: actor.revision + 1 };
  const { steps, effects } = progress;
  const mail = mailOf(folding.kind, { after, effects });
  return { draft: { before: actor, after, steps, effects, mail, claim }, answers };
}

const isWithin = (actor: Actor, scope: Scope | undefined): boolean =>
  !scope || (actor.workspaceId === scope.workspaceId && actor.livemode === scope.livemode);

const refusal = ({ snapshot }: Actor): Told => ({
  outcome: 'refused',
  state: stateOf(snapshot),
  context: snapshot.context,
});

const appended = (before: Progress, next: Progress): Progress => ({
  actor: next.actor,
  steps: [...before.steps, ...next.steps],
  effects: [...before.effects, ...next.effects],
});

/** A machine that throws is a bug of ours; it fails this letter and no other. */
function tryEvent(decider: Decider, actor: Actor, letter: Letter): Progress | null | 'failed' {
  try {
    return letter.event.type === TIMERS_DUE
      ? fire(decider, actor, letter.event.at)
      : take(decider, actor, letter.event);
  } catch (error) {
    letter.fail(error);
    return 'failed';
  }
}

function take(decider: Decider, actor: Actor, event: ActorEvent): Progress | null {
  // XState's own events come from timers alone: from outside they would forge one.
  const decision = event.type.startsWith('xstate.') ? null : decider.next(actor, event);
  if (!decision) return null;
  const { snapshot, timers, effects, step } = decision;
  return { actor: { ...actor, snapshot, timers }, steps: [step], effects };
}

/** Every timer that is due. When none is (it was moved since the claim), the write still puts the right wake_at back. */
function fire(decider: Decider, actor: Actor, at: number): Progress {
  let progress: Progress = { actor: { ...actor }, steps: [], effects: [] };
  for (const timer of dueTimers(actor, at)) {
    const { [timer.type]: due, ...timers } = progress.actor.timers;
    // An earlier timer's transition has cancelled it.
    if (due === undefined) continue;
    const decision = decider.next({ ...progress.actor, timers }, timer);
    const after = decision ? { snapshot: decision.snapshot, timers: decision.timers } : { timers };
    progress = appended(progress, {
      actor: { ...progress.actor, ...after },
      steps: decision ? [decision.step] : [],
      effects: decision?.effects ?? [],
    });
  }
  return progress;
}
