import { allowedOn, bulkPartOf, startOfDay, type WarmUp } from '../../../mail/transport/warm-up.ts';
import { LruMap } from '../../../platform/async/lru-map.ts';
import type { Database } from '../../../platform/db/database.ts';
import { type Clock, DAY_MS } from '../../../platform/time/clock.ts';

/**
 * Claimed at once: a fiftieth of the day. So much is lost with an instance that dies, and so many statements
 * does a day take.
 */
const BLOCKS = 50;
/** The time until a full day is read again: an instance that stops returns its unused claims. */
const ASK_AGAIN_MS = 10_000;
/** The time between two waiting emails, which are tried in the order of arrival. */
const APART_MS = 1;
/** Campaigns come after other mail that waits for the same day. */
const BULK_LATER_MS = 900_000;
/** Lots that are remembered; those of past days go first. */
const MOST_LOTS = 10_000;

/**
 * Claims a block of a day's allowance in one statement, which answers what it got and what is left for the
 * lane. Two instances wait for each other in the row.
 */
const CLAIM = `insert into warm_up_days as d (domain_id, provider, day, claimed, claimed_bulk, granted)
select $1, $2, $3::date, n, case when $6::boolean then n else 0 end, n
from (select greatest(0, least($4::integer, $5::integer, case when $6::boolean then $7::integer else $4::integer end)) as n) g
on conflict (domain_id, provider, day) do update set
  granted = GRANTED, claimed = d.claimed + GRANTED,
  claimed_bulk = d.claimed_bulk + case when $6::boolean then GRANTED else 0 end
returning granted, greatest(0, least($5::integer - claimed, case when $6::boolean then $7::integer - claimed_bulk else $5::integer end)) as remaining`.replaceAll(
  'GRANTED',
  `greatest(0, least($4::integer, $5::integer - d.claimed, case when $6::boolean then $7::integer - d.claimed_bulk else $4::integer end))`,
);

const GIVE_BACK = `update warm_up_days set claimed = greatest(0, claimed - $4::integer),
  claimed_bulk = greatest(0, claimed_bulk - case when $5::boolean then $4::integer else 0 end)
where domain_id = $1 and provider = $2 and day = $3::date`;

/** The mail that asks: of which domain, on which transport, and whether it is a campaign's. */
export interface Lane {
  readonly domainId: string;
  readonly warmUp: WarmUp;
  readonly isBulk: boolean;
}

/** Room on this day, or the moment from which on it may be tried again. */
export type Room =
  | { readonly until: null; giveBack(): void }
  | { readonly until: number; readonly perDay: number };

/** Nothing is limited. */
const UNLIMITED: Room = { until: null, giveBack() {} };

/** The unused claims of this instance for a lane on a day. */
interface Lot {
  readonly lane: Lane;
  readonly day: number;
  readonly allowed: number;
  left: number;
  /** Left for others to claim, as of the last claim; null before the first. */
  remaining: number | null;
  /** Monotonic; until then nothing more is asked for. */
  refusedUntil: number;
  /** Recipients that were put off on this day. */
  waiting: number;
  claiming: Promise<void> | null;
}

/** The days of a domain's warm-up on a transport: how many recipients may be written to. */
export class WarmUps {
  /** An evicted lot loses the rest of its day: no other instance gets more for it. */
  readonly #lots = new LruMap<string, Lot>({ entries: MOST_LOTS });
  #isClosing = false;

  constructor(
    private readonly database: Database,
    private readonly clock: Pick<Clock, 'now' | 'monotonic'>,
  ) {}

