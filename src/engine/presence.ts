import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { orAborted } from '../platform/async/deadline.ts';
import type { Database, DatabaseSession } from '../platform/db/database.ts';
import { UnavailableError } from '../platform/errors/unavailable.ts';
import type { Logger } from '../platform/telemetry/logger.ts';
import { rarely } from '../platform/telemetry/rarely.ts';
import { LISTEN, type News } from './news.ts';

/** The first number of the locks, the same in every instance. The second one is the epoch. */
export const LOCKS = 1_886_350_440;
/**
 * The longest wait for the lock of another instance. A statement that waits keeps its snapshot, behind which
 * VACUUM removes nothing, and a server does not notice that the client of such a statement has died: ten
 * seconds of either harm nothing.
 */
const WAIT_MS = 10_000;
/** The shortest, on a server that would log or end longer ones. */
const LEAST_WAIT_MS = 800;
/** A wait that ends sooner, by this share of it, has got the lock. */
const CUT_SHORT = 0.9;
/**
 * The pause after a search that found nothing, though an epoch was free: another instance may be finding it.
 */
const PAUSE_MS = 100;
/**
 * The wait before the first look. After a restart or a failover of the server all epochs are free at once,
 * until their instances have sessions again: the first one back must not take up what the others have in
 * memory.
 */
const LOOK_AFTER_MS = 3_000;
/** The wait for an answer, beside that for a lock: a session that is silent for longer leads nowhere. */
const WATCH_DEADLINE_MS = 5_000;
/** The same for the session that holds the lock. */
const DEADLINE_MS = 10_000;
/**
 * The least wait before another session is opened; up to a second is added to it, so that instances do not
 * come at once.
 */
const REST_MS = 1_000;
/** Proxies cut connections that are silent for a minute. */
const TOUCH_MS = 20_000;
/**
 * One may fail although its session is well: an administrator cancels statements, and a machine stands still.
 */
const TOUCHES = 2;
/** The wait for the last statement of a session: a stop must not wait for a database that is away. */
const LEAVE_MS = 1_000;

const LOST =
  'This instance has no session that shows it to others. It opens the next one; until then, others take up what it leaves when its claims end.';
const DEAF =
  'A pooler is before the database, or it has several nodes: instances do not hear of each other, and look for the work of others every second. Nothing is lost by it.';
const BLIND =
  'This instance could not look at the sessions of others. It tries again; until then, it takes up what they leave when their claims end.';

const HOLD = (id: string, epoch: number): string => `with held as materialized (
  select pg_try_advisory_lock(${LOCKS}, ${epoch}) as is_held
)
update service_instances set epoch = ${epoch} from held where id = '${id}' and is_held returning epoch`;

const IS_FREE = `epoch is not null and pg_try_advisory_xact_lock_shared(${LOCKS}, epoch)`;

/**
 * Says if some epoch may have no session any more, or this instance another one; and whose lock it waits for
 * next. The instances wait in a ring, in the order of their ids, so that each is awaited by one.
 */
const LOOK = (id: string, epoch: number): string => `select
  not exists (select from service_instances where id = '${id}' and epoch = ${epoch})
    or exists (select from service_instances where ${IS_FREE}) as "isFound",
  (select epoch from service_instances where id <> '${id}' and epoch is not null
    order by id > '${id}' desc, id limit 1) as next`;

/** Waits for the lock of an epoch, which is free at the moment at which its session ends. */
const WAIT = (epoch: number, ms: number): string => `do $$ begin
  perform set_config('lock_timeout', '${ms}', true);
  perform pg_advisory_xact_lock_shared(${LOCKS}, ${epoch});
exception when lock_not_available then null;
end $$`;

/**
 * The wait that this server neither ends nor takes for a slow statement or a long wait, which it would log
 * again and again.
 */
const LONGEST_WAIT = (
  ms: number,
): string => `select greatest(${Math.min(ms, LEAST_WAIT_MS)}, least(${ms}, 0.8 * min(
  case when name in ('log_min_duration_statement', 'statement_timeout', 'transaction_timeout')
      or (name = 'deadlock_timeout' and current_setting('log_lock_waits') = 'on')
    then nullif(greatest(setting::bigint, 0), 0) end)))::integer as ms from pg_settings`;

/**
 * Of several instances that look at the same time, one gets an epoch that is free. Answers also the one of
 * this instance.
 */
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
  readonly news: News;
  /** Takes up what the instances of these epochs held; `onLeft` follows. @throws UnavailableError */
  takeUp(epochs: readonly number[]): Promise<number>;
  /** Called when another instance has died or ended: it may have left what only it knew of. */
  onLeft(): void;
  /** Its waits where they are not the usual ones. */
  readonly lookAfterMs?: number;
  readonly touchMs?: number;
  readonly waitMs?: number;
}

/** Asks the session that watches; `ms` is the time that the statement may wait. */
type Ask = <Row extends object>(text: string, ms?: number) => Promise<readonly Row[]>;

const hasEnded = (): Error => new UnavailableError('The session has ended.');

