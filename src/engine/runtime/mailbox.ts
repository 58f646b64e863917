import type { Batcher } from '../../platform/async/batcher.ts';
import type { Database } from '../../platform/db/database.ts';
import { mayBeRepetition, type StoredReply, storedReplies } from '../../platform/db/stored-replies.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import type { Clock } from '../../platform/time/clock.ts';
import type { Deciders, Definitions } from '../machine/definitions.ts';
import type { Draft } from '../machine/draft.ts';
import { type FoldContext, type FoldResult, fold, type PendingEvent } from '../machine/fold.ts';
import type { Actor, Kind } from '../machine/kind.ts';
import type { ActorRow } from '../machine/storage.ts';
import { type ChildDeps, type ChildRow, Children } from '../store/children.ts';
import { type CommitTags, checkTag, hasOverrun, type Verdict } from '../store/commit.ts';
import type { CommitWriter } from '../store/commit-writer.ts';
import type { LocalLeases } from '../store/local-leases.ts';
import type { OpenStore } from '../store/open-store.ts';
import { type Actors, type ByActor, definitionsOf, rowsTold, workspaceTold } from './known-actors.ts';
import { MailboxLanes } from './mailbox-lanes.ts';

/** Between two tries of a database that is away: no tight loop, and still healed well within a second. */
const REST_MS = 250;

/**
 * The number of lanes for events with waiting callers: one is decided while PostgreSQL works on the other.
 * Two lanes drained a backlog 1.3 times as fast, while the lives of emails that come one by one took as long.
 */
const ORDERED_WIDTH = 2;

/** The parts that committing a batch needs. */
export interface CommitDeps extends ChildDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly tags: CommitTags;
  readonly store: OpenStore;
  /**
   * The time that a caller waits: what has waited longer is refused, since its late effect would surprise.
   */
  readonly callerWaitsMs: number;
  /** The new actors of the kind that this process holds, if it holds any. */
  readonly localLeases: LocalLeases | null;
  /** Receives each commit, in commit order. */
  committed(drafts: readonly Draft[]): void;
  /** Hears of actors of another kind that the commit has brought into being. */
  childrenSpawned(kind: Kind, drafts: readonly Draft[]): void;
}

/** Events for existing actors of one kind: loaded, decided, committed in batches, answered. */
export class Mailbox {
  readonly #lanes: MailboxLanes;
  readonly #writer: CommitWriter;
  readonly #children: Children;
  #lostRaces = 0;

