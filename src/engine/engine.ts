import { earliest } from './machine/decide.ts';
import { type Draft, hasTimers, isOnOwnTime, ordersOf } from './machine/draft.ts';
import type { ActorEvent, EventOfKind, Kind, KindName } from './machine/kind.ts';
import type { ClaimOf, EventResultOf, SpawnResultOf } from './machine/result.ts';
import { claims, ownOrders, WHOLE_SHARE } from './machine/share.ts';
import type { ActorRow } from './machine/storage.ts';
import { Outbox } from './runtime/outbox.ts';
import {
  type KindHooks,
  type KindParts,
  OUTCOME_PATIENCE_MS,
  type Registration,
  RunningKind,
  type TellOptions,
} from './runtime/running-kind.ts';
import type { SpawnRequest, SpawnRequestOf } from './runtime/spawn-queue.ts';
import { Scheduler, type SchedulerHealth } from './runtime/timers/scheduler.ts';
import { type Selection, type SelectionTeller, tellSelected } from './runtime/timers/tell-where.ts';
import { wakeablesOf } from './runtime/timers/waking.ts';
import { CommitTags } from './store/commit.ts';

export interface EngineParts extends KindParts {
  readonly kinds: readonly Registration[];
  /** Called once work is soon due that this process cannot begin: for want of a role, or of room. */
  readonly onLeftToOthers?: (() => void) | undefined;
}

/** The load of a kind, for the metrics. */
export interface Traffic {
  readonly kind: string;
  /** Events and new actors that wait for their commit. */
  readonly waiting: number;
  /** Actors of this process that were changed by another first, since the start. */
  readonly lostRaces: number;
}

/** An instance at rest sees no further ahead: what is due later it finds by its next look. */
const SOON_MS = 60_000;

const isDueSoon = ({ after }: Draft, now: number): boolean => {
  const at = earliest(after.timers);
  return at !== null && at <= now + SOON_MS;
};

/** Hears of commits, for the live view. */
export type CommitListener = (kind: Kind, drafts: readonly Draft[]) => void;

/**
 * Turns events into durable changes of actors. Commands, performers and the scheduler change them through
 * nothing else.
 */
export class Engine implements SelectionTeller {
  readonly #kinds = new Map<string, RunningKind>();
  readonly #listeners = new Set<CommitListener>();
  readonly #scheduler: Scheduler;
  readonly #outbox: Outbox;
  #stopping = false;
  #hasOthers = true;

