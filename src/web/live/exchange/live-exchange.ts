import type { Scope } from '../../../engine/machine/result.ts';
import { type KnownInstances, type LivingInstance, readLivingInstances } from '../../../engine/roster.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import type { NewsCompleteness, ShownInstance } from '../model.ts';
import { scopeKey } from '../visibility.ts';
import { HEAR, LEAVE, LOOK, MOST_WATCHED, TAKE_BACK, TELL, TIDY, WATCH } from './exchange-statements.ts';
import type { FeedSource } from './gathered.ts';
import { type HeardListener, IncomingNews, type NewsRow } from './incoming.ts';
import { OutgoingNews } from './outgoing.ts';

/**
 * The first round after a viewer arrives comes earlier than usual, but at least this long after the last
 * round.
 */
const SOONEST_MS = 100;
/** A third of the time that a watch lasts. */
const RENEW_MS = 10_000;
/** The time between two reads of the running instances. */
const INSTANCES_MS = 2_000;

/** Times between two rounds, in milliseconds. */
interface Pace {
  /** The interval without viewers. */
  readonly idle: number;
  /** The interval with viewers. */
  readonly busy: number;
  /** The time between two searches for left-over rows, of this instance and of dead ones. */
  readonly tidy: number;
}

const PACE: Pace = { idle: 1_000, busy: 500, tidy: 5_000 };
/**
 * The time between two rounds with statements of an instance that has no viewers, and is alone or hears of
 * those of the others.
 */
const ALONE_MS = 30_000;

/** The services of it. */
export interface ExchangeParts {
  readonly database: Database;
  readonly engine: FeedSource;
  readonly logger: Logger;
  readonly roster: Pick<
    KnownInstances,
    'id' | 'version' | 'runsMs' | 'instances' | 'hearsAll' | 'news' | 'watch'
  >;
  readonly now: () => number;
  readonly monotonic: () => number;
  /** As usual when absent. */
  readonly pace?: Pace;
}

/** The part of the exchange that the live view uses. */
export type OtherInstances = Pick<LiveExchange, 'id' | 'instances' | 'join' | 'completeness'>;

/**
 * Lets the live view of each instance follow all others through two small tables: each instance writes the
 * environments that its viewers watch, and the others write their commits in these environments, twice a
 * second. Without viewers, an instance waits for the notification of one, or looks once a second where a
 * pooler is in between. An embedded database has one instance, which does nothing here.
 */
export class LiveExchange {
  readonly #incoming = new IncomingNews();
  readonly #outgoing: OutgoingNews;
  readonly #startedAt: number;
  readonly #pace: Pace;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #round: Promise<void> | null = null;
  #isOn = false;
  #isWanted = false;
  #roundAt = Number.NEGATIVE_INFINITY;
  /** The environments last written as watched here. */
  #said = '[]';
  #saidAt = Number.NEGATIVE_INFINITY;
  /** The environments that are reported, here and elsewhere. */
  #served: ReadonlySet<string> = new Set();
  #isAway = false;
  #isCrowded = false;
  #tidiedAt = Number.NEGATIVE_INFINITY;
  #living: readonly LivingInstance[] = [];
  #livingAt = Number.NEGATIVE_INFINITY;
  #leave: (() => void) | null = null;

  constructor(private readonly parts: ExchangeParts) {
    this.#pace = parts.pace ?? PACE;
    this.#outgoing = new OutgoingNews(parts.roster.id, parts.monotonic);
    this.#startedAt = parts.now() - parts.roster.runsMs;
  }

  /** The id of this instance, as it is shown. */
  get id(): string {
    return shown(this.parts.roster.id);
  }