  constructor(
    private readonly kind: Kind,
    private readonly definitions: Definitions,
    private readonly actors: Actors,
    private readonly deps: CommitDeps,
  ) {
    this.#children = new Children(kind.children, deps);
    this.#lanes = new MailboxLanes(kind.name, (batch, lane) => this.#work(batch, lane), {
      monotonic: deps.clock.monotonic,
      // An embedded database works in this thread: of two batches neither is read meanwhile, and each costs a
      // commit.
      width: deps.database.kind === 'embedded' ? 1 : ORDERED_WIDTH,
    });
    this.#writer = deps.store.writer();
  }

  /**
   * Puts an event into the mailbox. Patient events are taken even when it is full: they report facts, and are
   * bounded by the work that was begun. @throws UnavailableError when it is full
   */
  push(pending: PendingEvent): void {
    this.#lanes.push(pending);
  }

  get waiting(): number {
    return this.#lanes.waiting;
  }

  /** Actors that another instance, or another batch, had changed in the meantime, since the start. */
  get lostRaces(): number {
    return this.#lostRaces;
  }

  drained(): Promise<void> {
    return this.#lanes.drained();
  }

  async #work(batch: readonly PendingEvent[], batcher: Batcher<PendingEvent>): Promise<void> {
    const inTime = this.#inTime(batch);
    try {
      const byActor = Map.groupBy(inTime, ({ id }) => id);
      const known = {
        handled: await this.deps.store.alreadyApplied(inTime),
        replies: await this.#storedReplies(inTime),
      };
      // Those that are kept now may have made room for others by the time that the rest is read.
      const kept = new Map([...byActor.keys()].map((id) => [id, this.actors.get(id)]));
      const read = rowsTold(byActor, kept);
      const unread = [...byActor.keys()].filter((id) => !kept.get(id) && !read.has(id));
      const loaded = await this.#load(unread, byActor);
      const deciders = await this.definitions.load(definitionsOf(kept, read, loaded));
      const decided = [...byActor].flatMap(
        ([id, events]) =>
          this.#decide(loaded.get(id) ?? read.get(id), kept.get(id), events, { ...known, deciders }) ?? [],
      );
      if (decided.length > 0) await this.#commit(decided, batcher);
    } catch (error) {
      this.#undelivered(inTime, error);
    }
  }

  #inTime(batch: readonly PendingEvent[]): readonly PendingEvent[] {
    const now = this.deps.clock.monotonic();
    return batch.filter(({ since, patientUntil, fail }) => {
      const isLate = now > (patientUntil ?? since + this.deps.callerWaitsMs);
      if (isLate) fail(new UnavailableError('The database does not keep up.'));
      return !isLate;
    });
  }

  /** One actor's events. An error here (a bug of ours, a missing definition) must not reach other actors. */
  #decide(
    row: ActorRow | undefined,
    kept: Actor | undefined,
    events: readonly PendingEvent[],
    { deciders, ...known }: Pick<FoldContext, 'handled' | 'replies'> & { readonly deciders: Deciders },
  ): FoldResult | null {
    const id = events[0]?.id as string;
    const postpone = (later: readonly PendingEvent[]): void => {
      this.actors.forget(id);
      this.#lanes.unshift(later);
    };
    try {
      const actor = row ? this.actors.restore(row, deciders) : (this.actors.get(id) ?? kept);
      const decider = deciders.of(actor?.definitionId);
      const share = this.deps.shareOf(this.kind);
      const folding = { ...known, kind: this.kind, decider, share, postpone };
      return fold(folding, actor, row !== undefined, events);
    } catch (error) {
      this.#undelivered(events, error);
      return null;
    }
  }

  async #load(ids: readonly string[], byActor: ByActor): Promise<ReadonlyMap<string, ActorRow>> {
    if (ids.length === 0) return new Map();
    const rows = await this.deps.store.read(ids, (id) => workspaceTold(byActor.get(id)));
    return new Map(rows.map((row) => [row.id, row]));
  }

  #storedReplies(batch: readonly PendingEvent[]): Promise<ReadonlyMap<string, StoredReply>> {
    const asked = batch.flatMap(({ claim }) => (claim ? [claim] : []));
    return storedReplies(this.deps.database, asked, this.deps.clock.now());
  }

  async #commit(decided: readonly FoldResult[], batcher: Batcher<PendingEvent>): Promise<void> {
    const tag = this.deps.tags.next();
    const templates = this.#children.templates(this.deps.clock.now());
    const made: ChildRow[] = [];
    const verdicts = await this.deps.store.commit<FoldResult, 'changed' | 'lost'>(
      {
        run: async (items) => {
          const inputs = items.map((item) => this.#row(item));
          const rows = await this.#writer.write(inputs, tag, templates.rowsFor(inputs));
          checkTag(tag, rows.pop()?.id);
          const lost = new Set<string>();
          for (const row of rows)
            if (row.child === null) lost.add(row.id);
            else made.push(row as ChildRow);
          return items.map(({ draft: { after } }) => (lost.has(after.id) ? 'lost' : 'changed'));
        },
        readBack: async (items) => {
          templates.doubt();
          const tags = await this.deps.store.readBack(items);
          return items.map(({ draft }) => {
            const found = tags.get(draft.after.id);
            return found === undefined ? null : found === tag ? 'changed' : 'lost';
          });
        },
      },
      decided,
      ({ draft }) => draft.after.workspaceId,
    );
    // The batcher counts events, of which one actor may have a hundred.
    if (verdicts.some(hasOverrun)) batcher.ease(decided.flatMap(({ answers }) => answers).length);
    this.#conclude(decided, verdicts, tag);
    for (const [kind, drafts] of templates.instantiate(made)) this.deps.childrenSpawned(kind, drafts);
  }

  #row({ draft, answers }: FoldResult): Record<string, unknown> {
    const handled = answers.flatMap(({ pending: { outboxId } }) => outboxId ?? []);
    const row = this.deps.store.sql.commitRow(draft, this.#isAlone(draft));
    row.held_by = this.deps.store.heldBy(draft);
    if (handled.length > 0) row.handled = handled;
    return row;
  }

  /** True of the second write of an actor without a due row. */
  #isAlone({ before, after }: Draft): boolean {
    return before?.revision === 1 && this.deps.localLeases?.isAlone(after.id) === true;
  }

  #conclude(
    decided: readonly FoldResult[],
    verdicts: readonly Verdict<'changed' | 'lost'>[],
    tag: number,
  ): void {
    const committed: Draft[] = [];
    decided.forEach(({ draft, answers }, index) => {
      const verdict = verdicts[index] as Verdict<'changed' | 'lost'>;
      if ('committed' in verdict && verdict.committed === 'changed') {
        this.actors.keep(draft.after, this.deps.clock.now());
        this.deps.localLeases?.settled(draft.after.id);
        committed.push(draft);
        for (const { pending, result } of answers) pending.settle(result);
        return;
      }
      const events = answers.map(({ pending }) => pending);
      this.actors.forget(draft.after.id);
      if ('committed' in verdict) {
        this.#lostRaces++;
        this.#writer.lost();
        this.#decideAgain(events);
      } else if ('poisoned' in verdict) this.#poisoned(events, verdict.poisoned);
      else this.#undelivered(events, verdict.failed, tag);
    });
    if (committed.length > 0) this.deps.committed(committed);
  }

  /**
   * An idempotency key that another instance took in the meantime is no poison: the next try replays its
   * reply.
   */
  #poisoned(events: readonly PendingEvent[], error: unknown): void {
    if (events.some(({ claim, decisions }) => claim && mayBeRepetition(error, decisions)))
      return this.#decideAgain(events);
    if (events.length === 1) return events[0]?.fail(error);
    // One of them is at fault. Run separately, in their order, they show which.
    for (const pending of events) pending.alone = true;
    this.#lanes.unshift(events);
  }

  /**
   * Decides the same events again on the current actor, since its revision had moved on. It repeats as long
   * as there is time: each round has a winner, but under load the same instance may lose many in a row (182
   * of 13,000 events lost 20).
   */
  #decideAgain(events: readonly PendingEvent[]): void {
    for (const pending of events) pending.decisions++;
    this.#lanes.unshift(events);
  }

  /**
   * The database did not take the batch: callers get the error, outcomes of performed orders are tried again.
   */
  #undelivered(events: readonly PendingEvent[], error: unknown, tag: number | null = null): void {
    const now = this.deps.clock.monotonic();
    const patient: PendingEvent[] = [];
    for (const pending of events) {
      this.actors.forget(pending.id);
      if (error instanceof UnavailableError && (pending.patientUntil ?? 0) > now) {
        if (tag !== null && error.applied === 'unknown') pending.doubts.push(tag);
        patient.push(pending);
      } else pending.fail(error);
    }
    if (patient.length > 0) this.#lanes.unshift(patient, REST_MS);
  }
}
