import type { Database } from '../../platform/db/database.ts';
import { isDistributed } from '../../platform/db/distribution/catalogue.ts';
import type { Shards } from '../../platform/db/distribution/shards.ts';
import { type Clock, isoOf } from '../../platform/time/clock.ts';
import type { Draft } from '../machine/draft.ts';
import type { PendingEvent } from '../machine/fold.ts';
import type { Kind } from '../machine/kind.ts';
import { type ActorStore, readBackParameters } from './actor-store.ts';
import { type ActorReader, actorReader } from './actors.ts';
import { Claims } from './claims.ts';
import { type Commit, commitByShard, type StatementOptions, type Verdict } from './commit.ts';
import { CommitWriter } from './commit-writer.ts';
import type { BatchStatement } from './statements/statement-parts.ts';
import { wakeWriting } from './statements/wake-at.ts';
import { storeOf } from './store-of.ts';

/** A statement may take 7 s to fail; with this the caller still gets an answer within 8 s. */
const READ_BACK_MS = 900;
/**
 * No claim lasts longer, by far. The bound keeps the search for what an instance held from reading all that
 * is due some day.
 */
const HELD_MS = 60_000;
/** A commit waits for the rows that a statement has locked. */
const RELEASED_AT_ONCE = 1_000;

/** The parts that stores share. */
export interface StoreParts {
  readonly database: Database;
  readonly clock: Clock;
  /** Safeguards to leave out of the statements (chaos). */
  readonly statements?: StatementOptions | undefined;
  /** The shard of each workspace, where tables are distributed over several nodes; null on one server. */
  readonly shards?: Shards | null | undefined;
  /** The epoch of this instance; null while it has none. */
  readonly epoch?: (() => number | null) | undefined;
}

/**
 * The store of a kind on a database. Tables may be distributed over several nodes by the workspace: this is
 * the one place where the engine asks for that. It cuts a batch by the nodes, and statements then name the
 * workspaces of their batch.
 */
export class OpenStore {
  readonly sql: ActorStore;
  /** Reads actors by their ids. */
  readonly read: ActorReader;

  constructor(
    readonly kind: Kind,
    private readonly parts: StoreParts,
  ) {
    this.sql = storeOf(kind);
    this.read = actorReader(parts.database, kind, parts.shards);
  }

