import type { Part } from '../mail/transport/part.ts';
import {
  countedByRole,
  type KnownInstance,
  type Role,
  type RoleCounts,
  type Roles,
} from '../platform/config/roles.ts';
import type { KeysInUse } from '../platform/config/served-keys.ts';
import type { Database } from '../platform/db/database.ts';
import { GONE_AFTER_MS, IS_LIVING } from '../platform/db/living.ts';
import type { Logger } from '../platform/telemetry/logger.ts';
import { News } from './news.ts';

/** Time between two signs of life of an instance. */
const BEAT_MS = 10_000;
/**
 * The number of what instances tell each other (`news.ts`), beside the version in their rows: one that does
 * not tell all that another one waits for has a lower number, or none.
 */
const TELLS = 1;
/** Rows of instances that were killed stay that long. */
const FORGOTTEN_AFTER = '1 day';

/** The instances that live. */
const LIVING = (columns: string) => `select ${columns} from service_instances where ${IS_LIVING}`;

/** Counts the living instances as they say it in the database. @throws UnavailableError */
export const readLiving = async (database: Database): Promise<RoleCounts> =>
  countedByRole(await database.query<KnownInstance>(LIVING('roles')));

/**
 * An instance, as its row in the database describes it. Versions before this one state neither their version
 * nor their start.
 */
export interface LivingInstance extends KnownInstance {
  readonly id: string;
  readonly version: string | null;
  /** Epoch milliseconds, by the database's clock. */
  readonly startedAt: number | null;
}

const SHOWN = `id, roles, split_part(version, '/', 1) as version,
  (extract(epoch from started_at) * 1000)::float8 as "startedAt"`;

/** The living instances, those that started first before the others. @throws UnavailableError */
export const readLivingInstances = (database: Database): Promise<LivingInstance[]> =>
  database.query<LivingInstance>(`${LIVING(SHOWN)} order by started_at, id`, [], { isPage: true });

/** Another instance that lives. */
export interface OtherInstance extends KnownInstance {
  readonly id: string;
  /** It has asked who lives since this instance said so, and thus knows of it. */
  readonly knows: boolean;
  /** It tells all that this one would, and its end is noticed by its session. */
  readonly tells: boolean;
}

const BEAT = `with forgotten as (
  delete from service_instances where seen_at < clock_timestamp() - interval '${FORGOTTEN_AFTER}' and id <> $1
), seen as (
  insert into service_instances (id, roles, seen_at, secret_keys, seals_with, version, started_at)
  values ($1, $2::text[], clock_timestamp(), $4::text[], $5, $6, clock_timestamp() - $7::float8 * interval '1 millisecond')
  on conflict (id) do update
  set seen_at = excluded.seen_at, secret_keys = excluded.secret_keys, seals_with = excluded.seals_with
)
${LIVING(`id, roles, seen_at > $3::timestamptz as knows,
  epoch is not null and version is not distinct from $6 as tells`)} and id <> $1 order by id`;
const NOW = 'select clock_timestamp()::text as now';
const LEAVE = 'delete from service_instances where id = $1';

/** The services of a roster. */
export interface RosterParts {
  readonly database: Database;
  readonly logger: Logger;
  readonly roles: Roles;
  readonly monotonic: () => number;
  readonly version: string;
  /** Time between two signs of life; as usual when absent. */
  readonly everyMs?: number;
  /** The secret keys of this instance, which a rotation waits for. */
  keys(): KeysInUse;
  /** Called with the other living instances after each look. */
  onOthers(others: readonly OtherInstance[]): void;
}

/** The living instances, as other parts need them. */
export type KnownInstances = Pick<
  Roster,
  'id' | 'version' | 'runsMs' | 'living' | 'instances' | 'news' | 'hearsAll' | 'partOf' | 'watch'
>;

/**
 * Shows that this instance lives, and knows which others do, as of some seconds ago. An embedded database has
 * one instance.
 */
