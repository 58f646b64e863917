import { setTimeout as pause } from 'node:timers/promises';
import type { Duty } from '../../../engine/duties/duty.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import { FilterTime } from '../definition/filters.ts';
import { AHEAD, READ } from './activity-log.ts';
import { Dates } from './dated.ts';
import { lag, laggards } from './laggards.ts';
import { type PageDeps, PageWork, readListeners } from './page-work.ts';
import type { Activity, Listener } from './wake.ts';

/** Entries of the log that are worked through together. */
const PAGE = 1_000;
/**
 * The room for orders that is awaited: runs must not begin faster than their steps are done, and small pages
 * are not worth their statements.
 */
const LEAST_ROOM = 2_000;
/** The time between two looks while there is work: entries that arrive meanwhile are read together. */
const PAUSE_MS = 50;
/**
 * The time for which it continues to read an empty log: of entries that arrive close together the last need
 * not wait for the next second.
 */
const LINGER_MS = 150;
/** The longest time of one run, of which there is one a second: dates have to be looked through as well. */
const LONGEST_MS = 3_000;
/**
 * The time for which an instance follows the log after its last sign of life. Two may follow at once: an
 * entry that is read twice has no second effect.
 */
const FOLLOWED_MS = 5_000;
/**
 * The time that a workspace's filters may take of a page, all together and each. Every other workspace waits
 * behind them.
 */
const FILTERS_MS = 1_000;
/** Between two signs of life while it works. */
const BEAT_MS = 1_000;

/** The resources whose changes a flow may wait for. */
const FOLLOWED: ReadonlySet<string> = new Set(['audiences', 'contacts', 'suppressions']);

/** True when some run may wait for something. The contacts of a page show which runs do. */
const WAITERS = 'select exists (select from flow_runs where ended_at is null) as some';

/** Entries lie ahead, or a flow begins runs on dates. */
const HAS_WORK = `(select ahead.some from (${AHEAD}) ahead) or exists (
  select from flows where status = 'active' and deleted_at is null and trigger_type = 'dateProperty')`;

/** One instance follows the log at a time; another takes over when it is silent. */
const FOLLOW = `update flow_feed set follower = $1, followed_until = $2::timestamptz + interval '${FOLLOWED_MS} milliseconds'
where one and (follower is null or follower = $1 or followed_until < $2::timestamptz)
returning position::text, id`;

/** Renewed for a page of any length. An instance that has lost its place does not take it back so. */
const BEAT = `update flow_feed set followed_until = $2::timestamptz + interval '${FOLLOWED_MS} milliseconds' where one and follower = $1`;

/** At a stop no instance has to wait until the last sign of life is old. */
const LEAVE = 'update flow_feed set follower = null where one and follower = $1';

/** An instance that has lost its place meanwhile must not move the other's. */
const ADVANCE = `update flow_feed set position = $2::bigint, id = $3, followed_until = $4::timestamptz + interval '${FOLLOWED_MS} milliseconds'
where one and follower = $1 returning 1 as one`;

/**
 * Follows the activity of contacts, a second behind at most, and a quarter of one behind the requests to this
 * instance: it begins runs, and wakes waiting ones. A page counts as read once all its effects are durable.
 * Reading it again after a crash has no second effect: an occurrence begins one run, and a run takes no event
 * at or before the last one that it took.
 */
export class Follower {
  readonly #name = crypto.randomUUID();
  readonly #pages: PageWork;
  readonly #dates: Dates;
  #isWanted = false;

  constructor(private readonly deps: PageDeps) {
    this.#pages = new PageWork(deps);
    this.#dates = new Dates(deps);
  }

  get duty(): Duty {
    return {
      name: 'flowFollower',
      pattern: '* * * * * *',
      asks: () => HAS_WORK,
      isWanted: () => this.#isWanted,
      run: (stop) => this.follow(stop),
    };
  }

  /** Looks soon, because a request to this instance has changed a contact or recorded an activity. */
  note({ resource }: { readonly resource: string }): void {
    this.#isWanted ||= FOLLOWED.has(resource);
  }

