import type { Database } from '../db/database.ts';
import { isDistributed } from '../db/distribution/catalogue.ts';
import type { Shards } from '../db/distribution/shards.ts';
import type { Clock } from '../time/clock.ts';
import { type ActorReader, type ActorRow, actorReader } from './actors.ts';
import { type Claimed, Claims } from './claims.ts';
import type { Kind } from './kind.ts';
import { wakeWriting } from './wake-at.ts';

/** Due actors woken at once. */
const BATCH = 500;
/** A claimer that dies holds its claims no longer than this. */
const CLAIM_MS = 5_000;
/**
 * For so long after something was found that could not be woken, what is due is claimed: another instance, which is not known yet, wakes it
 * as well, or it cannot be woken at all.
 */
const CLAIMING_MS = 60_000;

/** What the clock does with what is due. */
export interface Wakeable {
  readonly kind: Kind;
  /** Which rows of the kind, as SQL; all of them when absent. */
  readonly where?: string | undefined;
  /** Those that are not taken for want of room wait until `roomCame` says that there is some, or for the next tick. */
  readonly waitsForRoom?: boolean;
  /** How many due actors it can take now: nothing is claimed that would only wait in memory. */
  room(): number;
  /**
   * Resolves when their timers are committed. False when some of them are as they were: a claim has put off when they are due, and who
   * found them without one finds them again.
   */
  wake(rows: readonly ActorRow[], isClaimed: boolean): Promise<boolean>;
}

/** What was found of a kind: as much as there is, or as was asked for. */
interface Found {
  readonly due: readonly Claimed[];
  readonly isAll: boolean;
  readonly isClaimed: boolean;
}

/** A batch that is being woken. */
interface UnderWay {
  readonly due: readonly Claimed[];
  readonly ended: Promise<unknown>;
}

const NOTHING: UnderWay = { due: [], ended: Promise.resolve() };

/** What batches are found with. */
export interface BatchParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly shards: Shards | null;
  isStopped(): boolean;
  /** Whether another instance may wake the same. */
  areShared(): boolean;
}

/**
 * Finds, reads and wakes what is due of one kind, batch by batch. While nobody else wakes the same it needs no claim, which costs as much
 * as half of the turn that follows it. A claim is no safeguard: two who decide on the same are told apart by the revision.
 */
export class DueBatches {
  readonly #claims: Claims;
  readonly #read: ActorReader;
  /** Monotonic moment up to which what is due is claimed. */
  #claimsUntil = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly wakeable: Wakeable,
    private readonly parts: BatchParts,
  ) {
    const { database, clock, shards } = parts;
    const { kind, where } = wakeable;
    const ofShards = isDistributed(kind.table) ? shards : null;
    this.#claims = new Claims(kind, wakeWriting(clock), where, database, ofShards);
    this.#read = actorReader(database, kind, shards);
  }

  /**
   * Wakes what is due from a moment on, up to another one or now. Answers the moment up to which it did. While PostgreSQL writes the turns
   * of some, the next ones are found and read.
   */
  async wake(low: number, end: number | null): Promise<number> {
    const { room, waitsForRoom = false } = this.wakeable;
    let from = low;
    let upTo = low;
    let before = NOTHING;
    try {
      for (;;) {
        if (before.due.length > 0 && room() <= before.due.length) before = await endOf(before);
        upTo = end ?? this.parts.clock.now();
        const limit = Math.min(BATCH, room() - before.due.length);
        if (this.parts.isStopped() || limit <= 0) break;
        const found = await this.#find(from, upTo, limit, before.due);
        const rows = await this.#rowsOf(found.due);
        await before.ended;
        // Whoever stops leaves to others what was found meanwhile; what was claimed, when the claim has ended.
        if (this.parts.isStopped() && before.due.length > 0) break;
        before = this.#begin(rows, found);
        // What offers itself is taken at once, and only then is it known how much room is left.
        if (waitsForRoom) before = await endOf(before);
        if (found.isAll) break;
        // What was woken has moved; whatever somebody else has locked is found by the look afterwards.
        for (const { due_at } of found.due) from = Math.max(from, Math.floor(due_at));
      }
    } catch (error) {
      // What is being woken ends first; what went wrong first is told.
      await before.ended.catch(() => {});
      throw error;
    }
    await before.ended;
    return upTo;
  }

  /** What is due between two moments, but for what is being woken. */
  async #find(from: number, to: number, limit: number, underWay: readonly Claimed[]): Promise<Found> {
    const wanted = { from: iso(from), until: iso(to), limit };
    if (this.#isClaiming) {
      const due = await this.#claims.claim({ ...wanted, again: iso(this.parts.clock.now() + CLAIM_MS) });
      return { due, isAll: due.length < limit, isClaimed: true };
    }
    // Nothing says yet that they are not due any more; those before the moment are not looked at.
    const known = new Set(underWay.flatMap(({ id, due_at }) => (due_at >= from ? [id] : [])));
    const seen = await this.#claims.find({ ...wanted, limit: limit + known.size });
    const due = seen.filter(({ id }) => !known.has(id)).slice(0, limit);
    return { due, isAll: seen.length < limit + known.size, isClaimed: false };
  }

  /** What waits for room is in other hands before its row has moved. */
  get #isClaiming(): boolean {
    const { shards, clock, areShared } = this.parts;
    return (
      this.wakeable.waitsForRoom === true ||
      shards !== null ||
      areShared() ||
      clock.monotonic() < this.#claimsUntil
    );
  }

  #begin(rows: readonly ActorRow[], { due, isClaimed }: Found): UnderWay {
    if (rows.length === 0) return NOTHING;
    const ended = this.#wake(rows, isClaimed);
    // Until it is awaited, nobody else hears of its failure.
    ended.catch(() => {});
    return { due, ended };
  }

  async #wake(rows: readonly ActorRow[], isClaimed: boolean): Promise<void> {
    let areAllWoken = false;
    try {
      areAllWoken = await this.wakeable.wake(rows, isClaimed);
    } finally {
      if (!areAllWoken) this.#claimsUntil = this.parts.clock.monotonic() + CLAIMING_MS;
    }
  }

  /** Of a kind whose actors are rows they were found whole. */
  async #rowsOf(due: readonly Claimed[]): Promise<readonly ActorRow[]> {
    if (!this.wakeable.kind.life || due.length === 0) return due as readonly (Claimed & ActorRow)[];
    const workspaces = new Map(due.map(({ id, workspace_id }) => [id, workspace_id]));
    return this.#read([...workspaces.keys()], (id) => workspaces.get(id));
  }
}

/** Resolves when a batch has been woken: nothing is under way then. */
async function endOf({ ended }: UnderWay): Promise<UnderWay> {
  await ended;
  return NOTHING;
}

/** A moment (epoch ms) as statements take it. */
export const iso = (at: number): string => new Date(at).toISOString();