  /**
   * Takes room for so many recipients. An email that has more than a whole day allows gets that day. @throws
   * UnavailableError
   */
  async take(lane: Lane, recipients: number): Promise<Room> {
    const lot = this.#lotOf(lane);
    if (lot === null) return UNLIMITED;
    const most = this.#mostOf(lot);
    const need = Math.min(recipients, most);
    while (lot.left < need) {
      if (this.clock.monotonic() < lot.refusedUntil) return this.#putOff(lot, need);
      const block = this.#isClosing ? 0 : Math.ceil(most / BLOCKS);
      lot.claiming ??= this.#claim(lot, Math.max(need - lot.left, block)).finally(() => {
        lot.claiming = null;
      });
      await lot.claiming;
      if (lot.left < need && lot.remaining === 0) lot.refusedUntil = this.clock.monotonic() + ASK_AGAIN_MS;
    }
    lot.left -= need;
    return {
      until: null,
      giveBack() {
        lot.left += need;
      },
    };
  }

  /**
   * About how many recipients of the lane still have room on this day; null without a limit. @throws
   * UnavailableError
   */
  async roomOf(lane: Lane): Promise<number | null> {
    const lot = this.#lotOf(lane);
    if (lot === null) return null;
    if (
      lot.remaining === null ||
      (lot.remaining + lot.left === 0 && this.clock.monotonic() >= lot.refusedUntil)
    ) {
      await this.#claim(lot, 0);
      if (lot.remaining === 0) lot.refusedUntil = this.clock.monotonic() + ASK_AGAIN_MS;
    }
    return lot.left + (lot.remaining ?? 0);
  }

  /** The number of warm-ups without room left today, as far as this instance knows. */
  get usedUp(): number {
    const today = startOfDay(this.clock.now());
    return [...this.#lots.values()].filter(
      ({ day, left, remaining }) => day === today && left === 0 && remaining === 0,
    ).length;
  }

  /** Gives what is left to the other instances. What is sent afterwards claims no more than it takes. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const lots = [...this.#lots.values()].filter(({ left }) => left > 0);
    this.#lots.clear();
    for (const { lane, day, left } of lots)
      await this.database
        .query(GIVE_BACK, [lane.domainId, lane.warmUp.provider, dateOf(day), left, lane.isBulk])
        .catch(() => {});
  }

  #mostOf({ allowed, lane }: Lot): number {
    return lane.isBulk ? bulkPartOf(allowed) : allowed;
  }

  #lotOf(lane: Lane): Lot | null {
    const { domainId, warmUp, isBulk } = lane;
    const now = this.clock.now();
    const allowed = allowedOn(warmUp, now);
    if (allowed === null) return null;
    const day = startOfDay(now);
    const key = `${domainId} ${warmUp.provider} ${isBulk}`;
    const known = this.#lots.get(key);
    if (known?.day === day && isSame(known.lane.warmUp, warmUp)) return known;
    // Another schedule on the same day: what was claimed under the old one is still this instance's.
    const left = known?.day === day ? known.left : 0;
    const lot: Lot = {
      lane,
      day,
      allowed,
      left,
      remaining: null,
      waiting: 0,
      claiming: null,
      refusedUntil: Number.NEGATIVE_INFINITY,
    };
    this.#lots.set(key, lot);
    return lot;
  }

  async #claim(lot: Lot, want: number): Promise<void> {
    const { lane, day, allowed } = lot;
    const [row] = await this.database.query<{ granted: number; remaining: number }>(CLAIM, [
      lane.domainId,
      lane.warmUp.provider,
      dateOf(day),
      want,
      allowed,
      lane.isBulk,
      bulkPartOf(allowed),
    ]);
    lot.left += row?.granted ?? 0;
    lot.remaining = row?.remaining ?? 0;
  }

  /** The day on which those who were put off before leave room, and the place in it. */
  #putOff(lot: Lot, need: number): Room {
    const { lane, day, allowed } = lot;
    let place = lot.waiting;
    lot.waiting += need;
    let until = day + DAY_MS;
    for (;;) {
      const next = allowedOn(lane.warmUp, until);
      const room = next === null ? Number.POSITIVE_INFINITY : lane.isBulk ? bulkPartOf(next) : next;
      if (place < room) break;
      place -= room;
      until += DAY_MS;
    }
    const later = Math.min(place * APART_MS, BULK_LATER_MS) + (lane.isBulk ? BULK_LATER_MS : 0);
    return { until: until + later, perDay: allowed };
  }
}

/** Schedules are read again once a second, and seldom differ. */
const isSame = (one: WarmUp, other: WarmUp): boolean => one === other || Bun.deepEquals(one, other);

const dateOf = (day: number): string => new Date(day).toISOString().slice(0, 10);