  /** Works through everything that is there. */
  async follow(stop?: AbortSignal): Promise<void> {
    const { database, clock } = this.deps;
    this.#isWanted = false;
    const beat = () => database.query(BEAT, [this.#name, new Date(clock.now()).toISOString()]);
    const beating = setInterval(() => void beat().catch(() => {}), BEAT_MS);
    try {
      await this.#follow(stop);
    } finally {
      clearInterval(beating);
      if (stop?.aborted) await database.query(LEAVE, [this.#name]);
    }
  }

  async #follow(stop?: AbortSignal): Promise<void> {
    const { database } = this.deps;
    // A flow that was activated before an entry was written is visible to a later statement, so listeners are
    // read after the log.
    const [ahead] = await database.query<{ some: boolean; horizon: string }>(AHEAD);
    const listeners = await readListeners(database);
    const dated = listeners.filter(({ trigger }) => trigger === 'dateProperty');
    const heard = listeners.filter(({ trigger }) => trigger !== 'dateProperty');
    if (ahead?.some) await this.#followEvents(ahead.horizon, heard, stop);
    if (dated.length > 0 && (await this.#place())) await this.#dates.begin(dated, stop);
  }

  async #followEvents(horizon: string, heard: readonly Listener[], stop?: AbortSignal): Promise<void> {
    const { database, clock } = this.deps;
    const [waiting] = await database.query<{ some: boolean }>(WAITERS);
    const place = await this.#place();
    if (!place) return;
    if (waiting?.some !== true && heard.length === 0) {
      // No flow listens, so no flow will ever need the entries up to here.
      await this.#advance(horizon, '');
      return;
    }
    let { position, id } = place;
    let lingersUntil = Number.NEGATIVE_INFINITY;
    const end = clock.monotonic() + LONGEST_MS;
    while (stop?.aborted !== true && clock.monotonic() < end) {
      const room = this.deps.engine.room('flowRun');
      if (room < LEAST_ROOM) {
        await pause(PAUSE_MS);
        continue;
      }
      const most = mostRead(heard, room);
      const page = await database.query<Activity>(READ, [position, id, most]);
      const last = page.at(-1);
      if (!last) {
        if (clock.monotonic() > lingersUntil) return;
        await pause(PAUSE_MS);
        continue;
      }
      await this.#work(page, { position, id });
      ({ position, id } = last);
      if (!(await this.#advance(position, id))) return;
      lingersUntil = clock.monotonic() + LINGER_MS;
      if (page.length < most) await pause(PAUSE_MS);
    }
  }

  /**
   * Carries out the effects of a page. A workspace with slow filters has its own cursor from the beginning of
   * the page on.
   */
  async #work(
    page: readonly Activity[],
    place: { readonly position: string; readonly id: string },
  ): Promise<void> {
    const { database, clock, logger } = this.deps;
    const alone = await laggards(database, this.#name, clock.now());
    const isFor = (workspaceId: string) => !alone.has(workspaceId);
    const listeners = (await readListeners(database)).filter(({ workspaceId }) => isFor(workspaceId));
    const time = filterTime(clock);
    await this.#pages.do({ page, listeners, time, isFor });
    if (time.slow.size === 0) return;
    await lag(database, [...time.slow.keys()], place, clock.now());
    for (const [workspace, err] of time.slow)
      logger.warn({ err, workspace }, 'The filters of a workspace are slow: its flows use their own cursor.');
  }

  async #place(): Promise<{ readonly position: string; readonly id: string } | null> {
    const now = new Date(this.deps.clock.now()).toISOString();
    const [place] = await this.deps.database.query<{ position: string; id: string }>(FOLLOW, [
      this.#name,
      now,
    ]);
    return place ?? null;
  }

  async #advance(position: string, id: string): Promise<boolean> {
    const now = new Date(this.deps.clock.now()).toISOString();
    const rows = await this.deps.database.query(ADVANCE, [this.#name, position, id, now]);
    return rows.length > 0;
  }
}

/** The time for filters while other workspaces wait. */
const filterTime = (clock: Clock): FilterTime =>
  new FilterTime({
    monotonic: () => clock.monotonic(),
    mostMs: FILTERS_MS,
    isBrief: true,
    leavesOut: false,
  });

/** Every entry needs room for all that it may begin: a run of every flow of its workspace. */
function mostRead(heard: readonly Listener[], room: number): number {
  const byWorkspace = Map.groupBy(heard, ({ workspaceId }) => workspaceId);
  const mostFlows = Math.max(1, ...[...byWorkspace.values()].map(({ length }) => length));
  return Math.min(Math.ceil(room / mostFlows), PAGE);
}
