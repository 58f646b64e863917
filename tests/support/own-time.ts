import postgres from 'postgres';

// Measures of time that a busy machine does not spoil: what neighbours take of the processor counts in none
// of them.

/**
 * The interval of a lived clock's ticks; a tick that comes late, because the machine was busy elsewhere,
 * counts for no more.
 */
const TICK_MS = 5;

/**
 * The time that this process lived through. It runs beside the work as a twin: while the process waits for a
 * processor neither goes on, and on an idle machine it is the time of the wall. For waits, which take time
 * but no processor.
 */
export class LivedClock implements Disposable {
  #ticks = 0;
  readonly #timer = setInterval(() => {
    this.#ticks += 1;
  }, TICK_MS);

  get ms(): number {
    return this.#ticks * TICK_MS;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** The duration of the work in the time that this process lived through. */
export async function livedMs(work: () => Promise<unknown>): Promise<number> {
  using clock = new LivedClock();
  await work();
  return clock.ms;
}

/**
 * A pause of one tick and a connection to PostgreSQL, opened, used and closed, take about as long on an idle
 * machine.
 */
const ROUND_MS = 10;

/**
 * The duration of the work in the time that this process and PostgreSQL lived through. The twin opens a
 * connection at every round: while PostgreSQL waits for a processor, it comes no further either. For
 * recoveries, which need new connections.
 */
export async function livedMsBeside(databaseUrl: string, work: () => Promise<unknown>): Promise<number> {
  let rounds = 0;
  let isGoing = true;
  const twin = (async () => {
    for (; isGoing; rounds++) {
      await Bun.sleep(TICK_MS);
      const connection = postgres(databaseUrl, { max: 1, fetch_types: false, onnotice: () => {} });
      // A connection that is refused took its time as well.
      await connection`select 1`.catch(() => {});
      await connection.end();
    }
  })();
  try {
    await work();
  } finally {
    isGoing = false;
  }
  const lived = rounds * ROUND_MS;
  await twin;
  return lived;
}

/** The processor time that this thread has used so far. */
function spentMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Work that takes less is measured once. */
const BRIEF_MS = 50;
const FURTHER_RUNS = 4;

/**
 * The processor time of this thread for the work: for work that computes. The least of five runs where the
 * first is no brief one: the collector may go through what other files of this process hold amid it (600 ms,
 * seen behind six hundred files), and on a busy machine the compilers come late to its code.
 */
export function costMs(work: () => unknown): number {
  const once = () => {
    const before = spentMs();
    work();
    return spentMs() - before;
  };
  let least = once();
  for (let run = 0; run < FURTHER_RUNS && least >= BRIEF_MS; run++) least = Math.min(least, once());
  return least;
}

/** The same of work that waits in between; what else happens on this thread meanwhile counts as well. */
export async function costMsOf(work: () => Promise<unknown>): Promise<number> {
  const before = spentMs();
  await work();
  return spentMs() - before;
}

/** The longest time, of this thread's own, for which nothing else could happen on it while that was done. */
export async function longestStall(work: () => Promise<unknown>): Promise<number> {
  // Garbage of other tests in this process is not collected on its account: 400 ms, seen once.
  Bun.gc(true);
  let longest = 0;
  let last = spentMs();
  const look = () => {
    const now = spentMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 2);
  await work();
  clearInterval(timer);
  // A process that was stopped up to the end has run no timer.
  look();
  return longest;
}

/**
 * The least of up to three measurements, of which one below `enough` is the last. The collector may take its
 * time amid one run, and does not amid each; what the work itself takes comes in every one.
 */
async function least(enough: number, measure: () => Promise<number>): Promise<number> {
  let found = Number.POSITIVE_INFINITY;
  for (let run = 1; run <= 3 && found >= enough; run++) found = Math.min(found, await measure());
  return found;
}

/** The least of such stalls. */
export const leastStall = (enough: number, work: () => Promise<unknown>): Promise<number> =>
  least(enough, () => longestStall(work));

/** The least processor time of this thread for the work. */
export const leastCostMsOf = (enough: number, work: () => Promise<unknown>): Promise<number> =>
  least(enough, () => costMsOf(work));