  constructor(private readonly parts: EngineParts) {
    const hooks: KindHooks = {
      tags: new CommitTags(),
      shareOf: (kind) => this.#kinds.get(kind.name)?.share ?? WHOLE_SHARE,
      localLeasesOf: (kind) => this.#kinds.get(kind.name)?.childLeases ?? null,
      committed: (kind, drafts) => this.#committed(kind, drafts),
      childrenSpawned: (kind, drafts) => this.#childrenSpawned(kind, drafts),
      roomCame: () => this.#scheduler.roomCame(),
      hasOthers: () => this.#hasOthers,
    };
    for (const registration of parts.kinds)
      this.#kinds.set(registration.kind.name, new RunningKind(registration, parts, hooks));
    const timed = [...this.#kinds.values()].filter(({ kind }) => hasTimers(kind));
    const wakeables = timed.flatMap((running) => wakeablesOf(running, parts));
    this.#outbox = new Outbox(
      parts.database,
      parts.clock,
      (kind, id, event, outboxId) =>
        this.#running(kind).push(id, event, { outboxId, patienceMs: OUTCOME_PATIENCE_MS }),
      parts.logger,
    );
    this.#scheduler = new Scheduler(parts.database, parts.clock, wakeables, parts.logger, () =>
      parts.onLeftToOthers?.(),
    );
    for (const { performer } of parts.kinds) performer?.attached?.(this);
  }

  /** Starts the clock; before it, actors change only by events that the service sends them. */
  start(): void {
    // New actors are held by the process that carries out their orders; the clock knows of others from the
    // beginning.
    for (const { localLeases, share } of this.#kinds.values()) if (share.orders) localLeases?.start();
    this.#scheduler.start();
  }

  /** Lets work under way finish: claimed actors, queued events, running orders and their outcomes. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#scheduler.stop();
    for (const running of this.#kinds.values()) await running.drained();
    // All at once: while one kind finishes what takes it seconds, the others must not begin anything further.
    const kinds = [...this.#kinds.values()];
    await Promise.all(kinds.flatMap(({ performing }) => performing?.stopped() ?? []));
    for (const { mailbox } of kinds) await mailbox.drained();
    await Promise.all(kinds.flatMap(({ localLeases }) => localLeases?.stop() ?? []));
  }

  /** A new actor; settles once it is durable or was not admitted. @throws UnavailableError */
  spawn<Name extends KindName>(kind: Name, request: SpawnRequestOf<Name>): Promise<SpawnResultOf<Name>> {
    // The queue serves every kind: what it answers is of the kind that was asked for.
    return this.#running(kind).spawnQueue.spawn(request as SpawnRequest) as Promise<SpawnResultOf<Name>>;
  }

  /**
   * New actors that one statement writes, all or none (`SpawnQueue.spawnTogether`). @throws UnavailableError
   */
  spawnTogether<Name extends KindName>(
    kind: Name,
    requests: readonly SpawnRequestOf<Name>[],
  ): Promise<SpawnResultOf<Name>[]> {
    const spawned = this.#running(kind).spawnQueue.spawnTogether(requests as readonly SpawnRequest[]);
    return spawned as Promise<SpawnResultOf<Name>[]>;
  }

  /**
   * An event for an actor; settles once the change is durable, or at once when it is refused. @throws
   * UnavailableError
   */
  tell<Name extends KindName>(
    kind: Name,
    id: string,
    event: EventOfKind<Name>,
    options: TellOptions<ClaimOf<Name>> = {},
  ): Promise<EventResultOf<Name>> {
    return this.#running(kind).push(id, event, options as TellOptions) as Promise<EventResultOf<Name>>;
  }

  /**
   * Sends an event to an actor that the caller has read, which spares a read: the event holds for that
   * revision, and is refused at any other. @throws UnavailableError
   */
  tellRead<Name extends KindName>(
    kind: Name,
    read: ActorRow,
    event: EventOfKind<Name>,
  ): Promise<EventResultOf<Name>> {
    return this.#running(kind).push(read.id, event, { read }) as Promise<EventResultOf<Name>>;
  }

  /**
   * Fires the timers of an actor on its own time (`Kind.hasOwnTime`) that are due at that moment of it.
   * @throws UnavailableError
   */
  async fireTimers<Name extends KindName>(
    kind: Name,
    actor: Pick<ActorRow, 'id' | 'definition_id'>,
    at: number,
  ): Promise<EventResultOf<Name>> {
    const [fired] = await this.#running(kind).fireTimers([actor], at, true);
    if (fired?.status !== 'fulfilled') throw fired?.reason;
    return fired.value as EventResultOf<Name>;
  }

  /** An event for every actor that the selection finds. */
  tellWhere<Name extends KindName>(
    kind: Name,
    selection: Selection,
    eventFor: (reason: string) => EventOfKind<Name>,
    stop?: AbortSignal,
  ): Promise<number> {
    const running = this.#running(kind);
    const deps = {
      database: this.parts.database,
      kind: running.kind,
      tell: (read: ActorRow, event: ActorEvent) => running.push(read.id, event, { read }),
      isStopped: () => this.#stopping || stop?.aborted === true,
    };
    return tellSelected(deps, selection, eventFor);
  }

  /** Delivers events of the outbox that an instance which died has left behind; a duty calls it. */
  recoverOutbox(): Promise<number> {
    return this.#outbox.recover();
  }

  /**
   * True while other processes leave new actors to this one: it looks for them more often than for other due
   * work.
   */
  expectAbandoned(areExpected: boolean): void {
    this.#scheduler.lookForAbandoned(areExpected);
  }

  /**
   * Sets whether another process wakes the same actors, so that due work has to be claimed. True until this
   * says otherwise.
   */
  shareTimers(areShared: boolean): void {
    this.#scheduler.shareTimers(areShared);
  }

  /**
   * Sets whether other instances live, whose writes this one can only find by looking. True until this says
   * otherwise.
   */
  expectOthers(areThere: boolean): void {
    const isNew = areThere !== this.#hasOthers;
    this.#hasOthers = areThere;
    if (isNew) for (const { localLeases } of this.#kinds.values()) localLeases?.look();
    this.#scheduler.expectOthers(areThere);
  }

  /** Looks at once: another process has left work to this one. */
  lookNow(): void {
    this.#scheduler.expect(this.parts.clock.now());
  }

  /** Looks at once and for a while: another process has ended, and its alarms with it. */
  othersLeft(): void {
    for (const { localLeases } of this.#kinds.values()) localLeases?.look();
    this.#scheduler.stayAwake();
  }

  /**
   * Takes up at once what instances of these epochs, which are gone, had in memory and had not begun; answers
   * its number. An attempt that was begun stays as it is: its lease is a timer of the email. @throws
   * UnavailableError
   */
  async takeUp(epochs: readonly number[]): Promise<number> {
    let number = 0;
    for (const { store } of this.#kinds.values()) number += await store.release(epochs);
    return number;
  }

  /** Calls the listener after each commit, until the returned function is called. */
  listen(listener: CommitListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** True when another order of the kind would start or wait, rather than be left to its lease. */
  hasRoom(kind: string): boolean {
    return this.room(kind) > 0;
  }

  /**
   * The number of further orders of the kind that would start or wait, rather than be left to their leases.
   */
  room(kind: string): number {
    return this.#running(kind).room;
  }

  /** Wakes what is due now instead of at the next tick, and waits for it (tests, catching up). */
  async wakeDue(): Promise<void> {
    await this.#scheduler.settled();
    this.#scheduler.sweep();
    await this.#scheduler.settled();
  }

  get scheduler(): SchedulerHealth {
    return this.#scheduler.health;
  }

  /** The load of each kind at the moment. */
  get traffic(): readonly Traffic[] {
    return [...this.#kinds].map(([kind, { mailbox, spawnQueue }]) => ({
      kind,
      waiting: mailbox.waiting + spawnQueue.waiting,
      lostRaces: mailbox.lostRaces,
    }));
  }

  get kinds(): readonly Kind[] {
    return [...this.#kinds.values()].map(({ kind }) => kind);
  }

  #running(kind: string): RunningKind {
    const running = this.#kinds.get(kind);
    if (!running) throw new Error(`No kind is called ${kind}.`);
    return running;
  }

  #childrenSpawned(kind: Kind, drafts: readonly Draft[]): void {
    const { actors } = this.#running(kind.name);
    for (const { after } of drafts) actors.keep(after, this.parts.clock.now());
    this.#committed(kind, drafts);
  }

  #committed(kind: Kind, drafts: readonly Draft[]): void {
    const { performing, share } = this.#running(kind.name);
    const isMine = ({ after, isLeft }: Draft) => !isLeft && !this.#stopping && claims(kind, share, after);
    if (performing)
      for (const order of ownOrders(
        kind,
        share,
        drafts.flatMap((draft) => (draft.isLeft ? [] : ordersOf(kind, draft))),
      ))
        if (this.#stopping) performing.decline(order, true);
        else performing.take(order);
    this.#scheduler.expect(
      Math.min(
        // Work that is left to other processes needs no look of this one.
        ...drafts.map((draft) => (isMine(draft) && earliest(draft.after.timers)) || Number.POSITIVE_INFINITY),
      ),
    );
    const isOthers = (draft: Draft) => !isMine(draft) && !isOnOwnTime(kind, draft.after);
    if (drafts.some((draft) => isOthers(draft) && isDueSoon(draft, this.parts.clock.now())))
      this.parts.onLeftToOthers?.();
    for (const { outbox } of drafts) if (outbox.length > 0) this.#outbox.post(outbox);
    for (const listener of this.#listeners)
      try {
        listener(kind, drafts);
      } catch (error) {
        this.parts.logger.error({ err: error }, 'A listener failed.');
      }
  }
}
