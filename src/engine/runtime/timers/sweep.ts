import { codeOf, TOOK_TOO_LONG } from '../../../platform/db/sqlstate.ts';
import type { SettledTime } from '../../store/settled.ts';
import { type BatchParts, type DueActors, DueBatches, iso } from './due-batches.ts';

/** An actor that is due within this time gets an alarm for its moment; a later look finds the others. */
export const AHEAD_MS = 15_000;

/** Sweeps begin with this much; all that lies further back is read beside them. */
const FIRST_MS = 10_000;
/** The longest time of one read of the backlog, so that the sweeps continue. */
const READING_MS = 50;
/** A stretch of it that takes longer is followed by a shorter one. */
const LONG_MS = 500;
/** Rows that an operator changed by hand are found after this time. */
const READ_AGAIN_MS = 3_600_000;
/** A remainder of this length is not split further. */
const LEAST_MS = 1_000;

/** Due actors further back than the sweeps begin; they are read oldest first. */
interface Backlog {
  /** The end of the backlog: the sweeps began there. */
  readonly end: number;
  /** It was read up to here. */
  from: number;
  /** The part of the remainder that one look reads: all of it, unless that takes too long. */
  share: number;
  /** This reading began when no write could reach the backlog any more: at its end there is nothing left. */
  isLast: boolean;
}

/** When something is due next, if that is soon (epoch ms). */
export interface NextSweep {
  /** The oldest moment of the backlog, which gives the delay of the scheduler. */
  readonly due: number;
  /**
   * The moment of the next look. Actors locked by others are left to the next tick: they would be looked for
   * again and again.
   */
  readonly alarm: number;
}

const NEVER: NextSweep = { due: Number.POSITIVE_INFINITY, alarm: Number.POSITIVE_INFINITY };

/** The parts that all sweeps of a process share. */
interface SweepParts extends BatchParts {
  readonly settled: SettledTime;
}

/**
 * Wakes the due actors of one kind. A sweep begins at the moment before which no due actor can lie: the one
 * up to which all writes have settled, or the earliest one that the sweep before could see and did not get
 * (no room, or a foreign lock). So it stays cheap behind a transaction that is held open, which keeps an
 * index entry of every actor that was ever due: after ten minutes at 6,000 lives a second, looking at all of
 * them took more than a core. The duration of a look decides how far one reads back at a time, and never what
 * is seen.
 */
export class Sweep {
  readonly #batches: DueBatches;
  readonly #next: string;
  /** Nothing is due before it but what the backlog has; null before the first sweep. */
  #low: number | null = null;
  #backlog: Backlog | null = null;
  /** Monotonic moment from which there is one again. */
  #readAgainFrom = 0;
  /** Earliest that was left in the backlog. */
  #left: number | null = null;
  /** Actors were left though there was room: another process has them locked. */
  #isLeftLocked = false;
  /** A due actor may wait for room; `roomCame` reports it. */
  awaitsRoom = false;

  constructor(
    readonly wakeable: DueActors,
    private readonly parts: SweepParts,
  ) {
    this.#batches = new DueBatches(wakeable, parts);
    this.#next = wakeable.store.sql.nextDue(wakeable.where);
  }

  /** Forgets how far it has come: time went otherwise than it was thought. */
  restart(): void {
    this.#low = null;
  }

  /**
   * The moment from which one statement may ask for its next actor, beside those of other kinds; null while
   * the sweep has to look by itself.
   */
  get from(): number | null {
    return this.#left === null && !this.#isFull() ? this.#low : null;
  }