/**
 * Shows that this instance lives by a session, and notices within a moment that another one has died. The
 * session holds an advisory lock on a number, the *epoch*, that stands in due rows of the work which the
 * instance has in memory. When the process dies the kernel closes the connection, the server frees the lock,
 * and an instance that sees it takes the work up.
 *
 * It makes waits shorter, and is no safeguard. A session may end though its instance lives (a proxy, an
 * administrator), and then two instances have the same email in memory: the one whose `attempt.begun` is
 * durable first has the attempt, and the machine refuses the other one's. Where a session cannot be had, or
 * outlives a machine that has lost its network, claims and leases bound the wait as they do without it.
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
  /** Ends the rest of an instance that waits for no lock. */
  #hurry = new AbortController();
  /** The own notification of this instance has come back on its session. */
  #isHeard = false;
  /** It looks at the sessions of others. */
  #watches = false;
  #isSaid = false;
  readonly #warn;

  constructor(private readonly parts: PresenceParts) {
    this.#warn = rarely(parts.logger, parts.monotonic);
    parts.news.on('here', () => this.#hurry.abort());
  }

  /** The epoch of this instance; null while it has no session. */
  get epoch(): number | null {
    return this.#epoch;
  }

  get #waitMs(): number {
    return this.parts.waitMs ?? WAIT_MS;
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

  /** An instance that looks at the sessions of others, and hears on its own one, may rest. */
  #sees(watches: boolean): void {
    this.#watches = watches;
    this.parts.news.hears = watches && this.#isHeard;
  }

  /** Lives for the time of one session; answers false where there are none. */
  async #live(stop: AbortSignal): Promise<boolean> {
    const { database, id, news } = this.parts;
    const over = new AbortController();
    this.#isHeard = false;
    const holder = database.session((payload) => {
      if (!news.heard(payload) || over.signal.aborted) return;
      // A pooler that was not recognized may have the session listen elsewhere: only what comes back shows
      // that it hears.
      this.#isHeard = true;
      this.#sees(this.#watches);
    });
    if (!holder) {
      if (!this.#isSaid) this.parts.logger.info(DEAF);
      this.#isSaid = true;
      return false;
    }
    const epoch = randomInt(1, 2 ** 31);
    const end = () => {
      this.#epoch = null;
      this.#sees(false);
      over.abort();
    };
    stop.addEventListener('abort', end, { once: true });
    void holder.ended.then(end);
    try {
      const held = await orAborted(holder.query(HOLD(id, epoch), DEADLINE_MS), over.signal, hasEnded);
      if (held.length === 0) throw new Error('The row of this instance is not there yet.');
      if (!over.signal.aborted) this.#epoch = epoch;
      await orAborted(holder.query(LISTEN, DEADLINE_MS), over.signal, hasEnded);
      news.tell('here');
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

  /**
   * Watches the others for as long as this instance has the epoch. An error of its session or of a statement
   * costs that session alone.
   */
  async #watch(epoch: number, over: AbortSignal): Promise<void> {
    const { database, lookAfterMs = LOOK_AFTER_MS } = this.parts;
    await rest(lookAfterMs, over);
    for (let isOurs = true; isOurs && !over.aborted; ) {
      const watcher = database.session();
      if (!watcher) return;
      const ask: Ask = (text, ms = 0) =>
        orAborted(watcher.query(text, WATCH_DEADLINE_MS + ms), over, hasEnded);
      try {
        const [{ ms } = { ms: LEAST_WAIT_MS }] = await ask<{ ms: number }>(LONGEST_WAIT(this.#waitMs));
        while (isOurs) isOurs = await this.#look(epoch, ms, ask, over);
      } catch (error) {
        if (!over.aborted) this.#warn({ err: error }, BLIND);
      }
      this.#sees(false);
      await watcher.close().catch(() => {});
      if (isOurs) await rest(REST_MS, over);
    }
  }

  /** Watches the others for a while; answers false once this instance has the epoch no longer. */
  async #look(epoch: number, longestMs: number, ask: Ask, over: AbortSignal): Promise<boolean> {
    const { logger, id, news } = this.parts;
    const gone = this.#gone;
    if (gone.length > 0) {
      const emails = await orAborted(this.parts.takeUp(gone), over, hasEnded);
      this.#gone = this.#gone.filter((one) => !gone.includes(one));
      this.parts.onLeft();
      logger.warn(
        { emails },
        'The session of an instance has ended; the emails that it held in memory are taken up.',
      );
    }
    this.#hurry = new AbortController();
    const [look] = await ask<{ isFound: boolean; next: number | null }>(LOOK(id, epoch));
    if (look?.isFound === false) {
      this.#sees(true);
      if (!this.#isHeard) news.tell('here');
      await this.#await(look.next, longestMs, ask, over);
      return true;
    }
    const isOurs = await orAborted(this.#find(epoch), over, hasEnded);
    if (this.#gone.length === 0) await rest(PAUSE_MS, over);
    return isOurs;
  }

  /** Waits until the session of that epoch ends, or it is time to look again. */
  async #await(epoch: number | null, longestMs: number, ask: Ask, over: AbortSignal): Promise<void> {
    if (epoch === null) return rest(this.#waitMs, AbortSignal.any([over, this.#hurry.signal]));
    const { monotonic } = this.parts;
    const until = monotonic() + this.#waitMs * CUT_SHORT;
    do {
      const begun = monotonic();
      await ask(WAIT(epoch, longestMs), longestMs);
      if (monotonic() - begun < longestMs * CUT_SHORT) return this.parts.onLeft();
    } while (monotonic() < until && !this.#hurry.signal.aborted);
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

/**
 * Rests for that time and up to a second more, at most twice as long; no longer than until the signal fires.
 */
async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms + randomInt(Math.min(ms, REST_MS) + 1), undefined, { signal }).catch(() => {});
}
