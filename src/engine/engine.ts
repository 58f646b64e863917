import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import type { Clock } from '../time/clock.ts';
import { type ActorRow, Actors } from './actors.ts';
import { CommitTags, type StatementOptions } from './commit.ts';
import { earliest } from './decide.ts';
import { type Deciders, Definitions, type MachineOf } from './definitions.ts';
import { type Draft, type Order, ordersOf } from './draft.ts';
import { LEFT_TO_CLOCK, type PendingEvent, TIMERS_DUE } from './fold.ts';
import { type KeepingFaults, type KeepingTimes, KeptBirths } from './kept-births.ts';
import {
  type Actor,
  type ActorEvent,
  type EventOfKind,
  hasTimers,
  type Kind,
  type KindName,
} from './kind.ts';
import { Mailbox } from './mailbox.ts';
import { Outbox } from './outbox.ts';
import { type Performer, Performing } from './performers.ts';
import type { Claim, ClaimOf, EventResult, EventResultOf, Scope, SpawnResultOf } from './result.ts';
import { Scheduler, type SchedulerHealth } from './scheduler.ts';
import { SpawnQueue, type SpawnRequest, type SpawnRequestOf } from './spawn-queue.ts';
import type { Wakeable } from './sweep.ts';
import { type Selection, type SelectionTeller, tellSelected } from './tell-where.ts';

/** A kind together with what performs its orders. */
export interface Registration {
  readonly kind: Kind;
  readonly performer?: Performer;
  /** Of a kind that has definitions: what they are. */
  readonly machineOf?: MachineOf;
}

/** How an event is told. */
export interface TellOptions<C = Claim> {
  /** The actor is absent outside it. */
  readonly scope?: Scope;
  readonly claim?: C | undefined;
  /** How long a database that is away is waited for; not at all when absent. */
  readonly patienceMs?: number;
  /** Events told with the same one, one after the other, are written by one commit. */
  readonly report?: object;
}

/** What the engine is built from. */
export interface EngineParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly kinds: readonly Registration[];
  /** Actors of a kind kept in memory; 0 reads each from its row before each event (tests). */
  readonly keptActors?: number;
  /** Definitions of a kind kept compiled (tests). */
  readonly keptDefinitions?: number;
  /** When instances count as gone (tests). */
  readonly keeping?: Partial<KeepingTimes>;
  /** Safeguards to leave out of the statements, and of what is kept (chaos). */
  readonly statements?: StatementOptions;
  readonly keepingFaults?: KeepingFaults;
}

/** How busy a kind is, for the metrics. */
export interface Traffic {
  readonly kind: string;
  /** Events and new actors that wait for their commit. */
  readonly waiting: number;
  /** Actors of this process that were changed by another first, since the start. */
  readonly lostRaces: number;
}

/** Hears of commits, for the live view. */
export type CommitListener = (kind: Kind, drafts: readonly Draft[]) => void;

interface Running {
  readonly registration: Registration;
  readonly actors: Actors;
  readonly definitions: Definitions;
  readonly mailbox: Mailbox;
  readonly spawnQueue: SpawnQueue;
  readonly performing: Performing | null;
  readonly keptBirths: KeptBirths | null;
}

/** Above this many queued events of a kind, nothing is begun that would add more. */
const BUSY = 5_000;

const roomOf = ({ performing, mailbox }: Running): number =>
  Math.min(performing?.room ?? Number.MAX_SAFE_INTEGER, BUSY - mailbox.waiting);

/** An outcome that was performed is worth more patience than a request: it is tried until this has passed. */
const OUTCOME_PATIENCE_MS = 60_000;

/** A beginning waits for the database only as long as whoever began can keep what it took for that. */
const BEGINNING_PATIENCE_MS = 5_000;

/** Turns events into durable changes of actors. Commands, performers and the scheduler change them through nothing else. */
export class Engine implements SelectionTeller {
  readonly #kinds = new Map<string, Running>();
  readonly #listeners = new Set<CommitListener>();
  readonly #scheduler: Scheduler;
  readonly #outbox: Outbox;
  #stopping = false;