  /**
   * Takes note that nothing is due before `at` (null: nothing up to `soon`), as a look found that began after
   * all writes before `until` had settled.
   */
  pass(at: number | null, soon: number, until: number | null): NextSweep {
    this.awaitsRoom = false;
    const next = at ?? soon;
    if (until !== null && this.#low !== null) this.#low = Math.max(this.#low, Math.min(until, next, soon));
    return { due: at ?? Number.POSITIVE_INFINITY, alarm: at ?? Number.POSITIVE_INFINITY };
  }

  /** Wakes what is due. */
  async run(): Promise<NextSweep> {
    this.awaitsRoom = this.#isFull();
    if (this.awaitsRoom) return NEVER;
    const low = this.#low ?? this.#beginAnew();
    // Asked before the looks: what settles during them may have been missed.
    const { until } = this.parts.settled;
    try {
      const { upTo, isNothing } = await this.#batches.wake(low, null);
      const soon = upTo + AHEAD_MS;
      const left = await this.#earliest(low, soon);
      if (until !== null && this.wakeable.store.settles)
        this.#low = Math.max(low, Math.min(until, left ?? soon, soon));
      this.awaitsRoom = this.#isFull();
      // Missing room for them says nothing of the scheduler's delay.
      if (this.awaitsRoom) return NEVER;
      // Behind locked actors there may be others, which are free.
      const isLocked = isNothing && left !== null && left <= upTo;
      const alarm = isLocked ? await this.#earliest(upTo + 1, soon) : left;
      return {
        due: Math.min(left ?? Number.POSITIVE_INFINITY, this.#left ?? Number.POSITIVE_INFINITY),
        alarm: Math.min(
          alarm ?? Number.POSITIVE_INFINITY,
          (!this.#isLeftLocked && this.#left) || Number.POSITIVE_INFINITY,
        ),
      };
    } catch (error) {
      // A transaction that writes was held open, and too much has gathered behind it: read in stretches from
      // here on.
      if (codeOf(error) === TOOK_TOO_LONG) this.restart();
      throw error;
    }
  }

  /** True while there is a backlog to read. */
  get isReadingBack(): boolean {
    return this.#backlog !== null;
  }

  /** True when something is due in the backlog that there was no room for. */
  get hasLeft(): boolean {
    return this.#left !== null;
  }

  /** Reads on in the backlog for a while. */
  async readBack(): Promise<void> {
    if (this.#isFull()) return;
    const begun = this.parts.clock.monotonic();
    const { until } = this.parts.settled;
    if (this.#backlog === null && this.#low !== null && begun >= this.#readAgainFrom)
      this.#backlog = { end: this.#low, from: 0, share: 1, isLast: false };
    while (this.#backlog && !this.parts.isStopped() && this.parts.clock.monotonic() - begun < READING_MS) {
      const backlog = this.#backlog;
      if (backlog.from === 0) backlog.isLast = until !== null && until >= backlog.end;
      if (!(await this.#readStretch(backlog))) return;
      if (backlog.from < backlog.end) continue;
      if (backlog.isLast) {
        this.#backlog = null;
        this.#readAgainFrom = this.parts.clock.monotonic() + READ_AGAIN_MS;
      }
      // A transaction that began before the sweeps may have written into the backlog meanwhile, so it is read
      // once more when those have ended.
      else backlog.from = 0;
      return;
    }
  }

  #isFull(): boolean {
    const { waitsForRoom = false, room } = this.wakeable;
    return waitsForRoom && room() <= 0;
  }

  /**
   * With a clock that is not the database's, or a store that never settles, no settled moment is known: each
   * sweep looks at everything.
   */
  #beginAnew(): number {
    if (!this.parts.clock.agreement || !this.wakeable.store.settles) return 0;
    const end = this.parts.clock.now() - FIRST_MS;
    this.#low = end;
    this.#left = null;
    this.#backlog = { end, from: 0, share: 1, isLast: false };
    return end;
  }

  /** Answers whether the stretch is done with. */
  async #readStretch(backlog: Backlog): Promise<boolean> {
    const { from, end, share } = backlog;
    const to = end - from <= LEAST_MS ? end : Math.ceil(from + (end - from) * share);
    const begun = this.parts.clock.monotonic();
    try {
      const { isNothing } = await this.#batches.wake(from, to);
      this.#left = await this.#earliest(from, to);
      this.#isLeftLocked = isNothing;
    } catch (error) {
      if (codeOf(error) !== TOOK_TOO_LONG) throw error;
      backlog.share = share / 4;
      return false;
    }
    backlog.from = this.#left ?? to;
    if (this.#left !== null) return false;
    const isLong = this.parts.clock.monotonic() - begun > LONG_MS;
    backlog.share = isLong ? share / 2 : share < 1 ? Math.min(0.5, share * 2) : 1;
    return true;
  }

  async #earliest(from: number, to: number): Promise<number | null> {
    const [row] = await this.parts.database.query<{ at: number | null }>(this.#next, [iso(from), iso(to)]);
    return row?.at == null ? null : Math.floor(row.at);
  }
}
