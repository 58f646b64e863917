import { countedByRole, type KnownInstance, type Living, leaveWork, type Roles } from '../../config/roles.ts';
import type { Database } from '../../db/database.ts';
import type { Logger } from '../../telemetry/logger.ts';

/** Time between two signs of life of an instance. */
const BEAT_MS = 10_000;
/** Rows of instances that were killed stay that long. */
const FORGOTTEN_AFTER = '1 day';

/** The age from which on the last sign of life of an instance counts no more. */
const GONE_AFTER_MS = 35_000;

/** The instances that live. */
const LIVING = `select roles from service_instances
where seen_at between clock_timestamp() - interval '${GONE_AFTER_MS} milliseconds' and clock_timestamp() + interval '${GONE_AFTER_MS} milliseconds'`;

/** Counts the living instances as they say it in the database. @throws Unavailable */
export const readLiving = async (database: Database): Promise<Living> =>
  countedByRole(await database.query<KnownInstance>(LIVING));

const BEAT = `with forgotten as (
  delete from service_instances where seen_at < clock_timestamp() - interval '${FORGOTTEN_AFTER}' and id <> $1
), seen as (
  insert into service_instances (id, roles, seen_at) values ($1, $2::text[], clock_timestamp())
  on conflict (id) do update set seen_at = excluded.seen_at
)
${LIVING} and id <> $1`;
const LEAVE = 'delete from service_instances where id = $1';

/** The services of a roster. */
export interface RosterParts {
  readonly database: Database;
  readonly logger: Logger;
  readonly roles: Roles;
  /** Called with whether some living instance leaves to others what it begins. */
  onOthers(leave: boolean): void;
}

/** Shows that this instance lives, and knows which others do, as of some seconds ago. An embedded database has one instance. */
export class Roster {
  readonly #id = crypto.randomUUID();
  #others: readonly KnownInstance[] = [];
  #beating: ReturnType<typeof setInterval> | undefined;
  #busy: Promise<void> = Promise.resolve();

  constructor(private readonly parts: RosterParts) {}

  /** Rejects when the database does not take the first sign of life. @throws Unavailable */
  async start(): Promise<void> {
    if (this.parts.database.kind === 'embedded') return;
    await this.#beat();
    this.#beating = setInterval(() => {
      this.#busy = this.#beat().catch((error: unknown) =>
        this.parts.logger.warn({ err: error }, 'This instance could not show that it lives.'),
      );
    }, BEAT_MS);
  }

  /** The living instances, this one among them. */
  get living(): Living {
    return countedByRole([...this.#others, this.parts]);
  }

  /** Goes, so that nobody counts on it for the next seconds. */
  async stop(): Promise<void> {
    if (this.#beating === undefined) return;
    clearInterval(this.#beating);
    this.#beating = undefined;
    await this.#busy;
    await this.parts.database.query(LEAVE, [this.#id]).catch(() => {});
  }

  async #beat(): Promise<void> {
    const { database, roles, onOthers } = this.parts;
    this.#others = await database.query<KnownInstance>(BEAT, [this.#id, [...roles]]);
    onOthers(leaveWork(this.#others));
  }
}
