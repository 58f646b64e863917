import type { Database } from '../../platform/db/database.ts';
import { isDuplicateIn } from '../../platform/db/sqlstate.ts';
import type { Clock } from '../../platform/time/clock.ts';
import type { FactTable, Kind } from '../machine/kind.ts';
import type { ActorStore } from './actor-store.ts';

import { checkTag, type StatementOptions } from './commit.ts';
import type { BatchStatement, BoundStatement, Template } from './statements/statement-parts.ts';
import type { CommitOptions } from './statements/statements.ts';
import { HEARD, KnownTopics, SLOW, type Topic, topicsOf } from './statements/topics.ts';
import { wakeWriting } from './statements/wake-at.ts';
import { storeOf } from './store-of.ts';

/** A row that a commit answers. */
export interface CommitAnswer {
  readonly id: string;
  /** null: the actor lost. Anything else: it is a child that this commit made. */
  readonly child: number | null;
  readonly workspace_id: string;
  readonly livemode: boolean | null;
  readonly brought: string | null;
}

type Row = Readonly<Record<string, unknown>>;

const byId = (a: Row, b: Row): number => ((a.id as string) < (b.id as string) ? -1 : 1);

/**
 * For this time after a lost race, turns are written by the statement that leaves out losers: another race is
 * likely.
 */
const CONTENDED_MS = 1_000;

interface WriterDeps {
  readonly database: Pick<Database, 'query'>;
  readonly clock: Clock;
  readonly statements?: StatementOptions | undefined;
}

/** A commit in its two ways. */
interface Ways {
  readonly statement: BatchStatement;
  /**
   * The statement that fails as a whole if the key of one of its revisions is taken; null for a store without
   * such a key.
   */
  readonly uncontested: BatchStatement | null;
}

interface Batch {
  readonly rows: readonly Row[];
  readonly tag: number;
  readonly templates: readonly Template[];
  readonly topics: readonly Topic[];
}

const NO_TOPICS: ReadonlyMap<string, Topic> = new Map();

/** Runs the statements of a kind's commits. */
export class CommitWriter {
  readonly #store: ActorStore;
  readonly #heard: Ways;
  /**
   * For a kind whose commits record facts with listeners: the ways of writing without any listener, which
   * works on one server only.
   */
  readonly #unheard: (Ways & { readonly fact: FactTable }) | null;
  readonly #known: KnownTopics;
  /** Monotonic moment of the last race that was lost. */
  #lostAt = Number.NEGATIVE_INFINITY;

  constructor(
    kind: Kind,
    private readonly deps: WriterDeps,
  ) {
    const store = storeOf(kind);
    this.#store = store;
    const wake = wakeWriting(deps.clock);
    const { statements } = deps;
    const isRaced = store.revisionKeyIn !== null && !statements?.withoutRevisionCheck;
    const ways = (options: CommitOptions): Ways => ({
      statement: store.commit(wake, { ...options, isContended: true }),
      uncontested: isRaced ? store.commit(wake, options) : null,
    });
    const listeners = statements?.isDistributed ? null : store.listeners;
    this.#heard = ways({ ...statements });
    this.#unheard = listeners && { ...ways({ ...statements, isUnheard: true }), fact: listeners.fact };
    this.#known = new KnownTopics(deps.clock.monotonic);
  }

  /** An actor was changed by another instance, or another batch, in the meantime. */
  lost(): void {
    this.#lostAt = this.deps.clock.monotonic();
  }

  /**
   * A batch whose topics have no known listener is first written without any. Should there
   * be one by now, nothing was written, and the same batch is written for the listeners.
   */
  async write(given: readonly Row[], tag: number, templates: readonly Template[]): Promise<CommitAnswer[]> {
    // Batches that wait for each other in any other order would deadlock.
    const rows = this.#store.revisionKeyIn === null ? given : given.toSorted(byId);
    const topics = this.#unheard ? topicsOf(this.#unheard.fact, rows) : NO_TOPICS;
    const batch = { rows, tag, templates, topics: [...topics.values()] };
    if (this.#unheard && topics.size > 0 && !this.#known.isHeard(topics)) {
      const answers = await this.#run(this.#unheard, batch);
      const heard = answers.filter(({ child }) => child === HEARD);
      // A question that took long is not asked for a while.
      if (answers.some(({ child }) => child === SLOW)) for (const one of batch.topics) this.#known.note(one);
      if (heard.length === 0) return answers.filter(({ child }) => child !== SLOW);
      checkTag(tag, answers.at(-1)?.id);
      for (const { id: about, workspace_id: workspaceId, livemode } of heard)
        this.#known.note({ workspaceId, livemode: livemode === true, about });
    }
    return this.#run(this.#heard, batch);
  }

  /**
   * While no other process decides on the same actors, turns are written by the statement that does not look
   * for conflicts.
   */
  async #run(
    { statement, uncontested }: Ways,
    { rows, tag, templates, topics }: Batch,
  ): Promise<CommitAnswer[]> {
    const { database, clock } = this.deps;
    const run = (prepared: BoundStatement) =>
      database.query<CommitAnswer>(prepared.sql, prepared.parameters, { name: 'commit' });
    const contested = () => run(statement.prepare(rows, tag, templates, topics));
    if (!uncontested || clock.monotonic() < this.#lostAt + CONTENDED_MS) return contested();
    try {
      return await run(uncontested.prepare(rows, tag, templates, topics));
    } catch (error) {
      if (!isDuplicateIn(error, this.#store.revisionKeyIn ?? '')) throw error;
      this.lost();
      return contested();
    }
  }
}
