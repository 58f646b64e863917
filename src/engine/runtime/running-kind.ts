import type { Logger } from 'pino';
import { Definitions, type MachineOf } from '../machine/definitions.ts';
import type { Draft, Order } from '../machine/draft.ts';
import { LEFT_TO_CLOCK, type PendingEvent, TIMERS_DUE } from '../machine/fold.ts';
import type { ActorEvent, Kind } from '../machine/kind.ts';
import type { Claim, EventResult, Scope } from '../machine/result.ts';
import { type Share, WHOLE_SHARE } from '../machine/share.ts';
import type { ActorRow } from '../machine/storage.ts';
import type { CommitTags } from '../store/commit.ts';
import { type LeaseFaults, type LeaseTimes, LocalLeases } from '../store/local-leases.ts';
import { OpenStore, type StoreParts } from '../store/open-store.ts';
import { Actors } from './known-actors.ts';
import { Mailbox } from './mailbox.ts';
import { OrderRunner, type Performer } from './performers.ts';
import { SpawnQueue } from './spawn-queue.ts';

/**
 * Additions to the events of timers, by the definition of their actors: facts that a machine needs at the
 * moment of a timer and that no event brought. It is called once for all actors that were claimed together.
 * @throws UnavailableError
 */
export type TimersSay = (definitionIds: readonly string[]) => Promise<ReadonlyMap<string, object>>;

/** A kind, with the performer of its orders. */
export interface Registration {
  readonly kind: Kind;
  readonly performer?: Performer;
  /** The definitions, for a kind that has them. */
  readonly machineOf?: MachineOf;
  /** The additions to the events of timers, for a kind with definitions. */
  readonly timersSay?: TimersSay;
  /** This process's share in the kind; all of it when absent. */
  readonly share?: Share;
}

/** The options of sending an event. */
export interface TellOptions<C = Claim> {
  /** The actor is absent outside it. */
  readonly scope?: Scope;
  readonly claim?: C | undefined;
  /** The wait for a database that is away, in milliseconds; no wait when absent. */
  readonly patienceMs?: number;
  /** Consecutive events with the same one are written by one commit. */
  readonly report?: object;
  /** True when no caller waits: the event is written apart from those that callers wait for. */
  readonly isBulk?: boolean | undefined;
}

type PushOptions = TellOptions & Pick<PendingEvent, 'read' | 'outboxId' | 'workspaceId'>;

/** The parts that every kind of an engine shares. */
export interface KindParts extends StoreParts {
  readonly logger: Logger;
  /** Actors of a kind kept in memory; 0 reads each from its row before each event (tests). */
  readonly keptActors?: number;
  /** Definitions of a kind kept compiled (tests). */
  readonly keptDefinitions?: number;
  /** When instances count as gone (tests). */
  readonly keeping?: Partial<LeaseTimes>;
  /** The time that callers wait (tests: busy machines run them too). */
  readonly callerWaitsMs?: number | undefined;
  /** Safeguards to leave out of local leases (chaos). */
  readonly keepingFaults?: LeaseFaults;
}

/** The calls from a kind to its engine. */
export interface KindHooks {
  readonly tags: CommitTags;
  shareOf(kind: Kind): Share;
  localLeasesOf(kind: Kind): LocalLeases | null;
  committed(kind: Kind, drafts: readonly Draft[]): void;
  childrenSpawned(kind: Kind, drafts: readonly Draft[]): void;
  /** An order has ended: there may be room where there was none. */
  roomCame(): void;
  /** True when other instances live. */
  hasOthers(): boolean;
}

/** Above this many queued events of a kind, nothing is begun that would add more. */
const BUSY = 5_000;

/** HTTP answers 503 after 8 s, so that its callers wait a little less. */
const CALLER_WAITS_MS = 7_000;

/** An outcome that was performed is worth more patience than a request: it is tried until this has passed. */
export const OUTCOME_PATIENCE_MS = 60_000;

/** An insert waits for the database only as long as its caller can keep the request's data in memory. */
const BEGINNING_PATIENCE_MS = 5_000;

/** One kind as it runs in this process: its queues, the actors it remembers, and what performs its orders. */
export class RunningKind {
  readonly kind: Kind;
  readonly share: Share;
  readonly store: OpenStore;
  readonly actors: Actors;
  readonly definitions: Definitions;
  readonly mailbox: Mailbox;
  readonly spawnQueue: SpawnQueue;
  readonly performing: OrderRunner | null;
  readonly localLeases: LocalLeases | null;
  readonly #timersSay: TimersSay | undefined;

