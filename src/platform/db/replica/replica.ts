import { setTimeout as pause } from 'node:timers/promises';
import type postgres from 'postgres';
import { Semaphore } from '../../async/semaphore.ts';
import type { Orm, Parameter, QueryOptions, ReadOptions } from '../database.ts';
import { connect, DIRECT } from '../server/connect.ts';
import { findLink } from '../server/link.ts';
import { serverName } from '../server/server-urls.ts';
import { codeOf, isRetriable, TOOK_TOO_LONG } from '../sqlstate.ts';
import { ENGINE_SETTINGS, ormOver } from '../wire/orm-over.ts';
import { wireText } from '../wire/wire-text.ts';
import { type UnfitReason, unfitFor, type WalPosition } from './wal-position.ts';

/** Reads at once; further ones wait, and after `ANSWER_MS` the leader reads for them. */
const READS = 8;
const MOST_WAITING = 64;
/** The time that a replica has to say how far it is, its connection included. */
export const ANSWER_MS = 1_000;
/** The time that a read waits until the replica has replayed what the leader had when it was asked. */
export const CATCH_UP_MS = 250;
/** The time of the read itself. The leader then has a chance within the eight seconds of a request. */
export const READ_MS = 3_000;
/** The longest rest between two looks at how far it is. */
const LONGEST_LOOK_MS = 20;

/** Why a replica did not answer a read. */
export type ReplicaFailure = UnfitReason | 'busy' | 'away' | 'slow' | 'conflict' | 'error';

/** The error of a read that a replica did not answer. */
export class NotFromReplica extends Error {
  constructor(
    readonly reason: ReplicaFailure,
    options?: ErrorOptions,
  ) {
    super(`The replica did not answer: ${reason}.`, options);
  }
}

/**
 * The two sets of connections, as at the leader: Drizzle changes the parsers of its set, and searches are
 * planned freely.
 */
type Clients = Record<'engine' | 'reads', postgres.Sql>;

/**
 * A server that follows the leader. Each read asks it first, over the same connection, whether it has
 * replayed enough.
 */
export class Replica {
  readonly name: string;
  readonly #slots = new Semaphore(READS, undefined, MOST_WAITING);
  #clients: Clients;
  #link = DIRECT;
  #waitedMs = 0;
  #closed = false;

  constructor(private readonly url: string) {
    this.name = serverName(url);
    this.#clients = this.#open();
  }

  /** The number of reads under way, waiting ones included. */
  get load(): number {
    return this.#slots.taken + this.#slots.waiting;
  }