  /** The running instances, the oldest first; only this one before the first read. */
  get instances(): readonly ShownInstance[] {
    const { id: own, version, instances } = this.parts.roster;
    const roles = instances[0]?.roles ?? [];
    const known = this.#living.some(({ id }) => id === own)
      ? this.#living
      : [{ id: own, roles, version, startedAt: this.#startedAt }, ...this.#living];
    return known.map(({ id, ...rest }) => ({
      id: shown(id),
      roles: rest.roles,
      version: rest.version,
      startedAt: rest.startedAt === null ? null : Math.round(rest.startedAt),
      isThis: id === own,
    }));
  }

  /** The completeness of the news about an environment that is watched here. */
  completeness(scope: Scope): NewsCompleteness {
    if (this.#isAway) return 'away';
    return this.#isCrowded && !this.#served.has(scopeKey(scope)) ? 'crowded' : 'all';
  }

  /** Calls with the commits of other instances in an environment, until the returned function is called. */
  join(scope: Scope, listener: HeardListener): () => void {
    const leave = this.#incoming.join(scope, listener);
    this.#soon();
    return () => {
      leave();
      this.#soon();
    };
  }

  start(): void {
    if (this.parts.database.kind === 'embedded') return;
    this.#isOn = true;
    const { roster } = this.parts;
    let hadOthers = roster.instances.length > 1;
    roster.watch(() => {
      const hasOthers = roster.instances.length > 1;
      if (hasOthers && !hadOthers) this.#soon();
      hadOthers = hasOthers;
    });
    roster.news.on('watch', () => this.#soon());
    roster.news.onHearing(() => this.#soon());
    this.#schedule(0);
  }

  /** Reports the last commits, and withdraws the watched environments of this instance. */
  async stop(): Promise<void> {
    if (!this.#isOn) return;
    this.#isOn = false;
    clearTimeout(this.#timer);
    await this.#round;
    this.#leave?.();
    const { database, roster } = this.parts;
    await this.#tell()
      .then(() => database.query(LEAVE, [roster.id]))
      .catch(() => {});
  }

  #soon(): void {
    this.#isWanted = true;
    if (this.#isOn && !this.#round)
      this.#schedule(Math.max(0, this.#roundAt + SOONEST_MS - this.parts.monotonic()));
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#round = this.#exchange().finally(() => {
        this.#round = null;
        const isBusy = this.#leave !== null || this.#incoming.scopes.length > 0;
        const { idle, busy } = this.#pace;
        const rest = this.#isAlone ? ALONE_MS : isBusy ? busy : idle;
        if (this.#isOn) this.#schedule(this.#isWanted ? SOONEST_MS : rest);
      });
    }, ms);
  }

  async #exchange(): Promise<void> {
    this.#roundAt = this.parts.monotonic();
    const isAlone = this.#isAlone;
    this.#isWanted = false;
    if (isAlone) return;
    try {
      await this.#hear();
      await this.#say();
      await this.#look();
      await this.#tell();
      this.#isAway = false;
    } catch (err) {
      this.#isAway = true;
      this.parts.logger.debug({ err }, 'The live view does not get the moves of other instances.');
    }
  }

  /**
   * Nothing is watched here, and there is no other instance that could watch, or have left something over.
   */
  get #isAlone(): boolean {
    const { roster, monotonic } = this.parts;
    const isUnwatched =
      this.#leave === null &&
      this.#said === '[]' &&
      this.#incoming.scopes.length + this.#incoming.begun.length === 0;
    return !this.#isWanted && roster.hearsAll && isUnwatched && monotonic() - this.#tidiedAt < ALONE_MS;
  }

  /** Says what is watched here, when that has changed or its time is soon over. */
  async #say(): Promise<void> {
    const { database, monotonic, roster } = this.parts;
    const scopes = JSON.stringify(this.#incoming.begun);
    const at = monotonic();
    const isSaid = scopes === this.#said && (scopes === '[]' || at - this.#saidAt < RENEW_MS);
    if (isSaid) return;
    const before = this.#said;
    // Without a reply, the statement may or may not have been carried out.
    this.#said = '';
    await database.query(WATCH, [roster.id, scopes]);
    if (before !== scopes) roster.news.tell('watch');
    this.#said = scopes;
    this.#saidAt = at;
  }

  async #look(): Promise<void> {
    const { database, engine, monotonic, roster } = this.parts;
    const isTidying = monotonic() - this.#tidiedAt >= this.#pace.tidy;
    const [row] = await database.query<{ watched: string; littered: boolean }>(LOOK, [roster.id, isTidying], {
      isPage: true,
      isRoutine: true,
    });
    const watched = (JSON.parse(row?.watched ?? '[]') as [string, boolean, boolean][]).map(
      ([workspaceId, livemode, elsewhere]) => ({ scope: { workspaceId, livemode }, elsewhere }),
    );
    this.#served = new Set(watched.map(({ scope }) => scopeKey(scope)));
    this.#isCrowded = watched.length === MOST_WATCHED;
    // A crash of the database, or a jump of its clock, removes the watches: they are written again in the
    // next round.
    if (!this.#isCrowded && this.#incoming.begun.some((scope) => !this.#served.has(scopeKey(scope))))
      this.#said = '';
    const followed = watched.flatMap(({ scope, elsewhere }) => (elsewhere ? [scope] : []));
    this.#outgoing.follow(followed);
    if (followed.length === 0) {
      this.#leave?.();
      this.#leave = null;
    } else this.#leave ??= engine.listen((kind, drafts) => this.#outgoing.note(kind, drafts));
    if (isTidying) await this.#tidy(row?.littered ?? false);
  }

  async #tidy(isLittered: boolean): Promise<void> {
    const { database, monotonic, roster } = this.parts;
    this.#tidiedAt = monotonic();
    const over = this.#outgoing.over();
    if (over !== null) await database.query(TAKE_BACK, [roster.id, over]);
    if (isLittered) await database.query(TIDY);
  }

  async #tell(): Promise<void> {
    const { database, roster } = this.parts;
    const told = this.#outgoing.next();
    if (!told) return;
    await database.query(TELL, [roster.id, told.number, told.text]);
    this.#outgoing.done(told);
  }

  async #hear(): Promise<void> {
    const { database, monotonic, roster } = this.parts;
    const { scopes, places } = this.#incoming;
    if (scopes.length === 0) return;
    const parameters = [roster.id, JSON.stringify(scopes), JSON.stringify(places)];
    this.#incoming.take(scopes, await database.query<NewsRow>(HEAR, parameters, { isPage: true }));
    if (monotonic() - this.#livingAt < INSTANCES_MS) return;
    this.#living = await readLivingInstances(database);
    this.#livingAt = monotonic();
  }
}

const shown = (id: string): string => id.slice(0, 8);
