import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { orAborted } from '../platform/async/deadline.ts';
import type { Database, DatabaseSession } from '../platform/db/database.ts';
import { UnavailableError } from '../platform/errors/unavailable.ts';
import type { Logger } from '../platform/telemetry/logger.ts';
import { rarely } from '../platform/telemetry/rarely.ts';

/** The first number of the locks, the same in every instance. The second one is the epoch. */
const LOCKS = 1_886_350_440;
/** The time between two looks of the server at the locks. */
const LOOK_MS = 100;
/**
 * The looks of one statement. A server does not notice that the client of a running statement has died, and its snapshot keeps
 * VACUUM from removing rows: a second of either harms nothing, and is no slow query.
 */
const LOOKS = 8;
/** The server ends the statement after this time, also where it is slow and has looked less often. */
const WATCH_MS = LOOKS * LOOK_MS;
/**
 * The wait before the first look. After a restart or a failover of the server all epochs are free at once, until their instances
 * have sessions again: the first one back must not take up what the others have in memory.
 */
const LOOK_AFTER_MS = 3_000;
/** The wait for an answer to a look: a session that is silent for longer leads nowhere. */
const WATCH_DEADLINE_MS = 5_000;
/** The same for the session that holds the lock. */
const DEADLINE_MS = 10_000;
/** The least wait before another session is opened; up to a second is added to it, so that instances do not come at once. */
const REST_MS = 1_000;
/** Proxies cut connections that are silent for a minute. */
const TOUCH_MS = 20_000;
/** One may fail although its session is well: an administrator cancels statements, and a machine stands still. */
const TOUCHES = 2;
/** The wait for the last statement of a session: a stop must not wait for a database that is away. */
const LEAVE_MS = 1_000;

const LOST =
  'This instance has no session that shows it to others. It opens the next one; until then, others take up what it leaves when its claims end.';
const BLIND =
  'This instance could not look at the sessions of others. It tries again; until then, it takes up what they leave when their claims end.';

const HOLD = (id: string, epoch: number): string => `with held as materialized (
  select pg_try_advisory_lock(${LOCKS}, ${epoch}) as is_held
)
update service_instances set epoch = ${epoch} from held where id = '${id}' and is_held returning epoch`;

const IS_FREE = `epoch is not null and pg_try_advisory_xact_lock_shared(${LOCKS}, epoch)`;

/**
 * Answers a row once some epoch may have no session any more, or this instance another one; none after a while. The server looks, so that few
 * statements are sent while nothing happens. To wait for the lock itself would be exact, and keep a snapshot for as long
 * as the other instance lives. `look > 0` has the server ask the locks again at each look.
 */
const WATCH = (
  id: string,
  epoch: number,
): string => `select true as "isFound" from generate_series(1, ${LOOKS}) look
where case
  when not exists (select from service_instances where id = '${id}' and epoch = ${epoch})
    or exists (select from service_instances where look > 0 and ${IS_FREE})
    or clock_timestamp() > statement_timestamp() + interval '${WATCH_MS} ms' then true
  else pg_sleep(${LOOK_MS / 1_000}) is null
end limit 1`;

/** Of several instances that look at the same time, one gets an epoch that is free. Answers also the one of this instance. */
const FIND_GONE = `with gone as materialized (
  select id, epoch from service_instances where ${IS_FREE} for update skip locked
), forgotten as (
  update service_instances i set epoch = null from gone g where i.id = g.id
)
select epoch, true as "isGone" from gone
union all select epoch, false from service_instances where id = $1 and epoch = $2::integer`;
const LEAVE = (id: string, epoch: number): string =>
  `update service_instances set epoch = null where id = '${id}' and epoch = ${epoch}`;

/** The services of a presence. */
export interface PresenceParts {
  readonly database: Pick<Database, 'query' | 'session'>;
  readonly logger: Logger;
  readonly monotonic: () => number;
  /** The instance, as its row in the roster names it. */
  readonly id: string;
  /** Takes up what the instances of these epochs held. @throws UnavailableError */
  takeUp(epochs: readonly number[]): Promise<number>;
  /** Its waits where they are not the usual ones. */
  readonly lookAfterMs?: number;
  readonly touchMs?: number;
}

const hasEnded = (): Error => new UnavailableError('The session has ended.');

/**
 * Shows that this instance lives by a session, and notices within a moment that another one has died. The session holds an
 * advisory lock on a number, the *epoch*, that stands in due rows of the work which the instance has in memory. When the
 * process dies the kernel closes the connection, the server frees the lock, and an instance that sees it takes the work up.
 *
 * It makes waits shorter, and is no safeguard. A session may end though its instance lives (a proxy, an administrator), and
 * then two instances have the same email in memory: the one whose `attempt.begun` is durable first has the attempt, and
 * the machine refuses the other one's. Where a session cannot be had, or outlives a machine that has lost its network,
 * claims and leases bound the wait as they do without it.
 */
export class Presence {
  #epoch: number | null = null;
  #isWanted = false;
  #isStopped = false;
  #running: Promise<void> | null = null;
  /** Ends the session under way, and the rest between two. */
  #stop = new AbortController();
  /** The epochs that were found free, and whose emails are not taken up yet. */
  #gone: readonly number[] = [];
  readonly #warn;