  get #isDistributed(): boolean {
    return this.parts.shards != null;
  }

  get #options(): StatementOptions {
    return { ...this.parts.statements, ...(this.#isDistributed && { isDistributed: true }) };
  }

  /**
   * True when an instance may keep what a commit of another kind makes: over several nodes no statement could
   * lock its term.
   */
  get keepsChildren(): boolean {
    return this.sql.keepsLeases && !this.#isDistributed;
  }

  /**
   * True when due actors are always claimed: over several nodes no statement skips the rows that others have
   * locked.
   */
  get claimsAlways(): boolean {
    return this.#isDistributed;
  }

  /**
   * True when a moment is known before which nothing due can be written any more. Several nodes may commit a
   * transaction after the coordinator has ended it.
   */
  get settles(): boolean {
    return !this.#isDistributed;
  }

  /** The statement that writes new actors. */
  insertStatement(): BatchStatement {
    return this.sql.insert(wakeWriting(this.parts.clock), this.#options);
  }

  /** The writer of changed actors. */
  writer(): CommitWriter {
    const { database, clock } = this.parts;
    return new CommitWriter(this.kind, { database, clock, statements: this.#options });
  }

  /** Finds and claims due actors; `where` leaves out others of the kind. */
  claims(where: string | undefined): Claims {
    const { database, clock, shards } = this.parts;
    const ofKind = isDistributed(this.kind.table) ? (shards ?? null) : null;
    return new Claims(this.kind, wakeWriting(clock), where, database, ofKind, () => this.#epoch);
  }

  get #epoch(): number | null {
    return this.parts.epoch?.() ?? null;
  }

  /**
   * The epoch of this instance, if a draft leaves the actor in its memory alone until it is due; else null.
   */
  heldBy({ after, effects }: Draft): number | null {
    const { offers } = this.kind;
    if (!this.sql.holds || offers === undefined) return null;
    const isTaken = offers.is(after) && effects.some(({ type }) => type === offers.effect);
    return isTaken ? this.#epoch : null;
  }

  /**
   * Has everything be due now that instances of these epochs hold, and answers its number. @throws
   * UnavailableError
   */
  async release(epochs: readonly number[]): Promise<number> {
    const { database, clock } = this.parts;
    if (!this.sql.holds || this.#isDistributed) return 0;
    const now = clock.now();
    const statement = this.sql.release(wakeWriting(clock));
    const parameters = [epochs.map(String), isoOf(now), isoOf(now + HELD_MS), RELEASED_AT_ONCE];
    for (let number = 0; ; ) {
      const [row] = await database.query<{ n: number }>(statement, parameters);
      const { n = 0 } = row ?? {};
      number += n;
      if (n < RELEASED_AT_ONCE) return number;
    }
  }

  /** Commits a batch: on one server at once, else for each node apart. */
  commit<Item, Result>(
    commit: Commit<Item, Result>,
    items: readonly Item[],
    workspaceOf: (item: Item) => string,
  ): Promise<readonly Verdict<Result>[]> {
    return commitByShard(this.parts.shards ?? null, commit, items, workspaceOf);
  }

  /** The events that have been handled after all. @throws UnavailableError */
  alreadyApplied(events: readonly PendingEvent[]): Promise<ReadonlySet<PendingEvent>> {
    return alreadyApplied(this.parts.database, this.kind, events);
  }

  /**
   * The tags of the commits that made the revisions of these drafts, by the actors' ids. @throws
   * UnavailableError
   */
  async readBack(
    items: readonly { readonly draft: Pick<Draft, 'after'> }[],
  ): Promise<ReadonlyMap<string, number>> {
    const rows = await this.parts.database.query<{ id: string; tag: number }>(
      this.sql.readBack(this.#isDistributed),
      readBackParameters(this.#isDistributed, items),
      { deadlineMs: READ_BACK_MS },
    );
    return new Map(rows.map(({ id, tag }) => [id, tag]));
  }
}

const STILL_THERE = 'select m.id from unnest($1::text[]) i(id) join actor_outbox m on m.id = i.id';

const commits = (kind: Kind): string => `select j.actor_id as id, j.commit_tag as tag
from json_to_recordset($1::text::json) as d(id text, tag integer)
join ${kind.journal} j on j.actor_id = d.id and j.commit_tag = d.tag`;

/**
 * The events that have been handled after all: those of a commit whose outcome was unknown but that the
 * journal now shows (a backend that lost its client may still finish its statement), and those that the
 * winner of a race has deleted from the outbox. Asks the database nothing where there is no doubt.
 */
async function alreadyApplied(
  database: Database,
  kind: Kind,
  events: readonly PendingEvent[],
): Promise<ReadonlySet<PendingEvent>> {
  const handled = new Set<PendingEvent>();
  const doubtful = events.filter(({ doubts }) => doubts.length > 0);
  if (doubtful.length > 0) {
    const asked = doubtful.flatMap(({ id, doubts }) => doubts.map((tag) => ({ id, tag })));
    const rows = await database.query<{ id: string; tag: number }>(commits(kind), [JSON.stringify(asked)]);
    for (const pending of doubtful)
      if (rows.some(({ id, tag }) => id === pending.id && pending.doubts.includes(tag))) handled.add(pending);
  }
  const beaten = events.filter(({ outboxId, decisions }) => outboxId !== undefined && decisions > 0);
  if (beaten.length > 0) {
    const rows = await database.query<{ id: string }>(STILL_THERE, [
      beaten.map(({ outboxId }) => outboxId as string),
    ]);
    const there = new Set(rows.map(({ id }) => id));
    for (const pending of beaten) if (!there.has(pending.outboxId as string)) handled.add(pending);
  }
  return handled;
}
