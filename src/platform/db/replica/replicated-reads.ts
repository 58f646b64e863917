import { setTimeout as pause } from 'node:timers/promises';
import { BatchedRead } from '../../async/batched-read.ts';
import type { Database, Orm, Parameter, QueryOptions, ReadOptions } from '../database.ts';
import type { ReadOrm, Reads } from '../reads.ts';
import { serverUrls } from '../server/server-urls.ts';
import { NotFromReplica, Replica, type ReplicaFailure } from './replica.ts';
import { LeaderPosition, type WalPosition } from './wal-position.ts';

/** The rest between two looks at a replica that reads are kept from. */
const EXAMINE_MS = 1_000;
/**
 * The time between two questions for the leader's position, so that reads cost the leader two hundred a
 * second at the most: lists ask two to four times each, which took 0.2 to 0.6 ms of its processor time a
 * list.
 */
const ASKED_APART_MS = 5;

/**
 * The server that answered a read: a replica, or the leader with the reason. `resting`: no replica is in use
 * just now.
 */
export type ReadRoute = 'replica' | 'resting' | 'leader away' | ReplicaFailure;

/** Why reads are kept from a replica; null while they are not. */
export type ReplicaExclusion = ReplicaFailure | 'unknown' | null;

export interface ReplicaState {
  readonly server: string;
  /** Why reads are kept from it; null while they are not. */
  readonly reason: ReplicaExclusion;
  /** The wait of the last read for it to catch up, in milliseconds. */
  readonly waitedMs: number;
}

/**
 * The failures that concern the replica, and not one read. Reads are kept from it until it was seen to be fit
 * again.
 */
const OF_REPLICA: ReadonlySet<ReplicaFailure> = new Set<ReplicaFailure>([
  'behind',
  'primary',
  'no replica',
  'another cluster',
  'another timeline',
  'away',
]);

interface ReplicaEntry {
  readonly replica: Replica;
  reason: ReplicaExclusion;
}

/**
 * Reads the state at the beginning of the read from replicas: each read asks the leader for its position
 * (those that ask while a question is under way, or within five milliseconds of it, share the next one), and
 * takes the replica only once it has replayed up to that. So a read sees every write that any instance
 * answered before. If a replica cannot answer, the leader does.
 */
export class ReplicatedReads implements Reads {
  readonly #followed: readonly ReplicaEntry[];
  readonly #position: BatchedRead<null, WalPosition>;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #counts = new Map<ReadRoute, number>();
  #isLooking = false;
  #closed = false;
  #turn = 0;

  constructor(
    private readonly leader: Database,
    url: string,
    /**
     * Is called when reads are kept from a replica, with the reason and its cause, and with null when they
     * are not any more.
     */
    private readonly noted: (server: string, reason: ReplicaExclusion, cause?: unknown) => void = () => {},
  ) {
    this.#followed = (serverUrls(url) ?? [url]).map((each) => ({
      replica: new Replica(each),
      // It has not been looked at yet.
      reason: 'unknown',
    }));
    const ofLeader = new LeaderPosition(leader);
    this.#position = new BatchedRead(
      'replicaPosition',
      async () => {
        const position = await ofLeader.read();
        return () => position;
      },
      undefined,
      1,
      () => pause(ASKED_APART_MS),
    );
    this.#timer = setInterval(() => this.#look(), EXAMINE_MS);
    this.#timer.unref();
    this.#look();
  }

  query<Row extends object>(
    text: string,
    parameters: readonly Parameter[] = [],
    options: QueryOptions = {},
  ): Promise<readonly Row[]> {
    return this.#run(
      async (replica, position) =>
        (await replica.query(position, text, parameters, options)) as readonly Row[],
      () => this.leader.query<Row>(text, parameters, options),
    );
  }

  read<Result extends object>(
    run: (orm: ReadOrm) => PromiseLike<Result>,
    options?: ReadOptions,
  ): Promise<Readonly<Result>> {
    return this.#run(
      (replica, position) => replica.read(position, (orm: Orm) => run(orm), options),
      () => this.leader.read((orm) => run(orm), options),
    );
  }

  /** The replicas, in the order of the setting. */
  get states(): readonly ReplicaState[] {
    return this.#followed.map(({ replica, reason }) => ({
      server: replica.name,
      reason,
      waitedMs: replica.waitedMs,
    }));
  }

  /** The reads by who answered them. */
  get counts(): ReadonlyMap<ReadRoute, number> {
    return this.#counts;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await Promise.all(this.#followed.map(({ replica }) => replica.close()));
  }

  async #run<T>(
    fromReplica: (replica: Replica, position: WalPosition) => Promise<T>,
    fromLeader: () => Promise<T>,
  ): Promise<T> {
    const followed = this.#next();
    if (!followed) return this.#count('resting', fromLeader);
    let position: WalPosition;
    try {
      position = await this.#position.ask(null);
    } catch {
      // It says itself what is wrong with it.
      return this.#count('leader away', fromLeader);
    }
    try {
      const result = await fromReplica(followed.replica, position);
      this.#add('replica');
      return result;
    } catch (error) {
      // An error that a read throws before it is sent, it throws at the leader as well.
      const reason = error instanceof NotFromReplica ? error.reason : 'error';
      if (OF_REPLICA.has(reason)) this.#note(followed, reason, error);
      return this.#count(reason, fromLeader);
    }
  }

  /** The replica with the fewest reads under way, in turn where several have as few. */
  #next(): ReplicaEntry | undefined {
    const count = this.#followed.length;
    const from = this.#turn++ % count;
    let best: ReplicaEntry | undefined;
    for (let step = 0; step < count; step++) {
      const each = this.#followed[(from + step) % count] as ReplicaEntry;
      if (each.reason === null && (!best || each.replica.load < best.replica.load)) best = each;
    }
    return best;
  }

  #count<T>(answered: ReadRoute, read: () => Promise<T>): Promise<T> {
    this.#add(answered);
    return read();
  }

  #add(answered: ReadRoute): void {
    this.#counts.set(answered, (this.#counts.get(answered) ?? 0) + 1);
  }

  /** Looks at every replica that reads are kept from, one look at a time. */
  #look(): void {
    const resting = this.#followed.filter(({ reason }) => reason !== null);
    if (this.#isLooking || resting.length === 0) return;
    this.#isLooking = true;
    void Promise.all(resting.map((each) => this.#examine(each))).finally(() => {
      this.#isLooking = false;
    });
  }

  async #examine(followed: ReplicaEntry): Promise<void> {
    try {
      await followed.replica.examine(await this.#position.ask(null));
      this.#note(followed, null);
    } catch (error) {
      // A leader that cannot be asked says nothing about its replicas.
      if (error instanceof NotFromReplica) this.#note(followed, error.reason, error);
    }
  }

  #note(followed: ReplicaEntry, reason: ReplicaExclusion, error?: unknown): void {
    if (this.#closed || followed.reason === reason) return;
    followed.reason = reason;
    this.noted(followed.replica.name, reason, error instanceof Error ? error.cause : undefined);
  }
}
