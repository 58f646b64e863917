import { sql } from 'drizzle-orm';
import type { Logger } from 'pino';
import { draw } from '../../engine/drawing/moves.ts';
import type { Draft } from '../../engine/machine/draft.ts';
import { type Kind, stateList, stateOf } from '../../engine/machine/kind.ts';
import type { Scope } from '../../engine/machine/result.ts';
import { storeOf } from '../../engine/store/store-of.ts';
import { type Database, execute } from '../../platform/db/database.ts';
import type { Clock } from '../../platform/time/clock.ts';
import {
  cappedStatement,
  countStatement,
  type IndexedStates,
  indexedStates,
  pagesOf,
  waitingRelation,
} from './count-statements.ts';
import { timedStates } from './machines.ts';
import type { Counts, StateCount } from './model.ts';
import { scopeKey, type Visibility } from './visibility.ts';

/**
 * Shortest pause between two counts of a kind; it is longer in proportion to the duration of a slow count.
 */
const PAUSE_MS = 2_000;
const PAUSE_FACTOR = 50;
/**
 * The largest table that is counted completely, in pages: 128 MB on a server; 24 MB in the embedded database,
 * which is blocked meanwhile.
 */
const WHOLE = { postgres: 16_384, embedded: 3_072 } as const;
/**
 * Pages of a larger table that are read: some 50,000 emails, which estimates a state of half of all emails
 * within 0.5 %.
 */
const SAMPLED = { postgres: 4_096, embedded: 1_024 } as const;
/** Most waiting actors that are counted exactly. */
const MOST_WAITING = 50_000;

interface Row {
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly state: string;
  readonly count: number;
}

type Tally = Map<string, { count: number; exact: boolean }>;