  constructor(
    { kind, performer, machineOf, timersSay, share = WHOLE_SHARE }: Registration,
    private readonly parts: KindParts,
    hooks: KindHooks,
  ) {
    const { database, clock, logger } = parts;
    this.kind = kind;
    this.store = new OpenStore(kind, parts);
    this.share = share;
    this.#timersSay = timersSay;
    this.definitions = new Definitions(kind, machineOf, parts.keptDefinitions);
    this.actors = new Actors(kind, parts.keptActors);
    this.localLeases = this.store.sql.keepsLeases
      ? new LocalLeases(kind, {
          database,
          clock,
          logger,
          times: parts.keeping,
          faults: parts.keepingFaults,
          hasOthers: hooks.hasOthers,
          leave: (id) => this.push(id, { type: LEFT_TO_CLOCK, at: clock.now() }),
        })
      : null;
    const deps = {
      database,
      clock,
      store: this.store,
      callerWaitsMs: parts.callerWaitsMs ?? CALLER_WAITS_MS,
      tags: hooks.tags,
      shareOf: hooks.shareOf,
      localLeasesOf: hooks.localLeasesOf,
      localLeases: this.localLeases,
      committed: (drafts: readonly Draft[]) => hooks.committed(kind, drafts),
      childrenSpawned: (child: Kind, drafts: readonly Draft[]) => hooks.childrenSpawned(child, drafts),
    };
    this.performing = performer ? this.#performing(performer, () => hooks.roomCame()) : null;
    this.mailbox = new Mailbox(kind, this.definitions, this.actors, deps);
    this.spawnQueue = new SpawnQueue(kind, this.definitions, this.actors, deps);
  }

  /**
   * The new actors of this kind that this process holds when commits of other kinds make them; null when the
   * clock has to.
   */
  get childLeases(): LocalLeases | null {
    return this.store.keepsChildren ? this.localLeases : null;
  }

  /** The number of further actors that could begin something without waiting in memory. */
  get room(): number {
    return Math.min(this.performing?.room ?? Number.MAX_SAFE_INTEGER, this.#untilBusy);
  }

  /** The same for due actors, whose orders have to start in time. */
  get roomForDue(): number {
    return Math.min(this.performing?.roomForDue ?? Number.MAX_SAFE_INTEGER, this.#untilBusy);
  }

  /** The same for actors that wait for the performer. */
  get roomForOffers(): number {
    return Math.min(this.performing?.roomForOffers ?? 0, this.#untilBusy);
  }

  /** The same for bulk actors. */
  get roomForBulk(): number {
    return Math.min(this.performing?.roomForBulk ?? 0, this.#untilBusy);
  }

  get #untilBusy(): number {
    return BUSY - this.mailbox.waiting;
  }

  /**
   * Fires the timers of actors that are due at a moment; settles each once that is durable. Where they were
   * claimed, one that has none is written as well, for the claim has moved when it is due. @throws
   * UnavailableError
   */
  async fireTimers(
    rows: readonly Pick<ActorRow, 'id' | 'definition_id'>[],
    at: number,
    isClaimed: boolean,
  ): Promise<readonly PromiseSettledResult<EventResult>[]> {
    const ids = new Set(rows.flatMap(({ definition_id }) => definition_id ?? []));
    const said = ids.size > 0 ? await this.#timersSay?.([...ids]) : undefined;
    return Promise.allSettled(
      rows.map(({ id, definition_id }) => {
        const event = { type: TIMERS_DUE, at, isClaimed, says: said?.get(definition_id ?? '') };
        return this.push(id, event);
      }),
    );
  }

  /**
   * An event for an actor of the kind; settles once the change is durable, or at once when it is refused.
   * @throws UnavailableError
   */
  push(id: string, event: ActorEvent, options: PushOptions = {}): Promise<EventResult> {
    return new Promise((settle, fail) => this.#post(id, event, options, settle, fail));
  }

  #post(
    id: string,
    event: ActorEvent,
    { scope, workspaceId, claim, patienceMs, report, isBulk, outboxId, read }: PushOptions,
    settle: PendingEvent['settle'],
    fail: PendingEvent['fail'],
  ): void {
    const since = this.parts.clock.monotonic();
    const patientUntil = patienceMs === undefined ? undefined : since + patienceMs;
    this.mailbox.push({
      id,
      event,
      scope,
      workspaceId,
      claim,
      outboxId,
      patientUntil,
      report,
      isBulk,
      read,
      since,
      settle,
      fail,
      decisions: 0,
      alone: false,
      doubts: [],
    });
  }

  /** Lets queued work finish. */
  async drained(): Promise<void> {
    await this.spawnQueue.drained();
    await this.mailbox.drained();
  }

  #performing(performer: Performer, ended: () => void): OrderRunner {
    return new OrderRunner(
      performer,
      (order, events) => this.#report(order, events),
      (order, error) =>
        this.parts.logger.error(
          { err: error, actor: order.actor.id, order: order.effect.type },
          'An order failed; its lease will end.',
        ),
      (order, event) =>
        this.push(order.actor.id, event, { patienceMs: BEGINNING_PATIENCE_MS, isBulk: order.isBulk }),
      ended,
    );
  }

  /**
   * Reports the outcome of its order to the actor; several events in the order of their time. Resolves once
   * they are durable or given up. One promise for all of them, since every email of the simulator takes this
   * way.
   */
  #report(order: Order, events: readonly ActorEvent[]): Promise<void> {
    const { isBulk, actor } = order;
    const { id, workspaceId } = actor;
    const options = { patienceMs: OUTCOME_PATIENCE_MS, report: order, workspaceId, isBulk };
    return new Promise((resolve) => {
      let left = events.length;
      if (left === 0) resolve();
      const settle = (): void => {
        if (--left === 0) resolve();
      };
      const fail = (error: unknown): void => {
        this.parts.logger.error({ err: error, actor: id }, 'An outcome could not be recorded.');
        settle();
      };
      for (const event of events) this.#post(id, event, options, settle, fail);
    });
  }
}
