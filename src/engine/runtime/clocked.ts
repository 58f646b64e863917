import type { Database } from '../../platform/db/database.ts';
import type { Engine } from '../engine.ts';
import { earliest } from '../machine/decide.ts';
import type { Kind, KindName } from '../machine/kind.ts';
import type { ActorRow } from '../machine/storage.ts';
import { ownActorReader } from '../store/actors.ts';

/** The name of a clock that actors live by instead of the service's own. */
export interface OwnClock {
  readonly workspaceId: string;
  readonly id: string;
}

/** The work of a clock, of one sort. Times are epoch milliseconds. */
export interface ClockedWork {
  /** Looks for new work, and returns the next due moment; infinity for none. @throws UnavailableError */
  next(): Promise<number>;
  /**
   * Does some of the work that is due at that moment: an amount that takes far less than a lease of the
   * clock. @throws UnavailableError
   */
  move(at: number): Promise<void>;
}

/** Actors that live by test clocks, as the code that advances the clocks sees them. */
export interface ClockedActors {
  /** Begins a passage of a clock. */
  open(clock: OwnClock): ClockedWork;
  /**
   * Ends what waits for a clock that was deleted. The time is each thing's own when left out. @throws
   * UnavailableError
   */
  close(clock: OwnClock, at?: number): Promise<void>;
}

/** The queries and events by which the actors of a kind are found and moved. */
export interface ClockedKind {
  readonly kind: Kind;
  readonly name: KindName;
  /**
   * Tells at each look the ids of a clock's actors that may wait for something; none twice that waits for
   * nothing. @throws UnavailableError
   */
  ids(clock: OwnClock): () => Promise<readonly string[]>;
  /** True of one that has ordered something: that is done at once, at the time at which it was ordered. */
  isUnderWay(row: ActorRow): boolean;
  /** Carries out its order, and reports the outcome. @throws UnavailableError */
  perform(row: ActorRow): Promise<void>;
  /** Tells it that its clock is gone. @throws UnavailableError */
  end(row: ActorRow, at: number | undefined): Promise<void>;
}

/** Actors that are moved at once. */
export const AT_ONCE = 50;

interface ClockedDeps {
  readonly database: Database;
  readonly engine: Pick<Engine, 'fireTimers'>;
}

/** At which moment an actor has something to do: at once where something was ordered. */
const dueOf = (spec: ClockedKind, row: ActorRow): number =>
  spec.isUnderWay(row) ? Number.NEGATIVE_INFINITY : (earliest(row.timers ?? {}) ?? Number.POSITIVE_INFINITY);

/**
 * Moves the actors of a kind that live by test clocks. Their orders are carried out here too, so that a crash
 * changes nothing in their journals: an order without an outcome gets one in the next run, at the time of the
 * clock at which it was ordered.
 */
export function clockedActors({ database, engine }: ClockedDeps, spec: ClockedKind): ClockedActors {
  /** Fires the timers of one actor that are due at that moment, and carries out its orders. */
  const move = async (row: ActorRow, at: number): Promise<void> => {
    if (spec.isUnderWay(row)) return spec.perform(row);
    const fired = await engine.fireTimers(spec.name, row, at);
    if (fired.outcome !== 'changed') return;
    const now: ActorRow = { ...row, state: fired.state, context: fired.context };
    if (spec.isUnderWay(now)) await spec.perform(now);
  };

  return {
    open(clock) {
      const ids = spec.ids(clock);
      const read = ownActorReader(database, spec.kind, clock.workspaceId);
      const waiting = new Map<string, ActorRow>();
      let moved: readonly ActorRow[] = [];
      const look = async (): Promise<void> => {
        const fresh = (await ids()).filter((id) => !waiting.has(id));
        const asked = [...fresh, ...moved.map(({ id }) => id)];
        const rows = asked.length === 0 ? [] : await read(asked);
        const found = new Set(rows.map(({ id }) => id));
        // Actors that are missing were removed, with other test data or with their workspace.
        for (const id of asked) if (!found.has(id)) waiting.delete(id);
        for (const row of rows) {
          const before = moved.find(({ id }) => id === row.id);
          if (before?.revision === row.revision)
            throw new Error(`${row.id} stays ${row.state}, although it is due.`);
          if (dueOf(spec, row) === Number.POSITIVE_INFINITY) waiting.delete(row.id);
          else waiting.set(row.id, row);
        }
        moved = [];
      };
      return {
        async next() {
          await look();
          return Math.min(...waiting.values().map((row) => dueOf(spec, row)));
        },
        async move(at) {
          moved = [...waiting.values()]
            .filter((row) => dueOf(spec, row) <= at)
            .toSorted((a, b) => dueOf(spec, a) - dueOf(spec, b))
            .slice(0, AT_ONCE);
          // One that fails ends the passage once nothing is under way any more: others may take it up then.
          const ends = await Promise.allSettled(moved.map((row) => move(row, at)));
          for (const end of ends) if (end.status === 'rejected') throw end.reason;
        },
      };
    },
    async close(clock, at) {
      const ids = await spec.ids(clock)();
      const read = ownActorReader(database, spec.kind, clock.workspaceId);
      for (let from = 0; from < ids.length; from += AT_ONCE) {
        const rows = await read(ids.slice(from, from + AT_ONCE));
        await Promise.all(rows.map((row) => spec.end(row, at)));
      }
    },
  };
}
