import type { Database } from '../db/database.ts';
import { codeOf } from '../db/sqlstate.ts';
import { Unavailable } from '../db/unavailable.ts';
import { type ActorRow, Actors } from './actors.ts';
import type { Clock } from './clock-source.ts';
import { commitBatch, type CommitTags, type Verdict } from './commit.ts';
import type { Decider } from './decide.ts';
import { type Actor, type ActorEvent, type Kind, stateOf } from './kind.ts';
import { Lane } from './lane.ts';
import { commitStatement, loadStatement, readBackStatement } from './statements.ts';
import { replyKey, storedReplies } from './stored-replies.ts';
import { type Draft, dueTimers, factLists, machineColumns } from './tell-batch.ts';
import type { Claim, Scope, StoredReply, Told } from './told.ts';

/** Stands for "whatever timers are due": the clock does not know which, the actor does. */
export const TIMERS_DUE = 'timers.due';

/** How often an event that lost its revision is decided again before the caller hears 503. */
const MAX_DECISIONS = 20;

/** One event on its way to one actor. */
export interface Letter {
  readonly id: string;
  readonly event: ActorEvent;
  readonly scope?: Scope | undefined;
  readonly claim?: Claim | undefined;
  /** Monotonic moment until which a database that is away is waited for; at once when absent. */
  readonly patientUntil?: number | undefined;
  readonly settle: (told: Told) => void;
  readonly fail: (error: unknown) => void;
  decisions: number;
}

/** A letter, and what it is told instead of the change it was part of. */
interface Answered {
  readonly letter: Letter;
  readonly told: Told | null;
}

interface Decided {
  readonly draft: Draft;
  readonly answers: readonly Answered[];
}

/** What the mailbox needs around it. */
export interface MailboxSurroundings {
  readonly database: Database;
  readonly clock: Clock;
  readonly tags: CommitTags;
  /** Hears of what was committed, in commit order. */
  committed(drafts: readonly Draft[]): void;
}

/** Events for existing actors of one kind: loaded, decided, committed in batches, answered. */
export class Mailbox {
  readonly #lane: Lane<Letter>;
  readonly #commitSql: string;
  readonly #loadSql: string;
  readonly #readBackSql: string;

  constructor(
    private readonly kind: Kind,
    private readonly decider: Decider,
    private readonly actors: Actors,
    private readonly around: MailboxSurroundings,
  ) {
    this.#lane = new Lane(kind.name, (batch) => this.#work(batch));
    this.#commitSql = commitStatement(kind);
    this.#loadSql = loadStatement(kind);
    this.#readBackSql = readBackStatement(kind);
  }

  /** Puts an event into the mailbox. @throws Unavailable when it is full */
  push(letter: Letter): void {
    this.#lane.push(letter);
  }

  get waiting(): number {
    return this.#lane.waiting;
  }

  drained(): Promise<void> {
    return this.#lane.drained();
  }