/** The counts of one kind by scope, and the changes during a running count. */
interface KindCounts {
  readonly kind: Kind;
  readonly timed: readonly string[];
  indexed: IndexedStates | null;
  scopes: Map<string, Tally>;
  /** The changes since the running count began, which are added to its result. */
  pending: Map<string, Map<string, number>> | null;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/**
 * The number of actors in each state, from one count for all viewers. Between two counts the commits of this
 * process change the numbers. Every state of a small table is exact; in a large one the states that wait for
 * a timer or have an index are (up to 50,000 actors), and the others are estimated from a fixed sample of its
 * pages. Commits of other instances appear with the next count, and a commit during a count may be counted
 * wrongly until then.
 */
export class StateCounts {
  readonly #kinds: readonly KindCounts[];
  #counting = false;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly logger: Logger,
    kinds: readonly Kind[],
  ) {
    this.#kinds = kinds.map((kind) => ({
      kind,
      timed: timedStates(kind),
      indexed: null,
      scopes: new Map(),
      pending: null,
      timer: undefined,
    }));
  }

  /** Starts counting. Resolves once the first counts exist. */
  async start(): Promise<void> {
    if (this.#counting) return;
    this.#counting = true;
    for (const kindCounts of this.#kinds) await this.#count(kindCounts);
  }

  stop(): void {
    this.#counting = false;
    for (const { timer } of this.#kinds) clearTimeout(timer);
  }

  /** Applies a commit to the counts. */
  note(kind: Kind, drafts: readonly Draft[]): void {
    const kindCounts = this.#kinds.find((one) => one.kind === kind);
    if (!kindCounts) return;
    for (const { before, after } of drafts) {
      const to = stateOf(after.snapshot);
      const from = before && stateOf(before.snapshot);
      if (from === to) continue;
      const key = scopeKey(after);
      if (from !== null) move(kindCounts, key, from, -1);
      move(kindCounts, key, to, 1);
    }
  }

  /** The present counts of one environment, of the visible kinds. */
  counts(scope: Scope, visibility: Visibility): Counts {
    const key = scopeKey(scope);
    const seen = this.#kinds.filter(({ kind }) => visibility.has(kind.name));
    return Object.fromEntries(
      seen.map(({ kind, scopes }) => {
        const tally: readonly (readonly [string, StateCount])[] = [...(scopes.get(key) ?? [])];
        return [kind.name, Object.fromEntries(tally.filter(([, { count }]) => count > 0))];
      }),
    );
  }

  async #count(kindCounts: KindCounts): Promise<void> {
    const begin = this.clock.monotonic();
    const pending = new Map<string, Map<string, number>>();
    kindCounts.pending = pending;
    try {
      const scopes = await this.#read(kindCounts);
      kindCounts.scopes = scopes;
      for (const [key, changes] of pending) for (const [state, by] of changes) shift(scopes, key, state, by);
    } catch (error) {
      this.logger.warn({ err: error, kind: kindCounts.kind.name }, 'The actors could not be counted.');
    } finally {
      kindCounts.pending = null;
    }
    if (!this.#counting) return;
    const took = this.clock.monotonic() - begin;
    kindCounts.timer = setTimeout(
      () => void this.#count(kindCounts),
      Math.max(PAUSE_MS, took * PAUSE_FACTOR),
    );
    kindCounts.timer.unref();
  }

  async #read(kindCounts: KindCounts): Promise<Map<string, Tally>> {
    const { kind } = kindCounts;
    const pages = await pagesOf(this.database, kind);
    const { kind: where } = this.database;
    if (pages <= WHOLE[where]) return tallied(await this.#scan(kind, null), true);
    const scopes = tallied(await this.#scan(kind, (100 * SAMPLED[where]) / pages), false);
    kindCounts.indexed ??= await indexedStates(this.database, kind);
    const { indexed } = kindCounts;
    const listed = draw(kind.machine).states.map(({ name }) => name);
    const covered = listed.filter((name) => indexed === 'all' || indexed.has(name));
    const waiting = kindCounts.timed.filter((name) => !covered.includes(name));
    // Each state has its own limit: a million scheduled emails must not hide the number of failed ones.
    for (const state of covered) {
      const relation = kindCounts.timed.includes(state)
        ? waitingRelation(kind, true)
        : `${storeOf(kind).byState(false).name} ended`;
      await this.#replace(relation, scopes, [state]);
    }
    await this.#replace(waitingRelation(kind, false), scopes, waiting);
    return scopes;
  }

  /** Reads the table in physical order, in a transaction that allows the planner to do so. */
  #scan(kind: Kind, percent: number | null): Promise<readonly Row[]> {
    return execute(this.database, sql.raw(countStatement(kind, percent)));
  }

  /** Replaces estimates by exact counts, unless there are too many actors to count. */
  async #replace(relation: string, scopes: Map<string, Tally>, states: readonly string[]): Promise<void> {
    if (states.length === 0) return;
    const condition = `state in (${stateList(states)})`;
    const rows = await this.database.query<Row>(cappedStatement(relation, condition, MOST_WAITING + 1));
    if (rows.reduce((sum, { count }) => sum + count, 0) > MOST_WAITING) return;
    for (const tally of scopes.values())
      for (const state of states) tally.set(state, { count: 0, exact: true });
    for (const [key, tally] of tallied(rows, true)) {
      const known = scopes.get(key) ?? new Map<string, { count: number; exact: boolean }>();
      for (const [state, count] of tally) known.set(state, count);
      scopes.set(key, known);
    }
  }
}

function tallied(rows: readonly Row[], exact: boolean): Map<string, Tally> {
  const scopes = new Map<string, Tally>();
  for (const { workspace_id, livemode, state, count } of rows) {
    const key = scopeKey({ workspaceId: workspace_id, livemode });
    const tally = scopes.get(key) ?? new Map<string, { count: number; exact: boolean }>();
    tally.set(state, { count: Number(count), exact });
    scopes.set(key, tally);
  }
  return scopes;
}

function move(kindCounts: KindCounts, key: string, state: string, by: number): void {
  shift(kindCounts.scopes, key, state, by);
  if (!kindCounts.pending) return;
  const changes = kindCounts.pending.get(key) ?? new Map<string, number>();
  changes.set(state, (changes.get(state) ?? 0) + by);
  kindCounts.pending.set(key, changes);
}

function shift(scopes: Map<string, Tally>, key: string, state: string, by: number): void {
  const tally = scopes.get(key) ?? new Map<string, { count: number; exact: boolean }>();
  const known = tally.get(state);
  if (known) known.count = Math.max(0, known.count + by);
  else tally.set(state, { count: Math.max(0, by), exact: true });
  scopes.set(key, tally);
}