  constructor(private readonly parts: EngineParts) {
    const tags = new CommitTags();
    for (const registration of parts.kinds) this.#register(registration, tags);
    const timed = [...this.#kinds.values()].filter(({ registration: { kind } }) => hasTimers(kind));
    const wakeables = timed.flatMap((running) => this.#wakeables(running));
    this.#outbox = new Outbox(
      parts.database,
      parts.clock,
      (kind, id, event, outboxId) =>
        this.#push(kind, id, event, { outboxId, patienceMs: OUTCOME_PATIENCE_MS }),
      parts.logger,
    );
    this.#scheduler = new Scheduler(parts.database, parts.clock, wakeables, parts.logger);
    for (const { performer } of parts.kinds) performer?.attached?.(this);
  }

  /** Starts the clock; before it, actors change only when they are told something. */
  start(): void {
    for (const { keptBirths } of this.#kinds.values()) keptBirths?.start();
    this.#scheduler.start();
  }

  /** Lets what is under way finish: claimed actors, queued events, running orders and their outcomes. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#scheduler.stop();
    for (const { mailbox, spawnQueue } of this.#kinds.values()) {
      await spawnQueue.drained();
      await mailbox.drained();
    }
    // All at once: while one kind finishes what takes it seconds, the others must not begin anything further.
    const kinds = [...this.#kinds.values()];
    await Promise.all(kinds.flatMap(({ performing }) => performing?.stopped() ?? []));
    for (const { mailbox } of kinds) await mailbox.drained();
    await Promise.all(kinds.flatMap(({ keptBirths }) => keptBirths?.stop() ?? []));
  }

  /** A new actor; settles once it is durable or was not admitted. @throws Unavailable */
  spawn<Name extends KindName>(kind: Name, request: SpawnRequestOf<Name>): Promise<SpawnResultOf<Name>> {
    // The queue serves every kind: what it answers is of the kind that was asked for.
    return this.#running(kind).spawnQueue.spawn(request as SpawnRequest) as Promise<SpawnResultOf<Name>>;
  }

  /** An event for an actor; settles once the change is durable, or at once when it is refused. @throws Unavailable */
  tell<Name extends KindName>(
    kind: Name,
    id: string,
    event: EventOfKind<Name>,
    options: TellOptions<ClaimOf<Name>> = {},
  ): Promise<EventResultOf<Name>> {
    return this.#push(kind, id, event, options as TellOptions) as Promise<EventResultOf<Name>>;
  }

  /** An event for every actor that the selection finds. */
  tellWhere<Name extends KindName>(
    kind: Name,
    selection: Selection,
    eventFor: (reason: string) => EventOfKind<Name>,
    stop?: AbortSignal,
  ): Promise<number> {
    const deps = {
      database: this.parts.database,
      kind: this.#running(kind).registration.kind,
      tell: (read: ActorRow, event: ActorEvent) => this.#push(kind, read.id, event, { read }),
      isStopped: () => this.#stopping || stop?.aborted === true,
    };
    return tellSelected(deps, selection, eventFor);
  }

  /** Delivers events of the outbox that an instance which died has left behind; a duty calls it. */
  recoverOutbox(): Promise<number> {
    return this.#outbox.recover();
  }

  /** Calls the listener after each commit, until the returned function is called. */
  listen(listener: CommitListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** True when another order of the kind would start or wait, rather than be left to its lease. */
  hasRoom(kind: string): boolean {
    return roomOf(this.#running(kind)) > 0;
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

  /** What each kind has to do at the moment. */
  get traffic(): readonly Traffic[] {
    return [...this.#kinds].map(([kind, { mailbox, spawnQueue }]) => ({
      kind,
      waiting: mailbox.waiting + spawnQueue.waiting,
      lostRaces: mailbox.lostRaces,
    }));
  }

  get kinds(): readonly Kind[] {
    return [...this.#kinds.values()].map(({ registration }) => registration.kind);
  }

  #register(registration: Registration, tags: CommitTags): void {
    const { kind, performer, machineOf } = registration;
    const { database, clock, keptActors, keptDefinitions, logger, statements } = this.parts;
    const definitions = new Definitions(kind, machineOf, keptDefinitions);
    const actors = new Actors(kind, keptActors);
    const keptBirths = kind.life
      ? new KeptBirths(kind, {
          ...{ database, clock, logger, times: this.parts.keeping, faults: this.parts.keepingFaults },
          leave: (id) => this.#push(kind.name, id, { type: LEFT_TO_CLOCK, at: clock.now() }),
        })
      : null;
    const deps = {
      database,
      clock,
      tags,
      statements,
      keptBirths,
      committed: (drafts: readonly Draft[]) => this.#committed(kind, drafts),
      childrenSpawned: (child: Kind, drafts: readonly Draft[]) => this.#childrenSpawned(child, drafts),
    };
    const performing = performer
      ? new Performing(
          performer,
          (order, events) => this.#report(order, events),
          (order, error) =>
            logger.error(
              { err: error, actor: order.actor.id, order: order.effect.type },
              'An order failed; its lease will end.',
            ),
          (order, event) =>
            this.#push(order.kind, order.actor.id, event, { patienceMs: BEGINNING_PATIENCE_MS }),
          () => this.#scheduler.roomCame(),
        )
      : null;
    this.#kinds.set(kind.name, {
      registration,
      actors,
      definitions,
      performing,
      keptBirths,
      mailbox: new Mailbox(kind, definitions, actors, deps),
      spawnQueue: new SpawnQueue(kind, definitions, actors, deps),
    });
  }

  #push(
    kind: string,
    id: string,
    event: ActorEvent,
    options: TellOptions & Pick<PendingEvent, 'read'> & { readonly outboxId?: string } = {},
  ): Promise<EventResult> {
    const { mailbox } = this.#running(kind);
    return new Promise((settle, fail) => {
      const { scope, claim, patienceMs, report, outboxId, read } = options;
      const since = this.parts.clock.monotonic();
      const patientUntil = patienceMs === undefined ? undefined : since + patienceMs;
      mailbox.push({
        id,
        event,
        scope,
        claim,
        outboxId,
        patientUntil,
        report,
        read,
        since,
        settle,
        fail,
        decisions: 0,
        alone: false,
        doubts: [],
      });
    });
  }