  async #work(batch: readonly Letter[]): Promise<void> {
    const byActor = Map.groupBy(batch, ({ id }) => id);
    try {
      const replies = await this.#storedReplies(batch);
      await this.#load([...byActor.keys()].filter((id) => !this.actors.get(id)));
      const decided: Decided[] = [];
      for (const [id, letters] of byActor) {
        const one = this.#decide(this.actors.get(id) ?? this.#loaded.get(id), letters, replies);
        if (one) decided.push(one);
      }
      this.#loaded.clear();
      if (decided.length > 0) await this.#commit(decided);
    } catch (error) {
      this.#loaded.clear();
      this.#undelivered(batch, error);
    }
  }

  /** Read for this batch only; `actors` may be bounded to nothing. */
  readonly #loaded = new Map<string, Actor>();

  async #load(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    for (const row of await this.around.database.query<ActorRow>(this.#loadSql, [ids]))
      this.#loaded.set(row.id, this.actors.restore(row));
  }

  #storedReplies(batch: readonly Letter[]): Promise<ReadonlyMap<string, StoredReply>> {
    const asked = batch.flatMap(({ claim }) => (claim ? [claim] : []));
    return storedReplies(this.around.database, asked, this.around.clock.now());
  }

  #decide(
    actor: Actor | undefined,
    letters: readonly Letter[],
    replies: ReadonlyMap<string, StoredReply>,
  ): Decided | null {
    let now = actor;
    const taken: Answered[] = [];
    const steps: Draft['steps'][number][] = [];
    const effects: Draft['effects'][number][] = [];
    let claim: Claim | null = null;
    for (const letter of letters) {
      const replay = letter.claim && replies.get(replyKey(letter.claim));
      if (replay) {
        letter.settle(replay);
        continue;
      }
      if (!now || !within(now, letter.scope)) {
        letter.settle({ outcome: 'absent' });
        continue;
      }
      // One stored reply a write: a second claim for the same actor waits for the next batch.
      if (letter.claim && claim) {
        this.#lane.unshift([letter]);
        continue;
      }
      try {
        const next = this.#step(now, letter.event);
        if (!next) {
          const refused: Told = { outcome: 'refused', state: stateOf(now.snapshot), context: now.snapshot.context };
          // Refused because of a change that is not durable yet: it is told together with that change.
          if (now === actor) letter.settle(refused);
          else taken.push({ letter, told: refused });
          continue;
        }
        now = next.actor;
        steps.push(...next.steps);
        effects.push(...next.effects);
        taken.push({ letter, told: null });
        claim = letter.claim ?? claim;
      } catch (error) {
        letter.fail(error);
      }
    }
    if (!actor || !now || now === actor) return null;
    const after = { ...now, revision: actor.revision + 1 };
    return { draft: { before: actor, after, steps, effects, claim }, answers: taken };
  }

  /** One letter's event, or for the clock's letter every timer that is due. */
  #step(actor: Actor, event: ActorEvent): { actor: Actor; steps: Draft['steps']; effects: Draft['effects'] } | null {
    if (event.type !== TIMERS_DUE) {
      if (event.type.startsWith('xstate.')) return null;
      const decision = this.decider.next(actor, event);
      if (!decision) return null;
      const { snapshot, timers, effects, step } = decision;
      return { actor: { ...actor, snapshot, timers }, steps: [step], effects };
    }
    let now = actor;
    const steps: Draft['steps'][number][] = [];
    const effects: Draft['effects'][number][] = [];
    for (const timer of dueTimers(actor, event.at)) {
      const { [timer.type]: due, ...timers } = now.timers;
      if (due === undefined) continue;
      now = { ...now, timers };
      const decision = this.decider.next(now, timer);
      if (!decision) continue;
      now = { ...now, snapshot: decision.snapshot, timers: decision.timers };
      steps.push(decision.step);
      effects.push(...decision.effects);
    }
    // Nothing was due (it was moved since the claim): the write still puts the right wake_at back.
    return { actor: now === actor ? { ...actor } : now, steps, effects };
  }

  async #commit(decided: readonly Decided[]): Promise<void> {
    const tag = this.around.tags.next();
    const verdicts = await commitBatch<Decided, 'changed' | 'lost'>(
      {
        run: async (items) => {
          const drafts = items.map(({ draft }) => draft);
          const rows = await this.around.database.query<{ id: string }>(this.#commitSql, [
            JSON.stringify(
              drafts.map((draft) => ({ ...machineColumns(this.kind, draft), revision: draft.before?.revision })),
            ),
            this.kind.version,
            tag,
            claimList(drafts),
            ...factLists(this.kind, drafts),
          ]);
          const changed = new Set(rows.map(({ id }) => id));
          return drafts.map(({ after }) => (changed.has(after.id) ? 'changed' : 'lost'));
        },
        readBack: async (items) => {
          const rows = await this.around.database.query<{ id: string; revision: number; commit_tag: number }>(
            this.#readBackSql,
            [items.map(({ draft }) => draft.after.id)],
          );
          const byId = new Map(rows.map((row) => [row.id, row]));
          return items.map(({ draft: { after } }) => {
            const row = byId.get(after.id);
            if (row && row.revision === after.revision && row.commit_tag === tag) return 'changed';
            return row && row.revision >= after.revision ? 'lost' : null;
          });
        },
      },
      decided,
    );
    this.#conclude(decided, verdicts);
  }

  #conclude(decided: readonly Decided[], verdicts: readonly Verdict<'changed' | 'lost'>[]): void {
    const committed: Draft[] = [];
    decided.forEach(({ draft, answers }, index) => {
      const verdict = verdicts[index] as Verdict<'changed' | 'lost'>;
      if ('committed' in verdict && verdict.committed === 'changed') {
        const { snapshot } = draft.after;
        this.actors.keep(draft.after);
        committed.push(draft);
        const changed: Told = { outcome: 'changed', state: stateOf(snapshot), context: snapshot.context };
        for (const { letter, told } of answers) letter.settle(told ?? changed);
        return;
      }
      const letters = answers.map(({ letter }) => letter);
      this.actors.forget(draft.after.id);
      if ('committed' in verdict) this.#decideAgain(letters);
      else if ('poisoned' in verdict) this.#poisoned(letters, verdict.poisoned);
      else this.#undelivered(letters, verdict.failed);
    });
    if (committed.length > 0) this.around.committed(committed);
  }

  /** An idempotency key that another instance took in the meantime is no poison: the next try replays its reply. */
  #poisoned(letters: readonly Letter[], error: unknown): void {
    if (codeOf(error) === '23505' && letters.some(({ claim }) => claim)) this.#decideAgain(letters);
    else for (const letter of letters) letter.fail(error);
  }

  /** The revision had moved on: the same events, on the actor as it is now. */
  #decideAgain(letters: readonly Letter[]): void {
    const again: Letter[] = [];
    for (const letter of letters) {
      if (++letter.decisions < MAX_DECISIONS) again.push(letter);
      else letter.fail(new Unavailable('The resource is too contended.'));
    }
    if (again.length > 0) this.#lane.unshift(again);
  }

  /** The database did not take the batch: callers hear of it, outcomes of performed orders are tried on. */
  #undelivered(letters: readonly Letter[], error: unknown): void {
    const now = this.around.clock.monotonic();
    const patient: Letter[] = [];
    for (const letter of letters) {
      this.actors.forget(letter.id);
      if (error instanceof Unavailable && (letter.patientUntil ?? 0) > now) patient.push(letter);
      else letter.fail(error);
    }
    // The pause keeps a dead database from being asked in a tight loop; 250 ms still heals well within a second.
    if (patient.length > 0) setTimeout(() => this.#lane.unshift(patient), 250);
  }
}

const within = (actor: Actor, scope: Scope | undefined): boolean =>
  !scope || (actor.workspaceId === scope.workspaceId && actor.livemode === scope.livemode);

const claimList = (drafts: readonly Draft[]): string => {
  const rows = drafts.flatMap(({ after, claim, steps }) =>
    claim === null
      ? []
      : [
          {
            actor: after.id,
            workspace_id: claim.scope.workspaceId,
            livemode: claim.scope.livemode,
            key: claim.key,
            fingerprint: claim.fingerprint,
            status: claim.status,
            reply: claim.reply(stateOf(after.snapshot), after.snapshot.context),
            at: new Date(steps.at(-1)?.at ?? 0).toISOString(),
          },
        ],
  );
  return rows.length === 0 ? '[]' : JSON.stringify(rows);
};
