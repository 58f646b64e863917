import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import type { Database } from '../../platform/db/database.ts';
import { lowestIdAt, timeOfId } from '../../platform/db/ids.ts';
import type { Clock } from '../../platform/time/clock.ts';
import type { Kind } from '../machine/kind.ts';
import { BEGIN, CLOSE, END, FIND_TERMS, FORGET, LEFT_AT_ONCE, RENEW } from './local-leases-sql.ts';
import { storeOf } from './store-of.ts';

/** When an instance shows that it lives, and when others stop believing it. */
export interface LeaseTimes {
  readonly beatMs: number;
  /**
   * The age of a heartbeat from which on its instance counts as gone. It may be wrong: an instance that
   * returns late decides again.
   */
  readonly goneAfterMs: number;
  /** A new actor that waits this long for its outcome is left to the clock; half of the shortest lease. */
  readonly stuckAfterMs: number;
}

const TIMES: LeaseTimes = { beatMs: 1_000, goneAfterMs: 5_000, stuckAfterMs: 5_000 };

/** Safeguards that the chaos build leaves out, one at a time, to show that its judge notices. */
export interface LeaseFaults {
  /** No instance takes over the new actors of an instance that is gone. */
  readonly withoutHeartbeat?: boolean;
  /** The mark rises past actors without an outcome. */
  readonly withoutLowWater?: boolean;
}

export interface LeaseParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly times?: Partial<LeaseTimes> | undefined;
  readonly faults?: LeaseFaults | undefined;
  /** True when others may live whose end this instance does not hear of; absent means that they may. */
  readonly hasOthers?: () => boolean;
  /** Leaves an actor to the clock, unless it has had a second write; settles when that is durable. */
  leave(id: string): Promise<unknown>;
}

/**
 * An actor gets its id before it waits for its statement: with this lag the mark passes almost none of them.
 */
const LAG_MS = 2_000;
/**
 * An instance without anything to keep for this many beats sends no more heartbeats: an idle service writes
 * nothing.
 */
const IDLE_BEATS = 10;
/**
 * An instance that is alone, or hears when another one ends, looks for the actors of dead ones in the first
 * beats after its start, or after it has ended a term itself, while another one has a term, and else once in
 * so many beats.
 */
const ALONE_BEATS = { first: 15, every: 30 };

/** One period for which an instance holds new actors. */
interface Term {
  readonly id: number;
  /** No actor below it is held: all of those have had a second write, or are left to the clock. */
  mark: string;
}

/**
 * Actors of a statement that is about to begin. Their ids are known only afterwards; none is lower than
 * `lowest`.
 */
export interface PendingLeases {
  readonly term: number;
  lowest: string;
}

interface OpenLease {
  /** Monotonic moment at which it was taken. */
  readonly since: number;
  /** True when its statement has been answered. */
  isInserted: boolean;
  /** True when it is certain that it has no row among what is due. */
  isAlone: boolean;
}

/**
 * New actors whose first order this process carries out at once have no due row, which would be deleted a
 * moment later. The actor's row names the term of the instance that holds it, and the term's row has a
 * heartbeat and a low-water mark. When the heartbeat ends, any instance closes the term and leaves each actor
 * from the mark on without a second write to the clock, by a write that adds its due row: the key of the
 * revisions decides between that write and a late outcome.
 *
 * An insert locks its term's row (`for key share`), and writes a due row if the
 * term is closed. So the instance that has closed a term sees every actor that relies on it. An insert whose
 * commit is unknown ends the term: others take its actors over as if its instance had died.
 */
export class LocalLeases {
  readonly #left: string;
  readonly #times: LeaseTimes;
  /** Actors of the present term that may have no second write yet. */
  readonly #open = new Map<string, OpenLease>();
  /** Running statements that make actors of the present term and their ids. */
  readonly #making = new Set<PendingLeases>();
  #term: Term | null = null;
  #isOn = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #busy: Promise<void> | null = null;
  #isWanted = false;
  #idleBeats = 0;
  #beats = 0;
  /** Other instances held actors at the last look. */
  #areHeld = false;

