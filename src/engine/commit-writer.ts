import type { Database } from '../db/database.ts';
import { isDuplicateIn } from '../db/sqlstate.ts';
import type { Clock } from '../time/clock.ts';
import type { StatementOptions } from './commit.ts';
import type { Kind } from './kind.ts';
import type { BatchStatement } from './statement-parts.ts';
import { commitStatement } from './statements.ts';
import { wakeWriting } from './wake-at.ts';

/** A row that a commit answers. */
export interface CommitAnswer {
  readonly id: string;
  /** null: the actor lost. Anything else: it is a child that this commit made. */
  readonly child: number | null;
  readonly workspace_id: string;
  readonly livemode: boolean | null;
}

type Row = Readonly<Record<string, unknown>>;

const byId = (a: Row, b: Row): number => ((a.id as string) < (b.id as string) ? -1 : 1);

/** For so long after a race that was lost, turns are written by the statement that leaves out losers: another is likely. */
const CONTENDED_MS = 1_000;

interface WriterDeps {
  readonly database: Pick<Database, 'query'>;
  readonly clock: Clock;
  readonly statements?: StatementOptions | undefined;
}

/** Runs the statements of a kind's commits. */
export class CommitWriter {
  readonly #statement: BatchStatement;
  /** Of a kind whose lives are appended: the statement that fails as a whole where one of its turns is taken. */
  readonly #uncontested: BatchStatement | null;
  /** Monotonic moment of the last race that was lost. */
  #lostAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly kind: Kind,
    private readonly deps: WriterDeps,
  ) {
    const wake = wakeWriting(deps.clock);
    const { statements } = deps;
    this.#statement = commitStatement(kind, wake, { ...statements, isContended: true });
    this.#uncontested =
      kind.life && !statements?.withoutRevisionCheck ? commitStatement(kind, wake, statements) : null;
  }

  /** An actor was changed by another instance, or another batch, in the meantime. */
  lost(): void {
    this.#lostAt = this.deps.clock.monotonic();
  }

  /** While nobody else decides on the same actors, turns are written by the statement that does not look for that. */
  async write(given: readonly Row[], tag: number, templates: readonly string[]): Promise<CommitAnswer[]> {
    const { database, clock } = this.deps;
    // Batches that wait for each other in any other order would deadlock.
    const rows = this.kind.life ? given.toSorted(byId) : given;
    const run = (statement: BatchStatement) => {
      const { sql, parameters } = statement.prepare(rows, tag, templates);
      return database.query<CommitAnswer>(sql, parameters, { name: 'commit' });
    };
    if (!this.#uncontested || clock.monotonic() < this.#lostAt + CONTENDED_MS) return run(this.#statement);
    try {
      return await run(this.#uncontested);
    } catch (error) {
      if (!isDuplicateIn(error, this.kind.life?.turns ?? '')) throw error;
      this.lost();
      return run(this.#statement);
    }
  }
}