  constructor(private readonly parts: PresenceParts) {
    this.#warn = rarely(parts.logger, parts.monotonic);
  }

  /** The epoch of this instance; null while it has no session. */
  get epoch(): number | null {
    return this.#epoch;
  }

  /** Sets whether other instances live. An instance that is alone needs no session. */
  expectOthers(areThere: boolean): void {
    if (areThere === this.#isWanted || (areThere && this.#isStopped)) return;
    this.#isWanted = areThere;
    if (!areThere) return this.#stop.abort();
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const before = this.#running;
    this.#running = (async () => {
      await before;
      while (!signal.aborted && (await this.#live(signal))) await rest(REST_MS, signal);
    })();
  }

  /** Ends the session for good: what the instance holds from then on is bounded by claims alone. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.expectOthers(false);
    await this.#running;
  }

  /** Lives for the time of one session; answers false where there are none. */
  async #live(stop: AbortSignal): Promise<boolean> {
    const { database, id } = this.parts;
    const holder = database.session();
    if (!holder) return false;
    const epoch = randomInt(1, 2 ** 31);
    const over = new AbortController();
    const end = () => {
      this.#epoch = null;
      over.abort();
    };
    stop.addEventListener('abort', end, { once: true });
    void holder.ended.then(end);
    try {
      const held = await orAborted(holder.query(HOLD(id, epoch), DEADLINE_MS), over.signal, hasEnded);
      if (held.length === 0) throw new Error('The row of this instance is not there yet.');
      if (!over.signal.aborted) this.#epoch = epoch;
      await Promise.all([
        this.#touch(holder, over.signal).finally(end),
        this.#watch(epoch, over.signal).finally(end),
      ]);
      throw hasEnded();
    } catch (error) {
      if (!stop.aborted) this.#warn({ err: error }, LOST);
    } finally {
      end();
      stop.removeEventListener('abort', end);
      // Others must not take a lock that is let go for that of an instance that has died.
      await holder.query(LEAVE(id, epoch), LEAVE_MS).catch(() => {});
      await holder.close().catch(() => {});
    }
    return true;
  }

  /** Shows proxies that the session is in use, until it answers no more. */
  async #touch(holder: DatabaseSession, over: AbortSignal): Promise<void> {
    const { touchMs = TOUCH_MS } = this.parts;
    for (let failed = 0; failed < TOUCHES; ) {
      await rest(failed > 0 ? REST_MS : touchMs, over);
      if (over.aborted) return;
      try {
        await orAborted(holder.query('select 1', DEADLINE_MS), over, hasEnded);
        failed = 0;
      } catch {
        failed += 1;
      }
    }
  }

  /** Watches the others for as long as this instance has the epoch. An error of its session or of a statement costs that session alone. */
  async #watch(epoch: number, over: AbortSignal): Promise<void> {
    const { database, lookAfterMs = LOOK_AFTER_MS } = this.parts;
    await rest(lookAfterMs, over);
    for (let isOurs = true; isOurs && !over.aborted; ) {
      const watcher = database.session();
      if (!watcher) return;
      try {
        while (isOurs) isOurs = await this.#look(epoch, watcher, over);
      } catch (error) {
        if (!over.aborted) this.#warn({ err: error }, BLIND);
      }
      await watcher.close().catch(() => {});
      if (isOurs) await rest(REST_MS, over);
    }
  }

  /** Watches the others for a while; answers false once this instance has the epoch no longer. */
  async #look(epoch: number, watcher: DatabaseSession, over: AbortSignal): Promise<boolean> {
    const { logger, id } = this.parts;
    const gone = this.#gone;
    if (gone.length > 0) {
      const emails = await orAborted(this.parts.takeUp(gone), over, hasEnded);
      this.#gone = this.#gone.filter((one) => !gone.includes(one));
      logger.warn(
        { emails },
        'The session of an instance has ended; the emails that it held in memory are taken up.',
      );
    }
    const found = await orAborted(watcher.query(WATCH(id, epoch), WATCH_DEADLINE_MS), over, hasEnded);
    if (found.length === 0) return true;
    const isOurs = await orAborted(this.#find(epoch), over, hasEnded);
    // Another instance may be finding the same one.
    if (this.#gone.length === 0) await rest(LOOK_MS, over);
    return isOurs;
  }

  /** Finds the epochs that are free; answers false if this instance has its one no longer. */
  async #find(epoch: number): Promise<boolean> {
    const { database, id } = this.parts;
    const rows = await database.query<{ epoch: number; isGone: boolean }>(FIND_GONE, [id, epoch], {
      isRoutine: true,
    });
    const gone = rows.filter(({ isGone }) => isGone).map((row) => row.epoch);
    this.#gone = [...this.#gone, ...gone.filter((one) => one !== epoch)];
    return !gone.includes(epoch) && rows.some(({ isGone }) => !isGone);
  }
}

/** Rests for that time and up to a second more, at most twice as long; no longer than until the signal fires. */
async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms + randomInt(Math.min(ms, REST_MS) + 1), undefined, { signal }).catch(() => {});
}
