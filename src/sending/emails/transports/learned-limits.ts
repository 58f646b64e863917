import type { FoundEntry, LimitBook } from '../../../mail/transport/limits/limit-book.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import { rarely } from '../../../platform/telemetry/rarely.ts';
import type { Clock } from '../../../platform/time/clock.ts';

/** Limits are learned in bursts, and one write tells the others. */
const SAVE_EVERY_MS = 1_000;
/** A limit that no server has shown for so long is forgotten: it costs one refusal to learn it again. */
const FORGOTTEN_AFTER = '7 days';

/**
 * Of each limit the newer finding stays, as `newer` in learned.ts says: several instances write what they
 * know of one server, and none of them knows all. A limit ends by an entry that says so, never because one
 * does not know of it.
 */
const MERGED = `(
  select json_object_agg(name, finding) from (
    select distinct on (name) name, finding
    from (select * from json_each(l.limits) union all select * from json_each(excluded.limits)) as f (name, finding)
    order by name, (finding->>'at')::float8 desc, (finding->>'value')::float8 nulls last
  ) newest
)`;

const SAVE = `with forgotten as (
  delete from learned_limits where changed_at < clock_timestamp() - interval '${FORGOTTEN_AFTER}'
)
insert into learned_limits as l (transport, server, limits, changed_at)
select transport, server, limits, clock_timestamp()
from json_to_recordset($1::json) as e (transport text, server text, limits json) order by transport, server
on conflict (transport, server) do update set limits = ${MERGED}, changed_at = excluded.changed_at`;

const LOAD = `select transport, server, limits from learned_limits
where changed_at > clock_timestamp() - interval '${FORGOTTEN_AFTER}'
  and changed_at > clock_timestamp() - $1::float8 * interval '1 millisecond'`;

/** The services of a keeper of limits. */
export interface LimitKeeperParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly book: LimitBook;
}

/** Keeps the limits that servers have shown over restarts, and shares them with the other instances. */
export class LimitKeeper {
  readonly #warn: ReturnType<typeof rarely>;
  #timer: Timer | undefined;
  #isOn = false;
  #busy: Promise<void> = Promise.resolve();
  #loadedAt: number | null = null;

  constructor(private readonly parts: LimitKeeperParts) {
    this.#warn = rarely(parts.logger, parts.clock.monotonic);
  }

  /**
   * Takes over what is stored, and stores what is learned from now on. A database that is away costs what was
   * learned, and no mail.
   */
  async start(): Promise<void> {
    await this.load();
    this.#isOn = true;
    this.parts.book.heed(() => this.#soon());
  }

  /** Stores what was found within a second; nothing wakes a service that finds nothing. */
  #soon(): void {
    if (!this.#isOn || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#busy = this.#busy.then(() => this.save());
    }, SAVE_EVERY_MS);
    this.#timer.unref();
  }

  /** Takes over what the others have learned since the last time. */
  async load(): Promise<void> {
    const { database, clock, book } = this.parts;
    const beganAt = clock.monotonic();
    // Twice the time since then: the others may have written for a while.
    const since = this.#loadedAt === null ? 1e12 : 2 * (beganAt - this.#loadedAt) + SAVE_EVERY_MS;
    try {
      for (const entry of await database.query<FoundEntry>(LOAD, [since], { isRoutine: true }))
        book.adopt(entry);
      this.#loadedAt = beganAt;
    } catch (error) {
      this.#warn(
        { err: error },
        'The limits that servers have shown could not be read; they are learned again.',
      );
    }
  }

  /** Stores what has been learned. */
  async save(): Promise<void> {
    const { database, book } = this.parts;
    const changed = book.takeChanged();
    if (changed === null) return;
    try {
      await database.query(SAVE, [JSON.stringify(changed.entries)]);
    } catch (error) {
      changed.failed();
      this.#warn(
        { err: error },
        'The limits that servers have shown could not be stored; they are kept in memory.',
      );
    }
  }

  async stop(): Promise<void> {
    this.#isOn = false;
    clearTimeout(this.#timer);
    await this.#busy;
    await this.save();
  }
}