  constructor(
    private readonly kind: Kind,
    private readonly parts: LeaseParts,
  ) {
    this.#left = storeOf(kind).left(LEFT_AT_ONCE);
    this.#times = { ...TIMES, ...parts.times };
  }

  start(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#rest();
  }

  /** Looks at once and at the next beats: an instance that came or went may have left inserts behind. */
  look(): void {
    this.#beats = 0;
    if (this.#isOn) this.#begin();
  }

  /** Waits for the next beat that has something to do. */
  #rest(): void {
    clearTimeout(this.#timer);
    if (!this.#isOn) return;
    const isQuiet = this.#term === null && !this.#isWanted && this.#isIdle && !this.#looksNow;
    // The embedded database has no other instance that could die.
    if (isQuiet && this.parts.database.kind === 'embedded') return;
    const beats = isQuiet ? ALONE_BEATS.every - (this.#beats % ALONE_BEATS.every) : 1;
    this.#timer = setTimeout(() => {
      this.#beats += beats - 1;
      this.#begin();
    }, beats * this.#times.beatMs);
  }

  /** True when this beat looks for dead instances. */
  get #looksNow(): boolean {
    const { hasOthers } = this.parts;
    return (
      hasOthers?.() !== false ||
      this.#areHeld ||
      this.#beats < ALONE_BEATS.first ||
      this.#beats % ALONE_BEATS.every === 0
    );
  }

  /** Ends the term. Others, or the next start, find the actors that it still holds. */
  async stop(): Promise<void> {
    this.#isOn = false;
    clearTimeout(this.#timer);
    await this.#busy;
    const term = this.#term;
    const isDone = this.#isIdle;
    this.#retire();
    if (term && isDone) await this.#attempt(() => this.parts.database.query(END, [term.id]));
  }

  /**
   * The term that holds an actor in this state, written by a statement that is about to begin; null when the
   * clock has to.
   */
  take(id: string, state: string): number | null {
    const term = this.kind.underWay?.includes(state) ? this.#termFor(id) : null;
    if (term === null) return null;
    if (!this.#open.has(id))
      this.#open.set(id, { since: this.parts.clock.monotonic(), isInserted: false, isAlone: false });
    this.#idleBeats = 0;
    return term.id;
  }

  /** The same for actors that a statement makes itself; call `ended` when it has ended. */
  begun(lowest: string): PendingLeases | null {
    const term = this.#termFor(lowest);
    if (term === null) return null;
    const making = { term: term.id, lowest };
    this.#making.add(making);
    this.#idleBeats = 0;
    return making;
  }

  /**
   * Takes the ids that the statement has made, all of them durable; an empty list where it was rolled back.
   */
  ended(making: PendingLeases, ids: readonly string[]): void {
    // Others take over all actors of a term that has ended meanwhile.
    if (!this.#making.delete(making)) return;
    const since = this.parts.clock.monotonic();
    for (const id of ids) this.#open.set(id, { since, isInserted: true, isAlone: true });
  }

  /** The present term, if it holds ids from that on; without one it asks for a term. */
  #termFor(lowest: string): Term | null {
    if (!this.#isOn) return null;
    if (!this.#term) {
      this.#isWanted = true;
      this.#begin();
      return null;
    }
    return lowest < this.#term.mark ? null : this.#term;
  }

  get #isIdle(): boolean {
    return this.#open.size === 0 && this.#making.size === 0;
  }

  /** The insert found the term open. */
  alone(id: string): void {
    const kept = this.#open.get(id);
    if (kept) kept.isAlone = true;
  }

  /** True of an actor without a due row, until its second write. */
  isAlone(id: string): boolean {
    return this.#open.get(id)?.isAlone === true;
  }

  /** The insert is durable. */
  inserted(id: string): void {
    const kept = this.#open.get(id);
    if (kept) kept.isInserted = true;
  }

  /** The actor has had its second write, or was not stored. */
  settled(id: string): void {
    this.#open.delete(id);
  }

  /** The actors of the term are unknown, now or later: others take them over. */
  doubt(): void {
    this.#retire();
  }

  #retire(): void {
    this.#isWanted ||= this.#term !== null;
    if (this.#term) this.#beats = 0;
    this.#term = null;
    this.#open.clear();
    this.#making.clear();
  }

  #begin(): void {
    if (this.#busy) return;
    this.#busy = this.#attempt(() => this.#beat()).finally(() => {
      this.#busy = null;
      this.#rest();
    });
  }

  async #attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.parts.logger.warn(
        { err: error, kind: this.kind.name },
        'The new actors that this instance holds could not be checked.',
      );
    }
  }

  async #beat(): Promise<void> {
    if (this.#term) await this.#renew(this.#term);
    else if (this.#isWanted) await this.#newTerm();
    await this.#leaveStuck();
    if (!this.parts.faults?.withoutHeartbeat && this.#looksNow) await this.#takeOver();
    // A look that failed is repeated at the next beat.
    this.#beats++;
  }

  async #newTerm(): Promise<void> {
    const mark = this.#idBefore(LAG_MS);
    // A random id and not one of a sequence, which a restored copy of the rows may have left behind.
    const id = randomInt(1, 2 ** 31);
    await this.parts.database.query(BEGIN, [id, this.kind.name, mark]);
    this.#isWanted = false;
    this.#idleBeats = 0;
    this.#term = { id, mark };
  }

  async #renew(term: Term): Promise<void> {
    const { database, clock, faults } = this.parts;
    // With a clock that was put back, no new actor would be held until it is back at this moment.
    if (clock.now() < timeOfId(term.mark) - 1_000) return this.#retire();
    if (this.#isIdle && ++this.#idleBeats > IDLE_BEATS) {
      // No actor may take it while it is deleted.
      this.#term = null;
      await database.query(END, [term.id]);
      return;
    }
    let mark = this.#idBefore(faults?.withoutLowWater ? 0 : LAG_MS);
    if (!faults?.withoutLowWater) {
      for (const id of this.#open.keys()) if (id < mark) mark = id;
      for (const { lowest } of this.#making) if (lowest < mark) mark = lowest;
    }
    // From here on no lower id is taken, even if the statement gets no answer.
    if (mark > term.mark) term.mark = mark;
    const renewed = await database.query(RENEW, [term.id, term.mark]);
    if (renewed.length === 0 && this.#term === term) this.#retire();
  }

  /** The lowest id that was made no longer ago. */
  #idBefore(ms: number): string {
    return lowestIdAt(this.kind.idPrefix, this.parts.clock.now() - ms);
  }

  /**
   * Leaves to the lease, as the clock finds it, every order that was dropped and every outcome that could not
   * be stored.
   */
  async #leaveStuck(): Promise<void> {
    const before = this.parts.clock.monotonic() - this.#times.stuckAfterMs;
    const stuck: string[] = [];
    // An insert under way is still unknown.
    for (const [id, { since, isInserted }] of this.#open)
      if (isInserted && since < before && stuck.length < LEFT_AT_ONCE) stuck.push(id);
    await Promise.all(
      stuck.map(async (id) => {
        await this.parts.leave(id);
        this.#open.delete(id);
      }),
    );
  }

  async #takeOver(): Promise<void> {
    const { database, logger } = this.parts;
    const terms = await database.query<{ id: number; low_water: string; open: boolean; gone: boolean }>(
      FIND_TERMS,
      [this.kind.name, this.#times.goneAfterMs, this.#term?.id ?? null],
      { isRoutine: true },
    );
    this.#areHeld = terms.length > 0;
    for (const { id, low_water: mark, open } of terms.filter(({ gone }) => gone)) {
      // It waits for statements of the instance that are under way; later inserts find the term closed.
      if (open && (await database.query(CLOSE, [id, this.#times.goneAfterMs])).length === 0) continue;
      let left = 0;
      for (let after = ''; ; ) {
        if (!this.#isOn) return;
        const rows = await database.query<{ id: string }>(this.#left, [mark, after, id]);
        await Promise.all(rows.map((row) => this.parts.leave(row.id)));
        left += rows.length;
        after = rows.at(-1)?.id ?? after;
        if (rows.length < LEFT_AT_ONCE) break;
      }
      await database.query(FORGET, [id]);
      if (left > 0)
        logger.warn(
          { kind: this.kind.name, instance: id, left },
          'An instance is gone; the clock takes over the actors that it held.',
        );
    }
  }
}
