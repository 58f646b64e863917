import type { Database } from '../../../platform/db/database.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import type { ActorRow } from '../../machine/storage.ts';
import type { ClaimedActor, Claims } from '../../store/claims.ts';
import type { OpenStore } from '../../store/open-store.ts';

/** Due actors woken at once. */
const BATCH = 500;
/** A claimer that dies holds its claims no longer than this. */
const CLAIM_MS = 5_000;
/**
 * For this time after the discovery of an actor that could not be woken, due actors are claimed: an unknown
 * instance wakes them as well, or the actor cannot be woken at all, and would be found first for ever.
 */
const CLAIMING_MS = 60_000;

/** The clock's view of one sort of due actors. */
export interface DueActors {
  readonly store: OpenStore;
  /** Which rows of the kind, as SQL; all of them when absent. */
  readonly where?: string | undefined;
  /**
   * Those that are not taken for want of room wait until `roomCame` says that there is some, or for the next
   * tick.
   */
  readonly waitsForRoom?: boolean;
  /** The number of due actors that it can take now: nothing is claimed that would only wait in memory. */
  room(): number;
  /** Resolves when their timers are committed. */
  wake(rows: readonly ActorRow[], isClaimed: boolean): Promise<WakeResult>;
}

/** The result of waking a batch. */
export interface WakeResult {
  /** Actors that are unchanged: another process had changed them before, or they cannot be woken. */
  readonly left: readonly string[];
  /** Another instance decided on some of them, or they could not take the event. */
  readonly isContested: boolean;
}

/** The result of one pass over due actors. */
interface PassResult {
  /** Up to that moment it was looked for. */
  readonly upTo: number;
  /** There was room, and nothing was found. */
  readonly isNothing: boolean;
}

/** The due actors found of a kind: all of them, or as many as the limit allows. */
interface DueBatch {
  readonly due: readonly ClaimedActor[];
  readonly isAll: boolean;
  readonly isClaimed: boolean;
}

/** A batch that is being woken. */
interface UnderWay {
  readonly due: readonly ClaimedActor[];
  readonly ended: Promise<unknown>;
}

const NOTHING: UnderWay = { due: [], ended: Promise.resolve() };

export interface BatchParts {
  readonly database: Database;
  readonly clock: Clock;
  isStopped(): boolean;
  /** True when another instance may wake the same actors. */
  areShared(): boolean;
}

/**
 * Finds, reads and wakes the due actors of one kind, batch by batch. While no other instance wakes the same
 * it needs no claim, which costs half as much as the turn that follows it. A claim is no safeguard: the
 * revision decides between two instances that decide on the same actor.
 */
export class DueBatches {
  readonly #claims: Claims;
  /** Monotonic moment up to which what is due is claimed. */
  #claimsUntil = Number.NEGATIVE_INFINITY;
  /**
   * The actors that the present pass could not wake, of all due ones and of the stretches of a backlog. Those
   * that are found once more need a claim, which puts them off.
   */
  readonly #left = { all: new Set<string>(), stretch: new Set<string>() };

  constructor(
    private readonly wakeable: DueActors,
    private readonly parts: BatchParts,
  ) {
    this.#claims = wakeable.store.claims(wakeable.where);
  }

  /**
   * Wakes what is due from a moment on, up to another one or now. While PostgreSQL writes the turns of some,
   * the next ones are found and read.
   */
  async wake(low: number, end: number | null): Promise<PassResult> {
    const { room, waitsForRoom = false } = this.wakeable;
    const pass = end === null ? 'all' : 'stretch';
    const leftBefore = this.#left[pass];
    const left = new Set<string>();
    this.#left[pass] = left;
    const isLeft = (id: string): boolean => leftBefore.has(id) || left.has(id);
    let from = low;
    let upTo = low;
    let found: DueBatch | null = null;
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
        const { rows, missing } = await this.#claims.read(found.due);
        for (const id of missing) left.add(id);
        await before.ended;
        // A stopping process leaves to others the actors that it has found; those that it has claimed are
        // free when the claim ends.
        if (this.parts.isStopped() && before.due.length > 0) break;
        before = this.#begin(rows, found, left);
        // Actors that offer themselves are taken at once, and only then is the remaining room known.
        if (waitsForRoom) before = await endOf(before);
        if (found.isAll) break;
        // Woken actors have moved; actors locked by others are found by the look afterwards.
        for (const { due_at } of found.due) from = Math.max(from, Math.floor(due_at));
      }
    } catch (error) {
      // An actor that cannot be read would be found first for ever; a claim puts it off.
      this.#claimForAWhile();
      // Actors that are being woken finish first; the first failure is thrown.
      await before.ended.catch(() => {});
      throw error;
    }
    await before.ended;
    return { upTo, isNothing: found !== null && count === 0 };
  }

  /** The due actors between two moments, but for those that are being woken. */
  async #find(
    from: number,
    to: number,
    limit: number,
    underWay: readonly ClaimedActor[],
    isLeft: (id: string) => boolean,
  ): Promise<DueBatch> {
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

  /** Actors that wait for room have another owner before their rows have moved. */
  get #isClaiming(): boolean {
    const { clock, areShared } = this.parts;
    return (
      this.wakeable.waitsForRoom === true ||
      this.wakeable.store.claimsAlways ||
      areShared() ||
      clock.monotonic() < this.#claimsUntil
    );
  }

  #begin(rows: readonly ActorRow[], { due, isClaimed }: DueBatch, left: Set<string>): UnderWay {
    if (rows.length === 0) return NOTHING;
    const ended = this.#wake(rows, isClaimed, left);
    // Keeps a failure from counting as unhandled until it is awaited.
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
}

/** Resolves when a batch has been woken: nothing is under way then. */
async function endOf({ ended }: UnderWay): Promise<UnderWay> {
  await ended;
  return NOTHING;
}

/** A moment (epoch ms) as statements take it. */
export const iso = (at: number): string => new Date(at).toISOString();