export class Roster {
  readonly id = crypto.randomUUID();
  readonly news: News;
  #others: readonly OtherInstance[] = [];
  readonly #startedAt: number;
  /** When the others could know of it first, by the database's clock. */
  #here = 'infinity';
  #beatenAt = Number.NEGATIVE_INFINITY;
  readonly #listeners: (() => void)[] = [];
  #beating: ReturnType<typeof setInterval> | undefined;
  #busy: Promise<void> = Promise.resolve();

  constructor(private readonly parts: RosterParts) {
    this.#startedAt = parts.monotonic();
    const hasOthers = () => this.#others.length > 0;
    this.news = new News({ database: parts.database, id: this.id, hasOthers });
  }

  /** Rejects when the database does not take the first sign of life. @throws UnavailableError */
  async start(): Promise<void> {
    if (this.parts.database.kind === 'embedded') return this.parts.onOthers([]);
    await this.#beat();
    // Of two instances that start at once, the second to look sees the other.
    await this.#beat();
    this.#beating = setInterval(() => {
      this.#busy = this.#beat().catch((error: unknown) =>
        this.parts.logger.warn({ err: error }, 'This instance could not write its heartbeat.'),
      );
    }, this.parts.everyMs ?? BEAT_MS);
  }

  /** The living instances, this one among them. */
  get living(): RoleCounts {
    return countedByRole([...this.#others, this.parts]);
  }

  /** The other living instances. */
  get others(): readonly KnownInstance[] {
    return this.#others;
  }

  /**
   * True when no other instance lives, or this one hears what each of them leaves to it. One that does not
   * know of this instance tells nothing, and one of another version may not tell.
   */
  get hearsAll(): boolean {
    return (
      this.#others.length === 0 ||
      (this.news.hears && this.#others.every(({ knows, tells }) => knows && tells))
    );
  }

  /** The time since this instance started, in milliseconds. */
  get runsMs(): number {
    return this.parts.monotonic() - this.#startedAt;
  }

  get version(): string {
    return this.parts.version;
  }

  /** The living instances with their roles, this one first. */
  get instances(): readonly (KnownInstance & { readonly id: string })[] {
    return [{ id: this.id, roles: this.parts.roles }, ...this.#others];
  }

  /** This instance among those with a role, which share what holds over all of them. */
  partOf(role: Role): Part {
    const others = this.#others.filter(({ roles }) => roles.includes(role));
    return {
      of: others.length + 1,
      rank: others.filter(({ id }) => id < this.id).length,
      // Without the role, other instances do not count this one; the little mail that it sends makes no
      // difference.
      isKnown: this.parts.roles.includes(role) && others.every(({ knows }) => knows),
    };
  }

  /** Calls back after each look at who lives. */
  watch(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Removes this instance, so that no other counts on it for the next seconds. */
  async stop(): Promise<void> {
    if (this.#beating === undefined) return;
    clearInterval(this.#beating);
    this.#beating = undefined;
    await this.#busy;
    await this.parts.database.query(LEAVE, [this.id]).catch(() => {});
  }

  /** Shows what has changed about this instance at once. @throws UnavailableError */
  async tell(): Promise<void> {
    await this.#busy;
    if (this.#beating === undefined) return;
    const told = this.#beat();
    this.#busy = told.catch(() => {});
    await told;
  }

  async #beat(): Promise<void> {
    const { database, roles, keys, onOthers, monotonic, version } = this.parts;
    const { holds, sealsWith } = keys();
    const beganAt = monotonic();
    // Others no longer count an instance that was silent for this time.
    if (beganAt - this.#beatenAt > GONE_AFTER_MS - BEAT_MS) this.#here = 'infinity';
    const runsMs = beganAt - this.#startedAt;
    const shown = [[...roles], this.#here, [...holds], sealsWith, `${version}/${TELLS}`, runsMs];
    this.#others = await database.query<OtherInstance>(BEAT, [this.id, ...shown], { isRoutine: true });
    this.#beatenAt = beganAt;
    if (this.#here === 'infinity')
      this.#here = (await database.query<{ now: string }>(NOW))[0]?.now ?? 'infinity';
    onOthers(this.#others);
    for (const listener of this.#listeners) listener();
  }
}