  /**
   * Statements keep their names as at the leader. If a server has lost one, the leader answers, and
   * connections are new.
   */
  get #keeps(): boolean {
    return !this.#link.isPooled;
  }

  /** The wait of the last read for the leader's position, in milliseconds. */
  get waitedMs(): number {
    return this.#waitedMs;
  }

  /** Runs one statement as of that position, or later. @throws NotFromReplica */
  query(
    position: WalPosition,
    text: string,
    parameters: readonly Parameter[],
    { isSearch = false, isPage = false }: QueryOptions,
  ): Promise<readonly object[]> {
    const values = parameters.map(wireText);
    return this.#run(position, isSearch || isPage ? 'reads' : 'engine', (transaction) =>
      transaction.unsafe(text, values, { prepare: this.#keeps && !isSearch }),
    );
  }

  /** Runs a Drizzle query as of that position, or later. @throws NotFromReplica */
  read<Result>(
    position: WalPosition,
    run: (orm: Orm) => PromiseLike<Result>,
    { prepared = false }: ReadOptions = {},
  ): Promise<Result> {
    return this.#run(position, 'reads', (transaction, client) =>
      run(ormOver(client, this.#keeps && prepared, transaction)),
    );
  }

  /** Finds out whether it can be read from, over new connections. @throws NotFromReplica */
  async examine(position: WalPosition): Promise<void> {
    this.#link = await findLink(this.url, ANSWER_MS);
    this.#replace();
    await this.#run(position, 'reads', async () => {});
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#slots.stop();
    await Promise.all(Object.values(this.#clients).map((client) => client.end({ timeout: 1 })));
  }

  async #run<T>(
    position: WalPosition,
    kind: keyof Clients,
    use: (transaction: postgres.TransactionSql, client: postgres.Sql) => PromiseLike<T>,
  ): Promise<T> {
    if (!(await this.#slots.take(1, AbortSignal.timeout(ANSWER_MS)))) throw new NotFromReplica('busy');
    const clients = this.#clients;
    const client = clients[kind];
    const { promise: late, reject } = Promise.withResolvers<never>();
    const giveUp = (reason: ReplicaFailure) => () => reject(new NotFromReplica(reason));
    let timer = setTimeout(giveUp('away'), ANSWER_MS + CATCH_UP_MS);
    // Facts about the server hold for one connection only: a name may lead to several servers, and a pooler
    // to several backends.
    const reading = client.begin('read only', async (transaction) => {
      await this.#caughtUp(transaction, position);
      clearTimeout(timer);
      timer = setTimeout(giveUp('slow'), READ_MS);
      return { result: await use(transaction, client) };
    });
    try {
      const { result } = (await Promise.race([reading, late])) as { result: T };
      return result;
    } catch (error) {
      const failure = error instanceof NotFromReplica ? error : notFromReplica(error);
      // A connection whose statement was ended half-way is not used again (src/platform/db/server/pool.ts
      // says why).
      if (!(error instanceof NotFromReplica) || SILENT.has(failure.reason)) this.#replace(clients);
      throw failure;
    } finally {
      clearTimeout(timer);
      reading.catch(() => {});
      this.#slots.release();
    }
  }

  async #caughtUp(transaction: postgres.TransactionSql, position: WalPosition): Promise<void> {
    const begun = performance.now();
    for (let restMs = 1; ; restMs = Math.min(restMs * 2, LONGEST_LOOK_MS)) {
      const unfit = await unfitFor(position, (text, parameters) =>
        transaction.unsafe(text, parameters, { prepare: this.#keeps }),
      );
      this.#waitedMs = performance.now() - begun;
      if (unfit === null) return;
      if (unfit !== 'behind' || this.#waitedMs + restMs > CATCH_UP_MS) throw new NotFromReplica(unfit);
      await pause(restMs);
    }
  }

  #open(): Clients {
    const name = 'posthorn reads';
    const { url } = this;
    const open = (settings: Record<string, string>) =>
      connect({
        url,
        name,
        max: READS,
        link: this.#link,
        settings: { ...settings, statement_timeout: `${READ_MS}` },
      });
    return { engine: open(ENGINE_SETTINGS), reads: open({}) };
  }

  /** Opens new connections in place of these; reads on the old ones may end. */
  #replace(old = this.#clients): void {
    if (this.#closed || old !== this.#clients) return;
    this.#clients = this.#open();
    const timeout = READ_MS / 1_000;
    for (const client of Object.values(old)) void client.end({ timeout }).catch(() => {});
  }
}

/** The failures that leave a connection with an answer still to come. */
const SILENT: ReadonlySet<ReplicaFailure> = new Set(['away', 'slow']);

/**
 * Replay takes precedence over reads: a statement in its way is ended (40001), or its connection is (57P01
 * and 40001 as well).
 */
function notFromReplica(cause: unknown): NotFromReplica {
  const code = codeOf(cause);
  if (isRetriable(cause)) return new NotFromReplica('conflict', { cause });
  if (code === TOOK_TOO_LONG) return new NotFromReplica('slow', { cause });
  // A SQLSTATE of the statement itself says nothing of the server: the leader would give the same.
  const isOfStatement = /^(?:0A|2[0-7]|42|54|XX)/.test(code);
  return new NotFromReplica(isOfStatement ? 'error' : 'away', { cause });
}