  #running(kind: string): Running {
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
    const performing = this.#running(kind.name).performing;
    if (performing)
      for (const order of drafts.flatMap((draft) => ordersOf(kind, draft)))
        if (this.#stopping) performing.decline(order);
        else performing.take(order);
    this.#scheduler.expect(
      Math.min(...drafts.map(({ after }) => earliest(after.timers) ?? Number.POSITIVE_INFINITY)),
    );
    for (const { outbox } of drafts) if (outbox.length > 0) this.#outbox.post(outbox);
    for (const listener of this.#listeners)
      try {
        listener(kind, drafts);
      } catch (error) {
        this.parts.logger.error({ err: error }, 'A listener failed.');
      }
  }

  /** Tells the actor what its order came to; several events in the order they happened. */
  async #report(order: Order, events: readonly ActorEvent[]): Promise<void> {
    const options = { patienceMs: OUTCOME_PATIENCE_MS, report: order };
    const told = events.map((event) =>
      this.#push(order.kind, order.actor.id, event, options).catch((error: unknown) =>
        this.parts.logger.error({ err: error, actor: order.actor.id }, 'An outcome could not be recorded.'),
      ),
    );
    await Promise.all(told);
  }

  /** What waits for its performer is claimed apart: it must keep nothing else of its kind waiting. */
  #wakeables(running: Running): readonly Wakeable[] {
    const { performing, registration } = running;
    const { kind } = registration;
    const due = {
      kind,
      room: () => roomOf(running),
      wake: (rows: readonly ActorRow[]) => this.#wake(running, rows),
    };
    if (!performing || !kind.offers) return [due];
    const { where, effect } = kind.offers;
    const offered: Wakeable = {
      kind,
      where,
      waitsForRoom: true,
      room: () => Math.min(performing.roomForOffers, BUSY - running.mailbox.waiting),
      wake: (rows) => this.#handOver(running, performing, effect, rows),
    };
    return [{ ...due, where: `not (${where})` }, offered];
  }

  async #handOver(
    running: Running,
    performing: Performing,
    effect: string,
    rows: readonly ActorRow[],
  ): Promise<void> {
    const { actors, registration } = running;
    const deciders = await running.definitions.load(rows.map((row) => row.definition_id));
    const at = this.parts.clock.now();
    for (const row of rows) {
      const actor = this.#keepNewer(actors, deciders, row, at);
      // What cannot be restored is told, and so reported; what has moved on since the claim speaks for itself.
      if (!actor) await this.#wake(running, [row]);
      else if (registration.kind.offers?.is(actor) === true)
        performing.take({ kind: registration.kind.name, actor, effect: { type: effect, params: {} } });
    }
  }

  async #wake(running: Running, rows: readonly ActorRow[]): Promise<void> {
    const { actors, registration } = running;
    const deciders = await running.definitions.load(rows.map((row) => row.definition_id));
    const at = this.parts.clock.now();
    const told = rows.map((row) => {
      this.#keepNewer(actors, deciders, row, at);
      return this.#push(registration.kind.name, row.id, { type: TIMERS_DUE, at });
    });
    for (const result of await Promise.allSettled(told))
      if (result.status === 'rejected')
        this.parts.logger.warn({ err: result.reason }, 'A due actor could not be woken; it stays due.');
  }

  /** A row that cannot be restored (a state of another version, a missing definition) is left to its event, which reports it. */
  #keepNewer(actors: Actors, deciders: Deciders, row: ActorRow, at: number): Actor | null {
    const known = actors.get(row.id);
    if (known && known.revision >= row.revision) return known;
    try {
      const actor = actors.restore(row, deciders);
      actors.keep(actor, at);
      return actor;
    } catch {
      actors.forget(row.id);
      return null;
    }
  }
}
