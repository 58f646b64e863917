import { Batcher, type BatchLimits } from './batcher.ts';

interface PendingRead<Question, Answer> {
  readonly question: Question;
  readonly settle: (answer: Answer) => void;
  readonly fail: (error: unknown) => void;
}

/** Answers many questions with one statement, in any order: each question then finds its own answer. */
export type ReadBatch<Question, Answer> = (
  questions: readonly Question[],
) => Promise<(question: Question) => Answer>;

/** Answers the questions that are asked at the same time with one statement. It caches nothing. */
export class BatchedRead<Question, Answer> {
  readonly #batcher: Batcher<PendingRead<Question, Answer>>;

  constructor(
    name: string,
    private readonly read: ReadBatch<Question, Answer>,
    limits?: BatchLimits,
    /**
     * Reads at once. Of two, one need not wait for another that began before it was asked for; of one, more
     * share a statement.
     */
    width: 1 | 2 = 2,
    /**
     * Begins with each statement; the next statement waits for its end, and shares the questions that come
     * meanwhile.
     */
    private readonly rest?: () => Promise<void>,
  ) {
    this.#batcher = new Batcher(name, (batch) => this.#work(batch), limits, width);
  }

  /** Returns the answer as of this call, or later. @throws UnavailableError, and what `read` throws */
  ask(question: Question): Promise<Answer> {
    return new Promise((settle, fail) => this.#batcher.push({ question, settle, fail }));
  }

  async #work(batch: readonly PendingRead<Question, Answer>[]): Promise<void> {
    const rested = this.rest?.();
    try {
      const answerTo = await this.read(batch.map(({ question }) => question));
      for (const { question, settle } of batch) settle(answerTo(question));
    } catch (error) {
      for (const { fail } of batch) fail(error);
    }
    await rested;
  }
}

/** Something of a workspace, by its id. */
export interface OwnedId {
  readonly id: string;
  readonly workspaceId: string;
}

/**
 * The same as `rowsById` for ids of known workspaces: in a distributed database the workspaces give the nodes
 * of the rows.
 */
export const rowsByOwner =
  <Row extends { readonly id: string }>(
    query: (ids: readonly string[], workspaceIds: readonly string[]) => Promise<readonly Row[]>,
  ): ReadBatch<OwnedId, Row | null> =>
  async (asked) => {
    const workspaceIds = [...new Set(asked.map(({ workspaceId }) => workspaceId))];
    const answerTo = await rowsById((ids) => query(ids, workspaceIds))(asked.map(({ id }) => id));
    return ({ id }) => answerTo(id);
  };

/**
 * Makes a read that answers ids with the rows of a query that has the id among its columns; null where there
 * is none.
 */
export const rowsById =
  <Row extends { readonly id: string }>(
    query: (ids: readonly string[]) => Promise<readonly Row[]>,
  ): ReadBatch<string, Row | null> =>
  async (ids) => {
    const rows = await query([...new Set(ids)]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return (id) => byId.get(id) ?? null;
  };
