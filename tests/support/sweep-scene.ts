import pino from 'pino';
import { Scheduler } from '../../src/engine/runtime/timers/scheduler.ts';
import { OpenStore } from '../../src/engine/store/open-store.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { TOOK_TOO_LONG } from '../../src/platform/db/sqlstate.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { domainKind } from '../../src/sending/domains/kind.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');

/** An actor that is due. */
interface Due {
  readonly id: string;
  readonly due_at: number;
}

/** A database in memory: dues by their moments, transactions by their numbers. */
interface World {
  /** Moments at which actors are due. */
  due: number[];
  /** Those of them that another transaction has locked. */
  locked: number[];
  /** The lowest number of a transaction under way; null while there is none. */
  held: number | null;
  /** A look from so far back, or over so much, takes longer than a statement may. */
  fails(from: number, to: number): boolean;
  lookMs: number;
}

/** The clock's sweeps over a database that a test makes up. */
export function scene({ isShared = true, areShared = false } = {}) {
  let passed = 0;
  let shift = 0;
  let number = 100;
  let made = 0;
  let dues: Due[] = [];
  const world: World = {
    locked: [],
    held: null,
    fails: () => false,
    lookMs: 1,
    get due() {
      return dues.map(({ due_at }) => due_at);
    },
    set due(moments) {
      dues = moments.map((due_at) => ({ id: `due ${made++}`, due_at }));
    },
  };
  let looks: number[] = [];
  let claims = 0;
  const woken: number[] = [];
  const agreement = { skewMs: 0, machineSkewMs: 0, agrees: true };
  const wall = () => NOW + passed + shift;
  const between = (from: unknown, to: unknown) => {
    const [low, high] = [Date.parse(String(from)), Date.parse(String(to))];
    passed += world.lookMs;
    if (world.fails(low, high))
      throw new UnavailableError('It took too long.', 'no', 1, { cause: { code: TOOK_TOO_LONG } });
    return dues.filter(({ due_at }) => due_at >= low && due_at <= high).sort((a, b) => a.due_at - b.due_at);
  };
  const withoutAll = (gone: readonly Due[]) => {
    dues = dues.filter((one) => !gone.includes(one));
  };
  const database = {
    query: async (text: string, parameters: readonly unknown[] = []) => {
      if (text.includes('pg_current_xact_id()::text')) {
        number++;
        return [{ at: wall(), number: String(number), lowest: String(world.held ?? number) }];
      }
      if (text.includes('as "0"')) {
        const [first] = between(parameters[1], parameters[0]);
        // The sweep afterwards looks for what is due.
        if (!first || first.due_at > wall()) looks.push(Date.parse(String(parameters[1])));
        return [{ at: wall(), 0: first?.due_at ?? null }];
      }
      if (text.includes('min(wake_at)'))
        return [{ at: between(parameters[0], parameters[1])[0]?.due_at ?? null }];
      const isClaim = text.startsWith('with due');
      const from = parameters[isClaim ? 3 : 2];
      looks.push(Date.parse(String(from)));
      const found = between(from, parameters[0])
        .filter(({ due_at }) => !isClaim || !world.locked.includes(due_at))
        .slice(0, Number(parameters[1]));
      if (isClaim) {
        claims++;
        withoutAll(found);
      }
      return found;
    },
  } as unknown as Database;
  let room = 500;
  const clock = { now: wall, monotonic: () => passed, ...(isShared ? { agreement } : {}) };
  /** The actors that waking takes, each reported when it begins, and the result. */
  let waking: (begun: number) => Promise<boolean> = async () => true;
  const wake = async (rows: readonly unknown[]) => {
    const begun = woken.push(...(rows as Due[]).map(({ due_at }) => due_at));
    const areAllWoken = await waking(begun);
    if (areAllWoken) withoutAll(rows as Due[]);
    return { left: areAllWoken ? [] : (rows as Due[]).map(({ id }) => id), isContested: !areAllWoken };
  };
  const store = new OpenStore(domainKind, { database, clock });
  const wakeUps = new Scheduler(
    database,
    clock,
    [{ store, room: () => room, wake }],
    pino({ enabled: false }),
  );
  wakeUps.shareTimers(areShared);
  return {
    world,
    woken,
    agreement,
    wakeUps,
    now: wall,
    /** A transaction begins to write, and does not end. */
    hold: () => {
      number++;
      world.held = number;
    },
    /** The wall clock is set while nothing passes. */
    set: (ms: number) => {
      shift += ms;
    },
    room: (most: number) => {
      room = most;
    },
    waking: (take: typeof waking) => {
      waking = take;
    },
    looked: () => looks.length,
    claimed: () => claims,
    /** A sweep, so long after the one before; answers how far back it looked for what is due. */
    async sweep(afterMs = 1_000) {
      passed += afterMs;
      looks = [];
      const now = wall();
      wakeUps.sweep();
      await wakeUps.settled();
      return looks.map((from) => (from === 0 ? 'everything' : now - from));
    },
  };
}
