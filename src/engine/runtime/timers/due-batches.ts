import type { Database } from '../../../platform/db/database.ts';
import { isDistributed } from '../../../platform/db/distribution/catalogue.ts';
import type { Shards } from '../../../platform/db/distribution/shards.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import type { Kind } from '../../machine/kind.ts';
import { type ActorReader, type ActorRow, actorReader } from '../../store/actors.ts';
import { type Claimed, Claims } from '../../store/claims.ts';
import { forgetStrayStatement } from '../../store/statements/life-statements.ts';
import { wakeWriting } from '../../store/statements/wake-at.ts';

/** Due actors woken at once. */
const BATCH = 500;
/** A claimer that dies holds its claims no longer than this. */
const CLAIM_MS = 5_000;
/**
 * For so long after something was found that could not be woken, what is due is claimed: another instance, which is not known yet, wakes it
 * as well, or it cannot be woken at all, and would be found first for ever.
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
  /** Resolves when their timers are committed. */
  wake(rows: readonly ActorRow[], isClaimed: boolean): Promise<Woken>;
}

/** What waking a batch came to. */
export interface Woken {
  /** Actors that are as they were: somebody had changed them before, or they cannot be woken. */
  readonly left: readonly string[];
  /** Another instance decided on some of them, or they could not be told. */
  readonly isContested: boolean;
}

/** What one pass over what is due came to. */
interface Passed {
  /** Up to that moment it was looked for. */
  readonly upTo: number;
  /** There was room, and nothing was found. */
  readonly isNothing: boolean;
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
  readonly #forgetStray: string;
  /** Monotonic moment up to which what is due is claimed. */
  #claimsUntil = Number.NEGATIVE_INFINITY;
  /**
   * What the present pass could not wake, of all that is due and of the stretches of a backlog. Where it is found once more it needs a
   * claim, which puts it off.
   */
  readonly #left = { all: new Set<string>(), stretch: new Set<string>() };

  constructor(
    private readonly wakeable: Wakeable,
    private readonly parts: BatchParts,
  ) {
    const { database, clock, shards } = parts;
    const { kind, where } = wakeable;
    const ofShards = isDistributed(kind.table) ? shards : null;
    this.#claims = new Claims(kind, wakeWriting(clock), where, database, ofShards);
    this.#read = actorReader(database, kind, shards);
    this.#forgetStray = kind.life ? forgetStrayStatement(kind) : '';
  }

  /**
   * Wakes what is due from a moment on, up to another one or now. While PostgreSQL writes the turns of some, the next ones are found and
   * read.
   */
  async wake(low: number, end: number | null): Promise<Passed> {
    const { room, waitsForRoom = false } = this.wakeable;
    const pass = end === null ? 'all' : 'stretch';
    const leftBefore = this.#left[pass];
    const left = new Set<string>();
    this.#left[pass] = left;
    const isLeft = (id: string): boolean => leftBefore.has(id) || left.has(id);
    let from = low;
    let upTo = low;
    let found: Found | null = null;
    let count = 0;
    let before = NOTHING;
    try {
      for (;;) {
        if (before.due.length > 0 && room() <= before.due.length) before = await endOf(before);
        upTo = end ?? this.parts.clock.now();
        const limit = Math.min(BATCH, room() - before.due.length);
        if (this.parts.isStopped() || limit <= 0) break;
        found = await this.#find(from, upTo, limit, before.due, isLeft);
        count += found.due.length;
        const rows = await this.#rowsOf(found.due, left);
        await before.ended;
        // Whoever stops leaves to others what was found meanwhile; what was claimed, when the claim has ended.
        if (this.parts.isStopped() && before.due.length > 0) break;
        before = this.#begin(rows, found, left);
        // What offers itself is taken at once, and only then is it known how much room is left.
        if (waitsForRoom) before = await endOf(before);
        if (found.isAll) break;
        // What was woken has moved; whatever somebody else has locked is found by the look afterwards.
        for (const { due_at } of found.due) from = Math.max(from, Math.floor(due_at));
      }
    } catch (error) {
      // What cannot be read would be found first for ever; a claim puts it off.
      this.#claimForAWhile();
      // What is being woken ends first; what went wrong first is told.
      await before.ended.catch(() => {});
      throw error;
    }
    await before.ended;
    return { upTo, isNothing: found !== null && count === 0 };
  }

  /** What is due between two moments, but for what is being woken. */
  async #find(
    from: number,
    to: number,
    limit: number,
    underWay: readonly Claimed[],
    isLeft: (id: string) => boolean,
  ): Promise<Found> {
    const wanted = { from: iso(from), until: iso(to), limit };
    if (this.#isClaiming) {
      const due = await this.#claims.claim({ ...wanted, again: iso(this.parts.clock.now() + CLAIM_MS) });
      return { due, isAll: due.length < limit, isClaimed: true };
    }
    // Nothing says yet that they are not due any more; those before the moment are not looked at.
    const known = new Set(underWay.flatMap(({ id, due_at }) => (due_at >= from ? [id] : [])));
    const seen = await this.#claims.find({ ...wanted, limit: limit + known.size });
    if (seen.some(({ id }) => isLeft(id))) {
      this.#claimForAWhile();
      return this.#find(from, to, limit, underWay, isLeft);
    }
    const fresh = seen.filter(({ id }) => !known.has(id));
    const isAll = seen.length < limit + known.size && fresh.length <= limit;
    return { due: fresh.slice(0, limit), isAll, isClaimed: false };
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

  #begin(rows: readonly ActorRow[], { due, isClaimed }: Found, left: Set<string>): UnderWay {
    if (rows.length === 0) return NOTHING;
    const ended = this.#wake(rows, isClaimed, left);
    // Until it is awaited, nobody else hears of its failure.
    ended.catch(() => {});
    return { due, ended };
  }

  async #wake(rows: readonly ActorRow[], isClaimed: boolean, left: Set<string>): Promise<void> {
    let isContested = true;
    try {
      const woken = await this.wakeable.wake(rows, isClaimed);
      isContested = woken.isContested;
      for (const id of woken.left) left.add(id);
    } finally {
      if (isContested) this.#claimForAWhile();
    }
  }

  #claimForAWhile(): void {
    this.#claimsUntil = this.parts.clock.monotonic() + CLAIMING_MS;
  }

  /** Of a kind whose actors are rows they were found whole. */
  async #rowsOf(due: readonly Claimed[], left: Set<string>): Promise<readonly ActorRow[]> {
    if (!this.wakeable.kind.life || due.length === 0) return due as readonly (Claimed & ActorRow)[];
    const workspaces = new Map(due.map(({ id, workspace_id }) => [id, workspace_id]));
    const rows = await this.#read([...workspaces.keys()], (id) => workspaces.get(id));
    if (rows.length < workspaces.size) {
      for (const { id } of rows) workspaces.delete(id);
      for (const id of workspaces.keys()) left.add(id);
      await this.#forget([...workspaces.keys()]);
    }
    return rows;
  }

  /** What cannot be forgotten now is claimed, and found again; it keeps nobody from being woken. Over several nodes it stays so. */
  async #forget(ids: readonly string[]): Promise<void> {
    if (this.parts.shards) return;
    await this.parts.database.query(this.#forgetStray, [ids]).catch(() => {});
  }
}

/** Resolves when a batch has been woken: nothing is under way then. */
async function endOf({ ended }: UnderWay): Promise<UnderWay> {
  await ended;
  return NOTHING;
}

/** A moment (epoch ms) as statements take it. */
export const iso = (at: number): string => new Date(at).toISOString();
